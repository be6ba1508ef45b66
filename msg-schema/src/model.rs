//! The schema model: objects and enums by fully qualified name.
//!
//! Where `reflection.fbs` has an index into `objects` or `enums`, the model has the name, so that it can be built
//! in any order and compared without a table; `write` sorts and resolves names, `read` puts them back.

/// A whole schema: the types that are reachable from one root, or everything in a set of schema files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// Tables and structs.
    pub objects: Vec<Object>,
    /// Enums and unions.
    pub enums: Vec<Enum>,
    /// The four characters of `file_identifier`, or empty.
    pub file_identifier: String,
    /// The `file_extension`, without a dot, or empty.
    pub file_extension: String,
    /// Fully qualified name of the root table, if there is one.
    pub root: Option<String>,
    /// Bits of `reflection.AdvancedFeatures`.
    pub advanced_features: u64,
}

/// Whether an object is a table or a struct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectKind {
    /// Fields are found through a vtable and may be absent.
    #[default]
    Table,
    /// Fields stand at fixed offsets.
    Struct,
}

/// A table or a struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    /// Fully qualified name.
    pub name: String,
    /// Table or struct.
    pub kind: ObjectKind,
    /// Fields, in order of declaration.
    pub fields: Vec<Field>,
    /// Alignment of a struct in bytes; 1 for a table.
    pub min_align: u32,
    /// Size of a struct in bytes; 0 for a table.
    pub byte_size: u32,
    /// Attributes with their values ("0" for a flag).
    pub attributes: Vec<(String, String)>,
    /// Doc comment, a line an entry, each with its leading blank.
    pub documentation: Vec<String>,
}

/// A field of a table or a struct.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// Name as the schema spells it.
    pub name: String,
    /// Its type.
    pub field_type: Type,
    /// Position in the vtable (tables) or in order (structs); a union's type field has the id before the union's.
    pub id: u16,
    /// Offset of the vtable entry in bytes (tables: 4 + 2 * id) or of the field in the struct.
    pub offset: u16,
    /// Default of an integer, boolean or enum.
    pub default_integer: i64,
    /// Default of a floating-point number.
    pub default_real: f64,
    /// Old: kept for its id, no longer written.
    pub deprecated: bool,
    /// Must be present.
    pub required: bool,
    /// The key by which vectors of the table are sorted.
    pub key: bool,
    /// May be absent without a default in its place.
    pub optional: bool,
    /// Bytes of padding after the field (structs).
    pub padding: u16,
    /// Attributes with their values ("0" for a flag).
    pub attributes: Vec<(String, String)>,
    /// Doc comment, a line an entry, each with its leading blank.
    pub documentation: Vec<String>,
    /// The field is reached through a 64-bit offset.
    pub offset64: bool,
}

impl PartialEq for Field {
    /// As derived, but that a default of NaN equals itself: a type with one would otherwise differ from itself.
    fn eq(&self, other: &Self) -> bool {
        let same_real = self.default_real == other.default_real
            || (self.default_real.is_nan() && other.default_real.is_nan());
        let flags =
            |field: &Self| [field.deprecated, field.required, field.key, field.optional, field.offset64];
        same_real
            && self.name == other.name
            && self.field_type == other.field_type
            && self.id == other.id
            && self.offset == other.offset
            && self.default_integer == other.default_integer
            && flags(self) == flags(other)
            && self.padding == other.padding
            && self.attributes == other.attributes
            && self.documentation == other.documentation
    }
}

/// An enum or a union.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Enum {
    /// Fully qualified name.
    pub name: String,
    /// Enumerators by value; a union's first is `NONE`.
    pub values: Vec<EnumValue>,
    /// True for a union: each value names the type of a member.
    pub is_union: bool,
    /// The number behind it; for a union `UType`.
    pub underlying: Type,
    /// Attributes with their values ("0" for a flag).
    pub attributes: Vec<(String, String)>,
    /// Doc comment, a line an entry, each with its leading blank.
    pub documentation: Vec<String>,
}

/// An enumerator, or a member of a union.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnumValue {
    /// Name as the schema spells it.
    pub name: String,
    /// Its number; `bit_flags` are shifted already; unsigned 64-bit numbers keep their bits.
    pub value: i64,
    /// The type of a union's member; `None` for `NONE` and for what is in no union.
    pub union_type: Option<Type>,
    /// Attributes with their values.
    pub attributes: Vec<(String, String)>,
    /// Doc comment, a line an entry, each with its leading blank.
    pub documentation: Vec<String>,
}

/// The type of a field, an enum's number or a union's member.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Type {
    /// What stands in the field.
    pub base: BaseType,
    /// What a vector or an array holds; `None` otherwise.
    pub element: BaseType,
    /// Fully qualified name of the object, enum or union meant, if it is one.
    pub target: Option<String>,
    /// Elements of an array.
    pub fixed_length: u16,
    /// Bytes of `base` in place.
    pub base_size: u32,
    /// Bytes of an element (vectors and arrays).
    pub element_size: u32,
}

/// `reflection.BaseType`; the numbers are the format's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum BaseType {
    #[default]
    None = 0,
    UType = 1,
    Bool = 2,
    Byte = 3,
    UByte = 4,
    Short = 5,
    UShort = 6,
    Int = 7,
    UInt = 8,
    Long = 9,
    ULong = 10,
    Float = 11,
    Double = 12,
    String = 13,
    Vector = 14,
    Obj = 15,
    Union = 16,
    Array = 17,
    Vector64 = 18,
}
