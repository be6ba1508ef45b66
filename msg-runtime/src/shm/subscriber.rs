//! Subscribing: samples that are read where they were written, and held as long as they live.

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64 as PlainU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::attach;
use super::attachment::Attachment;
use super::file;
use super::fork;
use super::layout::HOLDS;
use super::options::{Description, Options};
use super::participant::Role;
use super::ring::{Found, NextError};
use super::wait::{Deadline, event_fence};
use crate::error::{Error, RecvError, TryRecvError};

/// The longest time, in nanoseconds, that a subscriber looks again and again before it sleeps: about what it takes to
/// be woken. Shrinks as far as the least while messages come too far apart for that.
const LONGEST_SPIN: u64 = 50_000;
const LEAST_SPIN: u64 = 1_000;
/// Nanoseconds between two looks at the names of the files while there is nothing to read.
const LOOK_EVERY: u64 = 100_000_000;

/// Figures of a handle, kept in the segment, for looking at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Messages sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// Payload bytes sent or received.
    pub bytes: u64,
    /// How often there was no room at once.
    pub full: u64,
    /// Messages that were not received because publishers did not wait for this subscriber.
    pub lost: u64,
}

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
}

/// A handle that receives what is published from its opening on. Publishers wait for it.
///
/// # Examples
///
/// ```
/// use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};
/// # let channel = format!("doc-subscriber-{}", std::process::id());
/// let options = Options::new(&channel, "demo.Text");
/// let subscriber = ShmSubscriber::open(&options)?;
/// ShmPublisher::open(&options)?.send(b"hello")?;
/// let sample = subscriber.recv()?;
/// assert_eq!((&*sample, sample.info().sequence), (&b"hello"[..], 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ShmSubscriber {
    options: Options,
    forks: u32,
    /// How long to look before sleeping, in nanoseconds.
    spin: PlainU64,
    receiver: Mutex<Receiver>,
}

/// What is needed to take the next message, one thread at a time.
struct Receiver {
    attachment: Arc<Attachment>,
    look_at: u64,
}

impl Receiver {
    fn next(&mut self, options: &Options) -> Result<ShmSample, TryRecvError> {
        let membership = &self.attachment.membership;
        let hold = (!membership.held.load(Acquire)).trailing_zeros() as usize;
        if hold >= HOLDS {
            return Err(TryRecvError::TooManyHeld { max: HOLDS });
        }
        match self.attachment.ring().next(membership.index) {
            Ok(Some(found)) => self.borrow(found, hold),
            Ok(None) => self.nothing(options),
            Err(NextError::Corrupted) => Err(TryRecvError::Corrupted),
            Err(NextError::Evicted) => Err(TryRecvError::Evicted),
        }
    }

    /// Keeps a message that was found. What its record says is copied once and believed only as far as it was checked.
    fn borrow(&self, found: Found, hold: usize) -> Result<ShmSample, TryRecvError> {
        let (attachment, membership) = (&self.attachment, &self.attachment.membership);
        let record = attachment.record(found.slot);
        let (offset, len) = (record.offset.load(Relaxed), record.len.load(Relaxed));
        let slot_bytes = attachment.layout.geometry.slot_bytes as u64;
        let inside = offset.checked_add(len).is_some_and(|end| end <= slot_bytes);
        if !inside || offset % 64 != 0 {
            // The next message may be a good one.
            attachment.ring().release(membership.index, found.sequence);
            membership.space().wake_after(event_fence());
            return Err(TryRecvError::Corrupted);
        }
        let info = Info {
            sequence: found.sequence,
            publisher: record.publisher.load(Relaxed),
            sent: Duration::from_nanos(record.sent.load(Relaxed)),
            lost: 0,
            header_byte: record.header_byte.load(Relaxed) as u8,
        };
        membership.held.fetch_or(1 << hold, Relaxed);
        attachment.ring().keep(membership.index, hold, found);
        let statistics = &membership.record().statistics;
        statistics.received.store(statistics.received.load(Relaxed).wrapping_add(1), Relaxed);
        statistics.bytes.store(statistics.bytes.load(Relaxed).wrapping_add(len), Relaxed);
        let first = attachment.payload(found.slot, offset as usize, len as usize);
        Ok(ShmSample { first, len: len as usize, hold, info, attachment: Arc::clone(attachment) })
    }

