//! Subscribing: samples that are read where they were written, and held as long as they live.

use std::fmt;
use std::sync::atomic::AtomicU64 as PlainU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool};
use std::time::Duration;

use super::attachment::Attachment;
use super::file;
use super::fork;
use super::options::{Description, Options};
use super::receiver::{Receiver, let_go};
use super::sample::ShmSample;
use super::wait::{Deadline, LONGEST_SLEEP, event_fence, has_passed};
use super::watch::{Awaited, Watch};
use crate::error::{Error, RecvError, TryRecvError};

/// The longest time, in nanoseconds, that a subscriber looks again and again before it sleeps: about what it takes to
/// be woken. Shrinks as far as the least while messages come too far apart for that.
const LONGEST_SPIN: u64 = 50_000;
const LEAST_SPIN: u64 = 1_000;
/// How often a subscriber looks for a message before it looks at the clock, which takes as long as several looks.
const LOOKS: u32 = 16;
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

/// A handle that receives what is published from its opening on. Publishers wait for it, unless it is
/// [latest-only](Options::latest_only).
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
    /// Nobody shall wait any longer.
    interrupted: AtomicBool,
    receiver: Mutex<Receiver>,
}

impl ShmSubscriber {
    /// Opens the ring, or makes it if nobody has it open. What is published from here on is received.
    ///
    /// # Errors
    /// As [`ShmPublisher::open`](super::ShmPublisher::open), with 64 subscribers.
    pub fn open(options: &Options) -> Result<Self, Error> {
        Ok(Self {
            options: options.clone(),
            forks: fork::generation(),
            spin: PlainU64::new(LONGEST_SPIN),
            interrupted: AtomicBool::new(false),
            receiver: Mutex::new(Receiver::open(options)?),
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

    /// The newest message that was not received yet, if there is one. Those before it are passed over, and count as lost.
    ///
    /// # Errors
    /// As [`try_recv`](Self::try_recv).
    pub fn latest(&self) -> Result<ShmSample, TryRecvError> {
        if self.forks != fork::generation() {
            return Err(TryRecvError::Forked);
        }
        self.receiver().newest(&self.options)
    }

    /// Ends all waiting: a call that waits, now or later, returns `Timeout` instead, once there is no message.
    pub(crate) fn interrupt(&self) {
        self.interrupted.store(true, Release);
        self.attachment().membership.wake().wake_after(event_fence());
    }

    /// Announces a sleeper for the next message, who looks once more before it lets somebody sleep for it.
    pub(crate) fn watch(&self) -> Watch {
        self.attachment().membership.watch(Awaited::Message, LONGEST_SLEEP)
    }

    fn recv_until(&self, deadline: Deadline) -> Result<ShmSample, RecvError> {
        match self.try_recv() {
            Err(TryRecvError::Empty) => {}
            other => return Ok(other?),
        }
        let started = file::monotonic();
        let Some(time) = self.options.spin else { return self.recv_adaptively(started, deadline) };
        self.look_until(started, time, deadline).unwrap_or_else(|| self.sleep_until(deadline))
    }

    /// Looks for longer while messages come fast.
    fn recv_adaptively(&self, started: u64, deadline: Deadline) -> Result<ShmSample, RecvError> {
        let spin = self.spin.load(Relaxed);
        let received = self.look_until(started, Duration::from_nanos(spin), deadline);
        let received = received.unwrap_or_else(|| self.sleep_until(deadline));
        // Looking pays if the message came within the longest time that we would look.
        let came_soon = file::monotonic() - started < LONGEST_SPIN;
        let spin = if came_soon { (2 * spin).min(LONGEST_SPIN) } else { (spin / 2).max(LEAST_SPIN) };
        self.spin.store(spin, Relaxed);
        received
    }

    /// Looks again and again. `None`: it was not enough.
    fn look_until(
        &self,
        started: u64,
        time: Duration,
        deadline: Deadline,
    ) -> Option<Result<ShmSample, RecvError>> {
        while !has_passed(started, time) && self.remaining(deadline).is_some() {
            self.receiver().look(&self.options, LOOKS);
            match self.try_recv() {
                Err(TryRecvError::Empty) => {}
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
            let Some(left) = self.remaining(deadline) else { return Err(RecvError::Timeout) };
            wake.sleep(ticket, left);
        }
    }

    /// How long to wait yet; `None`: no longer.
    fn remaining(&self, deadline: Deadline) -> Option<Duration> {
        // Pairs with the store in `interrupt`, which a sleeper that missed it is woken after.
        deadline.remaining().filter(|_| !self.interrupted.load(Acquire))
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

    /// A number that no other ring has.
    pub(crate) fn ring_id(&self) -> u64 {
        self.receiver().attachment.id()
    }

    /// How long a message may be.
    pub fn slot_bytes(&self) -> usize {
        self.receiver().attachment.layout.geometry.slot_bytes
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
