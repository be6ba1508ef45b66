//! The receiving end, for bytes.

use super::untyped;
use crate::{
    announce::{self, Announced},
    callback::Guard,
    configuration,
    endpoint::Endpoint,
    error::{Error, RecvError, TryRecvError},
    event::Event,
    stats::Stats,
    subscriber::Iter,
    topic::Topic,
    transport::{self, Delivery, Info, OnEvent, Payload, Stream, SubscriberLink, Wait},
};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// Receives payloads as they are, from the moment it is opened.
///
/// # Examples
///
/// See [the module](super).
pub struct RawSubscriber {
    /// Dropped before the link, which nobody else holds from then on.
    _announced: Option<Announced>,
    link: Arc<dyn SubscriberLink>,
    topic: Topic,
    /// Messages that arrived and are not what they should be.
    invalid: AtomicU64,
}

/// Opens a [`RawSubscriber`] with more than an endpoint and a topic.
pub struct RawSubscriberBuilder {
    /// `None`: the configured one.
    endpoint: Option<String>,
    topic: String,
    on_event: Option<OnEvent>,
    delivery: Delivery,
}

impl RawSubscriberBuilder {
    pub(crate) fn new(endpoint: Option<&str>, topic: impl Into<String>) -> Self {
        let (endpoint, topic) = (endpoint.map(str::to_owned), topic.into());
        Self { endpoint, topic, on_event: None, delivery: Delivery::Everything }
    }

    pub(crate) fn set_topic(&mut self, topic: String) {
        self.topic = topic;
    }

    pub(crate) fn topic(&self) -> &str {
        &self.topic
    }

    /// Calls the closure with each [`Event`] of the link, on a thread of the transport: it should return soon.
    pub fn on_event(mut self, call: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.on_event = Some(Box::new(call));
        self
    }

    /// Receives the newest message only: publishers never wait for this subscriber, and what it loses is counted.
    pub fn latest_only(mut self) -> Self {
        self.delivery = Delivery::Newest;
        self
    }

    /// Opens the subscriber.
    ///
    /// # Errors
    ///
    /// As [`RawSubscriber::open`].
    pub fn open(self) -> Result<RawSubscriber, Error> {
        let stream = untyped(&self.topic, "raw")?;
        self.open_as(stream)
    }

    /// Opens the subscriber and calls the closure with each payload, on a thread of its own, until the guard is dropped.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and if the system has no thread left.
    ///
    /// # Examples
    ///
    /// ```
    /// use msg_runtime::raw::{RawPublisher, RawSubscriber};
    /// use std::sync::mpsc;
    ///
    /// let (sender, lengths) = mpsc::channel();
    /// let guard = RawSubscriber::builder("shm;doc-raw-on-message", "any")
    ///     .on_message(move |payload, _info| sender.send(payload.len()).unwrap())?;
    /// RawPublisher::open("shm;doc-raw-on-message", "any")?.send(&[0; 7])?;
    /// assert_eq!(lengths.recv()?, 7);
    /// drop(guard); // from here on the closure is not called
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_message(self, mut call: impl FnMut(&[u8], Info) + Send + 'static) -> Result<Guard, Error> {
        Guard::start(
            self.open()?,
            |subscriber| subscriber,
            move |subscriber| {
                let sample = subscriber.recv()?;
                call(sample.payload(), sample.info());
                Ok(())
            },
        )
    }

    /// Opens the subscriber of a stream of which more is known.
    pub(crate) fn open_as(self, stream: Stream) -> Result<RawSubscriber, Error> {
        configuration::open(self.endpoint.as_deref(), &stream.topic.clone(), |endpoint| {
            #[cfg(feature = "network")]
            if let Some(notice) = configuration::notice_of_compression(endpoint.compression) {
                tracing::info!("{notice}");
            }
            let link = transport::open_subscriber(endpoint, &stream, self.delivery, self.on_event)?;
            let link: Arc<dyn SubscriberLink> = link.into();
            let counts = Arc::downgrade(&link);
            let stats = move || counts.upgrade().map(|link| link.stats()).unwrap_or_default();
            // After the link is there: who hears of a subscriber may send to it.
            let announced = announce::subscriber(endpoint, &stream, stats)?;
            if let Some(announced) = &announced {
                let link = Arc::downgrade(&link);
                announced.compare(move |event| _ = link.upgrade().map(|link| link.tell(event)));
            }
            Ok(RawSubscriber::new(announced, link, stream.topic))
        })
    }
}

impl RawSubscriber {
    /// Opens a subscriber of a topic at an endpoint, such as `"shm;scope"`. It need not wait for a publisher.
    ///
    /// # Errors
    ///
    /// A malformed endpoint or topic, a segment of another geometry, no place left, or what the system refuses.
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
    pub fn builder(endpoint: &str, topic: &str) -> RawSubscriberBuilder {
        RawSubscriberBuilder::new(Some(endpoint), topic)
    }

    /// Sets more before opening, at the endpoint of [`open_configured`](Self::open_configured).
    pub fn builder_configured(topic: &str) -> RawSubscriberBuilder {
        RawSubscriberBuilder::new(None, topic)
    }

