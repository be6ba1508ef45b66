//! The resolved model: every name is an index, every number is computed, every rule holds. It exists only for
//! schemas without mistakes, so what is made from it cannot fail.

use crate::diagnostic::{FileId, Span};

/// Index of a table or struct in [`Ir::objects`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId(pub(crate) usize);

/// Index of an enum in [`Ir::enums`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EnumId(pub(crate) usize);

/// Index of a union in [`Ir::unions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UnionId(pub(crate) usize);

/// Everything in a set of schema files.
#[derive(Debug, Default)]
pub(crate) struct Ir {
    pub(crate) files: Vec<File>,
    pub(crate) objects: Vec<Object>,
    pub(crate) enums: Vec<Enum>,
    pub(crate) unions: Vec<Union>,
}

/// What holds for a file as a whole.
#[derive(Debug)]
pub(crate) struct File {
    /// Asked for, not only included.
    pub(crate) is_input: bool,
    /// The file itself and what it includes, directly and through others.
    pub(crate) visible: Vec<FileId>,
    pub(crate) root: Option<ObjectId>,
    /// Four bytes, or empty.
    pub(crate) identifier: String,
    /// Or empty.
    pub(crate) extension: String,
}

/// A name and the namespace it is in, as the schema spells them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct QualifiedName {
    pub(crate) namespace: Vec<String>,
    pub(crate) name: String,
}

impl QualifiedName {
    /// `a.b.Name`
    pub(crate) fn dotted(&self) -> String {
        match self.namespace.is_empty() {
            true => self.name.clone(),
            false => format!("{}.{}", self.namespace.join("."), self.name),
        }
    }
}

/// What every declared type has.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) name: QualifiedName,
    pub(crate) documentation: Vec<String>,
    pub(crate) attributes: Attributes,
    /// Where its name stands.
    pub(crate) span: Span,
}

/// Attributes with their values, "0" where none is given; in order of declaration.
pub(crate) type Attributes = Vec<(String, String)>;

/// Scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scalar {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    /// By its name in a schema.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "byte" | "int8" => Self::I8,
            "ubyte" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "long" | "int64" => Self::I64,
            "ulong" | "uint64" => Self::U64,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    /// The short names, as they are suggested and shown.
    pub(crate) const NAMES: [&str; 11] =
        ["bool", "byte", "ubyte", "short", "ushort", "int", "uint", "long", "ulong", "float", "double"];

    /// Its name in a schema.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Its name in Rust.
    pub(crate) fn rust_name(self) -> &'static str {
        ["bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"][self as usize]
    }

    /// Bytes, which are its alignment too.
    pub(crate) fn size(self) -> u32 {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Least and greatest value of an integer (or bool); `None` for floats.
    pub(crate) fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Bool => (0, 1),
            Self::I8 => (i8::MIN.into(), i8::MAX.into()),
            Self::U8 => (0, u8::MAX.into()),
            Self::I16 => (i16::MIN.into(), i16::MAX.into()),
            Self::U16 => (0, u16::MAX.into()),
            Self::I32 => (i32::MIN.into(), i32::MAX.into()),
            Self::U32 => (0, u32::MAX.into()),
            Self::I64 => (i64::MIN.into(), i64::MAX.into()),
            Self::U64 => (0, u64::MAX.into()),
            Self::F32 | Self::F64 => return None,
        })
    }

    /// Whether it has no negative values.
    pub(crate) fn is_unsigned(self) -> bool {
        self.range().is_some_and(|(least, _)| least == 0)
    }
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// One element.
    One(Element),
    /// Any number of them.
    Vector(Element),
    /// A fixed number of them, in structs.
    Array(Element, u16),
}

/// What stands in a field, a vector or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Scalar(Scalar),
    Enum(EnumId),
    Text,
    Struct(ObjectId),
    Table(ObjectId),
    Union(UnionId),
}

/// Which of the two kinds of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Table,
    Struct,
}

/// A table or a struct.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) declaration: Declaration,
    pub(crate) kind: ObjectKind,
    /// In order of declaration.
    pub(crate) fields: Vec<Field>,
    /// Alignment of a struct; 1 for a table.
    pub(crate) align: u32,
    /// Bytes of a struct; 0 for a table.
    pub(crate) size: u32,
    /// `force_align` asks for more than the fields do.
    pub(crate) is_over_aligned: bool,
}

/// A field.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) documentation: Vec<String>,
    pub(crate) attributes: Attributes,
    pub(crate) field_type: Type,
    /// Place in the vtable, or in the struct; a union's type has the id before this one.
    pub(crate) id: u16,
    /// The schema says the id itself.
    pub(crate) has_explicit_id: bool,
    /// Bytes from the struct's start.
    pub(crate) offset: u16,
    /// Bytes of padding after it, in structs.
    pub(crate) padding: u16,
    pub(crate) default: Default,
    pub(crate) presence: Presence,
    pub(crate) is_deprecated: bool,
    pub(crate) is_key: bool,
    /// Alignment of a vector's elements beyond their own.
    pub(crate) align: Option<u32>,
    /// The message in a vector of bytes.
    pub(crate) nested: Option<ObjectId>,
    /// The table in it contains itself this way, so it must stand behind a pointer.
    pub(crate) is_boxed: bool,
    /// Where its name stands.
    pub(crate) span: Span,
}

/// What an absent field reads as.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Default {
    /// Zero, false, nothing.
    Zero,
    /// An integer, bool or enum; never zero.
    Integer(i128),
    /// A floating-point number; never positive zero.
    Real(f64),
    /// A string.
    Text(String),
    /// An empty vector, explicitly.
    EmptyVector,
}

/// Whether a field may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It reads as its default then.
    Default,
    /// That can be told apart.
    Optional,
    /// It may not.
    Required,
}

/// An enum.
#[derive(Clone, Debug)]
pub(crate) struct Enum {
    pub(crate) declaration: Declaration,
    pub(crate) underlying: Scalar,
    /// `bit_flags`: the values are masks.
    pub(crate) is_flags: bool,
    /// In order of declaration.
    pub(crate) values: Vec<EnumValue>,
}

impl Enum {
    /// The enumerator of a number.
    pub(crate) fn value(&self, number: i128) -> Option<&EnumValue> {
        self.values.iter().find(|value| value.value == number)
    }
}

/// An enumerator.
#[derive(Clone, Debug)]
pub(crate) struct EnumValue {
    pub(crate) name: String,
    pub(crate) documentation: Vec<String>,
    pub(crate) attributes: Attributes,
    pub(crate) value: i128,
    /// Where its name stands.
    pub(crate) span: Span,
}

/// A union. `NONE`, number 0, is not among its members.
#[derive(Clone, Debug)]
pub(crate) struct Union {
    pub(crate) declaration: Declaration,
    /// The type of its tag, where the schema names one.
    pub(crate) underlying: Option<Scalar>,
    /// In order of declaration.
    pub(crate) members: Vec<Member>,
}

/// A member of a union.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) documentation: Vec<String>,
    pub(crate) attributes: Attributes,
    pub(crate) number: i128,
    /// Where its name stands.
    pub(crate) span: Span,
    /// A table, a struct or a string.
    pub(crate) element: Element,
    /// The union contains itself through this table.
    pub(crate) is_boxed: bool,
}
