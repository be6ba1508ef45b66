//! Zenoh: one session for all handles of a process at an address.
//!
//! ```text
//! Sender -> Jobs -> the session's thread -> put           a put waits when the link is slow: no caller does
//! Inbox <- callback on Zenoh's threads
//! ```
//!
//! The stamp travels as the sample's attachment. A payload goes as Zenoh's own shared bytes, and comes as them where it
//! lies in one piece. The folder alone names the client library, `zenoh`.

mod config;
mod jobs;
mod link;
mod session;
mod subscription;

use self::{
    jobs::{Job, Source},
    session::Session,
    subscription::Subscription,
};
use super::{
    Delivery, OnEvent, PublisherLink, Stream, SubscriberLink,
    network::{self, Backlog, Inlet, Monitor, Outlet, SharedBytes, Stamp},
};
use crate::{
    endpoint::{Compression, ZenohAddress},
    error::{Error, FlushError, TrySendError},
    event::DropCause,
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Zenoh's own limit of a message is 1 GiB on the receiving side; ours is smaller, and counts the header byte.
const MAX_LEN: usize = (1 << 30) - 4096;
/// How long a handle that is dropped waits for what it has taken: longer than a lease, after which Zenoh gives up a
/// silent link.
const PATIENCE: Duration = Duration::from_secs(12);

pub(super) fn open_publisher(
    address: &ZenohAddress,
    compression: Compression,
    stream: &Stream,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn PublisherLink>, Error> {
    let monitor = Arc::new(Monitor::new(&stream.topic, on_event));
    network::publisher(&address.options, compression, Arc::clone(&monitor), || {
        let session = Session::of(address)?;
        session.tell(&monitor);
        let backlog = Backlog::new(address.options.queue_bytes);
        let source = Source::new(stream.topic.as_str(), address.drops_on_congestion, monitor);
        Ok(Box::new(Sender { source: Arc::new(source), backlog, session }))
    })
}

pub(super) fn open_subscriber(
    address: &ZenohAddress,
    stream: &Stream,
    delivery: Delivery,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn SubscriberLink>, Error> {
    let monitor = Arc::new(Monitor::new(&stream.topic, on_event));
    network::subscriber(&address.options, delivery, Arc::clone(&monitor), |inbox| {
        let session = Session::of(address)?;
        session.tell(&monitor);
        let subscription = session.subscribe(stream.topic.as_str(), inbox, &monitor)?;
        Ok(Box::new(Membership { _subscription: subscription, _monitor: monitor, _session: session }))
    })
}

#[derive(Debug)]
struct Sender {
    source: Arc<Source>,
    backlog: Arc<Backlog>,
    session: Arc<Session>,
}

impl Outlet for Sender {
    fn max_len(&self) -> usize {
        MAX_LEN
    }

    fn try_send(&self, frame: &SharedBytes, stamp: Option<Stamp>) -> Result<(), TrySendError> {
        let waiting = self.backlog.enter(frame.clone()).ok_or(TrySendError::Full)?;
        let source = Arc::clone(&self.source);
        match self.session.jobs().push(Job::Put { source, frame: frame.clone(), stamp, waiting }) {
            true => Ok(()),
            false => Err(TrySendError::Disconnected),
        }
    }

    fn wait_for_room(&self, len: usize, deadline: Instant) {
        self.backlog.wait_for_room(len, deadline);
    }

    /// Zenoh does not say what has left.
    fn flush(&self, _: Instant) -> Result<(), FlushError> {
        Err(FlushError::Unsupported)
    }

    fn queued(&self) -> u64 {
        self.backlog.messages()
    }
}

impl Drop for Sender {
    /// What the link does not take in time is dropped, counted and told.
    fn drop(&mut self) {
        if self.session.is_open() {
            // Room for anything is there when nothing waits any more.
            self.backlog.wait_for_room(usize::MAX / 2, Instant::now() + PATIENCE);
        }
        self.source.end();
        self.source.monitor().dropped(DropCause::Unsent, self.backlog.messages());
        self.session.jobs().push(Job::End(Arc::clone(&self.source)));
    }
}

/// Receives one topic. Fields are dropped in this order: the callback goes before what it uses.
#[derive(Debug)]
struct Membership {
    _subscription: Subscription,
    /// Hears of the link as long as this lives.
    _monitor: Arc<Monitor>,
    _session: Arc<Session>,
}

impl Inlet for Membership {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks leaves what they guard whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
