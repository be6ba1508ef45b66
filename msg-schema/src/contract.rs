//! What two programs have to agree on, a field at a time: shared by the fingerprint, which is over exactly this, and
//! by the words for a difference.

use std::fmt;

use crate::model::{BaseType, Enum, EnumValue, Field, Object, ObjectKind, Schema, Type};

/// What stands for the root's own name, which is no part of the contract.
const ROOT: &str = "*";

/// A table's or a struct's fields in the order of their ids, without the numbers of unions: that a union at id `n`
/// has its number at `n - 1` goes without saying.
pub(crate) fn fields(object: &Object) -> Vec<&Field> {
    let mut fields: Vec<&Field> =
        object.fields.iter().filter(|field| !field.field_type.is_union_number()).collect();
    fields.sort_by_key(|field| (field.id, &field.name));
    fields
}

/// The enumerators by number; of a union the members, without `NONE`, which every union has.
pub(crate) fn values(enumeration: &Enum) -> Vec<&EnumValue> {
    // Some models give `NONE` the type "none", as binary schemas do.
    let is_member = |value: &EnumValue| value.union_type.as_ref().is_some_and(|of| of.base != BaseType::None);
    let wanted = |value: &&EnumValue| !enumeration.is_union || is_member(value);
    let mut values: Vec<&EnumValue> = enumeration.values.iter().filter(wanted).collect();
    values.sort_by_key(|value| (enumeration.number(value), &value.name));
    values
}

/// A type as the schema language spells it, with `*` for the root, and a word for what lies behind 64-bit offsets.
pub(crate) fn type_text(meant: &Type, schema: &Schema) -> String {
    let mut meant = meant.clone();
    if meant.target.is_some() && meant.target == schema.root {
        meant.target = Some(ROOT.to_owned());
    }
    let wide = if meant.base == BaseType::Vector64 { " vector64" } else { "" };
    format!("{}{wide}", meant.text())
}

/// What a reader takes for an absent scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Absent {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f32),
    Double(f64),
}

impl Absent {
    /// What stands for a field when it is absent; `None` where nothing is to be agreed on: the fields of structs are
    /// always there, and strings, vectors and tables have no default.
    pub(crate) fn of(object: &Object, field: &Field) -> Option<Self> {
        let base = field.field_type.base;
        if object.kind == ObjectKind::Struct || !base.is_scalar() {
            return None;
        }
        Some(match base {
            _ if field.optional => Self::Null,
            BaseType::Bool => Self::Bool(field.default_integer != 0),
            BaseType::Float => Self::Float(field.default_real as f32),
            BaseType::Double => Self::Double(field.default_real),
            _ if base.is_unsigned() => Self::Unsigned(field.default_integer as u64),
            _ => Self::Signed(field.default_integer),
        })
    }

    /// The same text for the same value, on every version of every library: floating-point numbers as the bits of
    /// their type, with one NaN and one zero, since the format does not keep them apart.
    pub(crate) fn canonical(self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => u8::from(value).to_string(),
            Self::Signed(value) => value.to_string(),
            Self::Unsigned(value) => value.to_string(),
            Self::Float(value) if value.is_nan() => "nan".to_owned(),
            Self::Double(value) if value.is_nan() => "nan".to_owned(),
            Self::Float(value) => format!("{:08x}", (value + 0.0).to_bits()),
            Self::Double(value) => format!("{:016x}", (value + 0.0).to_bits()),
        }
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Signed(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Double(value) => value.fmt(f),
        }
    }
}

/// What a name stands for.
pub(crate) enum Named<'a> {
    Object(&'a Object),
    Enum(&'a Enum),
    Missing,
}

impl<'a> Named<'a> {
    pub(crate) fn find(schema: &'a Schema, name: &str) -> Self {
        match (schema.object(name), schema.enumeration(name)) {
            (Some(object), _) => Self::Object(object),
            (None, Some(enumeration)) => Self::Enum(enumeration),
            (None, None) => Self::Missing,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Object(Object { kind: ObjectKind::Table, .. }) => "a table",
            Self::Object(Object { kind: ObjectKind::Struct, .. }) => "a struct",
            Self::Enum(Enum { is_union: true, .. }) => "a union",
            Self::Enum(_) => "an enum",
            Self::Missing => "missing",
        }
    }
}
