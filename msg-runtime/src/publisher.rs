//! The typed sending end.

#[cfg(feature = "network")]
use crate::endpoint::Endpoint;
use crate::{
    buffer::{self, InPlace, Plain, Refused, Uninit},
    error::{Error, FlushError, SendError, TrySendError},
    event::Event,
    loan::{Loan, LoanUninit},
    message::{Encode, Message},
    raw::{RawPublisher, RawPublisherBuilder, Unfilled},
    schema,
    stats::Stats,
    topic::Topic,
    transport::{self, Stream, Wait},
};
use std::{fmt, marker::PhantomData, time::Duration};

/// Sends messages of type `M`. Its topic is the type's fully qualified name unless the builder says otherwise.
///
/// Over shared memory a message is encoded straight into the slot that subscribers read. Cloning gives another handle
/// to the same link.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Message, Publisher, Subscriber};
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Scan<'a> {
///     stamp: u64,
///     ranges: &'a [f32],
/// }
///
/// let scans = Subscriber::<Scan>::open("shm;doc-publisher")?;
/// let publisher = Publisher::<Scan>::open("shm;doc-publisher")?;
/// let ranges = vec![0.5; 1000];
/// publisher.send(&Scan { stamp: 1, ranges: &ranges })?; // no owned copy: the samples are written once, into the slot
/// assert_eq!(scans.recv()?.view().ranges().len(), 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Publisher<M: Message> {
    raw: RawPublisher,
    message: PhantomData<fn(&M)>,
}

/// Opens a [`Publisher`] with more than an endpoint.
pub struct PublisherBuilder<M: Message> {
    raw: RawPublisherBuilder,
    message: PhantomData<fn(&M)>,
}

impl<M: Message> PublisherBuilder<M> {
    fn new(endpoint: Option<&str>) -> Self {
        Self { raw: RawPublisherBuilder::new(endpoint, M::TOPIC), message: PhantomData }
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

    /// Opens the publisher.
    ///
    /// # Errors
    ///
    /// As [`Publisher::open`], and [`InvalidTopic`](crate::ErrorKind::InvalidTopic).
    pub fn open(self) -> Result<Publisher<M>, Error> {
        let stream = stream_of::<M>(self.raw.topic())?;
        Ok(Publisher { raw: self.raw.open_as(stream)?, message: PhantomData })
    }
}

/// The facts of `M`'s stream under this topic.
pub(crate) fn stream_of<M: Message>(topic: &str) -> Result<Stream, Error> {
    schema::check_names::<M>()?;
    Ok(Stream {
        topic: Topic::new(topic)?,
        type_name: M::TYPE_NAME.into(),
        encoding: "flatbuffers".into(),
        fingerprint: M::fingerprint(),
        schema: M::schema().into(),
        plain_bytes: M::PLAIN_BYTES,
    })
}

impl<M: Message> Publisher<M> {
    /// Opens a publisher at an endpoint, such as `"shm;camera"`.
    ///
    /// # Errors
    ///
    /// A malformed endpoint, a topic in use with another type (both types and the field that differs are named), a
    /// segment of another geometry, too little room, or what the system refuses.
    pub fn open(endpoint: &str) -> Result<Self, Error> {
        Self::builder(endpoint).open()
    }

    /// Opens a publisher at the endpoint that the environment gives: `MSG_ENDPOINT_<TOPIC>` (the topic in upper case, every
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
    /// use msg_runtime::{Message, Publisher};
    ///
    /// #[derive(Message)]
    /// #[message(namespace = "demo")]
    /// struct Battery {
    ///     volts: f32,
    /// }
    ///
    /// // `MSG_ENDPOINT_DEMO_BATTERY=nats;nats://broker program` takes it to another host.
    /// let publisher = Publisher::<Battery>::open_configured()?;
    /// assert_eq!(publisher.topic().as_str(), "demo.Battery");
    /// # Ok::<(), msg_runtime::Error>(())
    /// ```
    pub fn open_configured() -> Result<Self, Error> {
        Self::builder_configured().open()
    }

    /// Sets more than the endpoint before opening.
    pub fn builder(endpoint: &str) -> PublisherBuilder<M> {
        PublisherBuilder::new(Some(endpoint))
    }

