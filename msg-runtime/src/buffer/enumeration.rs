//! Enums, and the bare enum field, which is closed: a number that is none of its values makes a payload invalid.

use std::{any::TypeId, fmt, marker::PhantomData};

use super::{
    build::Encoder,
    describe::{About, EnumFacts, EnumeratorSpec, Shape},
    plain::Plain,
    scalar::Scalar,
    vector::{Vector, VectorView},
    verified::Verified,
    verify::Verifier,
    wire::{DefaultWire, ElementWire, Inline, Place, Wire, copy_flat, sealed::Sealed},
};
use crate::error::Invalid;

/// A derived fieldless enum.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an enum of messages",
    label = "not a message enum",
    note = "put `#[derive(Message)]`, `#[message(namespace = \"..\")]` and `#[repr(u8)]` (or another integer) on it"
)]
pub trait Enumeration: Sized + 'static {
    /// The number behind it.
    type Repr: Scalar;
    /// Fully qualified name.
    const NAME: &'static str;
    /// Its enumerators, by value.
    const VALUES: &'static [EnumeratorSpec];
    /// Their numbers, zero-extended from the width of the number.
    const NUMBERS: &'static [u64];
    /// The first enumerator.
    const FIRST: Self;
    /// Doc comment and attributes.
    const ABOUT: &'static About;

    /// The number of an enumerator.
    fn to_repr(&self) -> Self::Repr;

    /// The enumerator of a number.
    fn from_repr(number: Self::Repr) -> Option<Self>;
}

fn facts<E: Enumeration>() -> EnumFacts {
    EnumFacts {
        name: E::NAME,
        type_id: TypeId::of::<E>(),
        underlying: E::Repr::BASE,
        values: E::VALUES,
        about: E::ABOUT,
    }
}

/// How the binary schema describes an enum.
pub fn enum_shape<E: Enumeration>() -> Shape {
    Shape::Enum(facts::<E>)
}

/// Compile-time proof of the derive: a flag is one bit.
#[track_caller]
pub const fn check_flag(bits: u64) {
    if bits.count_ones() != 1 {
        panic!("a flag of a `bit_flags` enum is one bit: write a power of two, such as `= 1 << 3`");
    }
}

/// True when zero is one of its numbers.
pub const fn has_zero<E: Enumeration>() -> bool {
    let mut index = 0;
    while index < E::NUMBERS.len() {
        if E::NUMBERS[index] == 0 {
            return true;
        }
        index += 1;
    }
    false
}

/// True when these bytes are the number of an enumerator.
pub fn is_enumerator<E: Enumeration>(bytes: &[u8]) -> bool {
    from_le_bytes::<E>(bytes).is_some()
}

fn from_le_bytes<E: Enumeration>(bytes: &[u8]) -> Option<E> {
    let mut bits = [0; 8];
    bits.get_mut(..bytes.len())?.copy_from_slice(bytes);
    E::from_repr(E::Repr::of_bits64(u64::from_le_bytes(bits)))
}

/// Shows an enumerator by its name on the wire.
///
/// # Errors
///
/// Those of the formatter.
pub fn show_enumerator<E: Enumeration>(value: &E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    show_number::<E>(value.to_repr(), f)
}

pub(super) fn show_number<E: Enumeration>(number: E::Repr, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match name_of::<E>(number.bits64()) {
        Some(name) => f.write_str(name),
        None => fmt::Debug::fmt(&number, f),
    }
}

fn name_of<E: Enumeration>(bits: u64) -> Option<&'static str> {
    let index = E::NUMBERS.iter().position(|number| *number == bits)?;
    E::VALUES.get(index).map(|value| value.name)
}

/// The wire kind of a bare enum field: a number that is none of its values makes the payload invalid.
#[derive(Debug)]
pub struct Closed<E>(PhantomData<E>);

impl<E> Sealed for Closed<E> {}

impl<E: Enumeration + Plain> Wire for Closed<E> {
    type View<'a> = E;
    const INLINE: Inline = Inline::of::<E::Repr>();
    const IS_KEY: bool = true;
    const KNOWN: Option<&'static [u64]> = Some(E::NUMBERS);

    fn shape() -> Shape {
        enum_shape::<E>()
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        verifier.range(place.at, Self::INLINE)?;
        Self::verify_elements(verifier, place.at, 1)
    }

    #[inline]
    fn read<'a>(bytes: Verified<'a>, place: Place, default: u64) -> E {
        E::from_repr(E::Repr::load(bytes, place, default)).unwrap_or(E::FIRST)
    }

    fn show(view: E, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_enumerator(&view, f)
    }
}

impl<E: Enumeration + Plain> DefaultWire for Closed<E> {
    type Number = E::Repr;
    type Constant = E;
}

impl<E: Enumeration + Plain> ElementWire for Closed<E> {
    type Vector = Vector<Self>;
    type Slice<'a> = VectorView<'a, Self>;

    fn to_vec<F>(slice: VectorView<'_, Self>, make: impl Fn(Self::View<'_>) -> F) -> Vec<F> {
        slice.iter().map(make).collect()
    }

    fn copy_vector(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        copy_flat::<Self>(bytes, from, out, to);
    }

    fn verify_elements(verifier: &mut Verifier<'_>, start: usize, len: usize) -> Result<(), Invalid> {
        let size = Self::INLINE.size;
        let all = verifier.bytes(start, len * size)?.chunks_exact(size).all(is_enumerator::<E>);
        if all { Ok(()) } else { Err(Invalid::UnknownValue) }
    }

    fn slice(bytes: Verified<'_>, start: usize, len: usize) -> VectorView<'_, Self> {
        VectorView::new(bytes, start, len)
    }

    fn show_slice(slice: VectorView<'_, Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&slice, f)
    }
}
