//! The receiving end, for JSON.

use super::{ENCODING, JsonError};
use crate::{
    callback::Guard,
    error::{Error, RecvError, TryRecvError},
    event::Event,
    raw::{RawSample, RawSubscriber, RawSubscriberBuilder, is_last, untyped},
    stats::Stats,
    subscriber::Iter,
    topic::Topic,
    transport::Info,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, error::Category};
use std::{fmt, marker::PhantomData, time::Duration};

/// A received value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JsonSample<T = Value> {
    /// What was sent.
    pub value: T,
    /// Sequence, publisher, age, and how many messages were lost before this one.
    pub info: Info,
}

/// Receives JSON as values of type `T`, from the moment it is opened.
///
/// # Examples
///
/// See [the module](super).
pub struct JsonSubscriber<T = Value> {
    raw: RawSubscriber,
    value: PhantomData<fn() -> T>,
}

/// Opens a [`JsonSubscriber`] with more than an endpoint and a topic.
pub struct JsonSubscriberBuilder<T = Value> {
    raw: RawSubscriberBuilder,
    value: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> JsonSubscriberBuilder<T> {
    /// Calls the closure with each [`Event`] of the link, on a thread of the transport: it should return soon.
    pub fn on_event(self, call: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self { raw: self.raw.on_event(call), ..self }
    }

    /// Receives the newest message only: publishers never wait for this subscriber, and what it loses is counted.
    pub fn latest_only(self) -> Self {
        Self { raw: self.raw.latest_only(), ..self }
    }

    /// Opens the subscriber.
    ///
    /// # Errors
    ///
    /// As [`JsonSubscriber::open`].
    pub fn open(self) -> Result<JsonSubscriber<T>, Error> {
        let stream = untyped(self.raw.topic(), ENCODING)?;
        Ok(JsonSubscriber { raw: self.raw.open_as(stream)?, value: PhantomData })
    }

    /// Opens the subscriber and calls the closure with each value, on a thread of its own, until the guard is dropped.
    /// Messages that do not fit are passed over, and counted.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and if the system has no thread left.
    pub fn on_message(self, mut call: impl FnMut(T, Info) + Send + 'static) -> Result<Guard, Error>
    where
        T: 'static,
    {
        let step = move |subscriber: &JsonSubscriber<T>| match subscriber.recv() {
            Ok(JsonSample { value, info }) => {
                call(value, info);
                Ok(())
            }
            Err(JsonError::Json(_)) => Ok(()),
            Err(JsonError::Transport(error)) => Err(error),
        };
        Guard::start(self.open()?, |subscriber| &subscriber.raw, step)
    }
}

impl<T: DeserializeOwned> JsonSubscriber<T> {
    /// Opens a subscriber of a topic at an endpoint, such as `"shm;robot"`. It need not wait for a publisher.
    ///
    /// # Errors
    ///
    /// A malformed endpoint or topic, a topic in use with messages of a type, a segment of another geometry, no place
    /// left, or what the system refuses.
    pub fn open(endpoint: &str, topic: &str) -> Result<Self, Error> {
        Self::builder(endpoint, topic).open()
    }

    /// Opens a subscriber of a topic at the endpoint that the environment gives; see
    /// [`Subscriber::open_configured`](crate::Subscriber::open_configured).
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), with the variable named.
    pub fn open_configured(topic: &str) -> Result<Self, Error> {
        Self::builder_configured(topic).open()
    }

    /// Sets more than endpoint and topic before opening.
    pub fn builder(endpoint: &str, topic: &str) -> JsonSubscriberBuilder<T> {
        JsonSubscriberBuilder { raw: RawSubscriberBuilder::new(Some(endpoint), topic), value: PhantomData }
    }

    /// Sets more before opening, at the endpoint of [`open_configured`](Self::open_configured).
    pub fn builder_configured(topic: &str) -> JsonSubscriberBuilder<T> {
        JsonSubscriberBuilder { raw: RawSubscriberBuilder::new(None, topic), value: PhantomData }
    }

    /// The topic.
    pub fn topic(&self) -> &Topic {
        self.raw.topic()
    }

    /// The next message; waits until there is one.
    ///
    /// # Errors
    ///
    /// [`JsonError`].
    pub fn recv(&self) -> Result<JsonSample<T>, JsonError<RecvError>> {
        self.read(self.raw.recv()?)
    }

    /// The next message; waits at most this long.
    ///
    /// # Errors
    ///
    /// [`JsonError`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<JsonSample<T>, JsonError<RecvError>> {
        self.read(self.raw.recv_timeout(timeout)?)
    }

