//! A binary schema as `.fbs` text, for people and for compilers that take nothing else.
//!
//! Enums, structs and unions stand above what uses them, and tables above those that refer to them where that is
//! possible, because FlatBuffers' own compiler reads from top to bottom. Names are checked and text is escaped: what
//! a schema says never becomes anything but what it is.

mod declaration;
mod order;
mod scope;

use std::{collections::BTreeSet, fmt};

use msg_schema::Schema;

use crate::resolve;
use scope::{Scope, is_identifier, split};

/// Why a schema cannot be written as `.fbs` text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FbsError(String);

impl FbsError {
    fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for FbsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schema cannot be written as `.fbs` text: {}", self.0)
    }
}

impl std::error::Error for FbsError {}

/// The `.fbs` text of a schema, such as that of a type or of a `.bfbs` file: compiling it gives the same schema.
///
/// Two things are not in a binary schema, and so not in the text: the default of a string, which is written as `""`
/// under a comment that says so, and `rpc_service`s. A `.bfbs` file that was made without `--bfbs-builtins` does not
/// say which enums are `bit_flags`; their numbers are the same.
///
/// # Errors
/// Something in the schema has no spelling in `.fbs`: a name that is no identifier, a type whose name means another
/// one where it is used, or 64-bit offsets.
///
/// # Examples
///
/// ```
/// use msg_schema::{BaseType, Field, Object, Schema, Type};
///
/// let x = Field { name: "x".into(), field_type: Type::plain(BaseType::Float), offset: 4, ..Field::default() };
/// let imu = Object { name: "demo.Imu".into(), fields: vec![x], min_align: 1, ..Object::default() };
/// let schema = Schema { objects: vec![imu], root: Some("demo.Imu".into()), ..Schema::default() };
/// assert_eq!(
///     msg_codegen::to_fbs(&schema)?,
///     "namespace demo;\n\ntable Imu {\n  x: float;\n}\n\nroot_type Imu;\n"
/// );
/// # Ok::<(), msg_codegen::FbsError>(())
/// ```
pub fn to_fbs(schema: &Schema) -> Result<String, FbsError> {
    let mut writer =
        Writer { schema, scope: Scope::new(schema)?, namespace: String::new(), out: String::new() };
    writer.attribute_declarations();
    for item in order::sorted(schema, &writer.scope) {
        writer.item(item)?;
    }
    writer.root()?;
    Ok(writer.out)
}

/// A declared type.
#[derive(Clone, Copy, Debug)]
enum Item<'a> {
    Enum(&'a msg_schema::Enum),
    Object(&'a msg_schema::Object),
}

impl<'a> Item<'a> {
    fn name(self) -> &'a str {
        match self {
            Self::Enum(item) => &item.name,
            Self::Object(object) => &object.name,
        }
    }
}

/// The text so far, and where it stands.
struct Writer<'a> {
    schema: &'a Schema,
    scope: Scope<'a>,
    /// The namespace that holds at the end of the text.
    namespace: String,
    out: String,
}

impl<'a> Writer<'a> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A blank line between what stands above and what comes.
    fn gap(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    /// `attribute "unit";` for every attribute that is not FlatBuffers' own.
    fn attribute_declarations(&mut self) {
        let schema = self.schema;
        let of_objects = schema.objects.iter().flat_map(|object| {
            let fields = object.fields.iter().flat_map(|field| &field.attributes);
            object.attributes.iter().chain(fields)
        });
        let of_enums = schema.enums.iter().flat_map(|item| {
            let values = item.values.iter().flat_map(|value| &value.attributes);
            item.attributes.iter().chain(values)
        });
        let names: BTreeSet<&str> = of_objects.chain(of_enums).map(|(name, _)| name.as_str()).collect();
        for name in names.into_iter().filter(|name| !resolve::is_known_attribute(name)) {
            self.line(&format!("attribute {};", quoted(name)));
        }
    }

    fn item(&mut self, item: Item<'a>) -> Result<(), FbsError> {
        self.enter(split(item.name()).0);
        self.gap();
        match item {
            Item::Enum(item) if item.is_union => self.union(item),
            Item::Enum(item) => self.enumeration(item),
            Item::Object(object) => self.object(object),
        }
    }

    /// Goes to a namespace, if the text is not in it already.
    fn enter(&mut self, namespace: &str) {
        if self.namespace == namespace {
            return;
        }
        self.gap();
        match namespace.is_empty() {
            true => self.line("namespace;"),
            false => self.line(&format!("namespace {namespace};")),
        }
        namespace.clone_into(&mut self.namespace);
    }

    fn root(&mut self) -> Result<(), FbsError> {
        let schema = self.schema;
        if let Some(root) = &schema.root {
            if self.scope.spell(root, &self.namespace).is_err() {
                // From the root namespace every name means what it says.
                self.enter("");
            }
            self.gap();
            let name = self.scope.spell(root, &self.namespace)?;
            self.line(&format!("root_type {name};"));
        }
        for (keyword, text) in
            [("file_identifier", &schema.file_identifier), ("file_extension", &schema.file_extension)]
        {
            if !text.is_empty() {
                self.line(&format!("{keyword} {};", quoted(text)));
            }
        }
        Ok(())
    }
}

/// A name as a schema takes it, or why not.
fn identifier(name: &str) -> Result<&str, FbsError> {
    match is_identifier(name) {
        true => Ok(name),
        false => Err(FbsError::new(format!("`{}` is no name", name.escape_debug()))),
    }
}

/// Text as a string literal.
fn quoted(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => literal.extend(['\\', character]),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            _ if character.is_ascii_control() => {
                literal.push_str(&format!("\\x{:02x}", u32::from(character)));
            }
            _ => literal.push(character),
        }
    }
    literal.push('"');
    literal
}
