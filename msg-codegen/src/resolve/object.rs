//! Tables and structs: the types of fields, and the rules about them, one function a rule.

use std::collections::HashMap;

use super::{
    Resolver, Site,
    attributes::{Place, find},
    ids,
    scope::{Declared, Symbol, qualified},
};
use crate::{
    ast,
    diagnostic::{Code, Diagnostic, Span},
    ir::{Attributes, Default, Element, Field, Object, ObjectKind, Presence, Scalar, Type},
};

/// A field while its rules are checked.
pub(super) struct Draft<'a> {
    pub(super) ast: &'a ast::Field,
    pub(super) field_type: Type,
    pub(super) in_struct: bool,
}

impl Draft<'_> {
    pub(super) fn name(&self) -> &str {
        &self.ast.name.text
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&ast::Attribute> {
        find(&self.ast.attributes, name)
    }

    /// A scalar or an enum by itself: what can have a default.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self.field_type, Type::One(Element::Scalar(_) | Element::Enum(_)))
    }
}

impl Resolver<'_, '_> {
    /// Resolves every table and struct but for what needs the others: layouts and recursion.
    pub(super) fn objects(&mut self) {
        let scope = self.scope;
        for declared in &scope.objects {
            let object = self.object(declared);
            self.ir.objects.push(object);
        }
    }

    fn object(&mut self, declared: &Declared<'_, ast::Object>) -> Object {
        let (ast, site) = (declared.ast, &declared.site);
        let (kind, place) = match ast.kind {
            ast::ObjectKind::Table => (ObjectKind::Table, Place::Table),
            ast::ObjectKind::Struct => (ObjectKind::Struct, Place::Struct),
        };
        let attributes = self.attributes(&ast.attributes, place);
        let declaration = self.declaration(&ast.name, &ast.documentation, attributes, site);
        self.check_not_empty(ast);
        self.check_names(declared);
        self.check_one_key(ast);
        let mut fields = Vec::with_capacity(ast.fields.len());
        let mut is_whole = !ast.broken;
        for field in &ast.fields {
            match self.field(field, ast.kind, site) {
                Some(field) => fields.push(field),
                None => is_whole = false,
            }
        }
        if is_whole {
            self.check_clashes(ast, &fields);
            match kind {
                ObjectKind::Table => ids::assign(self, ast, &mut fields),
                ObjectKind::Struct => fields.iter_mut().zip(0..).for_each(|(field, id)| field.id = id),
            }
        }
        Object { declaration, kind, fields, align: 1, size: 0, is_over_aligned: false }
    }

    fn field(&mut self, ast: &ast::Field, object: ast::ObjectKind, site: &Site) -> Option<Field> {
        let attributes = self.attributes(&ast.attributes, Place::Field);
        let in_struct = object == ast::ObjectKind::Struct;
        let field_type = self.field_type(&ast.field_type, in_struct, site)?;
        let draft = Draft { ast, field_type, in_struct };
        let is_key = self.key(&draft);
        let is_deprecated = self.deprecated(&draft);
        let is_required = self.required(&draft);
        self.check_misplaced(&draft);
        let (default, is_optional) = self.default(&draft, site)?;
        // A string key is required: vectors are sorted by it.
        let is_text_key = is_key && field_type == Type::One(Element::Text);
        let presence = match default {
            _ if is_required || is_text_key => Presence::Required,
            Default::Text(_) | Default::EmptyVector => Presence::Default,
            _ if in_struct => Presence::Default,
            _ if draft.is_scalar() && !is_optional => Presence::Default,
            _ => Presence::Optional,
        };
        Some(new_field(ast, attributes, field_type, Facts { default, presence, is_deprecated, is_key }))
    }

    /// A field's type, if it may stand in this kind of object.
    fn field_type(&mut self, ast: &ast::Type, in_struct: bool, site: &Site) -> Option<Type> {
        let element = self.element(&ast.name, site)?;
        let field_type = match &ast.shape {
            ast::Shape::Bare => Type::One(element),
            ast::Shape::Vector => Type::Vector(element),
            ast::Shape::Array(length) => Type::Array(element, self.array_length(length)?),
        };
        if let Element::Enum(id) = element {
            let declared = self.scope.enums[id.0].ast.name.span;
            self.is_declared_before("enum", &ast.name, declared).then_some(())?;
        }
        if let Element::Union(id) = element {
            let declared = self.scope.unions[id.0].ast.name.span;
            self.is_declared_before("union", &ast.name, declared).then_some(())?;
        }
        match (in_struct, field_type) {
            (true, Type::Vector(_))
            | (true, Type::One(Element::Text | Element::Table(_) | Element::Union(_)))
            | (true, Type::Array(Element::Text | Element::Table(_) | Element::Union(_), _)) => {
                self.not_in_struct(ast, field_type);
                None
            }
            (false, Type::Array(..)) => {
                let message = "a fixed-length array stands outside a struct";
                let help = format!("put it into a struct, or use the vector `[{}]`", ast.name.text());
                self.report(Diagnostic::new(Code::ArrayOutsideStruct, ast.span, message).help(help));
                None
            }
            _ => Some(field_type),
        }
    }

