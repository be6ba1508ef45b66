//! Structs whose bytes are their memory, used in place.
//!
//! The proof is our own: the derive's one `unsafe impl` stands beside constant checks that every field is
//! [`Plain`] and that the fields fill the struct.

use std::{fmt, marker::PhantomData};

use super::{
    build::Encoder,
    const_text::ConstText,
    describe::{About, Members, ObjectFacts, PlainFieldSpec, Shape},
    memory::{bytes_of, cast_or_zero, cast_slice},
    spec::MAX_ALIGN,
    vector::Vector,
    verified::Verified,
    verify::Verifier,
    wire::{ElementWire, Inline, Place, Wire, copy_flat, sealed::Sealed},
};
use crate::error::Invalid;

/// A type whose bytes are its memory.
///
/// # Safety
///
/// `Self` is a primitive, an array, or `repr(C)`/`repr(transparent)`/`repr(<integer>)`; it has no padding bytes and no
/// pointers; every byte pattern that `is_valid` accepts (every one when `ANY_BITS`) is a value, and so are zeros
/// when `ZERO_IS_VALID`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a plain message",
    label = "not plain",
    note = "a plain message is a `#[repr(C)]` struct with `#[message(plain)]`: it is lent and pushed in place; others are sent",
    note = "plain fields are numbers, `bool`, enums with `#[derive(Message)]`, `Open`, `Flags`, `Padding`, arrays of those, and structs with `#[message(plain)]`; for `String`, `Vec` and `Option` drop `plain` from the message"
)]
pub unsafe trait Plain: Copy + 'static {
    /// Every byte pattern is a value.
    const ANY_BITS: bool;
    /// All bytes zero is a value.
    const ZERO_IS_VALID: bool;

    /// True when these bytes, as many as the type has, are a value.
    fn is_valid(bytes: &[u8]) -> bool;

    /// How the binary schema describes it.
    fn plain_shape() -> Shape;

    /// Shows it, without asking for `Debug`.
    ///
    /// # Errors
    ///
    /// Those of the formatter.
    fn show_plain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Shows it as the field of a struct.
    fn show_field(&self, name: &str, debug: &mut fmt::DebugStruct<'_, '_>) {
        debug.field(name, &ShownPlain(self));
    }
}

/// A plain struct: what the schema knows about it. No part of [`Plain`], so that a struct that is not `Copy` is one mistake.
pub trait PlainStruct: 'static {
    /// Fully qualified name.
    const NAME: &'static str;
    /// Its fields, in order of their offsets.
    const FIELDS: &'static [PlainFieldSpec];
    /// Doc comment and attributes.
    const ABOUT: &'static About;
}

/// The facts about a plain struct.
pub fn plain_facts<T: Plain + PlainStruct>() -> ObjectFacts {
    ObjectFacts {
        name: T::NAME,
        type_id: std::any::TypeId::of::<T>(),
        about: T::ABOUT,
        members: Members::Struct { fields: T::FIELDS, size: size_of::<T>(), align: align_of::<T>() },
    }
}

/// A part of a plain value's bytes; empty where there are too few.
#[inline]
pub fn part(bytes: &[u8], offset: usize, len: usize) -> &[u8] {
    bytes.get(offset..offset + len).unwrap_or_default()
}

/// The value behind a reference.
#[inline]
pub fn plain_copy<T: Plain>(value: &T) -> T {
    *value
}

/// Shows a plain value.
pub(crate) struct ShownPlain<'a, T>(pub(crate) &'a T);

impl<T: Plain> fmt::Debug for ShownPlain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.show_plain(f)
    }
}

/// Compile-time proof of the derive: nothing between the fields before `offset` and the field there.
#[track_caller]
pub const fn check_gap(end: usize, offset: usize, field: &str) {
    if offset > end {
        ConstText::new()
            .text("hidden padding of ")
            .number((offset - end) as u64)
            .text(" bytes before `")
            .text(field)
            .text("`: write `pub padding: msg_runtime::Padding<")
            .number((offset - end) as u64)
            .text(">` in front of it")
            .fail()
    }
    if offset < end {
        panic!("the fields of a plain struct stand one behind the other")
    }
}

