//! Numbers and `bool`.

use std::fmt;

use msg_schema::BaseType;

use super::{
    build::Encoder,
    describe::Shape,
    field::{Element, Field, FromWire},
    key::KeyOrder,
    memory::cast_slice,
    plain::{Plain, encode_plain_slice, show_plain_slice},
    vector::{Vector, VectorView},
    verified::Verified,
    verify::Verifier,
    wire::{DefaultWire, ElementWire, Inline, Kind, Place, Wire, copy_flat, sealed::Sealed},
};
use crate::error::Invalid;

/// A number: also the number behind an enum.
pub trait Scalar: Plain + Wire + Element + KeyOrder + PartialEq + fmt::Debug {
    /// Its name in the binary schema.
    const BASE: BaseType;

    /// The number in the low bytes.
    fn of_bits64(bits: u64) -> Self;

    /// The number, zero-extended.
    fn bits64(self) -> u64;

    /// The number at `place`, or the default.
    fn load(bytes: Verified<'_>, place: Place, default: u64) -> Self;
}

macro_rules! scalars {
    ($($number:ident $bits:ident $base:ident)*) => {$(
        impl Sealed for $number {}

        impl Scalar for $number {
            const BASE: BaseType = BaseType::$base;

            #[inline]
            fn of_bits64(bits: u64) -> Self {
                Self::from_ne_bytes((bits as $bits).to_ne_bytes())
            }

            #[inline]
            fn bits64(self) -> u64 {
                u64::from($bits::from_ne_bytes(self.to_ne_bytes()))
            }

            #[inline]
            fn load(bytes: Verified<'_>, place: Place, default: u64) -> Self {
                if place.is_absent() {
                    return Self::of_bits64(default);
                }
                match bytes.get(place.at, size_of::<Self>()).and_then(|bytes| bytes.first_chunk()) {
                    Some(bytes) => Self::from_le_bytes(*bytes),
                    None => Self::of_bits64(default),
                }
            }
        }

        // SAFETY: a primitive number: every byte pattern is a value and there is no padding.
        unsafe impl Plain for $number {
            const ANY_BITS: bool = true;
            const ZERO_IS_VALID: bool = true;

            fn is_valid(_: &[u8]) -> bool {
                true
            }

            fn plain_shape() -> Shape {
                Shape::Scalar(Self::BASE)
            }

            fn show_plain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self, f)
            }
        }

        impl Wire for $number {
            type View<'a> = Self;
            const INLINE: Inline = Inline::of::<Self>();
            const IS_KEY: bool = true;
            const KIND: Kind = Kind::Inline;

            fn shape() -> Shape {
                Shape::Scalar(Self::BASE)
            }

            fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
                verifier.range(place.at, Self::INLINE)
            }

            #[inline]
            fn read<'a>(bytes: Verified<'a>, place: Place, default: u64) -> Self {
                Self::load(bytes, place, default)
            }

            fn show(view: Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&view, f)
            }
        }

        impl DefaultWire for $number {
            type Number = Self;
            type Constant = Self;
        }

        impl ElementWire for $number {
            type Vector = Vector<Self>;
            type Slice<'a> = &'a [Self];

            fn to_vec<F>(slice: &[Self], make: impl Fn(Self::View<'_>) -> F) -> Vec<F> {
                slice.iter().copied().map(make).collect()
            }

            fn copy_vector(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
                copy_flat::<Self>(bytes, from, out, to);
            }

            fn verify_elements(_: &mut Verifier<'_>, _: usize, _: usize) -> Result<(), Invalid> {
                Ok(())
            }

            #[inline]
            fn slice(bytes: Verified<'_>, start: usize, len: usize) -> &[Self] {
                cast_slice(bytes, start, len)
            }

            fn show_slice(slice: &[Self], f: &mut fmt::Formatter<'_>) -> fmt::Result {
                show_plain_slice(slice, f)
            }
        }

        impl Field for $number {
            type Wire = Self;

            #[inline]
            fn encode(&self, out: &mut Encoder<'_>, place: Place) {
                out.put(place.at, &self.to_le_bytes());
            }
        }

        impl FromWire for $number {
            #[inline]
            fn from_wire(view: Self) -> Self {
                view
            }
        }

        impl Element for $number {
            #[inline]
            fn encode_all(items: &[Self], out: &mut Encoder<'_>, place: Place) {
                encode_plain_slice(items, out, place);
            }
        }
    )*};
}

scalars! {
    u8 u8 UByte
    i8 u8 Byte
    u16 u16 UShort
    i16 u16 Short
    u32 u32 UInt
    i32 u32 Int
    u64 u64 ULong
    i64 u64 Long
    f32 u32 Float
    f64 u64 Double
}

impl Sealed for bool {}

// SAFETY: one byte, of which `is_valid` accepts the two that are a `bool`.
unsafe impl Plain for bool {
    const ANY_BITS: bool = false;
    const ZERO_IS_VALID: bool = true;

    fn is_valid(bytes: &[u8]) -> bool {
        matches!(bytes, [0 | 1])
    }

    fn plain_shape() -> Shape {
        Shape::Scalar(BaseType::Bool)
    }

    fn show_plain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// In a table or vector any number but 0 is true, as in every FlatBuffers library.
impl Wire for bool {
    type View<'a> = Self;
    const INLINE: Inline = Inline::of::<Self>();
    const IS_KEY: bool = true;
    const KIND: Kind = Kind::Inline;

    fn shape() -> Shape {
        Shape::Scalar(BaseType::Bool)
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        verifier.range(place.at, Self::INLINE)
    }

    #[inline]
    fn read<'a>(bytes: Verified<'a>, place: Place, default: u64) -> Self {
        u8::load(bytes, place, default) != 0
    }

    fn show(view: Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&view, f)
    }
}

impl DefaultWire for bool {
    type Number = Self;
    type Constant = Self;
}

impl ElementWire for bool {
    type Vector = Vector<Self>;
    type Slice<'a> = VectorView<'a, Self>;

    fn to_vec<F>(slice: VectorView<'_, Self>, make: impl Fn(Self::View<'_>) -> F) -> Vec<F> {
        slice.iter().map(make).collect()
    }

    fn copy_vector(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        copy_flat::<Self>(bytes, from, out, to);
    }

    fn verify_elements(_: &mut Verifier<'_>, _: usize, _: usize) -> Result<(), Invalid> {
        Ok(())
    }

    fn slice(bytes: Verified<'_>, start: usize, len: usize) -> VectorView<'_, Self> {
        VectorView::new(bytes, start, len)
    }

    fn show_slice(slice: VectorView<'_, Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&slice, f)
    }
}

impl Field for bool {
    type Wire = Self;

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        out.put(place.at, &[u8::from(*self)]);
    }
}

impl FromWire for bool {
    fn from_wire(view: Self) -> Self {
        view
    }
}

impl Element for bool {
    fn encode_all(items: &[Self], out: &mut Encoder<'_>, place: Place) {
        encode_plain_slice(items, out, place);
    }
}
