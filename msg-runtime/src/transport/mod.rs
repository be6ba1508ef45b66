//! What every transport offers to the typed handles, and the one match from an endpoint to a transport.
//!
//! A publisher's link lends room for a payload and sends what was written there; a subscriber's link hands out
//! payloads. Neither knows what a payload means, and no transport names another.

#[cfg(all(feature = "udp", target_os = "linux"))]
mod fragment;
#[cfg(feature = "inproc")]
mod inproc;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "network")]
mod network;
mod parcel;
#[cfg(all(feature = "shm", target_os = "linux"))]
mod pool;
#[cfg(feature = "redis")]
mod redis;
#[cfg(all(feature = "shm", target_os = "linux"))]
mod shm;
#[cfg(not(all(feature = "shm", target_os = "linux")))]
#[path = "absent.rs"]
mod shm;
#[cfg(all(feature = "udp", target_os = "linux"))]
mod udp;

#[cfg(all(fuzzing, feature = "udp", target_os = "linux"))]
pub use udp::fuzz as fuzz_udp;

mod wakers;
#[cfg(feature = "zenoh")]
mod zenoh;

pub(crate) use parcel::{Origin, Packing, Parcel};
pub(crate) use wakers::Registration;

use crate::{
    endpoint::{Address, Endpoint, NatsAddress, RedisAddress, ShmAddress, UdpAddress, ZenohAddress},
    error::{Error, ErrorKind, FlushError, RecvError, SendError, TryRecvError},
    event::Event,
    stats::Stats,
    topic::Topic,
};
use std::{borrow::Cow, fmt, ops, task::Waker, time::Duration};

/// What is known about a message beside its payload. What a transport does not carry is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info {
    /// The message's place in its stream, from 0.
    pub sequence: Option<u64>,
    /// A number that no other publisher of the topic has.
    pub publisher: Option<u64>,
    /// Messages that passed by between the last one received and this one, as far as it is known: on a network those
    /// of the same publisher.
    pub lost: Option<u64>,
    pub(crate) sent: Option<Sent>,
}

impl Info {
    /// Time since the message was sent, by this host's clock; between hosts it is as good as their clocks agree.
    pub fn age(&self) -> Option<Duration> {
        self.sent.map(Sent::age)
    }
}

/// When a message was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// By the clock that all processes of this host share.
    Slot(shm::Sent),
    /// By the sender's wall clock.
    #[cfg(feature = "network")]
    Stamp(network::Stamp),
}

impl Sent {
    fn age(self) -> Duration {
        match self {
            Self::Slot(sent) => sent.age(),
            #[cfg(feature = "network")]
            Self::Stamp(stamp) => stamp.age(),
        }
    }
}

/// The user's closure for events.
pub(crate) type OnEvent = Box<dyn Fn(&Event) + Send + Sync>;

/// What a stream carries: its topic, and the facts of its type that the other side is checked against.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "shm"), expect(dead_code, reason = "read by transports, and this build has none"))]
pub(crate) struct Stream {
    pub(crate) topic: Topic,
    pub(crate) type_name: Cow<'static, str>,
    /// What payloads are: `flatbuffers`, `json` or `raw`.
    pub(crate) encoding: Cow<'static, str>,
    pub(crate) fingerprint: u64,
    pub(crate) schema: Cow<'static, [u8]>,
    /// Bytes of every payload, if the type is plain.
    pub(crate) plain_bytes: Option<usize>,
}

/// How long a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Not at all.
    No,
    /// Not at all, and it was counted before that there was no room at once.
    Again,
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
    /// The largest payload that can be sent.
    fn max_len(&self) -> usize;
    /// Room for a payload, 64-byte aligned: of `len` bytes, all zero, or as much as is at hand, holding anything.
    fn loan(&self, len: Option<usize>, wait: Wait) -> Result<Loan<'_>, SendError>;
    /// Sends a message of somebody else, as who it stays known. One that is not compressed is compressed as all others.
    fn pass_on(&self, parcel: &Parcel, wait: Wait) -> Result<(), SendError>;
    /// Messages whose origin has this number came from here.
    fn source_id(&self) -> Option<u64> {
        None
    }
    /// Waits until what was sent is with the other side, as far as the transport can tell.
    fn flush(&self, timeout: Duration) -> Result<(), FlushError>;
    /// Waits until there are `count` subscribers; false if there are fewer when the time is over. `None` from a
    /// transport that does not know its subscribers.
    fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> Option<bool>;
    /// Has the waker woken when there may be room, or for no reason. The caller tries once more before it relies on that.
    fn watch(&self, waker: &Waker) -> Registration;
    /// Wakes the subscribers that sleep, after messages that were sent with `Loan::wake_nobody`.
    fn wake_subscribers(&self) {}
    /// Tells the user what others have found out about the link.
    fn tell(&self, _event: &Event) {}
    /// What was sent so far.
    fn stats(&self) -> Stats;
    /// The last thing that went wrong with the link.
    fn last_error(&self) -> Option<String>;
}

