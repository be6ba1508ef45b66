//! From the facts about a type to its binary schema.
//!
//! The facts of a type name those of the types inside it through functions, because types may be recursive; this
//! walk ends cycles at the type's name. It runs once a type, on first use.

use std::{any::TypeId, collections::BTreeMap, sync::OnceLock};

use msg_schema::{BaseType, Enum, EnumValue, Field, Object, ObjectKind, Schema, Type};

use crate::{
    buffer::{
        describe::{About, EnumFacts, Members, ObjectFacts, PlainFieldSpec, Shape, UnionFacts},
        spec::FieldSpec,
        wire::Wire,
    },
    error::{Error, ErrorKind},
    message::Message,
};

/// The binary schema of a message and what follows from it.
#[derive(Debug)]
pub struct CompiledSchema {
    bytes: Vec<u8>,
    fingerprint: u64,
    clash: Option<String>,
}

impl CompiledSchema {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

/// Refuses a message in which two different types have one name: nobody could tell them apart on the wire.
pub(crate) fn check_names<M: Message>() -> Result<(), Error> {
    let Some(name) = &M::__schema().clash else { return Ok(()) };
    let message = format!(
        "two different types inside `{}` are named `{name}`: give one of them another `namespace` or `name`",
        M::TYPE_NAME
    );
    Err(Error::new(ErrorKind::Incompatible, message))
}

/// Where a message keeps its schema.
#[derive(Debug)]
pub struct SchemaCell(OnceLock<CompiledSchema>);

impl SchemaCell {
    /// Nothing is made yet.
    #[allow(clippy::new_without_default, reason = "generated code puts it in a static")]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The schema, made on first use.
    pub fn get<M: Message>(&self) -> &CompiledSchema {
        self.0.get_or_init(|| {
            let (schema, clash) = describe::<M>();
            CompiledSchema { bytes: schema.to_bytes(), fingerprint: schema.fingerprint(), clash }
        })
    }
}

/// The schema of everything reachable from `M`, and a name that two types share, if there is one.
pub(crate) fn describe<M: Message>() -> (Schema, Option<String>) {
    let mut walk = Walk::default();
    walk.shape(M::__Wire::shape());
    while let Some(facts) = walk.waiting.pop() {
        walk.members(facts);
    }
    let schema = Schema {
        objects: walk.objects.into_values().collect(),
        enums: walk.enums.into_values().collect(),
        file_identifier: M::FILE_IDENTIFIER.unwrap_or_default().into(),
        file_extension: M::FILE_EXTENSION.into(),
        root: Some(M::TYPE_NAME.into()),
        advanced_features: 0,
    };
    (schema, walk.clash)
}

#[derive(Default)]
struct Walk {
    seen: BTreeMap<String, TypeId>,
    objects: BTreeMap<String, Object>,
    enums: BTreeMap<&'static str, Enum>,
    waiting: Vec<ObjectFacts>,
    clash: Option<String>,
}

impl Walk {
    /// True when the type is new.
    fn enter(&mut self, name: &str, type_id: TypeId) -> bool {
        match self.seen.insert(name.into(), type_id) {
            None => true,
            Some(seen) => {
                if seen != type_id {
                    self.clash = Some(name.into());
                }
                false
            }
        }
    }

    fn shape(&mut self, shape: Shape) {
        match shape {
            Shape::Scalar(_) | Shape::String | Shape::Padding => {}
            Shape::Vector(element) | Shape::Array(element, _) | Shape::Nested(element, _) => {
                self.shape(element());
            }
            // Its entries are named by the field that holds it.
            Shape::Map(_) => {}
            Shape::Object(facts) => {
                let facts = facts();
                if self.enter(facts.name, facts.type_id) {
                    self.waiting.push(facts);
                }
            }
            Shape::Enum(facts) => {
                let facts = facts();
                if self.enter(facts.name, facts.type_id) {
                    self.enums.insert(facts.name, enumeration(&facts));
                }
            }
            Shape::Union(facts) => self.union(&facts()),
        }
    }

    fn union(&mut self, facts: &UnionFacts) {
        if self.enter(facts.name, facts.type_id) {
            self.enums.insert(facts.name, union(facts));
            for member in facts.members {
                self.shape((member.facts().shape)());
            }
        }
    }

