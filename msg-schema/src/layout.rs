//! Facts about base types, and types made from them: what the format calls them and how many bytes they take.

use crate::model::{BaseType, Enum, EnumValue, Type};

impl BaseType {
    /// All base types, by number.
    pub(crate) const ALL: [Self; 19] = [
        Self::None,
        Self::UType,
        Self::Bool,
        Self::Byte,
        Self::UByte,
        Self::Short,
        Self::UShort,
        Self::Int,
        Self::UInt,
        Self::Long,
        Self::ULong,
        Self::Float,
        Self::Double,
        Self::String,
        Self::Vector,
        Self::Obj,
        Self::Union,
        Self::Array,
        Self::Vector64,
    ];

    /// Bytes in place, as flatc counts them: a reference takes 4, and so do, by its count, structs and arrays, whose
    /// real extent [`Object::byte_size`](crate::Object::byte_size) and [`Type::fixed_length`] tell.
    pub const fn size(self) -> u32 {
        match self {
            Self::None | Self::UType | Self::Bool | Self::Byte | Self::UByte => 1,
            Self::Short | Self::UShort => 2,
            Self::Int | Self::UInt | Self::Float => 4,
            Self::Long | Self::ULong | Self::Double | Self::Vector64 => 8,
            Self::String | Self::Vector | Self::Obj | Self::Union | Self::Array => 4,
        }
    }

    /// True for booleans, integers, enums' numbers and floating-point numbers: what stands in place and may have a
    /// default.
    pub const fn is_scalar(self) -> bool {
        self.is_integer() || self.is_real()
    }

    /// True for booleans, integers and the number of a union's member.
    pub const fn is_integer(self) -> bool {
        (self as u8) >= (Self::UType as u8) && (self as u8) <= (Self::ULong as u8)
    }

    /// True for `float` and `double`.
    pub const fn is_real(self) -> bool {
        matches!(self, Self::Float | Self::Double)
    }

    /// True for the unsigned integers, whose enumerators sort as such.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, Self::UType | Self::Bool | Self::UByte | Self::UShort | Self::UInt | Self::ULong)
    }

    /// The word of the schema language for a scalar or a string; the others have none and give what they are.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::UType => "utype",
            Self::Bool => "bool",
            Self::Byte => "byte",
            Self::UByte => "ubyte",
            Self::Short => "short",
            Self::UShort => "ushort",
            Self::Int => "int",
            Self::UInt => "uint",
            Self::Long => "long",
            Self::ULong => "ulong",
            Self::Float => "float",
            Self::Double => "double",
            Self::String => "string",
            Self::Vector => "vector",
            Self::Obj => "object",
            Self::Union => "union",
            Self::Array => "array",
            Self::Vector64 => "vector64",
        }
    }
}

impl Type {
    /// A scalar or a string, without a name of its own.
    pub const fn plain(base: BaseType) -> Self {
        let element = BaseType::None;
        Self {
            base,
            element,
            target: None,
            fixed_length: 0,
            base_size: base.size(),
            element_size: element.size(),
        }
    }

    /// Something with a name: a table or struct (`Obj`), a union (`Union`, and `UType` for its number) or an enum
    /// (the integer behind it).
    pub fn named(base: BaseType, target: impl Into<String>) -> Self {
        Self { target: Some(target.into()), ..Self::plain(base) }
    }

    /// A vector of what `element` is; `struct_size` is a struct's size in bytes, since its elements stand in place.
    pub fn vector(element: &Self, struct_size: Option<u32>) -> Self {
        Self {
            element: element.base,
            target: element.target.clone(),
            element_size: struct_size.unwrap_or(element.base.size()),
            ..Self::plain(BaseType::Vector)
        }
    }

    /// A fixed array of what `element` is. The format counts 4 bytes for an element that is a struct.
    pub fn array(element: &Self, fixed_length: u16) -> Self {
        Self {
            element: element.base,
            target: element.target.clone(),
            fixed_length,
            element_size: element.base.size(),
            ..Self::plain(BaseType::Array)
        }
    }

