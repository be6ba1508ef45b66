//! What the queue and the bell are made of: the standard library's, or loom's when they are being model-checked.

#[cfg(not(loom))]
pub(super) use core::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(super) use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicU64, Ordering, fence},
};
#[cfg(not(loom))]
pub(super) use std::thread::park_timeout;

/// loom has no clock: a model in which only the time limit would wake the sleeper ends as a deadlock, which is
/// what it shall find.
#[cfg(loom)]
pub(super) fn park_timeout(_: std::time::Duration) {
    loom::thread::park();
}

/// The core library's cell with loom's interface.
#[cfg(not(loom))]
#[derive(Debug)]
pub(super) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(super) fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(super) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    #[inline(always)]
    pub(super) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
