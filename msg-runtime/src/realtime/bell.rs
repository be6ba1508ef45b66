//! How a sleeping worker is woken: only if it said that it sleeps, so that a push makes at most one system call a
//! sleep, and nearly always none.
//!
//! ```text
//! worker                              push
//! asleep = true                       message into the queue
//! fence                               fence
//! queue empty? then park              asleep? then clear it and unpark
//! ```
//!
//! Of the two fences one comes first, so either the worker sees the message or the push sees that it sleeps.

use super::sync::{AtomicBool, Ordering, fence, park_timeout};
use std::time::Duration;

/// Says whether the worker sleeps.
#[derive(Debug)]
pub(super) struct Bell {
    asleep: AtomicBool,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self { asleep: AtomicBool::new(false) }
    }

    /// Calls `wake`, which unparks the worker, if it sleeps; called after a message was put into the queue.
    #[inline]
    pub(super) fn ring(&self, wake: impl FnOnce()) {
        // Pairs with the fence in `sleep`: what this thread wrote before is visible to a worker that goes on to find
        // the queue empty after its own fence, or its `asleep` is visible here.
        fence(Ordering::SeqCst);
        // The load comes first because the flag is nearly always down, and a swap would take its line away each time.
        if self.asleep.load(Ordering::Relaxed) && self.asleep.swap(false, Ordering::Relaxed) {
            wake();
        }
    }

    /// Sleeps until the bell rings or the time is over, unless `has_work` says no. May return early.
    pub(super) fn sleep(&self, longest: Duration, has_work: impl FnOnce() -> bool) {
        // A swap and not a store: it comes after every swap of `ring` in the order of this flag, also for a model
        // checker that orders stores by what their threads have seen.
        self.asleep.swap(true, Ordering::Relaxed);
        // Pairs with the fence in `ring`.
        fence(Ordering::SeqCst);
        if !has_work() {
            park_timeout(longest);
        }
        // A ring that came between leaves an unpark behind: the next sleep ends at once and looks again.
        self.asleep.store(false, Ordering::Relaxed);
    }
}