    /// Sets more before opening, as [`builder`](Self::builder), at the endpoint of
    /// [`open_configured`](Self::open_configured).
    pub fn builder_configured() -> PublisherBuilder<M> {
        PublisherBuilder::new(None)
    }

    /// A publisher that nobody hears of.
    #[cfg(feature = "network")]
    pub(crate) fn unannounced(endpoint: &Endpoint) -> Result<Self, Error> {
        let raw = RawPublisher::unannounced(endpoint, stream_of::<M>(M::TOPIC)?)?;
        Ok(Self { raw, message: PhantomData })
    }

    /// The topic.
    pub fn topic(&self) -> &Topic {
        self.raw.topic()
    }

    /// Sends a message, waiting for a free slot as long as the endpoint's `timeout` says (default 1 s).
    ///
    /// # Errors
    ///
    /// [`SendError`]; the message was not sent.
    pub fn send<E: Encode<Message = M> + ?Sized>(&self, message: &E) -> Result<(), SendError> {
        self.send_within(message, Wait::Default)
    }

    /// Sends a message, waiting for a free slot at most this long.
    ///
    /// # Errors
    ///
    /// [`SendError`]; the message was not sent.
    pub fn send_timeout<E: Encode<Message = M> + ?Sized>(
        &self,
        message: &E,
        timeout: Duration,
    ) -> Result<(), SendError> {
        self.send_within(message, Wait::AtMost(timeout))
    }

    /// Sends a message if there is a free slot, and never waits.
    ///
    /// # Errors
    ///
    /// [`TrySendError`]; the message was not sent.
    pub fn try_send<E: Encode<Message = M> + ?Sized>(&self, message: &E) -> Result<(), TrySendError> {
        self.send_within(message, Wait::No).map_err(TrySendError::from)
    }

    /// Sends a message as soon as there is a free slot, however long that takes: a limit is the runtime's to set.
    /// Dropping the future before it is ready sends nothing.
    ///
    /// It needs no runtime, and works with any.
    ///
    /// # Errors
    ///
    /// [`SendError`], never `Timeout`; the message was not sent.
    #[cfg(feature = "async")]
    pub async fn send_async<E: Encode<Message = M> + ?Sized>(&self, message: &E) -> Result<(), SendError> {
        let attempt = |wait| self.send_within(message, wait);
        crate::future::send(self.raw.link(), attempt, crate::future::is_full).await
    }

    fn send_within<E: Encode<Message = M> + ?Sized>(&self, message: &E, wait: Wait) -> Result<(), SendError> {
        let (loan, len) = self.encoded(message, wait)?;
        loan.send(len)
    }

    /// As [`try_send`](Self::try_send), for one of several messages: who sleeps is woken by `wake_subscribers`.
    #[cfg_attr(not(feature = "realtime"), expect(dead_code, reason = "the real-time worker's"))]
    pub(crate) fn try_send_quietly<E: Encode<Message = M> + ?Sized>(
        &self,
        message: &E,
    ) -> Result<(), SendError> {
        let (mut loan, len) = self.encoded(message, Wait::No)?;
        loan.wake_nobody();
        loan.send(len)
    }

    #[cfg_attr(not(feature = "realtime"), expect(dead_code, reason = "the real-time worker's"))]
    pub(crate) fn wake_subscribers(&self) {
        self.raw.link().wake_subscribers();
    }

    /// A loan with the message in it, and the message's length.
    fn encoded<E: Encode<Message = M> + ?Sized>(
        &self,
        message: &E,
        wait: Wait,
    ) -> Result<(transport::Loan<'_>, usize), SendError> {
        self.raw.filled(wait, |slot| {
            buffer::encode_into(message, slot).map_err(|refused| match refused {
                Refused::TooLarge { len } => Unfilled::TooLarge { len },
                Refused::Invalid(invalid) => Unfilled::Failed(SendError::Invalid(invalid)),
            })
        })
    }

