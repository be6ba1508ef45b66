//! Redis: one connection for all publishers of a process at an address, and one for each subscriber.
//!
//! A message is `PUBLISH topic frame`; nothing travels beside it, so messages have no number. What a subscriber misses
//! while its link is down cannot be known here: the events and `reconnects` say that it happened, and the counts that
//! publishers announce say how much there was.
//!
//! The protocol is spoken here, on the standard library's sockets. The usual client has one thread own a connection whose
//! reads cannot be ended from outside, so a dropped subscriber would keep its thread and its place at the server until its
//! next heartbeat; and it copies each message twice on its way. Here a frame is written from where it was encoded, and read to
//! where it is viewed.
//!
//! ```text
//! Sender -> session -> stream -> server -> stream -> resp -> subscription -> Inbox
//!                  link: connects, connects again
//! ```

mod link;
mod resp;
mod session;
mod stream;
mod subscription;
#[cfg(feature = "tls")]
mod tls;

use self::{
    session::{Session, Source},
    subscription::Subscription,
};
use super::{
    Delivery, OnEvent, PublisherLink, Registration, Stream, SubscriberLink,
    network::{self, Backlog, Monitor, Outlet, SharedBytes, Stamp},
};
use crate::{
    endpoint::{Compression, RedisAddress, RedisServer},
    error::{Error, ErrorKind, FlushError, TrySendError},
};
use std::{sync::Arc, task::Waker, time::Instant};

/// What a server takes as one word.
const MAX_LEN: usize = 512 << 20;

pub(super) fn open_publisher(
    address: &RedisAddress,
    compression: Compression,
    stream: &Stream,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn PublisherLink>, Error> {
    supported(address)?;
    let monitor = Arc::new(Monitor::new(&stream.topic, on_event));
    network::publisher(&address.options, compression, Arc::clone(&monitor), || {
        let session = Session::of(address)?;
        session.tell(&monitor);
        let source = Source::new(stream.topic.as_str(), &monitor);
        Ok(Box::new(Sender { session, source, backlog: Backlog::new(address.options.queue_bytes) }))
    })
}

pub(super) fn open_subscriber(
    address: &RedisAddress,
    stream: &Stream,
    delivery: Delivery,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn SubscriberLink>, Error> {
    supported(address)?;
    let monitor = Arc::new(Monitor::new(&stream.topic, on_event));
    network::subscriber(&address.options, delivery, Arc::clone(&monitor), |inbox| {
        Ok(Box::new(Subscription::open(address, stream.topic.as_str(), inbox, &monitor)?))
    })
}

/// What this build and platform lack.
fn supported(address: &RedisAddress) -> Result<(), Error> {
    let lacks = match &address.server {
        RedisServer::Tcp { tls: true, .. } if cfg!(not(feature = "tls")) => {
            "this build has no TLS for `rediss://`; turn on the feature `tls` of msg-runtime"
        }
        RedisServer::Unix(_) if cfg!(not(unix)) => "this platform has no Unix sockets; write `redis://`",
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Unsupported, lacks))
}

/// A publisher. Its frames go out in the order in which they were taken.
#[derive(Debug)]
struct Sender {
    session: Arc<Session>,
    source: Arc<Source>,
    backlog: Arc<Backlog>,
}

impl Outlet for Sender {
    fn max_len(&self) -> usize {
        MAX_LEN
    }

    fn try_send(&self, frame: &SharedBytes, _: Option<Stamp>) -> Result<(), TrySendError> {
        if !self.session.is_ours() {
            return Err(TrySendError::Forked);
        }
        let waiting = self.backlog.enter(frame.clone()).ok_or(TrySendError::Full)?;
        self.session.submit(waiting, &self.source);
        Ok(())
    }

    fn watch(&self, waker: &Waker) -> Registration {
        self.backlog.watch(waker)
    }

    fn wait_for_room(&self, len: usize, deadline: Instant) {
        self.backlog.wait_for_room(len, deadline);
    }

    /// Every message was answered. Not so if one was given up since the last flush.
    fn flush(&self, deadline: Instant) -> Result<(), FlushError> {
        self.session.flush(&self.source, deadline)
    }

    fn queued(&self) -> u64 {
        self.backlog.messages()
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.session.forget(&self.source);
    }
}
