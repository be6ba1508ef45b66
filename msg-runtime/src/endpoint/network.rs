//! The options that network transports have in common.

use super::{
    options::{one_of, unless_default},
    quantity::{self, Size, Time},
    text::{Complaint, Part},
};
use std::time::Duration;

const DEFAULT_BYTES: usize = 64 << 20;

/// What network transports have in common. Which of these a transport takes stands at its address.
///
/// | option | default | means |
/// | --- | --- | --- |
/// | `queue=64MiB` | 64 MiB | bytes of messages that wait: for the subscriber, and in a publisher for the link |
/// | `on_full=drop`, `on_full=block` | `drop` | when a subscriber's queue is full: drop the oldest message and count it, or stop reading |
/// | `max=64MiB` | 64 MiB | the largest payload, before compression; what is larger is refused, on both sides |
/// | `timeout=1s` | 1 s | how long `send` waits for room |
/// | `connect_timeout=5s` | 5 s | how long opening waits for the link |
/// | `retry=true`, `retry=false` | `false` | open even where the link cannot be made, and keep trying |
/// | `stamp=on`, `stamp=off` | `on` | publisher, sequence and time travel beside each message |
/// | `announce=on`, `announce=off` | `on` | tell others of this handle: program, process, host, and schema |
/// | `fragment=on`, `fragment=off` | `on` for udp, `off` for nats | send a message larger than the transport's unit in pieces |
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkOptions {
    /// `queue=`: bytes of messages that may wait for the subscriber, or for the link.
    pub queue_bytes: usize,
    /// `on_full=`: what happens when a subscriber's queue is full.
    pub on_full: OnFull,
    /// `max=`: bytes of the largest payload.
    pub max_bytes: usize,
    /// `timeout=`: how long `send` waits for room.
    pub timeout: Duration,
    /// `connect_timeout=`: how long opening waits for the link.
    pub connect_timeout: Duration,
    /// `retry=true`: opening succeeds without a link, and goes on trying.
    pub retry: bool,
    /// `stamp=on`: publisher, sequence and time travel beside each message.
    pub stamp: bool,
    /// `announce=on`: others are told of this handle.
    pub announce: bool,
    /// `fragment=on`: messages larger than the transport's unit are sent in pieces.
    pub fragment: bool,
}

/// What happens when a subscriber's queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFull {
    /// The oldest message is dropped, and counted.
    DropOldest,
    /// Nothing is read from the link until there is room; what that means for the publisher is the transport's matter.
    Block,
}

impl NetworkOptions {
    pub(super) fn new(fragment: bool) -> Self {
        Self {
            queue_bytes: DEFAULT_BYTES,
            on_full: OnFull::DropOldest,
            max_bytes: DEFAULT_BYTES,
            timeout: Duration::from_secs(1),
            connect_timeout: Duration::from_secs(5),
            retry: false,
            stamp: true,
            announce: true,
            fragment,
        }
    }

    /// Sets one of the options above; false if the name is none of them.
    pub(super) fn set(&mut self, name: Part<'_>, value: Part<'_>) -> Result<bool, Complaint> {
        match name.text {
            "queue" => self.queue_bytes = quantity::bytes(name, value)?,
            "on_full" => {
                let blocks = one_of(name, value, ["drop", "block"])?;
                self.on_full = if blocks { OnFull::Block } else { OnFull::DropOldest };
            }
            "max" => self.max_bytes = quantity::bytes(name, value)?,
            "timeout" => self.timeout = quantity::duration(value)?,
            "connect_timeout" => self.connect_timeout = some_time(name, value)?,
            "retry" => self.retry = one_of(name, value, ["false", "true"])?,
            "stamp" => self.stamp = one_of(name, value, ["off", "on"])?,
            "announce" => self.announce = one_of(name, value, ["off", "on"])?,
            "fragment" => self.fragment = one_of(name, value, ["off", "on"])?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What is not as in `default`, for printing.
    pub(super) fn print(&self, default: &Self) -> [Option<String>; 9] {
        let size = |bytes| Size(bytes as u64).to_string();
        let time = |time| Time(time).to_string();
        let on = |on| if on { "on" } else { "off" }.to_owned();
        let full = |full| if full == OnFull::Block { "block" } else { "drop" }.to_owned();
        [
            unless_default("queue", self.queue_bytes, default.queue_bytes, size),
            unless_default("on_full", self.on_full, default.on_full, full),
            unless_default("max", self.max_bytes, default.max_bytes, size),
            unless_default("timeout", self.timeout, default.timeout, time),
            unless_default("connect_timeout", self.connect_timeout, default.connect_timeout, time),
            unless_default("retry", self.retry, default.retry, |retry| retry.to_string()),
            unless_default("stamp", self.stamp, default.stamp, on),
            unless_default("announce", self.announce, default.announce, on),
            unless_default("fragment", self.fragment, default.fragment, on),
        ]
    }
}

fn some_time(name: Part<'_>, value: Part<'_>) -> Result<Duration, Complaint> {
    match quantity::duration(value)? {
        Duration::ZERO => {
            Err(value
                .complain(format!("{} `{}` leaves no time; write more, as in `5s`", name.text, value.text)))
        }
        time => Ok(time),
    }
}
