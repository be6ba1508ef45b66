//! Structs whose bytes are their memory, used in place.
//!
//! The proof is our own: the derive's one `unsafe impl` stands beside constant checks that every field is
//! [`Plain`] and that the fields fill the struct.

use std::{
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
};

use super::{
    build::Encoder,
    const_text::ConstText,
    describe::{About, Members, ObjectFacts, PlainFieldSpec, Shape},
    field::{Element, Field, FromWire},
    spec::MAX_ALIGN,
    verified::Verified,
    verify::Verifier,
    wire::{ElementWire, Inline, Place, Wire, sealed::Sealed},
};
use crate::error::Invalid;

#[cfg(not(target_endian = "little"))]
compile_error!("msg reads and writes little-endian memory in place: this target is big-endian");

const _: () =
    assert!(align_of::<u64>() == 8 && align_of::<f64>() == 8, "FlatBuffers aligns 64-bit numbers to 8");

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

/// The number in a default, zero-extended.
pub(super) const fn bits_of<T: Plain>(value: T) -> u64 {
    match size_of::<T>() {
        // SAFETY: the sizes are equal, and a `Plain` has no padding: its bytes are initialised and make a number.
        1 => (unsafe { std::mem::transmute_copy::<T, u8>(&value) }) as u64,
        // SAFETY: as above.
        2 => (unsafe { std::mem::transmute_copy::<T, u16>(&value) }) as u64,
        // SAFETY: as above.
        4 => (unsafe { std::mem::transmute_copy::<T, u32>(&value) }) as u64,
        // SAFETY: as above.
        8 => unsafe { std::mem::transmute_copy::<T, u64>(&value) },
        _ => panic!("a number has 1, 2, 4 or 8 bytes"),
    }
}

/// The bytes of plain values.
#[inline]
pub(super) fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: a `Plain` has no padding, so all bytes are initialised; they live as long as the slice.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// `len` plain values at `start`, which verification has accepted. Empty where the bytes changed since.
#[inline]
pub(super) fn cast_slice<T: Plain>(bytes: Verified<'_>, start: usize, len: usize) -> &[T] {
    let Some(bytes) = len.checked_mul(size_of::<T>()).and_then(|size| bytes.get(start, size)) else {
        return &[];
    };
    if len == 0 || !bytes.as_ptr().cast::<T>().is_aligned() {
        return &[];
    }
    // SAFETY: inside, aligned (both checked above) and valid values of `T`, as verification found.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), len) }
}

/// The plain value at `at`, which verification has accepted.
///
/// # Panics
///
/// When the bytes changed since then so that no value stands there any more.
#[inline]
pub(super) fn cast<T: Plain>(bytes: Verified<'_>, at: usize) -> &T {
    match cast_slice(bytes, at, 1) {
        [value] => value,
        _ => panic!("the payload changed while a view of it was in use"),
    }
}

/// The value at `place`, or zeros when it is absent.
#[inline]
pub(super) fn cast_or_zero<T: Plain>(bytes: Verified<'_>, place: Place) -> &T {
    if place.is_absent() { zero() } else { cast(bytes, place.at) }
}

/// Views plain numbers in bytes that any pattern may fill; `None` when they are not aligned.
#[inline]
pub(super) fn cast_slice_mut<T: Plain>(bytes: &mut [u8]) -> Option<&mut [T]> {
    const { assert!(T::ANY_BITS) };
    let len = bytes.len() / size_of::<T>();
    if !bytes.as_ptr().cast::<T>().is_aligned() {
        return None;
    }
    // SAFETY: aligned (checked above), `len` values fit, any bytes are values of `T`, and the borrow is unique.
    Some(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), len) })
}

/// A plain message in a slot, set to `initial`, to be filled in place; `None` when the slot is too small or unaligned.
#[allow(dead_code, reason = "a loan of the typed handles")]
pub(crate) fn plain_in_place<T: Plain>(slot: &mut [u8], initial: T) -> Option<&mut T> {
    let bytes = slot.get_mut(..size_of::<T>())?;
    if !bytes.as_ptr().cast::<T>().is_aligned() {
        return None;
    }
    bytes.copy_from_slice(bytes_of(std::slice::from_ref(&initial)));
    // SAFETY: aligned and of the size of `T` (both checked above), a value of `T` was just written, and the borrow
    // is unique.
    Some(unsafe { &mut *bytes.as_mut_ptr().cast() })
}