    /// The next message, if there is one.
    ///
    /// # Errors
    ///
    /// [`JsonError`].
    pub fn try_recv(&self) -> Result<JsonSample<T>, JsonError<TryRecvError>> {
        self.read(self.raw.try_recv()?)
    }

    /// The newest message that was not received yet, if there is one. Those before it are passed over, and count as
    /// lost.
    ///
    /// # Errors
    ///
    /// [`JsonError`].
    pub fn latest(&self) -> Result<JsonSample<T>, JsonError<TryRecvError>> {
        self.read(self.raw.latest()?)
    }

    /// The next message, as soon as there is one; see [`Subscriber::recv_async`](crate::Subscriber::recv_async).
    ///
    /// # Errors
    ///
    /// [`JsonError`].
    #[cfg(feature = "async")]
    pub async fn recv_async(&self) -> Result<JsonSample<T>, JsonError<RecvError>> {
        self.read(self.raw.recv_async().await?)
    }

    /// The messages as a stream; see [`Subscriber::into_stream`](crate::Subscriber::into_stream).
    #[cfg(feature = "async")]
    pub fn into_stream(self) -> crate::MessageStream<Self> {
        crate::MessageStream::new(self)
    }

    /// What [`recv`](Self::recv) returns, again and again: every message, and every error, up to one that stays.
    pub fn iter(&self) -> Iter<'_, Self> {
        Iter::new(self)
    }

    /// What was received, lost and dropped so far.
    pub fn stats(&self) -> Stats {
        self.raw.stats()
    }

    /// The last thing that went wrong with the link, if something has.
    pub fn last_error(&self) -> Option<String> {
        self.raw.last_error()
    }

    fn read<E>(&self, sample: RawSample) -> Result<JsonSample<T>, JsonError<E>> {
        match serde_json::from_slice(sample.payload()) {
            Ok(value) => Ok(JsonSample { value, info: sample.info() }),
            Err(error) => {
                self.raw.count_invalid();
                let what = match error.classify() {
                    Category::Data => "does not fit its type",
                    Category::Syntax | Category::Eof | Category::Io => "is no JSON",
                };
                Err(JsonError::Json(format!("a message was dropped because it {what}: {error}")))
            }
        }
    }
}

/// Whether nothing can be received after this error.
fn ends(error: &JsonError<RecvError>) -> bool {
    matches!(error, JsonError::Transport(error) if is_last(error))
}

impl<T: DeserializeOwned> Iterator for Iter<'_, JsonSubscriber<T>> {
    type Item = Result<JsonSample<T>, JsonError<RecvError>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(JsonSubscriber::recv, ends)
    }
}

impl<'a, T: DeserializeOwned> IntoIterator for &'a JsonSubscriber<T> {
    type Item = Result<JsonSample<T>, JsonError<RecvError>>;
    type IntoIter = Iter<'a, JsonSubscriber<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(feature = "async")]
impl<T: DeserializeOwned> futures_core::Stream for crate::MessageStream<JsonSubscriber<T>> {
    type Item = Result<JsonSample<T>, JsonError<RecvError>>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        let attempt = |subscriber: &JsonSubscriber<T>| {
            crate::future::received(subscriber.raw.try_recv())
                .map(|sample| sample.map_err(JsonError::from).and_then(|sample| subscriber.read(sample)))
        };
        self.get_mut().poll_next_with(context, |subscriber| subscriber.raw.link(), attempt, ends)
    }
}

impl<T> fmt::Debug for JsonSubscriberBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonSubscriberBuilder").field(&self.raw).finish()
    }
}

impl<T> fmt::Debug for JsonSubscriber<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonSubscriber").field(&self.raw).finish()
    }
}
