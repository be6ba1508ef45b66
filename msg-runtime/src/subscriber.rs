//! The typed receiving end.

use crate::{
    buffer,
    endpoint::Endpoint,
    error::{Error, RecvError, TryRecvError},
    message::Message,
    publisher::stream_of,
    sample::Sample,
    stats::Stats,
    topic::Topic,
    transport::{self, SubscriberLink, Wait},
};
use std::{
    fmt,
    marker::PhantomData,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Receives messages of type `M`, from the moment it is opened.
///
/// Each message is verified before it is handed out; one that is not what its type says is dropped and counted.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Message, Publisher, Subscriber};
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Beat {
///     count: u32,
/// }
///
/// let left = Subscriber::<Beat>::builder("shm;doc-subscriber").topic("left").open()?;
/// let right = Subscriber::<Beat>::builder("shm;doc-subscriber").topic("right").open()?;
/// let publisher = Publisher::<Beat>::builder("shm;doc-subscriber").topic("left").open()?;
/// publisher.send(&Beat { count: 3 })?;
/// assert_eq!(left.recv()?.view().count(), 3);
/// assert!(right.try_recv().is_err()); // the same type on another topic
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Subscriber<M: Message> {
    link: Box<dyn SubscriberLink>,
    topic: Topic,
    invalid: AtomicU64,
    message: PhantomData<fn() -> M>,
}

/// Opens a [`Subscriber`] with more than an endpoint.
#[derive(Debug)]
pub struct SubscriberBuilder<M: Message> {
    endpoint: String,
    topic: Option<String>,
    message: PhantomData<fn() -> M>,
}

impl<M: Message> SubscriberBuilder<M> {
    /// Another topic than the type's own: two cameras, one type.
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topic = Some(topic.into());
        self
    }

    /// Opens the subscriber.
    ///
    /// # Errors
    ///
    /// As [`Subscriber::open`], and [`InvalidTopic`](crate::ErrorKind::InvalidTopic).
    pub fn open(self) -> Result<Subscriber<M>, Error> {
        let endpoint: Endpoint = self.endpoint.parse()?;
        let stream = stream_of::<M>(self.topic)?;
        let link = transport::open_subscriber(&endpoint, &stream)?;
        Ok(Subscriber { link, topic: stream.topic, invalid: AtomicU64::new(0), message: PhantomData })
    }
}

impl<M: Message> Subscriber<M> {
    /// Opens a subscriber at an endpoint, such as `"shm;camera"`. It need not wait for a publisher.
    ///
    /// # Errors
    ///
    /// A malformed endpoint, a topic in use with another type (both types and the field that differs are named), a
    /// segment of another geometry, no place left, or what the system refuses.
    pub fn open(endpoint: &str) -> Result<Self, Error> {
        Self::builder(endpoint).open()
    }

    /// Sets more than the endpoint before opening.
    pub fn builder(endpoint: &str) -> SubscriberBuilder<M> {
        SubscriberBuilder { endpoint: endpoint.to_owned(), topic: None, message: PhantomData }
    }

    /// The topic.
    pub fn topic(&self) -> &Topic {
        &self.topic
    }

    /// The next message; waits until there is one.
    ///
    /// # Errors
    ///
    /// [`RecvError`], never `Timeout`.
    pub fn recv(&self) -> Result<Sample<M>, RecvError> {
        self.recv_within(Wait::Default)
    }

    /// The next message; waits at most this long.
    ///
    /// # Errors
    ///
    /// [`RecvError`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Sample<M>, RecvError> {
        self.recv_within(Wait::AtMost(timeout))
    }

    /// The next message if there is one now.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`].
    pub fn try_recv(&self) -> Result<Sample<M>, TryRecvError> {
        self.recv_within(Wait::No).map_err(TryRecvError::from)
    }

    /// What [`recv`](Self::recv) returns, again and again: every message, and every error.
    ///
    /// It ends after an error that stays: `Disconnected`, `Evicted` or `Forked`. At most 8 samples may be held at once,
    /// so collecting more of them gives `TooManyHeld`.
    pub fn iter(&self) -> Iter<'_, M> {
        Iter { subscriber: Some(self) }
    }

    /// What was received, lost and dropped so far.
    pub fn stats(&self) -> Stats {
        let invalid = self.invalid.load(Ordering::Relaxed);
        let link = self.link.stats();
        Stats { messages: link.messages.saturating_sub(invalid), invalid, ..link }
    }

    fn recv_within(&self, wait: Wait) -> Result<Sample<M>, RecvError> {
        let (payload, info) = self.link.recv(wait)?;
        match buffer::verify::<M>(&payload) {
            Ok(root) => Ok(Sample::new(payload, root, info)),
            Err(invalid) => {
                self.invalid.fetch_add(1, Ordering::Relaxed);
                Err(RecvError::Invalid(invalid))
            }
        }
    }
}

/// The messages of a [`Subscriber`], one after the other; see [`Subscriber::iter`].
#[derive(Debug)]
pub struct Iter<'a, M: Message> {
    /// `None` after an error that stays.
    subscriber: Option<&'a Subscriber<M>>,
}

impl<M: Message> Iterator for Iter<'_, M> {
    type Item = Result<Sample<M>, RecvError>;

    fn next(&mut self) -> Option<Self::Item> {
        let received = self.subscriber?.recv();
        match received {
            Err(RecvError::Disconnected | RecvError::Evicted | RecvError::Forked) => self.subscriber = None,
            Ok(_)
            | Err(
                RecvError::Timeout
                | RecvError::Invalid(_)
                | RecvError::TooManyHeld { .. }
                | RecvError::Corrupted,
            ) => {}
        }
        Some(received)
    }
}

impl<'a, M: Message> IntoIterator for &'a Subscriber<M> {
    type Item = Result<Sample<M>, RecvError>;
    type IntoIter = Iter<'a, M>;

    fn into_iter(self) -> Iter<'a, M> {
        self.iter()
    }
}

impl<M: Message> fmt::Debug for Subscriber<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber").field("topic", &self.topic).field("link", &self.link).finish()
    }
}
