//! Bytes at an address that every payload may ask for.

use std::{fmt, ops::Deref};

/// The unit of allocation: as aligned as the most demanding message.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Chunk([u8; 64]);

pub(super) fn zeroed_chunks(bytes: usize) -> Vec<Chunk> {
    vec![Chunk([0; 64]); bytes.div_ceil(64)]
}

/// A payload at a 64-byte aligned address.
///
/// Views borrow numbers in place, so a payload is refused as
/// [`Unaligned`](crate::error::Invalid::Unaligned) where its address does not allow that; copied into one of these it
/// can be read.
///
/// # Examples
///
/// ```
/// use msg_runtime::AlignedBuffer;
/// let buffer = AlignedBuffer::copy_of(&[1, 2, 3]);
/// assert_eq!(buffer[..], [1, 2, 3]);
/// assert!(buffer.as_ptr().addr().is_multiple_of(64));
/// ```
#[derive(Clone)]
pub struct AlignedBuffer {
    chunks: Vec<Chunk>,
    len: usize,
}

impl AlignedBuffer {
    /// `len` zero bytes.
    pub fn zeroed(len: usize) -> Self {
        Self { chunks: zeroed_chunks(len), len }
    }

    /// A copy of these bytes.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut buffer = Self::zeroed(bytes.len());
        buffer.as_mut_slice().copy_from_slice(bytes);
        buffer
    }

    /// Replaces the contents, keeping the allocation where it is large enough.
    pub fn set(&mut self, bytes: &[u8]) {
        if self.chunks.len() < bytes.len().div_ceil(64) {
            self.chunks = zeroed_chunks(bytes.len());
        }
        self.len = bytes.len();
        self.as_mut_slice().copy_from_slice(bytes);
    }

    /// Bytes that are allocated.
    pub(crate) fn capacity(&self) -> usize {
        self.chunks.len() * 64
    }

    /// Makes all bytes that are allocated visible, at least `len` of them; what they hold is arbitrary.
    #[inline]
    pub(crate) fn reserve(&mut self, len: usize) -> &mut [u8] {
        if self.chunks.len() < len.div_ceil(64) {
            self.chunks = zeroed_chunks(len);
        }
        self.len = self.chunks.len() * 64;
        self.as_mut_slice()
    }

    /// Keeps the first `len` bytes.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the chunks are initialised bytes without padding, and hold at least `len` of them.
        unsafe { std::slice::from_raw_parts(self.chunks.as_ptr().cast(), self.len) }
    }

    /// The bytes, to be written.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the chunks are initialised bytes without padding, hold at least `len` of them, and are borrowed
        // uniquely.
        unsafe { std::slice::from_raw_parts_mut(self.chunks.as_mut_ptr().cast(), self.len) }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl AsRef<[u8]> for AlignedBuffer {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl fmt::Debug for AlignedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBuffer").field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_keeps_only_the_new_bytes() {
        let mut buffer = AlignedBuffer::copy_of(&[1; 100]);
        buffer.set(&[2; 3]);
        assert_eq!(buffer[..], [2; 3]);
        buffer.set(&[3; 200]);
        assert_eq!(buffer[..], [3; 200]);
    }
}
