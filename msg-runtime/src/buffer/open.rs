//! Enum fields that keep every number: [`Open`] for one value, [`Flags`] for a set of bits.

use std::{
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
    ops::{BitOr, BitOrAssign},
};

use super::{
    build::Encoder,
    describe::Shape,
    enumeration::{Enumeration, enum_shape, show_number},
    field::{Element, Field, FromWire},
    memory::cast_slice,
    plain::{Plain, encode_plain, encode_plain_slice},
    scalar::Scalar,
    vector::Vector,
    verified::Verified,
    verify::Verifier,
    wire::{DefaultWire, ElementWire, Inline, Kind, Place, Wire, copy_flat, sealed::Sealed},
};
use crate::error::Invalid;

/// An enum field that keeps the numbers of newer senders.
///
/// It is the number in memory, so it fits plain structs and slices too.
///
/// # Examples
///
/// ```
/// use msg_runtime::Open;
///
/// #[derive(msg_runtime::Message, Clone, Copy, Debug, PartialEq)]
/// #[message(namespace = "demo")]
/// #[repr(u8)]
/// enum Color {
///     Red,
///     Green,
/// }
///
/// assert_eq!(Open::from(Color::Green), Color::Green);
/// assert_eq!(Open::<Color>::from_number(7).known(), None);
/// ```
#[repr(transparent)]
pub struct Open<E: Enumeration>(E::Repr);

/// A set of the enumerators of a `bit_flags` enum; unknown bits are kept.
///
/// # Examples
///
/// ```
/// use msg_runtime::Flags;
///
/// #[derive(msg_runtime::Message, Clone, Copy, Debug, PartialEq)]
/// #[message(namespace = "demo", bit_flags)]
/// #[repr(u16)]
/// enum Access {
///     Read = 1,
///     Write = 2,
/// }
///
/// let both = Flags::from(Access::Read) | Access::Write;
/// assert!(both.contains(Access::Write));
/// assert_eq!(both.bits(), 3);
/// assert_eq!(format!("{both:?}"), "Read | Write");
/// ```
#[repr(transparent)]
pub struct Flags<E: Enumeration>(E::Repr);

impl<E: Enumeration> Open<E> {
    /// The enumerator, if this program knows the number.
    #[inline]
    pub fn known(self) -> Option<E> {
        E::from_repr(self.0)
    }

    /// The number.
    #[inline]
    pub const fn number(self) -> E::Repr {
        self.0
    }

    /// The value of any number.
    #[inline]
    pub const fn from_number(number: E::Repr) -> Self {
        Self(number)
    }
}

impl<E: Enumeration> From<E> for Open<E> {
    #[inline]
    fn from(value: E) -> Self {
        Self(value.to_repr())
    }
}

impl<E: Enumeration + Default> Default for Open<E> {
    fn default() -> Self {
        E::default().into()
    }
}

impl<E: Enumeration> fmt::Debug for Open<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_number::<E>(self.0, f)
    }
}

impl<E: Enumeration> Flags<E> {
    /// No bit.
    pub fn empty() -> Self {
        Self(E::Repr::of_bits64(0))
    }

    /// All bits, the unknown ones too.
    #[inline]
    pub const fn bits(self) -> E::Repr {
        self.0
    }

    /// A set of any bits.
    #[inline]
    pub const fn from_bits(bits: E::Repr) -> Self {
        Self(bits)
    }

    /// True without bits.
    pub fn is_empty(self) -> bool {
        self.0.bits64() == 0
    }

    /// True when it has the bits of `value`.
    pub fn contains(self, value: E) -> bool {
        let bits = value.to_repr().bits64();
        self.0.bits64() & bits == bits
    }

    /// Adds the bits of `value`.
    pub fn insert(&mut self, value: E) {
        self.0 = E::Repr::of_bits64(self.0.bits64() | value.to_repr().bits64());
    }

    /// Takes the bits of `value` out.
    pub fn remove(&mut self, value: E) {
        self.0 = E::Repr::of_bits64(self.0.bits64() & !value.to_repr().bits64());
    }
}

impl<E: Enumeration> From<E> for Flags<E> {
    fn from(value: E) -> Self {
        Self(value.to_repr())
    }
}

impl<E: Enumeration> FromIterator<E> for Flags<E> {
    fn from_iter<I: IntoIterator<Item = E>>(values: I) -> Self {
        values.into_iter().fold(Self::empty(), |set, value| set | value)
    }
}

impl<E: Enumeration> Default for Flags<E> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<E: Enumeration> BitOr<E> for Flags<E> {
    type Output = Self;

    fn bitor(mut self, value: E) -> Self {
        self.insert(value);
        self
    }
}