    fn not_in_struct(&mut self, ast: &ast::Type, field_type: Type) {
        let what = match field_type {
            Type::Vector(_) => "a vector",
            Type::One(Element::Text) | Type::Array(Element::Text, _) => "a string",
            Type::One(Element::Union(_)) | Type::Array(Element::Union(_), _) => "a union",
            _ => "a table",
        };
        let message = format!("a struct cannot hold {what}");
        let help = "structs hold scalars, enums, other structs and fixed-length arrays of them; use a table";
        self.report(Diagnostic::new(Code::NotAllowedInStruct, ast.span, message).help(help));
    }

    fn array_length(&mut self, written: &ast::Text) -> Option<u16> {
        let length =
            super::enumeration::integer(&written.value).and_then(|length| u16::try_from(length).ok());
        let length = length.filter(|length| *length > 0);
        if length.is_none() {
            let message = format!("an array cannot have {} elements", written.value);
            let help = "an array has 1 to 65535 elements";
            self.report(Diagnostic::new(Code::InvalidArrayLength, written.span, message).help(help));
        }
        length
    }

    /// `struct S {}`
    fn check_not_empty(&mut self, ast: &ast::Object) {
        if ast.kind == ast::ObjectKind::Struct && ast.fields.is_empty() && !ast.broken {
            let message = format!("struct `{}` has no fields", ast.name.text);
            let help = "give it a field, or make it a table";
            self.report(Diagnostic::new(Code::EmptyStruct, ast.name.span, message).help(help));
        }
    }

