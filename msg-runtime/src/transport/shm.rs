//! Shared memory under the typed handles: from an endpoint to the ring's options, and back to our words.

use super::{Delivery, Info, PublisherLink, Stream, SubscriberLink, Wait};
use crate::{
    endpoint::{Compression, ShmAddress},
    error::{Error, ErrorKind, FlushError, RecvError, SendError, TryRecvError},
    shm::{self, Description, Options, ShmPublisher, ShmSample, ShmSubscriber},
    stats::Stats,
};
use msg_schema::Schema;
use std::{ops, time::Duration};

/// A received slot.
pub(crate) type Payload = ShmSample;

/// When a message was committed, by the host's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent(Duration);

impl Sent {
    pub(crate) fn age(self) -> Duration {
        shm::now().saturating_sub(self.0)
    }
}

/// A lent slot, and how long sending it may take.
#[derive(Debug)]
pub(crate) struct Loan<'a>(shm::Loan<'a>, Wait);

impl Loan<'_> {
    pub(crate) fn send(mut self, len: usize) -> Result<(), SendError> {
        self.0.truncate(len);
        let sent = match self.1 {
            Wait::No => self.0.send_timeout(Duration::ZERO),
            Wait::AtMost(timeout) => self.0.send_timeout(timeout),
            Wait::Default => self.0.send(),
        };
        sent.map(drop)
    }

    pub(crate) fn wake_nobody(&mut self) {
        self.0.wake_nobody();
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

pub(super) fn open_publisher(
    address: &ShmAddress,
    compression: Compression,
    stream: &Stream,
) -> Result<Box<dyn PublisherLink>, Error> {
    if compression != Compression::None {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "compression `{compression}` is not in this version; write `none`, as in `shm;none;{address}`"
            ),
        ));
    }
    let options = options(address, stream);
    Ok(Box::new(ShmPublisher::open(&options)?))
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
    Ok(Box::new(ShmSubscriber::open(&options)?))
}

fn options(address: &ShmAddress, stream: &Stream) -> Options {
    let mut options = Options::new(&address.channel, stream.topic.as_str()).description(Description {
        type_name: stream.type_name.to_owned(),
        fingerprint: stream.fingerprint,
        schema: stream.schema.to_vec(),
    });
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

impl PublisherLink for ShmPublisher {
    fn max_len(&self) -> usize {
        self.slot_bytes()
    }

    fn loan(&self, len: Option<usize>, wait: Wait) -> Result<super::Loan<'_>, SendError> {
        let len = len.unwrap_or(self.slot_bytes());
        let loan = match wait {
            Wait::No => self.try_loan(len).map_err(SendError::from)?,
            Wait::AtMost(timeout) => self.loan_timeout(len, timeout)?,
            Wait::Default => ShmPublisher::loan(self, len)?,
        };
        Ok(super::Loan::Slot(Loan(loan, wait)))
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

impl SubscriberLink for ShmSubscriber {
    fn recv(&self, wait: Wait) -> Result<(super::Payload, Info), RecvError> {
        let sample = match wait {
            Wait::No => self.try_recv().map_err(RecvError::from)?,
            Wait::AtMost(timeout) => self.recv_timeout(timeout)?,
            Wait::Default => ShmSubscriber::recv(self)?,
        };
        Ok(received(sample))
    }

    fn latest(&self) -> Result<(super::Payload, Info), TryRecvError> {
        ShmSubscriber::latest(self).map(received)
    }

    /// Slots are aligned.
    fn aligned(&self, payload: super::Payload) -> super::Payload {
        payload
    }

    fn interrupt(&self) {
        ShmSubscriber::interrupt(self);
    }

    fn stats(&self) -> Stats {
        let shm::Stats { received, bytes, lost, .. } = ShmSubscriber::stats(self);
        Stats { messages: received, bytes, lost, ..Stats::default() }
    }

    fn last_error(&self) -> Option<String> {
        None
    }
}

fn received(sample: ShmSample) -> (super::Payload, Info) {
    let info = sample.info();
    let info = Info {
        sequence: Some(info.sequence),
        publisher: Some(info.publisher),
        lost: Some(info.lost),
        sent: Some(super::Sent::Slot(Sent(info.sent))),
    };
    (super::Payload::Slot(sample), info)
}
