//! The typed receiving end.

use crate::{
    announce::{self, Announced},
    buffer,
    callback::Guard,
    configuration,
    endpoint::Endpoint,
    error::{Error, Invalid, RecvError, TryRecvError},
    event::Event,
    message::Message,
    publisher::stream_of,
    sample::Sample,
    stats::Stats,
    topic::Topic,
    transport::{self, Delivery, Info, OnEvent, Payload, Stream, SubscriberLink, Wait},
};
use std::{
    fmt,
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
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
    /// Dropped before the link, which nobody else holds from then on.
    _announced: Option<Announced>,
    link: Arc<dyn SubscriberLink>,
    topic: Topic,
    invalid: AtomicU64,
    message: PhantomData<fn() -> M>,
}

/// Opens a [`Subscriber`] with more than an endpoint.
pub struct SubscriberBuilder<M: Message> {
    /// `None`: the configured one.
    endpoint: Option<String>,
    topic: Option<String>,
    on_event: Option<OnEvent>,
    delivery: Delivery,
    message: PhantomData<fn() -> M>,
}

impl<M: Message> SubscriberBuilder<M> {
    /// Another topic than the type's own: two cameras, one type.
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topic = Some(topic.into());
        self
    }

    /// Calls the closure with each [`Event`] of the link, on a thread of the transport: it should return soon.
    pub fn on_event(mut self, call: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.on_event = Some(Box::new(call));
        self
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
    pub fn latest_only(mut self) -> Self {
        self.delivery = Delivery::Newest;
        self
    }

    /// Opens the subscriber.
    ///
    /// # Errors
    ///
    /// As [`Subscriber::open`], and [`InvalidTopic`](crate::ErrorKind::InvalidTopic).
    pub fn open(self) -> Result<Subscriber<M>, Error> {
        let stream = stream_of::<M>(self.topic)?;
        let opened = configuration::open(self.endpoint.as_deref(), &stream.topic, |endpoint| {
            #[cfg(feature = "network")]
            if let Some(notice) = configuration::notice_of_compression(endpoint.compression) {
                tracing::info!("{notice}");
            }
            let link = transport::open_subscriber(endpoint, &stream, self.delivery, self.on_event)?;
            announced(endpoint, &stream, link.into())
        });
        let (announced, link) = opened?;
        Ok(Subscriber::new(announced, link, stream.topic))
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
    pub fn on_message<F>(self, call: F) -> Result<Guard, Error>
    where
        M: 'static,
        F: for<'a> FnMut(M::View<'a>, Info) + Send + 'static,
    {
        Guard::start(self.open()?, call)
    }
}

/// The link, and who tells of it.
type Opened = (Option<Announced>, Arc<dyn SubscriberLink>);

fn announced(endpoint: &Endpoint, stream: &Stream, link: Arc<dyn SubscriberLink>) -> Result<Opened, Error> {
    let counts = Arc::downgrade(&link);
    let stats = move || counts.upgrade().map(|link| link.stats()).unwrap_or_default();
    // After the link is there: who hears of a subscriber may send to it.
    let announced = announce::subscriber(endpoint, stream, stats)?;
    if let Some(announced) = &announced {
        let link = Arc::downgrade(&link);
        announced.compare(move |event| _ = link.upgrade().map(|link| link.tell(event)));
    }
    Ok((announced, link))
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
        SubscriberBuilder { endpoint: Some(endpoint.to_owned()), ..Self::builder_configured() }
    }

    /// Sets more before opening, as [`builder`](Self::builder), at the endpoint of
    /// [`open_configured`](Self::open_configured).
    pub fn builder_configured() -> SubscriberBuilder<M> {
        SubscriberBuilder {
            endpoint: None,
            topic: None,
            on_event: None,
            delivery: Delivery::Everything,
            message: PhantomData,
        }
    }

    /// A subscriber that nobody hears of.
    #[cfg(feature = "network")]
    pub(crate) fn unannounced(endpoint: &Endpoint) -> Result<Self, Error> {
        let stream = stream_of::<M>(None)?;
        let link = transport::open_subscriber(endpoint, &stream, Delivery::Everything, None)?;
        Ok(Self::new(None, link.into(), stream.topic))
    }

    fn new(announced: Option<Announced>, link: Arc<dyn SubscriberLink>, topic: Topic) -> Self {
        Self { _announced: announced, link, topic, invalid: AtomicU64::new(0), message: PhantomData }
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

    /// The newest message that was not received yet, if there is one. Those before it are passed over, and count as
    /// lost.
    ///
    /// # Errors
    ///
    /// [`TryRecvError`].
    pub fn latest(&self) -> Result<Sample<M>, TryRecvError> {
        let (payload, info) = self.link.latest()?;
        self.verified(payload, info).map_err(TryRecvError::Invalid)
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
        Stats { messages: link.messages.saturating_sub(invalid), invalid: link.invalid + invalid, ..link }
    }

    /// The last thing that went wrong with the link, if something has.
    pub fn last_error(&self) -> Option<String> {
        self.link.last_error()
    }

    /// Ends all waiting, now and from here on.
    pub(crate) fn interrupt(&self) {
        self.link.interrupt();
    }

    fn recv_within(&self, wait: Wait) -> Result<Sample<M>, RecvError> {
        let (payload, info) = self.link.recv(wait)?;
        self.verified(payload, info).map_err(RecvError::Invalid)
    }

    fn verified(&self, payload: Payload, info: Info) -> Result<Sample<M>, Invalid> {
        let (payload, verified) = match buffer::verify::<M>(&payload) {
            // It lies where the network's bytes happened to come to lie: moved once, it is judged again.
            Err(Invalid::Unaligned) => {
                let payload = self.link.aligned(payload);
                let verified = buffer::verify::<M>(&payload);
                (payload, verified)
            }
            verified => (payload, verified),
        };
        let verified = verified.inspect_err(|_| {
            self.invalid.fetch_add(1, Ordering::Relaxed);
        });
        verified.map(|root| Sample::new(payload, root, info))
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

impl<M: Message> fmt::Debug for SubscriberBuilder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriberBuilder").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl<M: Message> fmt::Debug for Subscriber<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber").field("topic", &self.topic).field("link", &self.link).finish()
    }
}