const ZERO_BYTES: usize = 4096;

#[repr(align(64))]
struct Zeros([u8; ZERO_BYTES]);

static ZEROS: Zeros = Zeros([0; ZERO_BYTES]);

/// The value whose bytes are zeros.
///
/// # Panics
///
/// When zeros are no value: verification has refused such payloads.
pub(super) fn zero<T: Plain>() -> &'static T {
    const { assert!(align_of::<T>() <= MAX_ALIGN) };
    assert!(T::ZERO_IS_VALID, "the payload changed while a view of it was in use");
    if size_of::<T>() > ZERO_BYTES {
        return big_zero();
    }
    // SAFETY: the static is as large and aligned as `T` (both checked above), is never written, and zeros are a
    // value of `T`.
    unsafe { &*ZEROS.0.as_ptr().cast() }
}

/// Zeros for a type larger than [`ZEROS`]: made once a type that needs them, and kept.
fn big_zero<T: Plain>() -> &'static T {
    use std::{
        any::TypeId,
        collections::HashMap,
        sync::{Mutex, PoisonError},
    };
    static MADE: Mutex<Option<HashMap<TypeId, &'static [super::aligned::Chunk]>>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let chunks = *made
        .get_or_insert_with(HashMap::new)
        .entry(TypeId::of::<T>())
        .or_insert_with(|| super::aligned::zeroed_chunks(size_of::<T>()).leak());
    // SAFETY: the chunks are at least as large and aligned as `T`, are never written, and zeros are a value of `T`,
    // as the caller checked.
    unsafe { &*chunks.as_ptr().cast() }
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
    type Slice<'a> = &'a [T];

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

// SAFETY: an array has the bytes of its elements and nothing else.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {
    const ANY_BITS: bool = T::ANY_BITS;
    const ZERO_IS_VALID: bool = T::ZERO_IS_VALID;

    fn is_valid(bytes: &[u8]) -> bool {
        T::ANY_BITS || bytes.chunks_exact(size_of::<T>()).all(T::is_valid)
    }

    fn plain_shape() -> Shape {
        const { assert!(N > 0 && N <= u16::MAX as usize, "an array has 1 to 65535 elements") };
        Shape::Array(T::plain_shape, N as u16)
    }

    fn show_plain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_plain_slice(self, f)
    }
}

/// Visible padding in a plain struct: always equal, shown as nothing, not in the schema.
///
/// # Examples
///
/// ```
/// use msg_runtime::Padding;
/// assert_eq!(Padding::<3>::new(), Padding::default());
/// ```
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Padding<const N: usize>([u8; N]);

impl<const N: usize> Padding<N> {
    /// Zeros.
    pub const fn new() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Default for Padding<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> PartialEq for Padding<N> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<const N: usize> Eq for Padding<N> {}

impl<const N: usize> PartialOrd for Padding<N> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Ord for Padding<N> {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl<const N: usize> Hash for Padding<N> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl<const N: usize> fmt::Debug for Padding<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

// SAFETY: bytes, of which every pattern is a value.
unsafe impl<const N: usize> Plain for Padding<N> {
    const ANY_BITS: bool = true;
    const ZERO_IS_VALID: bool = true;

    fn is_valid(_: &[u8]) -> bool {
        true
    }

    fn plain_shape() -> Shape {
        Shape::Padding
    }

    fn show_plain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The wire kind of an array in a table: a vector whose length is checked.
#[derive(Debug)]
pub struct ArrayOf<T, const N: usize>(PhantomData<T>);

impl<T, const N: usize> Sealed for ArrayOf<T, N> {}

impl<T: Plain + Field<Wire: Wire>, const N: usize> Wire for ArrayOf<T, N> {
    type View<'a> = &'a [T; N];
    const INLINE: Inline = Inline::OFFSET;
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
