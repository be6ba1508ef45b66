//! A plain message in bytes that somebody lends, filled there.

use std::{
    marker::PhantomData,
    mem::MaybeUninit,
    ops::{Deref, DerefMut},
};

use super::plain::Plain;

/// Lent bytes that hold a plain `T`.
///
/// Nothing is assumed about where `B` keeps its bytes: every look checks that they are the ones that were written.
#[derive(Debug)]
pub(crate) struct InPlace<B, T> {
    bytes: B,
    /// The address that was written.
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
        let address = address_for::<T>(&bytes)?;
        bytes[..size_of::<T>()].fill(0);
        Some(Self { bytes, address, value: PhantomData })
    }

    /// The bytes again, the message in front.
    pub(crate) fn into_bytes(self) -> B {
        self.bytes
    }
}

/// Where a `T` would stand in these bytes; `None` when they are too few or unaligned.
fn address_for<T>(bytes: &[u8]) -> Option<usize> {
    let room = bytes.get(..size_of::<T>())?;
    room.as_ptr().cast::<T>().is_aligned().then(|| room.as_ptr().addr())
}

/// Lent bytes in which a plain `T` may be made.
#[derive(Debug)]
pub(crate) struct Uninit<B: DerefMut<Target = [u8]>, T: Plain> {
    /// `None` once there is a value.
    bytes: Option<B>,
    address: usize,
    value: PhantomData<T>,
}

impl<B: DerefMut<Target = [u8]>, T: Plain> Uninit<B, T> {
    /// `None` when the bytes are too few or unaligned.
    pub(crate) fn new(bytes: B) -> Option<Self> {
        let address = address_for::<T>(&bytes)?;
        Some(Self { bytes: Some(bytes), address, value: PhantomData })
    }

    /// Lets `fill` make the value; the reference that it returns is the proof that it did.
    ///
    /// # Panics
    ///
    /// When it refers to something else.
    pub(crate) fn init<F>(mut self, fill: F) -> InPlace<B, T>
    where
        F: for<'room> FnOnce(&'room mut MaybeUninit<T>) -> &'room mut T,
    {
        let made = std::ptr::from_mut(fill(&mut self)).addr();
        assert!(made == self.address, "`fill` returns the value that it made where it was asked to");
        let bytes = self.bytes.take().expect("only this takes them, and ends with it");
        InPlace { bytes, address: self.address, value: PhantomData }
    }
}

impl<B: DerefMut<Target = [u8]>, T: Plain> Deref for Uninit<B, T> {
    type Target = MaybeUninit<T>;

    fn deref(&self) -> &MaybeUninit<T> {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        check::<T>(bytes, self.address);
        // SAFETY: large enough and aligned (checked above); any bytes are a `MaybeUninit`.
        unsafe { &*bytes.as_ptr().cast() }
    }
}

impl<B: DerefMut<Target = [u8]>, T: Plain> DerefMut for Uninit<B, T> {
    fn deref_mut(&mut self) -> &mut MaybeUninit<T> {
        let bytes = self.bytes.as_deref_mut().unwrap_or_default();
        check::<T>(bytes, self.address);
        // SAFETY: as in `deref`, and the borrow is unique. Uninitialized bytes that are written here are never read as
        // bytes: `init` has the proof that a `T`, which has no padding, was written over them, or `drop` writes over them.
        unsafe { &mut *bytes.as_mut_ptr().cast() }
    }
}

impl<B: DerefMut<Target = [u8]>, T: Plain> Drop for Uninit<B, T> {
    fn drop(&mut self) {
        if let Some(bytes) = &mut self.bytes {
            bytes[..size_of::<T>()].fill(0);
        }
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
        // SAFETY: the bytes that were found large enough and aligned and then made a `T`, by zeros that are one or by
        // `Uninit::init` (checked above); `self` owns what lends them, so since then they were only reached as a `T`, through `deref_mut`.
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