    /// Waits until everything sent so far is with the other side, as far as the transport can tell: in the ring
    /// (`shm`), with the kernel (`udp`), answered by the server (`nats`, `redis`).
    ///
    /// Dropping the last handle of a publisher flushes too, until its link has taken nothing for a second, for at most ten;
    /// what is left then counts as [`unsent`](Stats::unsent).
    ///
    /// # Errors
    ///
    /// [`FlushError`].
    pub fn flush(&self, timeout: Duration) -> Result<(), FlushError> {
        self.raw.flush(timeout)
    }

    /// Waits until at least `count` subscribers are there; false if fewer are when the time is over.
    ///
    /// On a network those count that announce themselves: subscribers of other programs than ours, and those with
    /// `announce=off`, do not, and with `announce=off` in this publisher's endpoint none does.
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

    /// Lends a slot to fill in place; it starts zeroed. Waits for a free one as long as the endpoint's `timeout` says.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    ///
    /// # Examples
    ///
    /// ```
    /// use msg_runtime::{Message, Publisher, Subscriber};
    ///
    /// #[derive(Message, Clone, Copy)]
    /// #[message(namespace = "demo", plain)]
    /// #[repr(C)]
    /// struct Image {
    ///     stamp: u64,
    ///     pixels: [u8; 640],
    /// }
    ///
    /// let images = Subscriber::<Image>::open("shm;doc-loan")?;
    /// let publisher = Publisher::<Image>::open("shm;doc-loan")?;
    /// let mut image = publisher.loan()?;
    /// image.stamp = 7;
    /// image.pixels.fill(255);
    /// image.send()?;
    /// assert_eq!(images.recv()?.view().pixels[639], 255);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn loan(&self) -> Result<Loan<'_, M>, SendError>
    where
        M: Plain,
    {
        self.loan_within(Wait::Default)
    }

    /// As [`loan`](Self::loan), if there is a free slot: neither this nor sending the loan waits.
    ///
    /// # Errors
    ///
    /// [`TrySendError`].
    ///
    /// # Examples
    ///
    /// ```
    /// use msg_runtime::{Message, Publisher, Subscriber, TrySendError};
    ///
    /// #[derive(Message, Clone, Copy)]
    /// #[message(namespace = "demo", plain)]
    /// #[repr(C)]
    /// struct Step {
    ///     number: u64,
    /// }
    ///
    /// let steps = Subscriber::<Step>::open("shm;doc-try-loan?slots=1")?;
    /// let publisher = Publisher::<Step>::open("shm;doc-try-loan?slots=1")?;
    /// let mut step = publisher.try_loan()?;
    /// step.number = 1;
    /// step.send()?;
    /// assert_eq!(publisher.try_loan().unwrap_err(), TrySendError::Full);
    /// assert_eq!(steps.recv()?.view().number, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_loan(&self) -> Result<Loan<'_, M>, TrySendError>
    where
        M: Plain,
    {
        self.loan_within(Wait::No).map_err(TrySendError::from)
    }

    fn loan_within(&self, wait: Wait) -> Result<Loan<'_, M>, SendError>
    where
        M: Plain,
    {
        let slot = self.raw.link().loan(Some(size_of::<M>()), wait)?;
        let message = InPlace::zeroed(slot).expect("a loan is 64-byte aligned and as long as asked for");
        Ok(Loan { message })
    }

    /// As [`loan`](Self::loan), but the slot is not zeroed: for large messages whose every byte is written anyway.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    ///
    /// # Examples
    ///
    /// See [`LoanUninit`].
    pub fn loan_uninit(&self) -> Result<LoanUninit<'_, M>, SendError>
    where
        M: Plain,
    {
        let slot = self.raw.link().loan(Some(size_of::<M>()), Wait::Default)?;
        let room = Uninit::new(slot).expect("a loan is 64-byte aligned and as long as asked for");
        Ok(LoanUninit { room })
    }
}

impl<M: Message> Clone for Publisher<M> {
    fn clone(&self) -> Self {
        Self { raw: self.raw.clone(), message: PhantomData }
    }
}

impl<M: Message> fmt::Debug for PublisherBuilder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublisherBuilder").field("topic", &self.raw.topic()).finish_non_exhaustive()
    }
}

impl<M: Message> fmt::Debug for Publisher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Publisher").field(&self.raw).finish()
    }
}
