//! The thread that publishes: it takes messages out of the queue and sleeps or spins between them.

use super::{bell::Bell, queue::Consumer, sink::Sink};
use crate::error::SendError;
use std::{
    fmt, hint,
    sync::{
        OnceLock,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How the worker learns that there is a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waking {
    /// It looks this often, so a push makes no system call and a message waits at most this long: the default, with 1 ms.
    Deadline(Duration),
    /// A push wakes it, by one system call, if it said that it sleeps. It also looks ten times a second by itself.
    Notify,
    /// As [`Notify`](Waking::Notify), but it sleeps only after it has spun this long without a message.
    NotifySpin(Duration),
    /// It never sleeps and takes a processor for itself: the quickest, and a push makes no system call.
    Spin,
}

impl Default for Waking {
    fn default() -> Self {
        Self::Deadline(Duration::from_millis(1))
    }
}

impl Waking {
    /// True if a push has to ring the bell.
    pub(super) fn rings(self) -> bool {
        matches!(self, Self::Notify | Self::NotifySpin(_))
    }
}

/// How long one attempt to send may take: then the worker looks whether it shall stop.
pub(super) const ATTEMPT: Duration = Duration::from_millis(5);
/// How often a worker that waits for the bell looks by itself.
pub(super) const RESCUE: Duration = Duration::from_millis(100);

/// What both threads see.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) bell: Bell,
    /// One of the constants below; only rises.
    order: AtomicU8,
    /// Written by the worker alone.
    published: AtomicU64,
    /// Messages given up for a newer one while they waited for room. Written by the worker alone.
    superseded: AtomicU64,
    failure: OnceLock<SendError>,
}

const RUN: u8 = 0;
/// Publish what is there and end.
const DRAIN: u8 = 1;
/// End as soon as the attempt under way is over.
const ABANDON: u8 = 2;

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            bell: Bell::new(),
            order: AtomicU8::new(RUN),
            published: AtomicU64::new(0),
            superseded: AtomicU64::new(0),
            failure: OnceLock::new(),
        }
    }

    pub(super) fn published(&self) -> u64 {
        self.published.load(Ordering::Relaxed)
    }

    pub(super) fn superseded(&self) -> u64 {
        self.superseded.load(Ordering::Relaxed)
    }

    pub(super) fn failure(&self) -> Option<SendError> {
        self.failure.get().copied()
    }

    /// Whoever gives an order unparks the worker, too.
    pub(super) fn drain(&self) {
        // Pairs with the load in `order`: the last push is visible to who sees this.
        self.order.store(DRAIN, Ordering::Release);
    }

    pub(super) fn abandon(&self) {
        self.order.store(ABANDON, Ordering::Release);
    }

    fn order(&self) -> u8 {
        // Pairs with the stores of `drain` and `abandon`.
        self.order.load(Ordering::Acquire)
    }
}

/// Adds one to a counter that only this thread writes.
fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// What the thread works with; it comes back when the thread ends.
pub(super) struct Worker<T> {
    pub(super) consumer: Consumer<T>,
    pub(super) sink: Box<dyn Sink<T>>,
    pub(super) waking: Waking,
    pub(super) rescue: Duration,
    /// Give up a message that finds no room as soon as there is a newer one.
    pub(super) latest_only: bool,
}

impl<T: Copy> Worker<T> {
    /// Publishes until it is told to end, or until sending fails for good.
    pub(super) fn run(&mut self, shared: &Shared) {
        let mut next_look = Instant::now();
        loop {
            // Before the queue is emptied: what was pushed before the order is then published.
            let order = shared.order();
            if order == ABANDON || !self.publish_all(shared) {
                return;
            }
            match (order, self.waking) {
                (RUN, Waking::Deadline(period)) => sleep_until_next(&mut next_look, period),
                (RUN, Waking::Notify) => self.sleep(shared),
                (RUN, Waking::NotifySpin(time)) => {
                    if !self.spin(shared, time) {
                        self.sleep(shared);
                    }
                }
                (RUN, Waking::Spin) => hint::spin_loop(),
                _ => return,
            }
        }
    }

    /// Publishes until the queue is empty; false if it is to end before.
    fn publish_all(&mut self, shared: &Shared) -> bool {
        let goes_on = self.send_all(shared);
        self.sink.flush();
        goes_on
    }

    fn send_all(&mut self, shared: &Shared) -> bool {
        loop {
            match self.consumer.front(|message| self.sink.send(message, ATTEMPT)) {
                None => return true,
                Some(Ok(())) => {
                    self.consumer.release();
                    count(&shared.published);
                }
                Some(Err(SendError::Timeout)) => {
                    if self.latest_only && self.consumer.has_newer() {
                        self.consumer.release();
                        count(&shared.superseded);
                    }
                }
                Some(Err(error)) => {
                    // Only this thread sets it, and ends then.
                    let _ = shared.failure.set(error);
                    return false;
                }
            }
            if shared.order() == ABANDON {
                return false;
            }
        }
    }

    fn sleep(&self, shared: &Shared) {
        shared.bell.sleep(self.rescue, || !self.consumer.is_empty() || shared.order() != RUN);
    }

    /// True if there is something to do before the time is over.
    fn spin(&self, shared: &Shared, time: Duration) -> bool {
        let start = Instant::now();
        while start.elapsed() < time {
            if !self.consumer.is_empty() || shared.order() != RUN {
                return true;
            }
            hint::spin_loop();
        }
        false
    }
}

/// Looks are `period` apart, not `period` after the last one's work; after a stall the rhythm starts anew.
fn sleep_until_next(next: &mut Instant, period: Duration) {
    let now = Instant::now();
    *next += period;
    if *next <= now {
        *next = now + period;
    }
    thread::park_timeout(*next - now);
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("waking", &self.waking).finish_non_exhaustive()
    }
}
