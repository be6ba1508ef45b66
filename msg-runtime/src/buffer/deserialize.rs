//! Owned values from serde: what the derive of serde cannot know of the types of this crate. The forms are those that
//! [`serialize`](super::serialize) gives.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

use super::{
    enumeration::Enumeration,
    nested::Nested,
    open::{Flags, Open},
    scalar::Scalar,
};
use crate::message::Message;

/// Reads the number of an enum: a number, a name, or for flags names with blanks between.
struct EnumNumber<E> {
    are_flags: bool,
    enumeration: PhantomData<E>,
}

impl<E: Enumeration> EnumNumber<E> {
    /// The bits of an enumerator.
    fn named(name: &str) -> Option<u64> {
        let value = E::VALUES.iter().find(|value| value.name == name)?;
        Some(value.value as u64)
    }

    fn number<Err: Error>(number: i128) -> Result<E::Repr, Err> {
        let bits = 8 * size_of::<E::Repr>() as u32;
        let range = match E::Repr::BASE.is_unsigned() {
            true => 0..1 << bits,
            false => -(1_i128 << (bits - 1))..1 << (bits - 1),
        };
        match range.contains(&number) {
            true => Ok(E::Repr::of_bits64(number as u64)),
            false => Err(Err::custom(format!("{number} is no number of `{}`", E::NAME))),
        }
    }
}

impl<E: Enumeration> Visitor<'_> for EnumNumber<E> {
    type Value = E::Repr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.are_flags {
            true => write!(f, "names of `{}` with blanks between, or a number", E::NAME),
            false => write!(f, "a name of `{}`, or a number", E::NAME),
        }
    }

    fn visit_i64<Err: Error>(self, number: i64) -> Result<E::Repr, Err> {
        Self::number(number.into())
    }

    fn visit_u64<Err: Error>(self, number: u64) -> Result<E::Repr, Err> {
        Self::number(number.into())
    }

    fn visit_str<Err: Error>(self, text: &str) -> Result<E::Repr, Err> {
        let bits = |name: &str| {
            Self::named(name).ok_or_else(|| Err::custom(format!("`{}` has no `{name}`", E::NAME)))
        };
        let all = match self.are_flags {
            true => text.split_whitespace().try_fold(0, |all, name| Ok(all | bits(name)?))?,
            false => bits(text)?,
        };
        Ok(E::Repr::of_bits64(all))
    }
}

impl<'de, E: Enumeration> Deserialize<'de> for Open<E> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = EnumNumber::<E> { are_flags: false, enumeration: PhantomData };
        from.deserialize_any(number).map(Self::from_number)
    }
}

impl<'de, E: Enumeration> Deserialize<'de> for Flags<E> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = EnumNumber::<E> { are_flags: true, enumeration: PhantomData };
        from.deserialize_any(number).map(Self::from_bits)
    }
}

/// Its bytes, which are verified when they are looked at.
impl<'de, M: Message> Deserialize<'de> for Nested<M> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::deserialize(from).map(Self::from_bytes)
    }
}

/// Arrays of any length, for `#[serde(with = "..")]`: serde itself knows those of up to 32 elements.
pub mod array {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    /// A sequence of its elements.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<T: Serialize, S: Serializer, const N: usize>(
        array: &[T; N],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(array)
    }

    /// An array from a sequence of as many elements.
    ///
    /// # Errors
    ///
    /// There are more or fewer; or those of the deserializer.
    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>, const N: usize>(
        from: D,
    ) -> Result<[T; N], D::Error> {
        let elements = Vec::deserialize(from)?;
        let found = elements.len();
        elements.try_into().map_err(|_| D::Error::custom(format!("found {found} elements, expected {N}")))
    }
}
