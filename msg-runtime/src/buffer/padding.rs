//! Padding made visible.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use super::{describe::Shape, plain::Plain};

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
