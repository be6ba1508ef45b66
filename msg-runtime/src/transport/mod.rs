//! What every transport offers to the typed handles, and the one match from an endpoint to a transport.
//!
//! A publisher's link lends room for a payload and sends what was written there; a subscriber's link hands out
//! payloads. Neither knows what a payload means, and no transport names another.

#[cfg(all(feature = "shm", target_os = "linux"))]
mod shm;
#[cfg(not(all(feature = "shm", target_os = "linux")))]
#[path = "absent.rs"]
mod shm;

pub(crate) use shm::Sent;

use crate::{
    endpoint::{Address, Endpoint},
    error::{Error, ErrorKind, RecvError, SendError, TryRecvError},
    stats::Stats,
    topic::Topic,
};
use std::{fmt, ops, time::Duration};

/// What is known about a message beside its payload. What a transport does not carry is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// The message's place in its stream, from 0.
    pub sequence: Option<u64>,
    /// A number that no other publisher of the topic has.
    pub publisher: Option<u64>,
    /// Messages that passed by between the last one received and this one.
    pub lost: Option<u64>,
    pub(crate) sent: Option<Sent>,
}

impl Info {
    /// Time since the message was sent, by this host's clock.
    pub fn age(&self) -> Option<Duration> {
        self.sent.map(Sent::age)
    }
}

/// What a stream carries: its topic, and the facts of its type that the other side is checked against.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "shm"), expect(dead_code, reason = "read by transports, and this build has none"))]
pub(crate) struct Stream {
    pub(crate) topic: Topic,
    pub(crate) type_name: &'static str,
    pub(crate) fingerprint: u64,
    pub(crate) schema: &'static [u8],
    /// Bytes of every payload, if the type is plain.
    pub(crate) plain_bytes: Option<usize>,
}

/// How long a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Not at all.
    No,
    /// At most this long.
    AtMost(Duration),
    /// A publisher: as long as its endpoint's `timeout` says. A subscriber: until something happens.
    Default,
}

/// What a subscriber gets of what is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Everything; publishers wait for it.
    Everything,
    /// The newest; publishers never wait for it.
    Newest,
}

/// The sending end of a transport.
pub(crate) trait PublisherLink: Send + Sync + fmt::Debug {
    /// The largest payload that can be lent.
    fn max_len(&self) -> usize;
    /// Room for a payload of up to `len` bytes, 64-byte aligned.
    fn loan(&self, len: usize, wait: Wait) -> Result<Loan<'_>, SendError>;
    /// Waits until there are `count` subscribers; false if there are fewer when the time is over.
    fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> bool;
    /// What was sent so far.
    fn stats(&self) -> Stats;
}

/// The receiving end of a transport.
pub(crate) trait SubscriberLink: Send + Sync + fmt::Debug {
    /// The next payload.
    fn recv(&self, wait: Wait) -> Result<(Payload, Info), RecvError>;
    /// The newest payload that was not received yet; those before it are passed over.
    fn latest(&self) -> Result<(Payload, Info), TryRecvError>;
    /// Ends all waiting, now and from here on: `recv` returns `Timeout` instead.
    fn interrupt(&self);
    /// What was received so far.
    fn stats(&self) -> Stats;
}

/// Room for one payload. Dropping it sends nothing.
#[derive(Debug)]
pub(crate) struct Loan<'a>(pub(crate) shm::Loan<'a>);

impl Loan<'_> {
    /// Sends the first `len` bytes.
    pub(crate) fn send(self, len: usize) -> Result<(), SendError> {
        self.0.send(len)
    }
}

impl ops::Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl ops::DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// A received payload, which keeps what it lies in.
#[derive(Debug)]
pub(crate) struct Payload(pub(crate) shm::Payload);

impl ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Opens the sending end.
pub(crate) fn open_publisher(endpoint: &Endpoint, stream: &Stream) -> Result<Box<dyn PublisherLink>, Error> {
    match &endpoint.address {
        Address::Shm(address) => shm::open_publisher(address, endpoint.compression, stream),
        other => Err(absent(other)),
    }
}

/// Opens the receiving end. The endpoint's compression says nothing here: each message tells its own.
pub(crate) fn open_subscriber(
    endpoint: &Endpoint,
    stream: &Stream,
    delivery: Delivery,
) -> Result<Box<dyn SubscriberLink>, Error> {
    match &endpoint.address {
        Address::Shm(address) => shm::open_subscriber(address, stream, delivery),
        other => Err(absent(other)),
    }
}

fn absent(address: &Address) -> Error {
    let name = address.transport();
    let text = format!("this build has no {name}; turn on the feature `{name}` of msg-runtime");
    Error::new(ErrorKind::Unsupported, text)
}
