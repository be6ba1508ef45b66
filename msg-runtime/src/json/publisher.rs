//! The sending end, for JSON.

use super::{ENCODING, JsonError};
use crate::{
    error::{Error, FlushError, SendError, TrySendError},
    event::Event,
    raw::{Filled, RawPublisher, RawPublisherBuilder, Unfilled, untyped},
    stats::Stats,
    topic::Topic,
    transport::Wait,
};
use serde::Serialize;
use serde_json::Value;
use std::{fmt, io, marker::PhantomData, time::Duration};

/// Sends values of type `T` as JSON. Cloning gives another handle to the same link.
///
/// # Examples
///
/// See [the module](super).
pub struct JsonPublisher<T: ?Sized = Value> {
    raw: RawPublisher,
    value: PhantomData<fn(&T)>,
}

/// Opens a [`JsonPublisher`] with more than an endpoint and a topic.
pub struct JsonPublisherBuilder<T: ?Sized = Value> {
    raw: RawPublisherBuilder,
    value: PhantomData<fn(&T)>,
}

impl<T: Serialize + ?Sized> JsonPublisherBuilder<T> {
    /// Calls the closure with each [`Event`] of the link, on a thread of the transport: it should return soon.
    pub fn on_event(self, call: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self { raw: self.raw.on_event(call), ..self }
    }

    /// Opens the publisher.
    ///
    /// # Errors
    ///
    /// As [`JsonPublisher::open`].
    pub fn open(self) -> Result<JsonPublisher<T>, Error> {
        let stream = untyped(self.raw.topic(), ENCODING)?;
        Ok(JsonPublisher { raw: self.raw.open_as(stream)?, value: PhantomData })
    }
}

impl<T: Serialize + ?Sized> JsonPublisher<T> {
    /// Opens a publisher of a topic at an endpoint, such as `"shm;robot"`.
    ///
    /// # Errors
    ///
    /// A malformed endpoint or topic, a topic in use with messages of a type, a segment of another geometry, too little
    /// room, or what the system refuses.
    pub fn open(endpoint: &str, topic: &str) -> Result<Self, Error> {
        Self::builder(endpoint, topic).open()
    }

    /// Opens a publisher of a topic at the endpoint that the environment gives; see
    /// [`Publisher::open_configured`](crate::Publisher::open_configured).
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), with the variable named.
    pub fn open_configured(topic: &str) -> Result<Self, Error> {
        Self::builder_configured(topic).open()
    }

    /// Sets more than endpoint and topic before opening.
    pub fn builder(endpoint: &str, topic: &str) -> JsonPublisherBuilder<T> {
        JsonPublisherBuilder { raw: RawPublisherBuilder::new(Some(endpoint), topic), value: PhantomData }
    }

    /// Sets more before opening, at the endpoint of [`open_configured`](Self::open_configured).
    pub fn builder_configured(topic: &str) -> JsonPublisherBuilder<T> {
        JsonPublisherBuilder { raw: RawPublisherBuilder::new(None, topic), value: PhantomData }
    }

    /// The topic.
    pub fn topic(&self) -> &Topic {
        self.raw.topic()
    }

    /// Sends a value, waiting for room as long as the endpoint's `timeout` says (default 1 s).
    ///
    /// # Errors
    ///
    /// [`JsonError`]; the message was not sent.
    pub fn send(&self, value: &T) -> Result<(), JsonError<SendError>> {
        self.send_within(value, Wait::Default)
    }

    /// Sends a value, waiting for room at most this long.
    ///
    /// # Errors
    ///
    /// [`JsonError`]; the message was not sent.
    pub fn send_timeout(&self, value: &T, timeout: Duration) -> Result<(), JsonError<SendError>> {
        self.send_within(value, Wait::AtMost(timeout))
    }

    /// Sends a value if there is room, and never waits.
    ///
    /// # Errors
    ///
    /// [`JsonError`]; the message was not sent.
    pub fn try_send(&self, value: &T) -> Result<(), JsonError<TrySendError>> {
        self.send_within(value, Wait::No).map_err(|error| error.map(TrySendError::from))
    }

    /// Sends a value as soon as there is room, however long that takes; see
    /// [`Publisher::send_async`](crate::Publisher::send_async).
    ///
    /// # Errors
    ///
    /// [`JsonError`]; the message was not sent.
    #[cfg(feature = "async")]
    pub async fn send_async(&self, value: &T) -> Result<(), JsonError<SendError>> {
        let is_full =
            |error: &_| matches!(error, JsonError::Transport(error) if crate::future::is_full(error));
        crate::future::send(self.raw.link(), |wait| self.send_within(value, wait), is_full).await
    }

    fn send_within(&self, value: &T, wait: Wait) -> Result<(), JsonError<SendError>> {
        let (loan, len) = self.raw.filled(wait, |slot| write(value, slot))?;
        Ok(loan.send(len)?)
    }

    /// Waits until everything sent so far is with the other side; see
    /// [`Publisher::flush`](crate::Publisher::flush).
    ///
    /// # Errors
    ///
    /// [`FlushError`].
    pub fn flush(&self, timeout: Duration) -> Result<(), FlushError> {
        self.raw.flush(timeout)
    }

    /// Waits until at least `count` subscribers are there; false if fewer are when the time is over. See
    /// [`Publisher::wait_for_subscribers`](crate::Publisher::wait_for_subscribers).
    pub fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> bool {
        self.raw.wait_for_subscribers(count, timeout)
    }

    /// What was sent so far.
    pub fn stats(&self) -> Stats {
        self.raw.stats()
    }

    /// The last thing that went wrong with the link, if something has.
    pub fn last_error(&self) -> Option<String> {
        self.raw.last_error()
    }
}

impl<T: ?Sized> Clone for JsonPublisher<T> {
    fn clone(&self) -> Self {
        Self { raw: self.raw.clone(), value: PhantomData }
    }
}

/// Writes into a slot what fits, and counts the rest.
struct Slot<'a> {
    slot: &'a mut [u8],
    at: usize,
}

impl io::Write for Slot<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.at + bytes.len();
        if let Some(room) = self.slot.get_mut(self.at..end) {
            room.copy_from_slice(bytes);
        }
        self.at = end;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write<T: Serialize + ?Sized>(value: &T, slot: &mut [u8]) -> Filled<JsonError<SendError>> {
    let room = slot.len();
    let mut slot = Slot { slot, at: 0 };
    serde_json::to_writer(&mut slot, value)
        .map_err(|error| Unfilled::Failed(JsonError::Json(format!("the value has no JSON: {error}"))))?;
    if slot.at <= room { Ok(slot.at) } else { Err(Unfilled::TooLarge { len: slot.at }) }
}

impl<T: ?Sized> fmt::Debug for JsonPublisherBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonPublisherBuilder").field(&self.raw).finish()
    }
}

impl<T: ?Sized> fmt::Debug for JsonPublisher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonPublisher").field(&self.raw).finish()
    }
}