    /// There is no message: perhaps because we are looking in the wrong place.
    fn nothing(&mut self, options: &Options) -> Result<ShmSample, TryRecvError> {
        let moved = if self.attachment.ring().is_sealed() {
            attach::follow(options, &self.attachment).map_err(|_| TryRecvError::Disconnected)?
        } else if self.is_cut_off() {
            self.attachment.close();
            let opened = attach::open(options, Role::Subscriber).map_err(|_| TryRecvError::Disconnected)?;
            let_go(&self.attachment);
            Some(opened.attachment)
        } else {
            None
        };
        let Some(moved) = moved else { return Err(TryRecvError::Empty) };
        self.attachment = Arc::new(moved);
        self.next(options)
    }

    /// Whether the files have lost their names, so that no new publisher finds us.
    fn is_cut_off(&mut self) -> bool {
        if self.attachment.is_closed() {
            return true;
        }
        let now = file::monotonic();
        if now < self.look_at {
            return false;
        }
        self.look_at = now + LOOK_EVERY;
        self.attachment.is_cut_off()
    }
}

/// Ends a subscription whose samples may still live: publishers stop waiting for it and leave the samples alone.
fn let_go(attachment: &Attachment) {
    if attachment.samples_held() != 0 {
        attachment.ring().evict(attachment.membership.index);
        attachment.membership.space().wake_after(event_fence());
    }
}

impl ShmSubscriber {
    /// Opens the ring, or makes it if nobody has it open. What is published from here on is received.
    ///
    /// # Errors
    /// As [`ShmPublisher::open`](super::ShmPublisher::open), with 64 subscribers.
    pub fn open(options: &Options) -> Result<Self, Error> {
        let attachment = attach::open(options, Role::Subscriber)?.attachment;
        let statistics = &attachment.membership.record().statistics;
        for figure in [&statistics.received, &statistics.bytes, &statistics.lost] {
            figure.store(0, Relaxed);
        }
        let look_at = file::monotonic() + LOOK_EVERY;
        Ok(Self {
            options: options.clone(),
            forks: fork::generation(),
            spin: PlainU64::new(LONGEST_SPIN),
            receiver: Mutex::new(Receiver { attachment: Arc::new(attachment), look_at }),
        })
    }

