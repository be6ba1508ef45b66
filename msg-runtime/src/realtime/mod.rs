//! Publishing from a thread that may never block.
//!
//! A control loop pushes between reading its sensors and writing its motors. A push copies the message into a queue that
//! was made before; a worker publishes it. Whatever the worker meets (a full ring, a slow network, a busy processor), a
//! push takes the same bounded number of steps: no lock, no allocation, no page fault after the first round and, with
//! the default waking, no system call.
//!
//! ```text
//! thread that may never block            worker, an ordinary thread
//! push -> [ queue ] -------------------> a Publisher -> endpoint
//! ```
//!
//! ```
//! use msg_runtime::{Message, Publisher, Subscriber};
//! use std::time::Duration;
//!
//! #[derive(Message, Clone, Copy)]
//! #[message(namespace = "demo", plain)]
//! #[repr(C)]
//! struct Joints {
//!     step: u64,
//!     position: [f64; 7],
//! }
//!
//! let joints = Subscriber::<Joints>::open("shm;doc-realtime")?;
//! let publisher = Publisher::<Joints>::open("shm;doc-realtime")?;
//!
//! let mut realtime = publisher.realtime().capacity(128).build()?;
//! realtime.start()?; // when it returns, the worker runs as it was asked to
//! realtime.push(&Joints { step: 1, position: [0.5; 7] })?; // in the loop
//!
//! assert_eq!(joints.recv()?.view().step, 1);
//! let stats = realtime.stop(Duration::from_secs(1));
//! assert_eq!((stats.pushed, stats.published, stats.left), (1, 1, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Without a worker
//!
//! Over shared memory a real-time thread may also publish itself, with [`Publisher::try_loan`] or [`Publisher::try_send`]
//! of a plain message and a handle of its own: it never waits for room or for another thread. With `wake=never` in the
//! endpoint it makes no system call either, and subscribers look by themselves. Choose by this:
//!
//! | | [`RealtimePublisher`] | [`Publisher::try_loan`] over `shm;…?wake=never` |
//! | --- | --- | --- |
//! | endpoint | any | shared memory |
//! | system calls of this thread | none (`Deadline`, `Spin`) | none |
//! | several publishers on the topic | no matter | each may cost another a further try |
//! | a subscriber is slow | a queue of any capacity in between, three ways to be full | `Full` when the slots are taken |
//! | until a subscriber has it | at most the waking's period more | until it looks: ten times a second if it sleeps |
//! | a loop that publishes without pause | refused or overwritten, mostly | all accepted, with latest-only subscribers |
//! | costs besides | a copy of the message, a thread | nothing |

mod bell;
mod pusher;
#[allow(unsafe_code)]
mod queue;
mod report;
mod schedule;
mod sink;
mod sync;
mod system;
mod warning;
mod worker;

pub use pusher::RealtimeStats;
pub use queue::{Full, WhenFull};
pub use report::{Report, report};
pub use schedule::{Policy, Schedule, lock_memory};
pub use warning::Warning;
pub use worker::Waking;

use crate::{
    buffer::{Plain, memory::zero},
    error::{Error, ErrorKind},
    message::{Encode, Message},
    publisher::Publisher,
};
use pusher::{Pusher, Settings};
use std::{fmt, time::Duration};

/// A message that can be pushed from a real-time thread: a plain one, whose bytes are copied and which owns no memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be pushed from a real-time thread, because it is not a plain message",
    label = "may hold a pointer",
    note = "copying or dropping what a pointer leads to takes memory from the allocator, which may block; make it \
            `#[message(plain)]` with `#[repr(C)]` and `Clone, Copy`, with arrays in place of `Vec` and `String`"
)]
pub trait RealtimeMessage: Message + Plain + Send + Encode<Message = Self> {}

#[diagnostic::do_not_recommend]
impl<M: Message + Plain + Send + Encode<Message = M>> RealtimeMessage for M {}

impl<M: Message> Publisher<M> {
    /// Sets up publishing from a thread that may never block, to this publisher's endpoint and topic.
    pub fn realtime(&self) -> RealtimeBuilder<M>
    where
        M: RealtimeMessage,
    {
        RealtimeBuilder { publisher: self.clone(), settings: Settings::default(), initial: None }
    }
}

/// The worker's longest sleep: clocks end somewhere.
const MAX_DEADLINE: Duration = Duration::from_secs(3600);

/// Sets up a [`RealtimePublisher`].
pub struct RealtimeBuilder<M: RealtimeMessage> {
    publisher: Publisher<M>,
    settings: Settings,
    initial: Option<M>,
}

impl<M: RealtimeMessage> RealtimeBuilder<M> {
    /// How many messages the queue holds, 1 to 4,194,304; 64 if nothing is said. With [`WhenFull::RefuseNewest`] it takes the
    /// memory of the next power of two; with [`WhenFull::LatestOnly`] there is one place.
    pub fn capacity(mut self, messages: usize) -> Self {
        self.settings.capacity = messages;
        self
    }

    /// The capacity that keeps every message while the worker, or what it publishes to, stands still this long.
    pub fn capacity_for(self, messages_per_second: u32, longest_stall: Duration) -> Self {
        let nanoseconds = longest_stall.as_nanos().saturating_mul(messages_per_second.into());
        let messages = nanoseconds.div_ceil(1_000_000_000).saturating_add(1);
        self.capacity(messages.try_into().unwrap_or(usize::MAX))
    }

