//! A received message: where it was written, or a copy.

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::attachment::Attachment;
use super::fork;
use super::layout::HOLDS;
use super::sync::AtomicU64;
use super::wait::event_fence;

/// What goes with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// The message's number in the ring, without gaps over all publishers.
    pub sequence: u64,
    /// Unique to the publisher.
    pub publisher: u64,
    /// When it was sent, by `CLOCK_MONOTONIC`.
    pub sent: Duration,
    /// Messages that this subscriber lost right before this one.
    pub lost: u64,
    /// The frame's header byte.
    pub header_byte: u8,
    /// The number that `publisher` gave the message, if it came from elsewhere, over a bridge.
    pub origin: Option<u64>,
}

/// A message, usually where it was written. Its slot is not used again before it is dropped; up to eight may live at
/// once, and be dropped in any order, even after their subscriber.
pub struct ShmSample {
    bytes: Bytes,
    len: usize,
    info: Info,
}

enum Bytes {
    /// In the slot, kept by one of our holds.
    Slot { first: NonNull<u8>, _hold: Hold },
    /// A copy.
    Own(Copied),
}

/// As aligned as a slot.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
struct Line([u64; 8]);

/// A copy's bytes, which go back for the next copy.
struct Copied {
    lines: Vec<Line>,
    spares: Arc<Spares>,
}

/// What a subscriber's copies were made in and will be made in again, so that not each of them allocates.
#[derive(Debug)]
pub(super) struct Spares {
    /// At most as many as holds.
    lines: Mutex<Vec<Vec<Line>>>,
    forks: u32,
}

impl Spares {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { lines: Mutex::new(Vec::with_capacity(HOLDS)), forks: fork::generation() })
    }

    fn take(&self) -> Vec<Line> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn put(&self, mut lines: Vec<Line>) {
        // In a forked child another thread's lock may be frozen as it was.
        if self.forks != fork::generation() {
            return;
        }
        lines.clear();
        let mut spares = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if spares.len() < HOLDS {
            spares.push(lines);
        }
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        self.spares.put(std::mem::take(&mut self.lines));
    }
}

/// One of a subscriber's holds, in use.
struct Hold {
    index: usize,
    /// Keeps the bytes mapped and our place in the ring.
    attachment: Arc<Attachment>,
}

// SAFETY: BORROWED (shm/mod.rs): nobody writes the bytes, and letting go of them is done by atomics.
unsafe impl Send for ShmSample {}
// SAFETY: as above; a shared sample only lends its bytes.
unsafe impl Sync for ShmSample {}

impl ShmSample {
    /// For a message that hold `hold` of our record keeps, whose payload the caller has found to be inside its slot.
    pub(super) fn in_slot(
        attachment: &Arc<Attachment>,
        hold: usize,
        first: NonNull<u8>,
        len: usize,
        info: Info,
    ) -> Self {
        attachment.membership.held.fetch_or(1 << hold, Relaxed);
        let hold = Hold { index: hold, attachment: Arc::clone(attachment) };
        Self { bytes: Bytes::Slot { first, _hold: hold }, len, info }
    }

    /// Copies a message. By atomic loads: they may be changing, and what comes out is then a mixture.
    pub(super) fn copy(words: &[AtomicU64], len: usize, info: Info, spares: &Arc<Spares>) -> Self {
        let line = |words: &[AtomicU64]| {
            let mut line = Line([0; 8]);
            line.0.iter_mut().zip(words).for_each(|(own, word)| *own = word.load(Relaxed));
            line
        };
        let mut lines = spares.take();
        lines.extend(words.chunks(8).map(line));
        Self { bytes: Bytes::Own(Copied { lines, spares: Arc::clone(spares) }), len, info }
    }

    /// What goes with the message.
    pub fn info(&self) -> Info {
        self.info
    }
}

impl Deref for ShmSample {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let first = match &self.bytes {
            Bytes::Slot { first, .. } => first.as_ptr().cast_const(),
            Bytes::Own(copied) => copied.lines.as_ptr().cast(),
        };
        // SAFETY: a copy has at least `len` bytes, all initialized. Else BORROWED (shm/mod.rs): inside the mapping that
        // the hold's attachment owns, written before the commit, and left alone as long as the hold names the slot.
        unsafe { std::slice::from_raw_parts(first, self.len) }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let membership = &self.attachment.membership;
        // A forked child's copy: the hold is the parent's.
        if membership.lock.is_forked() {
            return;
        }
        self.attachment.ring().drop_hold(membership.index, self.index);
        // Pairs with the load of whoever uses the hold again: it does so after it was cleared.
        membership.held.fetch_and(!(1 << self.index), Release);
        membership.space().wake_after(event_fence());
    }
}

impl fmt::Debug for ShmSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShmSample").field("info", &self.info).field("len", &self.len).finish_non_exhaustive()
    }
}
