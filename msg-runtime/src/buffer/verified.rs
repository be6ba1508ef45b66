//! Bytes that verification has accepted, and the reads of positions in them.

/// A payload that the verifier has accepted for the type whose parts are read from it.
///
/// Wire kinds are public in name, so that generated code can spell them; what they read is behind this token, which
/// only this folder makes. Safe code outside can therefore never have unchecked bytes read as a string.
#[derive(Clone, Copy, Debug)]
pub struct Verified<'a>(&'a [u8]);

impl<'a> Verified<'a> {
    /// Takes the bytes as verified.
    ///
    /// # Safety
    ///
    /// The verifier has accepted these bytes, at this address, for the type that is read from them, and they do not
    /// change while `'a` lasts.
    #[inline]
    pub(super) unsafe fn assume(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// `len` bytes at `at`; `None` outside, which happens only when the bytes changed after verification.
    #[inline]
    pub(super) fn get(self, at: usize, len: usize) -> Option<&'a [u8]> {
        self.0.get(at..at + len)
    }

    #[inline]
    pub(super) fn u16_at(self, at: usize) -> usize {
        u16_at(self.0, at)
    }

    #[inline]
    pub(super) fn u32_at(self, at: usize) -> usize {
        u32_at(self.0, at)
    }

    /// Where the offset at `at` points.
    #[inline]
    pub(super) fn follow(self, at: usize) -> usize {
        at + self.u32_at(at)
    }
}

/// The little-endian number at `at`, 0 outside.
#[inline]
pub(super) fn u16_at(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..at + 2) {
        Some(&[low, high]) => usize::from(u16::from_le_bytes([low, high])),
        _ => 0,
    }
}

/// The little-endian number at `at`, 0 outside.
#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..at + 4) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]) as usize,
        _ => 0,
    }
}
