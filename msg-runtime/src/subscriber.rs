//! The typed receiving end.

#[cfg(feature = "network")]
use crate::endpoint::Endpoint;
use crate::{
    buffer,
    callback::Guard,
    error::{Error, Invalid, RecvError, TryRecvError},
    event::Event,
    message::Message,
    publisher::stream_of,
    raw::{RawSample, RawSubscriber, RawSubscriberBuilder, is_last},
    sample::Sample,
    stats::Stats,
    topic::Topic,
    transport::{Info, Wait},
};
use std::{fmt, marker::PhantomData, time::Duration};

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
    raw: RawSubscriber,
    message: PhantomData<fn() -> M>,
}

/// Opens a [`Subscriber`] with more than an endpoint.
pub struct SubscriberBuilder<M: Message> {
    raw: RawSubscriberBuilder,
    message: PhantomData<fn() -> M>,
}

impl<M: Message> SubscriberBuilder<M> {
    fn new(endpoint: Option<&str>) -> Self {
        Self { raw: RawSubscriberBuilder::new(endpoint, M::TOPIC), message: PhantomData }
    }

    /// Another topic than the type's own: two cameras, one type.
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.raw.set_topic(topic.into());
        self
    }

    /// Calls the closure with each [`Event`] of the link, on a thread of the transport: it should return soon.
    pub fn on_event(self, call: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self { raw: self.raw.on_event(call), ..self }
    }

    /// Receives the newest message only: publishers never wait for this subscriber, and what it loses is counted, in
    /// [`Info::lost`](crate::Info::lost) and in [`Stats::lost`].
    ///
    /// # Examples
    ///
    /// ```
    /// use msg_runtime::{Message, Publisher, Subscriber};
    ///
    /// #[derive(Message)]
    /// #[message(namespace = "demo")]
    /// struct Load {
    ///     percent: u8,
    /// }
    ///
    /// let loads = Subscriber::<Load>::builder("shm;doc-latest").latest_only().open()?;
    /// let publisher = Publisher::<Load>::open("shm;doc-latest")?;
    /// for percent in 0..100 {
    ///     publisher.send(&Load { percent })?; // never waits
    /// }
    /// let newest = loads.recv()?;
    /// assert_eq!((newest.view().percent(), newest.info().lost), (99, Some(99)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn latest_only(self) -> Self {
        Self { raw: self.raw.latest_only(), ..self }
    }

    /// Opens the subscriber.
    ///
    /// # Errors
    ///
    /// As [`Subscriber::open`], and [`InvalidTopic`](crate::ErrorKind::InvalidTopic).
    pub fn open(self) -> Result<Subscriber<M>, Error> {
        let stream = stream_of::<M>(self.raw.topic())?;
        Ok(Subscriber { raw: self.raw.open_as(stream)?, message: PhantomData })
    }

    /// Opens the subscriber and calls the closure with each message, on a thread of its own, until the guard is dropped.
    ///
    /// A panic in the closure ends this subscription, not the process; [`Guard::ended`] tells. Invalid messages are
    /// passed over.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and if the system has no thread left.
    ///
    /// # Examples
    ///
    /// ```
    /// use msg_runtime::{Message, Publisher, Subscriber};
    /// use std::sync::mpsc;
    ///
    /// #[derive(Message)]
    /// #[message(namespace = "demo")]
    /// struct Key {
    ///     name: String,
    /// }
    ///
    /// let (pressed, keys) = mpsc::channel();
    /// let guard = Subscriber::<Key>::builder("shm;doc-on-message")
    ///     .on_message(move |key, info| pressed.send((key.name().to_owned(), info.sequence)).unwrap())?;
    /// Publisher::<Key>::open("shm;doc-on-message")?.send(&Key { name: "enter".into() })?;
    /// assert_eq!(keys.recv()?, ("enter".to_owned(), Some(0)));
    /// drop(guard); // from here on the closure is not called
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_message<F>(self, mut call: F) -> Result<Guard, Error>
    where
        M: 'static,
        F: for<'a> FnMut(M::View<'a>, Info) + Send + 'static,
    {
        let step = move |subscriber: &Subscriber<M>| {
            let sample = subscriber.recv()?;
            call(sample.view(), sample.info());
            Ok(())
        };
        Guard::start(self.open()?, |subscriber| &subscriber.raw, step)
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

    /// Opens a subscriber at the endpoint that the environment gives: `MSG_ENDPOINT_<TOPIC>` (the topic in upper case, every
    /// character but letters and digits as `_`), else `MSG_ENDPOINT`, else `shm;default`. An empty variable counts as unset.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), with the variable named, and
    /// [`InvalidTopic`](crate::ErrorKind::InvalidTopic) if another topic of this process has the same variable.
    ///
    /// # Examples
    ///
    /// ```
    /// use msg_runtime::{Message, Subscriber};
    ///
    /// #[derive(Message)]
    /// #[message(namespace = "demo")]
    /// struct Motor {
    ///     volts: f32,
    /// }
    ///
    /// // `MSG_ENDPOINT_DEMO_MOTOR=nats;nats://broker program` takes it to another host.
    /// let subscriber = Subscriber::<Motor>::open_configured()?;
    /// assert_eq!(subscriber.topic().as_str(), "demo.Motor");
    /// # Ok::<(), msg_runtime::Error>(())
    /// ```
    pub fn open_configured() -> Result<Self, Error> {
        Self::builder_configured().open()
    }

    /// Sets more than the endpoint before opening.
    pub fn builder(endpoint: &str) -> SubscriberBuilder<M> {
        SubscriberBuilder::new(Some(endpoint))
    }

    /// Sets more before opening, as [`builder`](Self::builder), at the endpoint of
    /// [`open_configured`](Self::open_configured).
    pub fn builder_configured() -> SubscriberBuilder<M> {
        SubscriberBuilder::new(None)
    }

    /// A subscriber that nobody hears of.
    #[cfg(feature = "network")]
    pub(crate) fn unannounced(endpoint: &Endpoint) -> Result<Self, Error> {
        let raw = RawSubscriber::unannounced(endpoint, stream_of::<M>(M::TOPIC)?)?;
        Ok(Self { raw, message: PhantomData })
    }

    /// The topic.
    pub fn topic(&self) -> &Topic {
        self.raw.topic()
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

    /// The newest message that was not received yet, if there is one. Those before it are passed over, and count as
    /// lost.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`].
    pub fn latest(&self) -> Result<Sample<M>, TryRecvError> {
        self.verified(self.raw.latest()?).map_err(TryRecvError::Invalid)
    }

    /// What [`recv`](Self::recv) returns, again and again: every message, and every error.
    ///
    /// It ends after an error that stays: `Disconnected`, `Evicted` or `Forked`. At most 8 samples may be held at once,
    /// so collecting more of them gives `TooManyHeld`.
    pub fn iter(&self) -> Iter<'_, Self> {
        Iter::new(self)
    }

    /// The next message, as soon as there is one. Dropping the future before it is ready loses none.
    ///
    /// It needs no runtime, and works with any.
    ///
    /// # Errors
    ///
    /// [`RecvError`], never `Timeout`.
    #[cfg(feature = "async")]
    pub async fn recv_async(&self) -> Result<Sample<M>, RecvError> {
        crate::future::receive(self.raw.link(), || crate::future::received(self.try_recv())).await
    }

    /// The messages as a stream: what [`iter`](Self::iter) gives, without a thread that waits.
    ///
    /// It needs no runtime, and works with any.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_executor::block_on_stream; // or any other executor
    /// use msg_runtime::{Message, Publisher, Subscriber};
    ///
    /// #[derive(Message)]
    /// #[message(namespace = "demo")]
    /// struct Tick {
    ///     count: u32,
    /// }
    ///
    /// let ticks = Subscriber::<Tick>::open("shm;doc-stream")?;
    /// let publisher = Publisher::<Tick>::open("shm;doc-stream")?;
    /// for count in 0..3 {
    ///     publisher.send(&Tick { count })?;
    /// }
    /// for (count, tick) in (0..3).zip(block_on_stream(ticks.into_stream())) {
    ///     assert_eq!(tick?.view().count(), count);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "async")]
    pub fn into_stream(self) -> crate::MessageStream<Self> {
        crate::MessageStream::new(self)
    }

    /// What was received, lost and dropped so far.
    pub fn stats(&self) -> Stats {
        self.raw.stats()
    }

    /// The last thing that went wrong with the link, if something has.
    pub fn last_error(&self) -> Option<String> {
        self.raw.last_error()
    }

    /// Ends all waiting, now and from here on.
    pub(crate) fn interrupt(&self) {
        self.raw.link().interrupt();
    }

    fn recv_within(&self, wait: Wait) -> Result<Sample<M>, RecvError> {
        self.verified(self.raw.recv_within(wait)?).map_err(RecvError::Invalid)
    }

    fn verified(&self, sample: RawSample) -> Result<Sample<M>, Invalid> {
        let (sample, verified) = match buffer::verify::<M>(sample.payload()) {
            // It lies where the network's bytes happened to come to lie: moved once, it is judged again.
            Err(Invalid::Unaligned) => {
                let sample = sample.aligned(self.raw.link());
                let verified = buffer::verify::<M>(sample.payload());
                (sample, verified)
            }
            verified => (sample, verified),
        };
        let verified = verified.inspect_err(|_| self.raw.count_invalid());
        verified.map(|root| Sample::new(sample, root))
    }
}

