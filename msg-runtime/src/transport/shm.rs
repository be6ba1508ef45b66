//! Shared memory under the typed handles: from an endpoint to the ring's options, and back to our words.

mod packed;
mod waiter;

use super::{
    Delivery, Info, Origin, Packing, Parcel, PublisherLink, Registration, Stream, SubscriberLink, Wait,
    parcel,
};
use crate::{
    endpoint::{Compression, ShmAddress},
    error::{BadFrame, Error, FlushError, RecvError, SendError, TryRecvError},
    frame::Codec,
    shm::{self, Description, Options, ShmPublisher, ShmSample, ShmSubscriber},
    stats::Stats,
};
use msg_schema::Schema;
use packed::{PackedLoan, PackedPublisher, Unpacked, Unpacker};
use std::{ops, task::Waker, time::Duration};

/// The encoding of JSON handles, and on the ring their type: one name for all, which no type of a namespace has.
const JSON: &str = "json";
/// Not 0, which goes with everything.
const JSON_FINGERPRINT: u64 = u64::from_be_bytes(*b"\0\0\0\0json");

/// A received slot, or what it held compressed.
#[derive(Debug)]
pub(crate) enum Payload {
    Slot(ShmSample),
    Unpacked(Unpacked),
}

impl ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Slot(sample) => sample,
            Self::Unpacked(buffer) => buffer,
        }
    }
}

/// When a message was committed, by the host's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent(Duration);

impl Sent {
    pub(crate) fn age(self) -> Duration {
        shm::now().saturating_sub(self.0)
    }
}

/// A lent slot, or a buffer that is compressed into one; and how long sending it may take.
#[derive(Debug)]
pub(crate) enum Loan<'a> {
    Slot(shm::Loan<'a>, Wait),
    Packed(PackedLoan<'a>, Wait),
}

impl Loan<'_> {
    pub(crate) fn send(self, len: usize) -> Result<(), SendError> {
        match self {
            Self::Slot(mut slot, wait) => {
                slot.truncate(len);
                send(slot, wait)
            }
            Self::Packed(packed, wait) => packed.send(len, wait),
        }
    }

    pub(crate) fn wake_nobody(&mut self) {
        match self {
            Self::Slot(slot, _) => slot.wake_nobody(),
            Self::Packed(packed, _) => packed.wake_nobody(),
        }
    }
}

fn send(slot: shm::Loan<'_>, wait: Wait) -> Result<(), SendError> {
    let sent = match wait {
        Wait::No | Wait::Again => slot.send_timeout(Duration::ZERO),
        Wait::AtMost(timeout) => slot.send_timeout(timeout),
        Wait::Default => slot.send(),
    };
    sent.map(drop)
}

impl ops::Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Slot(slot, _) => slot,
            Self::Packed(packed, _) => packed.payload(),
        }
    }
}

impl ops::DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Slot(slot, _) => slot,
            Self::Packed(packed, _) => packed.payload_mut(),
        }
    }
}

pub(super) fn open_publisher(
    address: &ShmAddress,
    compression: Compression,
    stream: &Stream,
) -> Result<Box<dyn PublisherLink>, Error> {
    let options = options(address, stream);
    Ok(match compression {
        Compression::None => Box::new(ShmPublisher::open(&options)?),
        compression => Box::new(PackedPublisher::open(&options, compression)?),
    })
}

pub(super) fn open_subscriber(
    address: &ShmAddress,
    stream: &Stream,
    delivery: Delivery,
) -> Result<Box<dyn SubscriberLink>, Error> {
    let mut options = options(address, stream);
    if delivery == Delivery::Newest {
        options = options.latest_only();
    }
    Ok(Box::new(Unpacker::new(ShmSubscriber::open(&options)?)))
}

pub(super) fn look(address: &ShmAddress) -> Result<Vec<super::Seen>, Error> {
    // Any topic: the list is the channel's.
    let mut options = Options::new(&address.channel, "any");
    if let Some(group) = &address.group {
        options = options.group(group);
    }
    let handle = |one: &shm::Participant| (one.publishes, one.pid, one.messages, one.bytes);
    let seen = |ring: shm::Listed| super::Seen {
        topic: ring.topic,
        type_name: ring.description.type_name,
        fingerprint: ring.description.fingerprint,
        schema: ring.description.schema,
        handles: ring.participants.iter().map(handle).collect(),
    };
    Ok(shm::list(&options)?.into_iter().map(seen).collect())
}

