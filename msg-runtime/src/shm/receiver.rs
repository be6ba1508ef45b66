//! Taking the next message: which it is, how it is kept, and where to look when there is none.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::Duration;

use super::attach::{self, Opened};
use super::attachment::Attachment;
use super::file;
use super::layout::HOLDS;
use super::options::Options;
use super::participant::Role;
use super::ring::{Found, NextError};
use super::sample::{Info, ShmSample, Spares};
use super::wait::event_fence;
use super::word::State;
use crate::error::{Error, TryRecvError};

/// Nanoseconds between two looks at the names of the files while there is nothing to read.
const LOOK_EVERY: u64 = 100_000_000;
/// How often a latest-only subscriber that is lapped tries again before it says that there is nothing yet.
const TRIES: usize = 64;

/// What is needed to take the next message, one thread at a time.
pub(super) struct Receiver {
    pub(super) attachment: Arc<Attachment>,
    state: State,
    /// The first sequence that a latest-only subscriber has neither received nor lost.
    next: u64,
    look_at: u64,
    spares: Arc<Spares>,
}

/// What a slot's record says, copied once and checked.
struct Described {
    offset: usize,
    len: usize,
    info: Info,
}

impl Receiver {
    pub(super) fn open(options: &Options) -> Result<Self, Error> {
        let Opened { attachment, state, cursor } = attach::open(options, Role::Subscriber)?;
        let statistics = &attachment.membership.record().statistics;
        for figure in [&statistics.received, &statistics.bytes, &statistics.lost] {
            figure.store(0, Relaxed);
        }
        let look_at = file::monotonic() + LOOK_EVERY;
        Ok(Self { attachment: Arc::new(attachment), state, next: cursor, look_at, spares: Spares::new() })
    }

    /// The next message: of a latest-only subscriber the newest, else the oldest that was not received.
    pub(super) fn next(&mut self, options: &Options) -> Result<ShmSample, TryRecvError> {
        let received =
            if options.latest_only { self.latest(options.copies) } else { self.in_order(options.copies, 0) };
        match received {
            Err(TryRecvError::Empty) => self.nothing(options),
            other => other,
        }
    }

    /// Looks for a message this many times, for as long as there is none. Cheaper than `next`, which also looks around
    /// and at the clock.
    pub(super) fn look(&self, options: &Options, times: u32) {
        let (ring, index) = (self.attachment.ring(), self.attachment.membership.index);
        for _ in 0..times {
            if if options.latest_only { ring.has_latest(self.next) } else { ring.has_next(index) } {
                return;
            }
            std::hint::spin_loop();
        }
    }

    /// The newest message, passing over those before it.
    pub(super) fn newest(&mut self, options: &Options) -> Result<ShmSample, TryRecvError> {
        if options.latest_only {
            return self.next(options);
        }
        if !options.copies {
            self.free_hold()?;
        }
        let skipped = self.attachment.ring().skip_to_newest(self.attachment.membership.index);
        if skipped != 0 {
            self.attachment.membership.space().wake_after(event_fence());
        }
        match self.in_order(options.copies, skipped) {
            Err(TryRecvError::Empty) => self.nothing(options),
            other => other,
        }
    }

    fn free_hold(&self) -> Result<usize, TryRecvError> {
        // Pairs with the exchange in the hold's drop: it was cleared before it is used again.
        let hold = (!self.attachment.membership.held.load(Acquire)).trailing_zeros() as usize;
        if hold < HOLDS { Ok(hold) } else { Err(TryRecvError::TooManyHeld { max: HOLDS }) }
    }

    /// The message at the cursor. `lost` were passed over right before it.
    fn in_order(&mut self, copies: bool, lost: u64) -> Result<ShmSample, TryRecvError> {
        let (ring, index) = (self.attachment.ring(), self.attachment.membership.index);
        let hold = if copies { 0 } else { self.free_hold()? };
        let evictable = self.attachment.evict.is_some();
        let found = if evictable { ring.next_evictable(index, self.state) } else { ring.next(index) };
        let found = match found {
            Ok(Some(found)) => found,
            Ok(None) => return Err(TryRecvError::Empty),
            Err(NextError::Corrupted) => return Err(TryRecvError::Corrupted),
            Err(NextError::Evicted) => return Err(TryRecvError::Evicted),
        };
        let described = self.describe(found, lost);
        let sample = match &described {
            Some(described) if !copies => {
                ring.keep(index, hold, found);
                Some(self.in_slot(found, described, hold))
            }
            described => {
                let copy = described.as_ref().map(|described| self.copy(found, described));
                ring.release(index, found.sequence);
                self.attachment.membership.space().wake_after(event_fence());
                copy
            }
        };
        if evictable {
            ring.drop_reading(index);
        }
        self.count(sample, lost)
    }