/// The receiving end of a transport.
pub(crate) trait SubscriberLink: Send + Sync + fmt::Debug {
    /// The next payload.
    fn recv(&self, wait: Wait) -> Result<(Payload, Info), RecvError>;
    /// The next message, to pass on.
    fn recv_parcel(&self, wait: Wait, packing: Packing) -> Result<Parcel, RecvError>;
    /// The newest payload that was not received yet; those before it are passed over.
    fn latest(&self) -> Result<(Payload, Info), TryRecvError>;
    /// The same payload at a 64-byte aligned address.
    fn aligned(&self, payload: Payload) -> Payload;
    /// Has the waker woken when there may be something to receive, or for no reason. The caller looks once more before it
    /// relies on that.
    fn watch(&self, waker: &Waker) -> Registration;
    /// Ends all waiting, now and from here on: `recv` returns `Timeout` instead.
    fn interrupt(&self);
    /// Tells the user what others have found out about the link.
    fn tell(&self, _event: &Event) {}
    /// What was received so far.
    fn stats(&self) -> Stats;
    /// The last thing that went wrong with the link.
    fn last_error(&self) -> Option<String>;
}

/// Room for one payload. Dropping it sends nothing.
#[derive(Debug)]
pub(crate) enum Loan<'a> {
    Slot(shm::Loan<'a>),
    #[cfg(feature = "network")]
    Buffer(network::Loan<'a>),
}

impl Loan<'_> {
    /// Makes room for a payload that turned out to need `len` bytes; false if no such payload can be sent.
    pub(crate) fn grow(&mut self, len: usize) -> bool {
        match self {
            Self::Slot(slot) => len <= slot.len(),
            #[cfg(feature = "network")]
            Self::Buffer(buffer) => buffer.grow(len),
        }
    }

    /// Sends the first `len` bytes.
    pub(crate) fn send(self, len: usize) -> Result<(), SendError> {
        match self {
            Self::Slot(slot) => slot.send(len),
            #[cfg(feature = "network")]
            Self::Buffer(buffer) => buffer.send(len),
        }
    }

    /// Leaves waking those who sleep to a later `PublisherLink::wake_subscribers`.
    pub(crate) fn wake_nobody(&mut self) {
        match self {
            Self::Slot(slot) => slot.wake_nobody(),
            #[cfg(feature = "network")]
            Self::Buffer(_) => {}
        }
    }
}

impl ops::Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Slot(slot) => slot,
            #[cfg(feature = "network")]
            Self::Buffer(buffer) => buffer,
        }
    }
}

impl ops::DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Slot(slot) => slot,
            #[cfg(feature = "network")]
            Self::Buffer(buffer) => buffer,
        }
    }
}

/// A received payload, which keeps what it lies in.
#[derive(Debug)]
pub(crate) enum Payload {
    Slot(shm::Payload),
    #[cfg(feature = "network")]
    Buffer(network::Payload),
}

impl ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Slot(slot) => slot,
            #[cfg(feature = "network")]
            Self::Buffer(buffer) => buffer,
        }
    }
}