/// The messages of a subscriber, one after the other; see [`Subscriber::iter`].
#[derive(Debug)]
pub struct Iter<'a, S> {
    /// `None` after an error that stays.
    subscriber: Option<&'a S>,
}

impl<'a, S> Iter<'a, S> {
    pub(crate) fn new(subscriber: &'a S) -> Self {
        Self { subscriber: Some(subscriber) }
    }

    pub(crate) fn step<T, E>(
        &mut self,
        recv: impl Fn(&S) -> Result<T, E>,
        is_last: impl Fn(&E) -> bool,
    ) -> Option<Result<T, E>> {
        let received = recv(self.subscriber?);
        if received.as_ref().is_err_and(is_last) {
            self.subscriber = None;
        }
        Some(received)
    }
}

impl<M: Message> Iterator for Iter<'_, Subscriber<M>> {
    type Item = Result<Sample<M>, RecvError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Subscriber::recv, is_last)
    }
}

impl<'a, M: Message> IntoIterator for &'a Subscriber<M> {
    type Item = Result<Sample<M>, RecvError>;
    type IntoIter = Iter<'a, Subscriber<M>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<M: Message> fmt::Debug for SubscriberBuilder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriberBuilder").field("topic", &self.raw.topic()).finish_non_exhaustive()
    }
}

impl<M: Message> fmt::Debug for Subscriber<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subscriber").field(&self.raw).finish()
    }
}

#[cfg(feature = "async")]
impl<M: Message> futures_core::Stream for crate::MessageStream<Subscriber<M>> {
    type Item = Result<Sample<M>, RecvError>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        let attempt = |subscriber: &Subscriber<M>| crate::future::received(subscriber.try_recv());
        self.get_mut().poll_next_with(context, |subscriber| subscriber.raw.link(), attempt, is_last)
    }
}
