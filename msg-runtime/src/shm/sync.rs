//! The atomics of the ring: the core library's, or loom's when the ring is being model-checked.

#[cfg(not(loom))]
pub(super) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