/// Compile-time proof of the derive: nothing behind the last field, and an alignment that payloads have.
#[track_caller]
pub const fn check_end(end: usize, size: usize, align: usize) {
    if size == 0 {
        panic!("a plain struct needs a field: FlatBuffers has no empty structs");
    }
    if size > end {
        ConstText::new()
            .text("hidden padding of ")
            .number((size - end) as u64)
            .text(" bytes at the end: write `pub padding: msg_runtime::Padding<")
            .number((size - end) as u64)
            .text(">` as the last field")
            .fail()
    }
    if align > MAX_ALIGN {
        panic!("payloads are aligned to 64 bytes: a plain struct may ask for no more");
    }
}

/// The wire kind of a plain struct in a table or vector.
#[derive(Debug)]
pub struct PlainOf<T>(PhantomData<T>);

impl<T> Sealed for PlainOf<T> {}

/// Checks `count` values whose range was checked before.
pub(super) fn verify_plain<T: Plain>(
    verifier: &mut Verifier<'_>,
    start: usize,
    count: usize,
) -> Result<(), Invalid> {
    if T::ANY_BITS {
        return Ok(());
    }
    let bytes = verifier.bytes(start, count * size_of::<T>())?;
    if bytes.chunks_exact(size_of::<T>()).all(T::is_valid) { Ok(()) } else { Err(Invalid::UnknownValue) }
}

/// Checks a plain value in a table: absent ones read as zeros.
pub(super) fn verify_place<T: Plain>(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
    if place.is_absent() {
        return if T::ZERO_IS_VALID { Ok(()) } else { Err(Invalid::MissingField) };
    }
    verifier.range(place.at, Inline::of::<T>())?;
    verify_plain::<T>(verifier, place.at, 1)
}

impl<T: Plain + PlainStruct> Wire for PlainOf<T> {
    type View<'a> = &'a T;
    const INLINE: Inline = Inline::of::<T>();
    const CHECKS_ABSENCE: bool = !T::ZERO_IS_VALID;
    const IS_KEY: bool = true;

    fn shape() -> Shape {
        Shape::Object(plain_facts::<T>)
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        verify_place::<T>(verifier, place)
    }

    fn read<'a>(bytes: Verified<'a>, place: Place, _: u64) -> &'a T {
        cast_or_zero(bytes, place)
    }

    fn show(view: &T, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        view.show_plain(f)
    }
}

impl<T: Plain + PlainStruct> ElementWire for PlainOf<T> {
    type Vector = Vector<Self>;
    type Slice<'a> = &'a [T];

    fn to_vec<F>(slice: &[T], make: impl Fn(Self::View<'_>) -> F) -> Vec<F> {
        slice.iter().map(make).collect()
    }

    fn copy_vector(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        copy_flat::<Self>(bytes, from, out, to);
    }

    fn verify_elements(verifier: &mut Verifier<'_>, start: usize, len: usize) -> Result<(), Invalid> {
        verify_plain::<T>(verifier, start, len)
    }

    fn slice(bytes: Verified<'_>, start: usize, len: usize) -> &[T] {
        cast_slice(bytes, start, len)
    }

    fn show_slice(slice: &[T], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_plain_slice(slice, f)
    }
}

pub(super) fn show_plain_slice<T: Plain>(slice: &[T], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_list().entries(slice.iter().map(ShownPlain)).finish()
}

/// Writes a plain value at its place.
#[inline]
pub fn encode_plain<T: Plain>(value: &T, out: &mut Encoder<'_>, place: Place) {
    out.put(place.at, bytes_of(std::slice::from_ref(value)));
}

/// Writes a plain message as a whole payload.
#[inline]
pub fn encode_plain_root<T: Plain>(value: &T, out: &mut Encoder<'_>) {
    out.append(bytes_of(std::slice::from_ref(value)));
}

/// Writes plain values as a vector, in one copy.
#[inline]
pub fn encode_plain_slice<T: Plain>(values: &[T], out: &mut Encoder<'_>, place: Place) {
    out.vector_header(place, values.len(), align_of::<T>());
    out.append(bytes_of(values));
}