/// Opens the sending end.
pub(crate) fn open_publisher(
    endpoint: &Endpoint,
    stream: &Stream,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn PublisherLink>, Error> {
    let compression = endpoint.compression;
    match &endpoint.address {
        Address::Shm(address) => shm::open_publisher(address, compression, stream),
        #[cfg(feature = "inproc")]
        Address::Inproc(address) => inproc::open_publisher(address, compression, stream, on_event),
        #[cfg(feature = "nats")]
        Address::Nats(address) => nats::open_publisher(address, compression, stream, on_event),
        #[cfg(all(feature = "udp", target_os = "linux"))]
        Address::Udp(address) => udp::open_publisher(address, compression, stream, on_event),
        #[cfg(feature = "redis")]
        Address::Redis(address) => redis::open_publisher(address, compression, stream, on_event),
        #[cfg(feature = "zenoh")]
        Address::Zenoh(address) => zenoh::open_publisher(address, compression, stream, on_event),
        #[allow(unreachable_patterns, reason = "a build may have all of them")]
        other => Err(absent(other)),
    }
}

/// Opens the receiving end. The endpoint's compression says nothing here: each message tells its own.
pub(crate) fn open_subscriber(
    endpoint: &Endpoint,
    stream: &Stream,
    delivery: Delivery,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn SubscriberLink>, Error> {
    match &endpoint.address {
        Address::Shm(address) => shm::open_subscriber(address, stream, delivery),
        #[cfg(feature = "inproc")]
        Address::Inproc(address) => inproc::open_subscriber(address, stream, delivery, on_event),
        #[cfg(feature = "nats")]
        Address::Nats(address) => nats::open_subscriber(address, stream, delivery, on_event),
        #[cfg(all(feature = "udp", target_os = "linux"))]
        Address::Udp(address) => udp::open_subscriber(address, stream, delivery, on_event),
        #[cfg(feature = "redis")]
        Address::Redis(address) => redis::open_subscriber(address, stream, delivery, on_event),
        #[cfg(feature = "zenoh")]
        Address::Zenoh(address) => zenoh::open_subscriber(address, stream, delivery, on_event),
        #[allow(unreachable_patterns, reason = "a build may have all of them")]
        other => Err(absent(other)),
    }
}

/// A ring as it looks from outside.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) topic: String,
    pub(crate) type_name: String,
    pub(crate) fingerprint: u64,
    pub(crate) schema: Vec<u8>,
    /// Whether each publishes, its process, its messages, their bytes.
    pub(crate) handles: Vec<(bool, Option<u32>, u64, u64)>,
}

/// The rings of a channel of shared memory.
pub(crate) fn look(address: &ShmAddress) -> Result<Vec<Seen>, Error> {
    shm::look(address)
}

/// Whether handles of this address announce themselves to each other. Shared memory and channels of a process have lists.
pub(crate) fn announces(address: &Address) -> bool {
    match address {
        Address::Shm(_) | Address::Inproc(_) => false,
        Address::Udp(UdpAddress { options, .. })
        | Address::Nats(NatsAddress { options, .. })
        | Address::Redis(RedisAddress { options, .. })
        | Address::Zenoh(ZenohAddress { options, .. }) => options.announce,
    }
}

/// Whether messages tell at this address whose they are.
pub(crate) fn stamps(address: &Address) -> bool {
    match address {
        Address::Shm(_) | Address::Inproc(_) => true,
        Address::Redis(_) => false,
        Address::Udp(UdpAddress { options, .. })
        | Address::Nats(NatsAddress { options, .. })
        | Address::Zenoh(ZenohAddress { options, .. }) => options.stamp,
    }
}

/// A number that nobody else has.
#[cfg(feature = "network")]
pub(crate) fn random() -> u64 {
    network::random()
}

fn absent(address: &Address) -> Error {
    let name = address.transport();
    let text = format!("this build has no {name}; turn on the feature `{name}` of msg-runtime");
    Error::new(ErrorKind::Unsupported, text)
}

#[cfg(all(test, not(feature = "nats")))]
mod tests {
    use super::*;

    #[test]
    fn a_transport_that_this_build_lacks_is_named_with_its_feature() {
        let endpoint: Endpoint = "nats;127.0.0.1".parse().unwrap();
        let topic = Topic::new("x").unwrap();
        let stream = Stream {
            topic,
            type_name: "".into(),
            encoding: "raw".into(),
            fingerprint: 0,
            schema: Cow::Borrowed(&[]),
            plain_bytes: None,
        };
        let error = open_publisher(&endpoint, &stream, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.to_string(), "this build has no nats; turn on the feature `nats` of msg-runtime");
    }
}
