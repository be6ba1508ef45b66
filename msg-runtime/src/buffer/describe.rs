//! The facts about types from which the binary schema is made.
//!
//! A constant cannot be cyclic and a type may be recursive, so the links between types are functions.

use std::any::TypeId;

use msg_schema::BaseType;

use super::{spec::FieldSpec, union::MemberSpec};

/// What the author wrote about a type, a field or an enumerator, for readers and for other tools.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Doc comment, a line an entry, with the leading blanks.
    pub documentation: &'static [&'static str],
    /// Names and values of attributes; a flag has the value "0".
    pub attributes: &'static [(&'static str, &'static str)],
}

impl About {
    /// Nothing.
    pub const NONE: &'static Self = &Self { documentation: &[], attributes: &[] };
}

/// The type of a field as the schema sees it.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A number or `bool`.
    Scalar(BaseType),
    /// A string.
    String,
    /// A vector of these.
    Vector(fn() -> Shape),
    /// An array in a plain struct.
    Array(fn() -> Shape, u16),
    /// Bytes that the schema does not mention.
    Padding,
    /// A table or a plain struct.
    Object(fn() -> ObjectFacts),
    /// An enum.
    Enum(fn() -> EnumFacts),
    /// A union.
    Union(fn() -> UnionFacts),
    /// A map: the fields of its entries.
    Map(&'static [FieldSpec]),
    /// A vector of these, which are a message of this name.
    Nested(fn() -> Shape, &'static str),
}

/// A table or a plain struct.
#[derive(Clone, Copy, Debug)]
pub struct ObjectFacts {
    /// Fully qualified name.
    pub name: &'static str,
    /// Tells two types of one name apart.
    pub type_id: TypeId,
    /// Doc comment and attributes.
    pub about: &'static About,
    /// Its fields.
    pub members: Members,
}

/// The fields of an object.
#[derive(Clone, Copy, Debug)]
pub enum Members {
    /// Of a table.
    Table(&'static [FieldSpec]),
    /// Of a plain struct.
    Struct {
        /// In order of their offsets.
        fields: &'static [PlainFieldSpec],
        /// Bytes of the struct.
        size: usize,
        /// Its alignment.
        align: usize,
    },
}

/// A field of a plain struct.
#[derive(Clone, Copy, Debug)]
pub struct PlainFieldSpec {
    /// Name on the wire.
    pub name: &'static str,
    /// Bytes from the start of the struct.
    pub offset: usize,
    /// Bytes of the field.
    pub size: usize,
    /// The key of sorted vectors.
    pub key: bool,
    /// Its type.
    pub shape: fn() -> Shape,
    /// Doc comment and attributes.
    pub about: &'static About,
}

/// An enum.
#[derive(Clone, Copy, Debug)]
pub struct EnumFacts {
    /// Fully qualified name.
    pub name: &'static str,
    /// Tells two types of one name apart.
    pub type_id: TypeId,
    /// The number behind it.
    pub underlying: BaseType,
    /// Its enumerators, by value.
    pub values: &'static [EnumeratorSpec],
    /// Doc comment and attributes.
    pub about: &'static About,
}

/// An enumerator.
#[derive(Clone, Copy, Debug)]
pub struct EnumeratorSpec {
    /// Name on the wire.
    pub name: &'static str,
    /// Its number, sign-extended.
    pub value: i64,
    /// Doc comment and attributes.
    pub about: &'static About,
}

/// A union.
#[derive(Clone, Copy, Debug)]
pub struct UnionFacts {
    /// Fully qualified name.
    pub name: &'static str,
    /// Tells two types of one name apart.
    pub type_id: TypeId,
    /// Its members.
    pub members: &'static [MemberSpec],
    /// Doc comment and attributes.
    pub about: &'static About,
}

/// A member of a union.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberFacts {
    /// Name on the wire.
    pub name: &'static str,
    /// Its number.
    pub number: u8,
    /// Its type.
    pub shape: fn() -> Shape,
    /// Doc comment and attributes.
    pub about: &'static About,
}
