//! The atomics of the ring: the core library's, or loom's or shuttle's when the ring is being model-checked.

#[cfg(not(any(loom, shuttle)))]
pub(super) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(shuttle)]
pub(super) use shuttle::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