    /// A subscriber that nobody hears of.
    #[cfg(feature = "network")]
    pub(crate) fn unannounced(endpoint: &Endpoint, stream: Stream) -> Result<Self, Error> {
        let link = transport::open_subscriber(endpoint, &stream, Delivery::Everything, None)?;
        Ok(Self::new(None, link.into(), stream.topic))
    }

    fn new(announced: Option<Announced>, link: Arc<dyn SubscriberLink>, topic: Topic) -> Self {
        Self { _announced: announced, link, topic, invalid: AtomicU64::new(0) }
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
    pub fn recv(&self) -> Result<RawSample, RecvError> {
        self.recv_within(Wait::Default)
    }

    /// The next message; waits at most this long.
    ///
    /// # Errors
    ///
    /// [`RecvError`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<RawSample, RecvError> {
        self.recv_within(Wait::AtMost(timeout))
    }

    pub(crate) fn recv_within(&self, wait: Wait) -> Result<RawSample, RecvError> {
        let (payload, info) = self.link.recv(wait)?;
        Ok(RawSample { payload, info })
    }

    /// The next message, if there is one.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`].
    pub fn try_recv(&self) -> Result<RawSample, TryRecvError> {
        self.recv_within(Wait::No).map_err(TryRecvError::from)
    }

    /// The newest message that was not received yet, if there is one. Those before it are passed over, and count as
    /// lost.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`].
    pub fn latest(&self) -> Result<RawSample, TryRecvError> {
        let (payload, info) = self.link.latest()?;
        Ok(RawSample { payload, info })
    }

    /// What [`recv`](Self::recv) returns, again and again: every message, and every error.
    ///
    /// It ends after an error that stays: `Disconnected`, `Evicted` or `Forked`.
    pub fn iter(&self) -> Iter<'_, Self> {
        Iter::new(self)
    }

    /// The next message, as soon as there is one; see [`Subscriber::recv_async`](crate::Subscriber::recv_async).
    ///
    /// # Errors
    ///
    /// [`RecvError`], never `Timeout`.
    #[cfg(feature = "async")]
    pub async fn recv_async(&self) -> Result<RawSample, RecvError> {
        crate::future::receive(self.link(), || crate::future::received(self.try_recv())).await
    }

    /// The messages as a stream; see [`Subscriber::into_stream`](crate::Subscriber::into_stream).
    #[cfg(feature = "async")]
    pub fn into_stream(self) -> crate::MessageStream<Self> {
        crate::MessageStream::new(self)
    }

    /// What was received, lost and dropped so far.
    pub fn stats(&self) -> Stats {
        let invalid = self.invalid.load(Ordering::Relaxed);
        let link = self.link.stats();
        Stats { messages: link.messages.saturating_sub(invalid), invalid: link.invalid + invalid, ..link }
    }

    /// The last thing that went wrong with the link, if something has.
    pub fn last_error(&self) -> Option<String> {
        self.link.last_error()
    }

    /// Counts a message that is not what it should be.
    pub(crate) fn count_invalid(&self) {
        self.invalid.fetch_add(1, Ordering::Relaxed);
    }

    /// The link, for those who know what its payloads mean.
    pub(crate) fn link(&self) -> &dyn SubscriberLink {
        &*self.link
    }
}

/// Whether nothing can be received after this error.
pub(crate) fn is_last(error: &RecvError) -> bool {
    match error {
        RecvError::Disconnected | RecvError::Evicted | RecvError::Forked => true,
        RecvError::Timeout | RecvError::Invalid(_) | RecvError::TooManyHeld { .. } | RecvError::Corrupted => {
            false
        }
    }
}

impl Iterator for Iter<'_, RawSubscriber> {
    type Item = Result<RawSample, RecvError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(RawSubscriber::recv, is_last)
    }
}

impl<'a> IntoIterator for &'a RawSubscriber {
    type Item = Result<RawSample, RecvError>;
    type IntoIter = Iter<'a, RawSubscriber>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(feature = "async")]
impl futures_core::Stream for crate::MessageStream<RawSubscriber> {
    type Item = Result<RawSample, RecvError>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        let attempt = |subscriber: &RawSubscriber| crate::future::received(subscriber.try_recv());
        self.get_mut().poll_next_with(context, RawSubscriber::link, attempt, is_last)
    }
}

/// A received payload. It lies where it was written, in the slot, and holds that slot until it is dropped.
pub struct RawSample {
    payload: Payload,
    info: Info,
}

impl RawSample {
    /// The bytes.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Sequence, publisher, age, and how many messages were lost before this one.
    pub fn info(&self) -> Info {
        self.info
    }

    /// The same at a 64-byte aligned address.
    pub(crate) fn aligned(self, link: &dyn SubscriberLink) -> Self {
        Self { payload: link.aligned(self.payload), info: self.info }
    }
}

impl fmt::Debug for RawSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawSample").field("len", &self.payload.len()).field("info", &self.info).finish()
    }
}

impl fmt::Debug for RawSubscriberBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawSubscriberBuilder").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl fmt::Debug for RawSubscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawSubscriber").field("topic", &self.topic).field("link", &self.link).finish()
    }
}
