//! A subscriber's connection: whatever comes goes into the queue, and after a loss it subscribes again.

use super::{
    super::network::{Inbox, Inlet, Monitor, Pool},
    link::{Link, Service},
    resp::{Push, Reader, command},
    stream::{self, Input, Stream},
};
use crate::{
    endpoint::{OnFull, RedisAddress},
    error::Error,
    event::DropCause,
};
use std::{
    io::{self, IoSlice},
    sync::Arc,
};

#[derive(Debug)]
pub(super) struct Subscription {
    _link: Link,
}

impl Inlet for Subscription {}

impl Subscription {
    pub(super) fn open(
        address: &RedisAddress,
        topic: &str,
        inbox: &Arc<Inbox>,
        monitor: &Arc<Monitor>,
    ) -> Result<Self, Error> {
        let receiving = Arc::new(Receiving {
            address: address.clone(),
            topic: topic.to_owned(),
            inbox: Arc::clone(inbox),
            monitor: Arc::clone(monitor),
            pool: Arc::default(),
        });
        Ok(Self { _link: Link::open("msg redis read", address, &receiving)? })
    }
}

struct Receiving {
    address: RedisAddress,
    topic: String,
    inbox: Arc<Inbox>,
    monitor: Arc<Monitor>,
    pool: Arc<Pool>,
}

impl Receiving {
    fn push(&self, reader: &mut Reader<Input>) -> io::Result<Push> {
        // Compressed frames are no larger than what they hold.
        reader.push(self.address.options.max_bytes.saturating_add(1), &self.pool)
    }
}

impl Service for Receiving {
    /// What is published after this arrives.
    fn greet(&self, stream: &Arc<Stream>, reader: &mut Reader<Input>) -> Result<(), Error> {
        let subscribe = command(&[b"SUBSCRIBE", self.topic.as_bytes()]);
        stream::ask(&self.address, stream, &subscribe)?;
        match self.push(reader).map_err(|error| stream::unreachable(&self.address, &error))? {
            Push::Refused(reason) => Err(stream::refused(&self.address, &reason)),
            _ => Ok(()),
        }
    }

    fn up(self: &Arc<Self>, stream: &Arc<Stream>, reader: &mut Reader<Input>) -> io::Result<()> {
        let stream = Arc::clone(stream);
        let ping = command(&[b"PING"]);
        reader.source.watch(Box::new(move || stream.write(&mut [IoSlice::new(&ping)])))?;
        self.monitor.connected();
        Ok(())
    }

    fn serve(&self, reader: &mut Reader<Input>) -> io::Error {
        loop {
            match self.push(reader) {
                Ok(Push::Frame(frame)) => self.inbox.push(frame, None, &self.monitor),
                Ok(Push::TooLarge) => self.monitor.dropped(DropCause::Malformed, 1),
                Ok(Push::Refused(reason)) => self.monitor.failed(reason),
                Ok(Push::Subscribed | Push::Pong) => {}
                Err(error) => return error,
            }
        }
    }

    fn down(&self, mut reason: String) {
        if self.address.options.on_full == OnFull::Block {
            reason.push_str(" (a server cuts off a subscriber that falls 32 MiB behind)");
        }
        self.monitor.disconnected(reason);
    }

    fn failed(&self, reason: String) {
        self.monitor.failed(reason);
    }

    fn ended(&self) {
        self.inbox.close();
    }
}