    /// What a push does when the queue is full.
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.settings.when_full = when_full;
        self
    }

    /// How the worker learns that there is a message.
    pub fn waking(mut self, waking: Waking) -> Self {
        self.settings.waking = waking;
        self
    }

    /// How the worker's thread is scheduled; its name is `msg-realtime` unless this gives another.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.settings.schedule = schedule;
        self
    }

    /// What [`push_with`](RealtimePublisher::push_with) finds in a place that was never used; zeros if nothing is said.
    pub fn initial(mut self, message: M) -> Self {
        self.initial = Some(message);
        self
    }

    /// Makes the publisher: allocates the queue and writes all of it once, so that its pages are there. It starts nothing.
    ///
    /// # Errors
    ///
    /// A capacity of 0 or above the most, a deadline of the worker that is 0 or above an hour, a type for which zeros are no value
    /// and that was given no [`initial`](RealtimeBuilder::initial) one.
    pub fn build(self) -> Result<RealtimePublisher<M>, Error> {
        let wrong = |text| Err(Error::new(ErrorKind::Unsupported, text));
        let capacity = self.settings.capacity;
        if !(1..=queue::MAX_CAPACITY).contains(&capacity) {
            return wrong(format!("capacity {capacity} of the queue, expected 1 to {}", queue::MAX_CAPACITY));
        }
        if let Waking::Deadline(period) = self.settings.waking
            && !(Duration::from_nanos(1)..=MAX_DEADLINE).contains(&period)
        {
            return wrong(format!(
                "a deadline of {period:?} for the worker, expected more than 0 s, for which there is `Waking::Spin`, and \
                 at most {MAX_DEADLINE:?}"
            ));
        }
        let initial = match self.initial {
            Some(message) => message,
            None if M::ZERO_IS_VALID => *zero(),
            None => {
                return wrong(format!(
                    "zeros are no `{}`, and every place of the queue needs a value; give one with `initial`",
                    M::TYPE_NAME
                ));
            }
        };
        let sink = sink::Batch::new(self.publisher);
        Ok(RealtimePublisher { pusher: Pusher::new(self.settings, initial, Box::new(sink)) })
    }
}

/// Publishes from a thread that may never block. See the [module's page](self).
///
/// There is one pushing thread by type: a push takes `&mut self`, and the publisher is not `Clone`. Nothing runs before
/// [`start`](RealtimePublisher::start). Dropping it publishes what is in the queue, for at most half a second.
pub struct RealtimePublisher<M: RealtimeMessage> {
    pusher: Pusher<M>,
}

impl<M: RealtimeMessage> RealtimePublisher<M> {
    /// Queues a copy of the message.
    ///
    /// # Errors
    ///
    /// [`Full`], only with [`WhenFull::RefuseNewest`].
    #[inline]
    pub fn push(&mut self, message: &M) -> Result<(), Full> {
        self.push_with(|place| *place = *message)
    }

    /// Fills a message in place and queues it. `fill` finds an earlier message there, and sets what has changed or all of
    /// it; it is not called when the queue is full and refuses. If it panics, nothing is queued.
    ///
    /// # Errors
    ///
    /// [`Full`], only with [`WhenFull::RefuseNewest`].
    #[inline]
    pub fn push_with(&mut self, fill: impl FnOnce(&mut M)) -> Result<(), Full> {
        self.pusher.push_with(fill)
    }

    /// Starts the worker, and returns when it runs with the policy, processors, name and timer slack that were asked for.
    /// What was pushed before is kept and published. Starting twice does nothing the second time.
    ///
    /// # Errors
    ///
    /// What the system refused, and how to allow it. Nothing runs then, and what was pushed is still there.
    pub fn start(&mut self) -> Result<(), Error> {
        self.pusher.start()
    }

    /// Publishes what is in the queue, ends the worker, and says what became of every message.
    ///
    /// It returns after the timeout at the latest, give or take the 50 ms that an attempt to send may still be given. If
    /// the endpoint does not come back from its call by then, the worker ends by itself after that message, which is
    /// counted as left and may still go out.
    pub fn stop(mut self, timeout: Duration) -> RealtimeStats {
        self.pusher.stop(timeout)
    }

    /// What became of the messages so far.
    pub fn stats(&self) -> RealtimeStats {
        self.pusher.stats()
    }

    /// Choices that are known to hurt, if the calling thread is the one that pushes. It reads files: call it before the
    /// loop.
    pub fn warnings(&self) -> Vec<Warning> {
        warning::warnings(&self.pusher.settings.schedule, self.pusher.settings.waking)
    }
}

impl<M: RealtimeMessage> fmt::Debug for RealtimeBuilder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (publisher, settings) = (&self.publisher, &self.settings);
        f.debug_struct("RealtimeBuilder")
            .field("publisher", publisher)
            .field("settings", settings)
            .finish_non_exhaustive()
    }
}

impl<M: RealtimeMessage> fmt::Debug for RealtimePublisher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RealtimePublisher")
            .field("type", &M::TYPE_NAME)
            .field("pusher", &self.pusher)
            .finish()
    }
}