    fn members(&mut self, facts: ObjectFacts) {
        let mut object = Object {
            name: facts.name.into(),
            min_align: 1,
            attributes: attributes(facts.about),
            documentation: documentation(facts.about),
            ..Object::default()
        };
        match facts.members {
            Members::Table(fields) => {
                object.fields = self.table_fields(facts.name, fields);
            }
            Members::Struct { fields, size, align } => {
                object.kind = ObjectKind::Struct;
                object.min_align = align as u32;
                object.byte_size = size as u32;
                let visible = |field: &&PlainFieldSpec| !matches!((field.shape)(), Shape::Padding);
                let mut fields = fields.iter().filter(visible).peekable();
                while let Some(field) = fields.next() {
                    self.shape((field.shape)());
                    let end = fields.peek().map_or(size, |next| next.offset);
                    object.fields.push(struct_field(field, object.fields.len(), end));
                }
            }
        }
        self.objects.insert(facts.name.into(), object);
    }

    fn table_fields(&mut self, table: &str, specs: &'static [FieldSpec]) -> Vec<Field> {
        let mut fields = Vec::new();
        for spec in specs {
            let shape = (spec.shape)();
            self.shape(shape);
            fields.extend(union_number(spec));
            fields.push(match shape {
                Shape::Map(entry) => self.map(table, spec, entry),
                _ => table_field(spec, type_of(shape)),
            });
        }
        fields
    }

    /// A vector of tables that are named after the field: `limits` of `demo.Robot` has `demo.RobotLimitsEntry`.
    fn map(&mut self, table: &str, spec: &FieldSpec, entry: &'static [FieldSpec]) -> Field {
        let words = spec.name.split('_').flat_map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
        });
        let name = format!("{table}{}Entry", words.collect::<String>());
        let field = table_field(spec, Type::vector(&Type::named(BaseType::Obj, &name), None));
        if self.enter(&name, spec.wire) {
            let fields = self.table_fields(&name, entry);
            let object = Object { name: name.clone(), min_align: 1, fields, ..Object::default() };
            self.objects.insert(name, object);
        }
        field
    }
}

fn table_field(field: &FieldSpec, field_type: Type) -> Field {
    let shape = (field.shape)();
    let scalar = underlying(shape);
    let (default_integer, default_real) = default(scalar, field.default);
    let mut attributes = attributes(field.about);
    // A schema file may spell the name shorter.
    if let Some(nested) = nested(shape).filter(|_| attributes.iter().all(|(name, _)| name != NESTED)) {
        attributes.push(nested);
    }
    Field {
        name: field.name.into(),
        field_type,
        id: field.field_id(),
        offset: field.slot,
        default_integer,
        default_real,
        deprecated: field.deprecated,
        required: field.required,
        key: field.key,
        optional: if scalar.is_some() { field.nullable } else { !field.required && !field.reads_as_default },
        attributes,
        documentation: documentation(field.about),
        ..Field::default()
    }
}

/// The name of the attribute that names the message inside.
const NESTED: &str = "nested_flatbuffer";

/// The attribute that names the message inside.
fn nested(shape: Shape) -> Option<(String, String)> {
    match shape {
        Shape::Nested(_, name) => Some((NESTED.into(), name.into())),
        _ => None,
    }
}

/// The field before a union's own: which members are there.
fn union_number(field: &FieldSpec) -> Option<Field> {
    let field_type = match (field.shape)() {
        Shape::Union(facts) => Type::named(BaseType::UType, facts().name),
        Shape::Vector(element) => match element() {
            Shape::Union(facts) => Type::vector(&Type::named(BaseType::UType, facts().name), None),
            _ => return None,
        },
        _ => return None,
    };
    let is_vector = field_type.base == BaseType::Vector;
    let id = field.field_id() - 1;
    let written = field.about.attributes.iter().any(|(name, _)| *name == "id");
    Some(Field {
        name: format!("{}_type", field.name),
        field_type,
        id,
        offset: field.slot - 2,
        deprecated: field.deprecated,
        required: is_vector && field.required,
        optional: is_vector && !field.required && !field.reads_as_default,
        attributes: written.then(|| ("id".into(), id.to_string())).into_iter().collect(),
        ..Field::default()
    })
}

fn struct_field(field: &PlainFieldSpec, index: usize, end: usize) -> Field {
    Field {
        name: field.name.into(),
        field_type: type_of((field.shape)()),
        id: index as u16,
        offset: field.offset as u16,
        key: field.key,
        padding: (end - field.offset - field.size) as u16,
        attributes: attributes(field.about),
        documentation: documentation(field.about),
        ..Field::default()
    }
}

