//! A plain message in bytes that somebody lends, filled there.

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

use super::plain::Plain;

/// Lent bytes that hold a plain `T`.
///
/// Nothing is assumed about where `B` keeps its bytes: every look checks that they are the ones that were zeroed.
#[derive(Debug)]
pub(crate) struct InPlace<B, T> {
    bytes: B,
    /// The address that was zeroed.
    address: usize,
    value: PhantomData<T>,
}

impl<B: DerefMut<Target = [u8]>, T: Plain> InPlace<B, T> {
    /// Makes the first bytes a `T` of zeros; `None` when they are too few or unaligned.
    pub(crate) fn zeroed(mut bytes: B) -> Option<Self> {
        const {
            assert!(
                T::ZERO_IS_VALID,
                "a loan starts zeroed, and zeros are no value of this message: use `send`"
            )
        };
        let room = bytes.get_mut(..size_of::<T>())?;
        if !room.as_ptr().cast::<T>().is_aligned() {
            return None;
        }
        room.fill(0);
        let address = room.as_ptr().addr();
        Some(Self { bytes, address, value: PhantomData })
    }

    /// The bytes again, the message in front.
    pub(crate) fn into_bytes(self) -> B {
        self.bytes
    }
}

/// # Panics
///
/// When these are not the bytes that hold the message.
fn check<T>(bytes: &[u8], address: usize) {
    assert!(bytes.len() >= size_of::<T>() && bytes.as_ptr().addr() == address, "lent bytes do not move");
}

impl<B: DerefMut<Target = [u8]>, T: Plain> Deref for InPlace<B, T> {
    type Target = T;

    fn deref(&self) -> &T {
        check::<T>(&self.bytes, self.address);
        // SAFETY: the bytes that `zeroed` found large enough and aligned and wrote zeros to (checked above), which are a
        // `T`; `self` owns what lends them, so since then they were only reached as a `T`, through `deref_mut`.
        unsafe { &*self.bytes.as_ptr().cast() }
    }
}

impl<B: DerefMut<Target = [u8]>, T: Plain> DerefMut for InPlace<B, T> {
    fn deref_mut(&mut self) -> &mut T {
        check::<T>(&self.bytes, self.address);
        // SAFETY: as in `deref`, and the borrow is unique.
        unsafe { &mut *self.bytes.as_mut_ptr().cast() }
    }
}
