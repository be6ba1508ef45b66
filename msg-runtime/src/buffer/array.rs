//! Arrays: part of the memory of plain structs, and vectors of a fixed length in tables.

use std::{fmt, marker::PhantomData};

use super::{
    build::Encoder,
    describe::Shape,
    field::{Element, Field, FromWire},
    memory::{cast, zero},
    plain::{Plain, encode_plain_slice, show_plain_slice, verify_plain},
    verified::Verified,
    verify::Verifier,
    wire::{Inline, Place, Wire, sealed::Sealed},
};
use crate::error::Invalid;

// SAFETY: an array has the bytes of its elements and nothing else.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {
    const ANY_BITS: bool = {
        assert!(N > 0 && N <= u16::MAX as usize, "an array in a plain struct has 1 to 65535 elements");
        T::ANY_BITS
    };
    const ZERO_IS_VALID: bool = T::ZERO_IS_VALID;

    fn is_valid(bytes: &[u8]) -> bool {
        Self::ANY_BITS || bytes.chunks_exact(size_of::<T>()).all(T::is_valid)
    }

    fn plain_shape() -> Shape {
        Shape::Array(T::plain_shape, N as u16)
    }

    fn show_plain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_plain_slice(self, f)
    }
}

/// The wire kind of an array in a table: a vector whose length is checked.
#[derive(Debug)]
pub struct ArrayOf<T, const N: usize>(PhantomData<T>);

impl<T, const N: usize> Sealed for ArrayOf<T, N> {}

impl<T: Plain + Field<Wire: Wire>, const N: usize> Wire for ArrayOf<T, N> {
    type View<'a> = &'a [T; N];
    const INLINE: Inline = Inline::OFFSET;
    const OWNED: usize = size_of::<[T; N]>();
    const CHECKS_ABSENCE: bool = !T::ZERO_IS_VALID;

    fn shape() -> Shape {
        Shape::Vector(<T::Wire as Wire>::shape)
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        if place.is_absent() {
            return if T::ZERO_IS_VALID { Ok(()) } else { Err(Invalid::MissingField) };
        }
        let at = verifier.follow(place.at)?;
        if verifier.vector(at, Inline::of::<T>())? != N {
            return Err(Invalid::WrongLength);
        }
        verify_plain::<T>(verifier, at + 4, N)
    }

    fn read<'a>(bytes: Verified<'a>, place: Place, _: u64) -> &'a [T; N] {
        if place.is_absent() { zero() } else { cast(bytes, bytes.follow(place.at) + 4) }
    }

    fn copy(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        encode_plain_slice(Self::read(bytes, from, 0), out, to);
    }

    fn show(view: &[T; N], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        view.show_plain(f)
    }
}

impl<T: Plain + Element, const N: usize> Field for [T; N] {
    type Wire = ArrayOf<T, N>;

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        encode_plain_slice(self, out, place);
    }
}

impl<T: Plain + Element, const N: usize> FromWire for [T; N] {
    fn from_wire(view: &[T; N]) -> Self {
        *view
    }
}
