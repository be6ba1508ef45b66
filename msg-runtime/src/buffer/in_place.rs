//! A plain message in bytes that somebody lends, filled there.

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

use super::plain::Plain;

/// Lent bytes that hold a plain `T`.
#[derive(Debug)]
pub(crate) struct InPlace<B, T> {
    bytes: B,
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
        Some(Self { bytes, value: PhantomData })
    }

    /// The bytes again, the message in front.
    pub(crate) fn into_bytes(self) -> B {
        self.bytes
    }
}

/// The address that is checked again costs nothing, and then nothing depends on where `B` keeps its bytes.
fn check<T>(bytes: &[u8]) {
    assert!(
        bytes.len() >= size_of::<T>() && bytes.as_ptr().cast::<T>().is_aligned(),
        "lent bytes do not move"
    );
}

impl<B: DerefMut<Target = [u8]>, T: Plain> Deref for InPlace<B, T> {
    type Target = T;

    fn deref(&self) -> &T {
        check::<T>(&self.bytes);
        // SAFETY: large enough and aligned (checked above). They hold a `T`: zeros, which are one, were written when
        // `self` was made, and since then they were only reached as a `T`, through `deref_mut`.
        unsafe { &*self.bytes.as_ptr().cast() }
    }
}

impl<B: DerefMut<Target = [u8]>, T: Plain> DerefMut for InPlace<B, T> {
    fn deref_mut(&mut self) -> &mut T {
        check::<T>(&self.bytes);
        // SAFETY: as in `deref`, and the borrow is unique.
        unsafe { &mut *self.bytes.as_mut_ptr().cast() }
    }
}
