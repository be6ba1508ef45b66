//! Bytes as plain values and plain values as bytes: the casts, each checked.

use super::{plain::Plain, spec::MAX_ALIGN, verified::Verified, wire::Place};

#[cfg(not(target_endian = "little"))]
compile_error!("msg reads and writes little-endian memory in place: this target is big-endian");

const _: () =
    assert!(align_of::<u64>() == 8 && align_of::<f64>() == 8, "FlatBuffers aligns 64-bit numbers to 8");

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