fn options(address: &ShmAddress, stream: &Stream) -> Options {
    let mut options = Options::new(&address.channel, stream.topic.as_str()).description(describe(stream));
    options = options.check(check);
    if let Some(bytes) = stream.plain_bytes {
        options = options.default_slot_bytes(bytes);
    }
    if let Some(slots) = address.slots {
        options = options.slots(slots);
    }
    if let Some(bytes) = address.slot_bytes {
        options = options.slot_bytes(bytes);
    }
    if let Some(timeout) = address.timeout {
        options = options.timeout(timeout);
    }
    if let Some(group) = &address.group {
        options = options.group(group);
    }
    if let Some(bytes) = address.max_bytes {
        options = options.max_bytes(bytes);
    }
    behaviour(options, address)
}

/// What the ring is told of a stream. Raw handles say nothing, and so go with everything; JSON goes with JSON.
fn describe(stream: &Stream) -> Description {
    let description = Description {
        type_name: stream.type_name.clone().into_owned(),
        fingerprint: stream.fingerprint,
        schema: stream.schema.to_vec(),
    };
    match &*stream.encoding {
        JSON => Description { type_name: JSON.to_owned(), fingerprint: JSON_FINGERPRINT, ..description },
        _ => description,
    }
}

/// How a handle waits, wakes and copies.
fn behaviour(mut options: Options, address: &ShmAddress) -> Options {
    if let Some(age) = address.evict {
        options = options.evict(age);
    }
    if let Some(time) = address.spin {
        options = options.spin(time);
    }
    if address.wakes_nobody {
        options = options.wake_nobody();
    }
    if address.locks_memory {
        options = options.lock_memory();
    }
    if address.copies {
        options = options.copy_messages();
    }
    options
}

/// Programs of different age meet: they go together unless one would misread the other. Fields that only one of them
/// has are additions of the younger, whichever that is, and the older never looks at them.
fn check(ours: &Description, theirs: &Description) -> Result<(), String> {
    let schemas = (Schema::from_bytes(&ours.schema), Schema::from_bytes(&theirs.schema));
    let conflict = match schemas {
        _ if ours.type_name != theirs.type_name => Some("the names differ".to_owned()),
        (Ok(our_schema), Ok(their_schema)) => msg_schema::conflict(&our_schema, &their_schema),
        (Ok(_), Err(error)) => Some(format!("their schema cannot be read: {error}")),
        (Err(error), _) => Some(format!("our schema cannot be read: {error}")),
    };
    match conflict {
        None => Ok(()),
        Some(conflict) => Err(format!(
            "in use with type `{}`, ours is `{}`: {conflict}; use one type everywhere, or another channel or topic",
            theirs.type_name, ours.type_name
        )),
    }
}

/// A slot for a payload of up to `len` bytes.
fn take(publisher: &ShmPublisher, len: usize, wait: Wait) -> Result<shm::Loan<'_>, SendError> {
    match wait {
        Wait::No => publisher.try_loan(len).map_err(SendError::from),
        Wait::Again => publisher.retry_loan(len).map_err(SendError::from),
        Wait::AtMost(timeout) => publisher.loan_timeout(len, timeout),
        Wait::Default => publisher.loan(len),
    }
}

/// Puts a message of somebody else into a slot, as it came.
fn pass_on(publisher: &ShmPublisher, parcel: &Parcel, wait: Wait) -> Result<(), SendError> {
    // What subscribers make room for, whatever it takes compressed.
    let (len, max) = (parcel.payload_len(), publisher.slot_bytes());
    if len > max {
        return Err(SendError::TooLarge { len, max });
    }
    let mut slot = take(publisher, parcel.body.len(), wait)?;
    slot.copy_from_slice(&parcel.body);
    slot.header_byte(parcel.codec.header());
    if let Some(origin) = parcel.origin {
        slot.origin(origin.publisher, origin.sequence);
    }
    send(slot, wait)
}

impl PublisherLink for ShmPublisher {
    fn max_len(&self) -> usize {
        self.slot_bytes()
    }

    fn loan(&self, len: Option<usize>, wait: Wait) -> Result<super::Loan<'_>, SendError> {
        let len = len.unwrap_or(self.slot_bytes());
        take(self, len, wait).map(|slot| super::Loan::Slot(Loan::Slot(slot, wait)))
    }

    fn pass_on(&self, parcel: &Parcel, wait: Wait) -> Result<(), SendError> {
        pass_on(self, parcel, wait)
    }

    fn source_id(&self) -> Option<u64> {
        Some(self.ring_id())
    }

    fn watch(&self, waker: &Waker) -> Registration {
        waiter::enter(ShmPublisher::watch(self), waker)
    }

    fn wake_subscribers(&self) {
        ShmPublisher::wake_subscribers(self);
    }

    /// A message is with its subscribers when `send` returns.
    fn flush(&self, _: Duration) -> Result<(), FlushError> {
        Ok(())
    }

    fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> Option<bool> {
        Some(ShmPublisher::wait_for_subscribers(self, count, timeout))
    }

    fn stats(&self) -> Stats {
        let shm::Stats { sent, bytes, full, .. } = ShmPublisher::stats(self);
        Stats { messages: sent, bytes, full, ..Stats::default() }
    }

    fn last_error(&self) -> Option<String> {
        None
    }
}