    fn receiver(&self) -> MutexGuard<'_, Receiver> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attachment(&self) -> Arc<Attachment> {
        Arc::clone(&self.receiver().attachment)
    }

    /// The next message, if there is one.
    ///
    /// # Errors
    /// `Empty` if there is none; `TooManyHeld` while eight samples live; and what else [`TryRecvError`] lists.
    pub fn try_recv(&self) -> Result<ShmSample, TryRecvError> {
        if self.forks != fork::generation() {
            return Err(TryRecvError::Forked);
        }
        self.receiver().next(&self.options)
    }

    /// The next message, waiting for it.
    ///
    /// # Errors
    /// What [`RecvError`] lists, except `Timeout`.
    pub fn recv(&self) -> Result<ShmSample, RecvError> {
        self.recv_until(Deadline::NEVER)
    }

    /// The next message, waiting for it for at most this long.
    ///
    /// # Errors
    /// `Timeout` if there was none in time, and what else [`RecvError`] lists.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<ShmSample, RecvError> {
        match self.try_recv() {
            Err(TryRecvError::Empty) => self.recv_until(Deadline::after(timeout)),
            other => Ok(other?),
        }
    }

    fn recv_until(&self, deadline: Deadline) -> Result<ShmSample, RecvError> {
        match self.try_recv() {
            Err(TryRecvError::Empty) => {}
            other => return Ok(other?),
        }
        let started = file::monotonic();
        let spin = self.spin.load(Relaxed);
        let received =
            self.look_until(started + spin, deadline).unwrap_or_else(|| self.sleep_until(deadline));
        // Looking pays if the message came within the longest time that we would look.
        let came_soon = file::monotonic() - started < LONGEST_SPIN;
        let spin = if came_soon { (2 * spin).min(LONGEST_SPIN) } else { (spin / 2).max(LEAST_SPIN) };
        self.spin.store(spin, Relaxed);
        received
    }

    /// Looks again and again. `None`: it was not enough.
    fn look_until(&self, end: u64, deadline: Deadline) -> Option<Result<ShmSample, RecvError>> {
        while file::monotonic() < end && deadline.remaining().is_some() {
            match self.try_recv() {
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
                other => return Some(other.map_err(RecvError::from)),
            }
        }
        None
    }

    fn sleep_until(&self, deadline: Deadline) -> Result<ShmSample, RecvError> {
        loop {
            let attachment = self.attachment();
            let wake = attachment.membership.wake();
            let ticket = wake.announce();
            match self.try_recv() {
                Err(TryRecvError::Empty) => {}
                other => return Ok(other?),
            }
            let Some(left) = deadline.remaining() else { return Err(RecvError::Timeout) };
            wake.sleep(ticket, left);
        }
    }

    /// This subscriber's figures, as everybody can read them in the segment.
    pub fn stats(&self) -> Stats {
        let attachment = self.attachment();
        let statistics = &attachment.membership.record().statistics;
        Stats {
            received: statistics.received.load(Relaxed),
            bytes: statistics.bytes.load(Relaxed),
            lost: statistics.lost.load(Relaxed),
            ..Stats::default()
        }
    }

    /// What the messages are, as far as somebody said.
    pub fn description(&self) -> Description {
        self.receiver().attachment.description.clone()
    }
}

impl Drop for ShmSubscriber {
    fn drop(&mut self) {
        if self.forks == fork::generation() {
            let_go(&self.attachment());
        }
    }
}

impl fmt::Debug for ShmSubscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attachment = self.attachment();
        f.debug_struct("ShmSubscriber")
            .field("ring", &attachment.membership.names.label)
            .field("geometry", &attachment.layout.geometry)
            .finish_non_exhaustive()
    }
}

/// A message where it was written. Its slot is not used again before it is dropped; up to eight may live at once, and
/// be dropped in any order, even after their subscriber.
pub struct ShmSample {
    first: NonNull<u8>,
    len: usize,
    hold: usize,
    info: Info,
    /// Keeps the bytes mapped and our place in the ring.
    attachment: Arc<Attachment>,
}

// SAFETY: BORROWED (shm/mod.rs): nobody writes the bytes, and letting go of them is done by atomics.
unsafe impl Send for ShmSample {}
// SAFETY: as above; a shared sample only lends its bytes.
unsafe impl Sync for ShmSample {}

impl ShmSample {
    /// What goes with the message.
    pub fn info(&self) -> Info {
        self.info
    }
}

impl Deref for ShmSample {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: BORROWED (shm/mod.rs): inside the mapping that `attachment` owns, written before the commit, and left
        // alone as long as our hold names the slot.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl Drop for ShmSample {
    fn drop(&mut self) {
        let membership = &self.attachment.membership;
        // A forked child's copy: the hold is the parent's.
        if membership.lock.is_forked() {
            return;
        }
        self.attachment.ring().drop_hold(membership.index, self.hold);
        // Pairs with the load in `Receiver::next`: whoever uses the hold again does so after it was cleared.
        membership.held.fetch_and(!(1 << self.hold), Release);
        membership.space().wake_after(event_fence());
    }
}

impl fmt::Debug for ShmSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShmSample").field("info", &self.info).field("len", &self.len).finish_non_exhaustive()
    }
}
