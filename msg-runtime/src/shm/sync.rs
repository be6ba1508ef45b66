//! The atomics of the ring: the core library's, or loom's or shuttle's when the ring is being model-checked.

#[cfg(not(any(loom, shuttle)))]
pub(super) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(shuttle)]
pub(super) use shuttle::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Asks for the word's cache line for writing, and goes on. Without it an exchange that waits for earlier writes to
/// arrive asks for its own line only then, and pays for two ways from processor to processor instead of one.
#[inline(always)]
pub(super) fn prefetch_for_write(word: &AtomicU64) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
    // SAFETY: a hint that reads and writes no memory, and that processors without it pass over.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) word.as_ptr(), options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, shuttle, miri)))))]
    let _ = word;
}