fn enumeration(facts: &EnumFacts) -> Enum {
    Enum {
        name: facts.name.into(),
        values: facts
            .values
            .iter()
            .map(|value| EnumValue {
                name: value.name.into(),
                value: value.value,
                union_type: None,
                attributes: attributes(value.about),
                documentation: documentation(value.about),
            })
            .collect(),
        is_union: false,
        underlying: Type::named(facts.underlying, facts.name),
        attributes: attributes(facts.about),
        documentation: documentation(facts.about),
    }
}

fn union(facts: &UnionFacts) -> Enum {
    let none = EnumValue { name: "NONE".into(), ..EnumValue::default() };
    let members = facts.members.iter().map(|member| {
        let member = member.facts();
        EnumValue {
            name: member.name.into(),
            value: member.number.into(),
            union_type: Some(type_of((member.shape)())),
            attributes: attributes(member.about),
            documentation: documentation(member.about),
        }
    });
    Enum {
        name: facts.name.into(),
        values: [none].into_iter().chain(members).collect(),
        is_union: true,
        underlying: Type::named(BaseType::UType, facts.name),
        attributes: attributes(facts.about),
        documentation: documentation(facts.about),
    }
}

/// The number of a scalar or enum field.
fn underlying(shape: Shape) -> Option<BaseType> {
    match shape {
        Shape::Scalar(base) => Some(base),
        Shape::Enum(facts) => Some(facts().underlying),
        _ => None,
    }
}

/// A default's bits as an integer or as a real number.
fn default(base: Option<BaseType>, bits: u64) -> (i64, f64) {
    match base {
        Some(BaseType::Float) => (0, f64::from(f32::from_bits(bits as u32))),
        Some(BaseType::Double) => (0, f64::from_bits(bits)),
        Some(BaseType::Byte) => (i64::from(bits as u8 as i8), 0.0),
        Some(BaseType::Short) => (i64::from(bits as u16 as i16), 0.0),
        Some(BaseType::Int) => (i64::from(bits as u32 as i32), 0.0),
        _ => (bits as i64, 0.0),
    }
}

fn type_of(shape: Shape) -> Type {
    match shape {
        Shape::Padding => Type::plain(BaseType::None),
        Shape::Scalar(base) => Type::plain(base),
        Shape::String => Type::plain(BaseType::String),
        Shape::Enum(facts) => {
            let facts = facts();
            Type::named(facts.underlying, facts.name)
        }
        Shape::Object(facts) => Type::named(BaseType::Obj, facts().name),
        Shape::Union(facts) => Type::named(BaseType::Union, facts().name),
        // Named by the field that holds it.
        Shape::Map(_) => Type::plain(BaseType::Vector),
        Shape::Vector(element) | Shape::Nested(element, _) => {
            Type::vector(&type_of(element()), struct_size(element()))
        }
        Shape::Array(element, len) => Type::array(&type_of(element()), len),
    }
}

fn struct_size(shape: Shape) -> Option<u32> {
    let Shape::Object(facts) = shape else { return None };
    match facts().members {
        Members::Struct { size, .. } => Some(size as u32),
        Members::Table(_) => None,
    }
}

fn attributes(about: &About) -> Vec<(String, String)> {
    about.attributes.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

fn documentation(about: &About) -> Vec<String> {
    about.documentation.iter().map(|line| (*line).into()).collect()
}

#[cfg(all(test, feature = "derive"))]
mod tests {
    use super::*;

    mod other {
        #[derive(crate::Message)]
        #[message(namespace = "test")]
        pub(super) struct Leaf {
            pub(super) length: u32,
        }
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Leaf {
        width: u32,
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Clash {
        one: Leaf,
        two: other::Leaf,
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Recursive {
        leaves: Vec<Leaf>,
        children: Vec<Recursive>,
        next: Option<Box<Recursive>>,
    }

    #[test]
    fn two_types_of_one_name_are_told() {
        let error = check_names::<Clash>().unwrap_err().to_string();
        assert!(
            error.starts_with("two different types inside `test.Clash` are named `test.Leaf`"),
            "{error}"
        );
        assert!(check_names::<Recursive>().is_ok());
    }

    #[test]
    fn a_recursive_type_is_described_once() {
        let schema = describe::<Recursive>().0;
        let names: Vec<_> = schema.objects.iter().map(|object| object.name.as_str()).collect();
        assert_eq!(names, ["test.Leaf", "test.Recursive"]);
    }
}