    /// The newest message, if it was not received yet.
    fn latest(&mut self, copies: bool) -> Result<ShmSample, TryRecvError> {
        let (ring, index) = (self.attachment.ring(), self.attachment.membership.index);
        let found = ring.latest(index, self.next, TRIES).ok_or(TryRecvError::Empty)?;
        let lost = found.sequence - self.next;
        self.next = found.sequence + 1;
        let kept = self.attachment.membership.held.load(Acquire) != 0;
        let sample = match self.describe(found, lost) {
            // One sample at a time is pinned; whoever keeps it gets copies meanwhile.
            Some(described) if !copies && !kept => {
                ring.keep_latest(index, 0, found);
                Some(self.in_slot(found, &described, 0))
            }
            described => {
                let copy = described.map(|described| self.copy(found, &described));
                ring.drop_reading(index);
                self.attachment.membership.space().wake_after(event_fence());
                copy
            }
        };
        self.count(sample, lost)
    }

    /// `None`: the record makes no sense.
    fn describe(&self, found: Found, lost: u64) -> Option<Described> {
        let record = self.attachment.record(found.slot);
        let (offset, len) = (record.offset.load(Relaxed), record.len.load(Relaxed));
        let slot_bytes = self.attachment.layout.geometry.slot_bytes as u64;
        let inside = offset.checked_add(len).is_some_and(|end| end <= slot_bytes);
        if !inside || offset % 64 != 0 {
            return None;
        }
        let info = Info {
            sequence: found.sequence,
            publisher: record.publisher.load(Relaxed),
            sent: Duration::from_nanos(record.sent.load(Relaxed)),
            lost,
            header_byte: record.header_byte.load(Relaxed) as u8,
            origin: record.origin.load(Relaxed).checked_sub(1),
        };
        Some(Described { offset: offset as usize, len: len as usize, info })
    }

    fn in_slot(&self, found: Found, described: &Described, hold: usize) -> ShmSample {
        let Described { offset, len, info } = *described;
        ShmSample::in_slot(
            &self.attachment,
            hold,
            self.attachment.payload(found.slot, offset, len),
            len,
            info,
        )
    }

    fn copy(&self, found: Found, described: &Described) -> ShmSample {
        let Described { offset, len, info } = *described;
        let words = self.attachment.payload_words(found.slot, offset, len);
        ShmSample::copy(words, len, info, &self.spares)
    }

    fn count(&self, sample: Option<ShmSample>, lost: u64) -> Result<ShmSample, TryRecvError> {
        let statistics = &self.attachment.membership.record().statistics;
        let add = |figure: &std::sync::atomic::AtomicU64, more: u64| {
            figure.store(figure.load(Relaxed).wrapping_add(more), Relaxed);
        };
        if lost != 0 {
            add(&statistics.lost, lost);
        }
        // The next message may be a good one.
        let sample = sample.ok_or(TryRecvError::Corrupted)?;
        add(&statistics.received, 1);
        add(&statistics.bytes, sample.len() as u64);
        Ok(sample)
    }

    /// There is no message: perhaps because we are looking in the wrong place.
    fn nothing(&mut self, options: &Options) -> Result<ShmSample, TryRecvError> {
        if self.attachment.ring().is_sealed() {
            let followed = attach::follow(options, &self.attachment);
            let Some(found) = followed.map_err(|_| TryRecvError::Disconnected)? else {
                return Err(TryRecvError::Empty);
            };
            // Nothing was published in the old one, and we have a place in the new one from its first message on.
            self.next = 0;
            self.attachment = Arc::new(found);
        } else if self.is_cut_off() {
            self.attachment.close();
            let opened = attach::open(options, Role::Subscriber).map_err(|_| TryRecvError::Disconnected)?;
            let_go(&self.attachment);
            (self.state, self.next) = (opened.state, opened.cursor);
            self.attachment = Arc::new(opened.attachment);
        } else {
            return Err(TryRecvError::Empty);
        }
        self.next(options)
    }

    /// Whether the files have lost their names, so that no new publisher finds us. Now and then it looks; and for the
    /// dead, whom not every publisher looks for.
    fn is_cut_off(&mut self) -> bool {
        if self.attachment.is_closed() {
            return true;
        }
        let now = file::monotonic();
        if now < self.look_at {
            return false;
        }
        self.look_at = now + LOOK_EVERY;
        self.attachment.repair();
        // In this order: a ring that gives way is sealed before it loses the name.
        self.attachment.is_cut_off()
    }
}

/// Ends a subscription whose samples may still live: publishers stop waiting for it and leave the samples alone.
pub(super) fn let_go(attachment: &Attachment) {
    if attachment.samples_held() != 0 {
        attachment.ring().evict(attachment.membership.index);
        attachment.membership.space().wake_after(event_fence());
    }
}