    /// As the schema language spells it: `[ubyte]`, `[int:3]`, `demo.Vec3`.
    pub fn text(&self) -> String {
        let inner = if self.element == BaseType::None { self.base } else { self.element };
        let name = self.target.as_deref().unwrap_or(inner.keyword());
        match self.base {
            BaseType::Vector | BaseType::Vector64 => format!("[{name}]"),
            BaseType::Array => format!("[{name}:{}]", self.fixed_length),
            _ => name.to_owned(),
        }
    }

    /// True if [`Type::target`] is a table or a struct; otherwise it is an enum or a union.
    pub fn names_object(&self) -> bool {
        self.base == BaseType::Obj || self.element == BaseType::Obj
    }

    /// True if the type means nothing without a [`Type::target`].
    pub(crate) fn needs_name(&self) -> bool {
        let of_a_name = |base| matches!(base, BaseType::Obj | BaseType::Union);
        of_a_name(self.base) || of_a_name(self.element)
    }

    /// True for the number that says which member of a union is there, and for a vector of these.
    pub fn is_union_number(&self) -> bool {
        self.base == BaseType::UType || self.element == BaseType::UType
    }
}

impl Enum {
    /// An enumerator's number, read as the enum's base type has it: with or without a sign.
    pub fn number(&self, value: &EnumValue) -> i128 {
        if self.underlying.base.is_unsigned() {
            i128::from(value.value as u64)
        } else {
            i128::from(value.value)
        }
    }

    /// Puts the enumerators into the order of their numbers.
    pub fn sort_values(&mut self) {
        let unsigned = self.underlying.base.is_unsigned();
        // The bits of a signed number, with the sign turned round, sort as the number does.
        self.values
            .sort_by_key(|value| if unsigned { value.value as u64 } else { value.value as u64 ^ (1 << 63) });
    }
}

#[cfg(test)]
mod tests {
    use crate::{BaseType, Enum, EnumValue, Type};

    #[test]
    fn types_are_spelled_as_in_a_schema() {
        let check = |meant: Type, expected: &str| assert_eq!(meant.text(), expected);
        let vec3 = Type::named(BaseType::Obj, "demo.Vec3");
        check(Type::plain(BaseType::UByte), "ubyte");
        check(Type::plain(BaseType::String), "string");
        check(Type::named(BaseType::Short, "demo.Mode"), "demo.Mode");
        check(Type::vector(&Type::plain(BaseType::UByte), None), "[ubyte]");
        check(Type::vector(&Type::plain(BaseType::String), None), "[string]");
        check(Type::vector(&vec3, Some(12)), "[demo.Vec3]");
        check(Type::array(&Type::plain(BaseType::Int), 3), "[int:3]");
        check(Type::array(&vec3, 2), "[demo.Vec3:2]");
        check(vec3, "demo.Vec3");
    }

    #[test]
    fn base_types_stand_at_their_numbers() {
        for (number, base) in (0u8..).zip(BaseType::ALL) {
            assert_eq!(base as u8, number);
            assert!(!base.is_unsigned() || base.is_integer());
        }
    }

    #[test]
    fn enumerators_are_sorted_as_their_numbers_are_read() {
        let check = |base, expected: [i64; 3]| {
            let value = |value| EnumValue { value, ..EnumValue::default() };
            let values = [-1, 0, 1].map(value).to_vec();
            let mut sorted = Enum { values, underlying: Type::plain(base), ..Enum::default() };
            sorted.sort_values();
            assert_eq!(sorted.values.iter().map(|value| value.value).collect::<Vec<_>>(), expected);
        };
        check(BaseType::Long, [-1, 0, 1]);
        check(BaseType::ULong, [0, 1, -1]);
    }
}