impl PublisherLink for PackedPublisher {
    fn max_len(&self) -> usize {
        self.ring.max_len()
    }

    fn loan(&self, len: Option<usize>, wait: Wait) -> Result<super::Loan<'_>, SendError> {
        let len = len.unwrap_or(self.max_len());
        self.lend(len, wait).map(|loan| super::Loan::Slot(Loan::Packed(loan, wait)))
    }

    fn pass_on(&self, parcel: &Parcel, wait: Wait) -> Result<(), SendError> {
        if parcel.codec != Codec::None {
            return pass_on(&self.ring, parcel, wait);
        }
        let mut loan = self.lend(parcel.body.len(), wait)?;
        loan.payload_mut().copy_from_slice(&parcel.body);
        loan.origin(parcel.origin);
        loan.send(parcel.body.len(), wait)
    }

    fn source_id(&self) -> Option<u64> {
        self.ring.source_id()
    }

    fn watch(&self, waker: &Waker) -> Registration {
        PublisherLink::watch(&self.ring, waker)
    }

    fn wake_subscribers(&self) {
        self.ring.wake_subscribers();
    }

    fn flush(&self, timeout: Duration) -> Result<(), FlushError> {
        PublisherLink::flush(&self.ring, timeout)
    }

    fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> Option<bool> {
        PublisherLink::wait_for_subscribers(&self.ring, count, timeout)
    }

    fn stats(&self) -> Stats {
        let ring = PublisherLink::stats(&self.ring);
        Stats { bytes: ring.bytes + self.saved(), ..ring }
    }

    fn last_error(&self) -> Option<String> {
        None
    }
}

impl SubscriberLink for Unpacker {
    fn recv(&self, wait: Wait) -> Result<(super::Payload, Info), RecvError> {
        self.received(self.sample(wait)?).map_err(|bad| RecvError::Invalid(bad.into()))
    }

    fn recv_parcel(&self, wait: Wait, packing: Packing) -> Result<Parcel, RecvError> {
        let sample = self.sample(wait)?;
        let info = sample.info();
        let (publisher, sequence) = match info.origin {
            Some(number) => (info.publisher, number),
            None => (self.ring.ring_id(), info.sequence),
        };
        let sent = parcel::wall_clock(Sent(info.sent).age());
        let origin = Some(Origin { publisher, sequence, sent });
        let packed = match packing {
            Packing::AsItCame => self.packed(sample),
            Packing::Unpacked => self.unpack(sample).map(|payload| (Codec::None, payload)),
        };
        let (codec, body) = packed.map_err(|bad| RecvError::Invalid(bad.into()))?;
        Ok(Parcel { codec, body: super::Payload::Slot(body), origin })
    }

    fn latest(&self) -> Result<(super::Payload, Info), TryRecvError> {
        self.received(self.ring.latest()?).map_err(|bad| TryRecvError::Invalid(bad.into()))
    }

    /// Slots are aligned, and so are buffers.
    fn aligned(&self, payload: super::Payload) -> super::Payload {
        payload
    }

    fn watch(&self, waker: &Waker) -> Registration {
        waiter::enter(self.ring.watch(), waker)
    }

    fn interrupt(&self) {
        self.ring.interrupt();
    }

    fn stats(&self) -> Stats {
        let shm::Stats { received, bytes, lost, .. } = self.ring.stats();
        let (invalid, bytes) = (self.invalid(), bytes + self.gained());
        Stats { messages: received.saturating_sub(invalid), bytes, lost, invalid, ..Stats::default() }
    }

    fn last_error(&self) -> Option<String> {
        None
    }
}

impl Unpacker {
    fn sample(&self, wait: Wait) -> Result<ShmSample, RecvError> {
        match wait {
            Wait::No | Wait::Again => self.ring.try_recv().map_err(RecvError::from),
            Wait::AtMost(timeout) => self.ring.recv_timeout(timeout),
            Wait::Default => self.ring.recv(),
        }
    }

    fn received(&self, sample: ShmSample) -> Result<(super::Payload, Info), BadFrame> {
        let info = sample.info();
        let info = Info {
            sequence: Some(info.sequence),
            publisher: Some(info.publisher),
            lost: Some(info.lost),
            sent: Some(super::Sent::Slot(Sent(info.sent))),
        };
        Ok((super::Payload::Slot(self.unpack(sample)?), info))
    }
}