    /// `a: int; a: int;`, and a field that is called like an object declared before it.
    fn check_names(&mut self, declared: &Declared<'_, ast::Object>) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for field in &declared.ast.fields {
            let name = field.name.text.as_str();
            if let Some(first) = seen.insert(name, field.name.span) {
                let message = format!("field `{name}` is declared twice");
                let diagnostic = Diagnostic::new(Code::DuplicateField, field.name.span, message);
                self.report(diagnostic.note(first, "first declared here").help("rename one of them"));
            }
            let Some((Symbol::Object(_), other)) = self.scope.lookup(name, &declared.site) else { continue };
            if other.file != field.name.span.file || other.start < field.name.span.start {
                let message = format!("field `{name}` is called like a type");
                let diagnostic = Diagnostic::new(Code::FieldNamedLikeType, field.name.span, message)
                    .note(other, "the type is declared here")
                    .help("rename the field: FlatBuffers' own compiler refuses this");
                self.report(diagnostic);
            }
        }
    }

    /// `a: int (key); b: int (key);`
    fn check_one_key(&mut self, ast: &ast::Object) {
        let mut keys = ast.fields.iter().filter_map(|field| find(&field.attributes, "key"));
        let Some(first) = keys.next() else { return };
        for second in keys {
            let message = format!("`{}` has a second key", ast.name.text);
            let diagnostic = Diagnostic::new(Code::SecondKey, second.name.span, message);
            self.report(
                diagnostic.note(first.name.span, "the first one").help("a type is sorted by one field only"),
            );
        }
    }

    /// `name: string; name_length: int;`, which other generators turn into one name.
    fn check_clashes(&mut self, ast: &ast::Object, fields: &[Field]) {
        for (suffixes, fits) in CLASHES {
            for (suffix, field) in
                suffixes.iter().flat_map(|suffix| fields.iter().map(move |field| (suffix, field)))
            {
                let Some(stem) = field.name.strip_suffix(suffix).filter(|stem| !stem.is_empty()) else {
                    continue;
                };
                let Some(other) = fields.iter().find(|other| other.name == stem && fits(other.field_type))
                else {
                    continue;
                };
                let span_of =
                    |name: &str| ast.fields.iter().find(|field| field.name.text == name).map(|f| f.name.span);
                let (Some(span), Some(first)) = (span_of(&field.name), span_of(&other.name)) else {
                    continue;
                };
                let message =
                    format!("field `{}` is called like something generated for `{stem}`", field.name);
                let diagnostic = Diagnostic::new(Code::FieldClash, span, message);
                self.report(diagnostic.note(first, "the other field").help("rename one of them"));
            }
        }
    }

    /// `x: [float] (key)`
    fn key(&mut self, draft: &Draft<'_>) -> bool {
        let Some(key) = draft.attribute("key") else { return false };
        let is_sortable = matches!(
            draft.field_type,
            Type::One(Element::Scalar(_) | Element::Enum(_) | Element::Text | Element::Struct(_))
                | Type::Array(Element::Scalar(_) | Element::Enum(_) | Element::Struct(_), _)
        );
        let is_null = matches!(&draft.ast.default, Some(ast::Value { kind: ast::ValueKind::Name(name), .. }) if name == "null");
        if is_sortable && !is_null {
            return true;
        }
        let message = match is_null {
            true => format!("key `{}` may be absent", draft.name()),
            false => format!("nothing can be sorted by `{}`", draft.name()),
        };
        let help = "a key is a string, a number, a bool, an enum, a struct or an array, and never absent";
        self.report(Diagnostic::new(Code::InvalidKeyType, key.name.span, message).help(help));
        false
    }

    /// `x: int (required)`
    fn required(&mut self, draft: &Draft<'_>) -> bool {
        let Some(required) = draft.attribute("required") else { return false };
        let message = match (draft.in_struct, draft.is_scalar()) {
            (false, false) => return true,
            (true, _) => "the fields of a struct are always there",
            (_, true) => "a number always has a value, and cannot be required",
        };
        let help = match draft.in_struct {
            true => "remove `required`",
            false => "remove `required`, or write `= null` to see whether it was set",
        };
        self.report(Diagnostic::new(Code::RequiredScalar, required.name.span, message).help(help));
        false
    }

    /// `x: int (deprecated)` in a struct.
    fn deprecated(&mut self, draft: &Draft<'_>) -> bool {
        let Some(deprecated) = draft.attribute("deprecated") else { return false };
        if draft.in_struct {
            let message = "a field of a struct cannot be deprecated";
            let help = "every field of a struct takes its place: declare a new struct without it";
            self.report(Diagnostic::new(Code::DeprecatedInStruct, deprecated.name.span, message).help(help));
        }
        !draft.in_struct
    }

    /// Attributes that only go with some types.
    fn check_misplaced(&mut self, draft: &Draft<'_>) {
        let is_bytes = draft.field_type == Type::Vector(Element::Scalar(Scalar::U8));
        let is_text = draft.field_type == Type::One(Element::Text);
        for (name, fits, wanted) in [
            ("nested_flatbuffer", is_bytes, "a vector of ubyte"),
            ("flexbuffer", is_bytes, "a vector of ubyte"),
            ("shared", is_text, "a string"),
        ] {
            let Some(attribute) = draft.attribute(name).filter(|_| !fits) else { continue };
            let message = format!("`{name}` stands on `{}`, but belongs to {wanted}", draft.name());
            self.report(
                Diagnostic::new(Code::MisplacedAttribute, attribute.name.span, message).help("remove it"),
            );
        }
    }
}

/// Suffixes, and the types of the fields that they are added to.
type Clash = (&'static [&'static str], fn(Type) -> bool);

/// Suffixes that other generators add to fields of a type.
const CLASHES: [Clash; 3] = [
    (&["_type", "Type"], |field_type| matches!(field_type, Type::One(Element::Union(_)))),
    (&["_length", "Length"], |field_type| matches!(field_type, Type::Vector(_))),
    (&["_byte_vector", "ByteVector"], |field_type| field_type == Type::One(Element::Text)),
];

/// What the rules found out about a field.
struct Facts {
    default: Default,
    presence: Presence,
    is_deprecated: bool,
    is_key: bool,
}

fn new_field(ast: &ast::Field, attributes: Attributes, field_type: Type, facts: Facts) -> Field {
    Field {
        name: ast.name.text.clone(),
        documentation: ast.documentation.clone(),
        attributes,
        field_type,
        id: 0,
        has_explicit_id: find(&ast.attributes, "id").is_some(),
        offset: 0,
        padding: 0,
        default: facts.default,
        presence: facts.presence,
        is_deprecated: facts.is_deprecated,
        is_key: facts.is_key,
        is_boxed: false,
    }
}

/// The dotted name of a declared object, for messages.
pub(super) fn dotted(declared: &Declared<'_, ast::Object>) -> String {
    qualified(&declared.ast.name, &declared.site).dotted()
}