impl<E: Enumeration> BitOr for Flags<E> {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(E::Repr::of_bits64(self.0.bits64() | other.0.bits64()))
    }
}

impl<E: Enumeration> BitOrAssign<E> for Flags<E> {
    fn bitor_assign(&mut self, value: E) {
        self.insert(value);
    }
}

impl<E: Enumeration> fmt::Debug for Flags<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.bits64();
        let mut between = "";
        for (value, bits) in E::VALUES.iter().zip(E::NUMBERS) {
            if *bits != 0 && rest & bits == *bits {
                write!(f, "{between}{}", value.name)?;
                rest &= !bits;
                between = " | ";
            }
        }
        if rest != 0 || between.is_empty() {
            write!(f, "{between}{rest:#x}")?;
        }
        Ok(())
    }
}

/// The wire kind of [`Open`].
#[derive(Debug)]
pub struct OpenOf<E>(PhantomData<E>);

/// The wire kind of [`Flags`].
#[derive(Debug)]
pub struct FlagsOf<E>(PhantomData<E>);

// What the two wrappers of a number have in common.
macro_rules! number_wrapper {
    ($wrapper:ident $kind:ident $known:expr) => {
        impl<E: Enumeration> Clone for $wrapper<E> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<E: Enumeration> Copy for $wrapper<E> {}

        impl<E: Enumeration> PartialEq for $wrapper<E> {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl<E: Enumeration> Eq for $wrapper<E> {}

        impl<E: Enumeration> PartialEq<E> for $wrapper<E> {
            fn eq(&self, other: &E) -> bool {
                self.0 == other.to_repr()
            }
        }

        impl<E: Enumeration> Hash for $wrapper<E> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.bits64().hash(state);
            }
        }

        // SAFETY: transparent over a number, which is `Plain` with any bits.
        unsafe impl<E: Enumeration> Plain for $wrapper<E> {
            const ANY_BITS: bool = {
                assert!(<E::Repr as Plain>::ANY_BITS);
                true
            };
            const ZERO_IS_VALID: bool = true;

            fn is_valid(_: &[u8]) -> bool {
                true
            }

            fn plain_shape() -> Shape {
                enum_shape::<E>()
            }

            fn show_plain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self, f)
            }
        }

        impl<E> Sealed for $kind<E> {}

        impl<E: Enumeration> Wire for $kind<E> {
            type View<'a> = $wrapper<E>;
            const INLINE: Inline = Inline::of::<E::Repr>();
            const IS_KEY: bool = true;
            const KIND: Kind = Kind::Inline;
            const KNOWN: Option<&'static [u64]> = $known;

            fn shape() -> Shape {
                enum_shape::<E>()
            }

            fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
                verifier.range(place.at, Self::INLINE)
            }

            #[inline]
            fn read<'a>(bytes: Verified<'a>, place: Place, default: u64) -> $wrapper<E> {
                $wrapper(E::Repr::load(bytes, place, default))
            }

            fn show(view: $wrapper<E>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&view, f)
            }
        }

        impl<E: Enumeration + Plain> DefaultWire for $kind<E> {
            type Number = E::Repr;
            type Constant = E;
        }

        impl<E: Enumeration> ElementWire for $kind<E> {
            type Vector = Vector<Self>;
            type Slice<'a> = &'a [$wrapper<E>];

            fn to_vec<F>(slice: &[$wrapper<E>], make: impl Fn(Self::View<'_>) -> F) -> Vec<F> {
                slice.iter().copied().map(make).collect()
            }

            fn copy_vector(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
                copy_flat::<Self>(bytes, from, out, to);
            }

            fn verify_elements(_: &mut Verifier<'_>, _: usize, _: usize) -> Result<(), Invalid> {
                Ok(())
            }

            fn slice(bytes: Verified<'_>, start: usize, len: usize) -> &[$wrapper<E>] {
                cast_slice(bytes, start, len)
            }

            fn show_slice(slice: &[$wrapper<E>], f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(slice, f)
            }
        }

        impl<E: Enumeration> Field for $wrapper<E> {
            type Wire = $kind<E>;

            #[inline]
            fn encode(&self, out: &mut Encoder<'_>, place: Place) {
                encode_plain(self, out, place);
            }
        }

        impl<E: Enumeration> FromWire for $wrapper<E> {
            fn from_wire(view: Self) -> Self {
                view
            }
        }

        impl<E: Enumeration> Element for $wrapper<E> {
            fn encode_all(items: &[Self], out: &mut Encoder<'_>, place: Place) {
                encode_plain_slice(items, out, place);
            }
        }
    };
}

number_wrapper!(Open OpenOf Some(E::NUMBERS));
number_wrapper!(Flags FlagsOf None);
