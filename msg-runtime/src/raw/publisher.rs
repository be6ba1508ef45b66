//! The sending end, for bytes.

use super::untyped;
use crate::{
    announce::{self, Announced},
    configuration,
    endpoint::Endpoint,
    error::{Error, FlushError, SendError, TrySendError},
    event::Event,
    stats::Stats,
    topic::Topic,
    transport::{self, OnEvent, PublisherLink, Stream, Wait},
};
use std::{fmt, ops, sync::Arc, time::Duration};

/// Sends payloads that the program has made. Cloning gives another handle to the same link.
///
/// # Examples
///
/// See [the module](super).
#[derive(Clone)]
pub struct RawPublisher {
    /// Dropped before the link, which nobody else holds from then on.
    announced: Option<Arc<Announced>>,
    link: Arc<dyn PublisherLink>,
    topic: Topic,
}

/// Opens a [`RawPublisher`] with more than an endpoint and a topic.
pub struct RawPublisherBuilder {
    /// `None`: the configured one.
    endpoint: Option<String>,
    topic: String,
    on_event: Option<OnEvent>,
}

impl RawPublisherBuilder {
    pub(crate) fn new(endpoint: Option<&str>, topic: impl Into<String>) -> Self {
        Self { endpoint: endpoint.map(str::to_owned), topic: topic.into(), on_event: None }
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

    /// Opens the publisher.
    ///
    /// # Errors
    ///
    /// As [`RawPublisher::open`].
    pub fn open(self) -> Result<RawPublisher, Error> {
        let stream = untyped(&self.topic, "raw")?;
        self.open_as(stream)
    }

    /// Opens the publisher of a stream of which more is known.
    pub(crate) fn open_as(self, stream: Stream) -> Result<RawPublisher, Error> {
        configuration::open(self.endpoint.as_deref(), &stream.topic.clone(), |endpoint| {
            let link = transport::open_publisher(endpoint, &stream, self.on_event)?;
            let link: Arc<dyn PublisherLink> = link.into();
            let counts = Arc::downgrade(&link);
            let stats = move || counts.upgrade().map(|link| link.stats()).unwrap_or_default();
            let announced = announce::publisher(endpoint, &stream, stats)?.map(Arc::new);
            if let Some(announced) = &announced {
                let link = Arc::downgrade(&link);
                announced.compare(move |event| _ = link.upgrade().map(|link| link.tell(event)));
            }
            Ok(RawPublisher { announced, link, topic: stream.topic })
        })
    }
}

/// Why a slot was not filled.
pub(crate) enum Unfilled<E> {
    /// It is too small.
    TooLarge {
        /// Bytes that would do.
        len: usize,
    },
    /// For a reason that stays.
    Failed(E),
}

/// Bytes of a slot that were filled, or why they were not.
pub(crate) type Filled<E> = Result<usize, Unfilled<E>>;

impl RawPublisher {
    /// Opens a publisher of a topic at an endpoint, such as `"shm;scope"`.
    ///
    /// # Errors
    ///
    /// A malformed endpoint or topic, a segment of another geometry, too little room, or what the system refuses.
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
    pub fn builder(endpoint: &str, topic: &str) -> RawPublisherBuilder {
        RawPublisherBuilder::new(Some(endpoint), topic)
    }

    /// Sets more before opening, at the endpoint of [`open_configured`](Self::open_configured).
    pub fn builder_configured(topic: &str) -> RawPublisherBuilder {
        RawPublisherBuilder::new(None, topic)
    }

    /// A publisher that nobody hears of.
    #[cfg(feature = "network")]
    pub(crate) fn unannounced(endpoint: &Endpoint, stream: Stream) -> Result<Self, Error> {
        let link = transport::open_publisher(endpoint, &stream, None)?.into();
        Ok(Self { announced: None, link, topic: stream.topic })
    }

    /// The topic.
    pub fn topic(&self) -> &Topic {
        &self.topic
    }

    /// Sends a payload, waiting for room as long as the endpoint's `timeout` says (default 1 s).
    ///
    /// # Errors
    ///
    /// [`SendError`]; the message was not sent.
    pub fn send(&self, payload: &[u8]) -> Result<(), SendError> {
        self.send_within(payload, Wait::Default)
    }

    /// Sends a payload, waiting for room at most this long.
    ///
    /// # Errors
    ///
    /// [`SendError`]; the message was not sent.
    pub fn send_timeout(&self, payload: &[u8], timeout: Duration) -> Result<(), SendError> {
        self.send_within(payload, Wait::AtMost(timeout))
    }

    /// Sends a payload if there is room, and never waits.
    ///
    /// # Errors
    ///
    /// [`TrySendError`]; the message was not sent.
    pub fn try_send(&self, payload: &[u8]) -> Result<(), TrySendError> {
        self.send_within(payload, Wait::No).map_err(TrySendError::from)
    }

    /// Sends a payload as soon as there is room, however long that takes; see
    /// [`Publisher::send_async`](crate::Publisher::send_async).
    ///
    /// # Errors
    ///
    /// [`SendError`], never `Timeout`; the message was not sent.
    #[cfg(feature = "async")]
    pub async fn send_async(&self, payload: &[u8]) -> Result<(), SendError> {
        let attempt = |wait| self.send_within(payload, wait);
        crate::future::send(self.link(), attempt, crate::future::is_full).await
    }

    fn send_within(&self, payload: &[u8], wait: Wait) -> Result<(), SendError> {
        let copy = |slot: &mut [u8]| {
            let len = payload.len();
            slot.get_mut(..len).ok_or(Unfilled::TooLarge { len })?.copy_from_slice(payload);
            Ok(len)
        };
        let (loan, len) = self.filled::<SendError>(wait, copy)?;
        loan.send(len)
    }

    /// A loan with a payload in it that says itself how much room it needs, and the payload's length.
    pub(crate) fn filled<E: From<SendError>>(
        &self,
        wait: Wait,
        mut fill: impl FnMut(&mut [u8]) -> Filled<E>,
    ) -> Result<(transport::Loan<'_>, usize), E> {
        let mut loan = self.link.loan(None, wait)?;
        let filled = match fill(&mut loan) {
            // How much room it needs showed only now.
            Err(Unfilled::TooLarge { len }) => {
                if !loan.grow(len) {
                    drop(loan);
                    // A ring may have given way to one with larger slots meanwhile.
                    loan = self.link.loan(Some(len), wait)?;
                }
                fill(&mut loan)
            }
            filled => filled,
        };
        match filled {
            Ok(len) => Ok((loan, len)),
            Err(Unfilled::TooLarge { len }) => {
                Err(SendError::TooLarge { len, max: self.link.max_len() }.into())
            }
            Err(Unfilled::Failed(error)) => Err(error),
        }
    }

    /// Lends room for a payload of this length, to be filled in place; it starts zeroed. Waits for room as long as the
    /// endpoint's `timeout` says.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn loan(&self, len: usize) -> Result<RawLoan<'_>, SendError> {
        self.loan_within(len, Wait::Default)
    }

    /// As [`loan`](Self::loan), if there is room: neither this nor sending the loan waits.
    ///
    /// # Errors
    ///
    /// [`TrySendError`].
    pub fn try_loan(&self, len: usize) -> Result<RawLoan<'_>, TrySendError> {
        self.loan_within(len, Wait::No).map_err(TrySendError::from)
    }

    fn loan_within(&self, len: usize, wait: Wait) -> Result<RawLoan<'_>, SendError> {
        let mut loan = self.link.loan(Some(len), wait)?;
        loan[..len].fill(0);
        Ok(RawLoan { loan, len })
    }

    /// The link, for those who know what its payloads mean.
    pub(crate) fn link(&self) -> &dyn PublisherLink {
        &*self.link
    }

    /// Waits until everything sent so far is with the other side; see
    /// [`Publisher::flush`](crate::Publisher::flush).
    ///
    /// # Errors
    ///
    /// [`FlushError`].
    pub fn flush(&self, timeout: Duration) -> Result<(), FlushError> {
        self.link.flush(timeout)
    }

    /// Waits until at least `count` subscribers are there; false if fewer are when the time is over. See
    /// [`Publisher::wait_for_subscribers`](crate::Publisher::wait_for_subscribers).
    pub fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> bool {
        match (self.link.wait_for_subscribers(count, timeout), &self.announced) {
            (Some(there), _) => there,
            (None, Some(announced)) => announced.wait_for_subscribers(&self.topic, count, timeout),
            (None, None) => count == 0,
        }
    }

    /// What was sent so far.
    pub fn stats(&self) -> Stats {
        self.link.stats()
    }

    /// The last thing that went wrong with the link, if something has.
    pub fn last_error(&self) -> Option<String> {
        self.link.last_error()
    }
}

/// Room lent for a payload. Dropping it sends nothing.
#[derive(Debug)]
pub struct RawLoan<'a> {
    loan: transport::Loan<'a>,
    len: usize,
}

impl RawLoan<'_> {
    /// Keeps the first `len` bytes, for what turned out shorter than thought.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Sends the payload.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn send(self) -> Result<(), SendError> {
        self.loan.send(self.len)
    }
}

impl ops::Deref for RawLoan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.loan[..self.len]
    }
}

impl ops::DerefMut for RawLoan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.loan[..self.len]
    }
}

impl fmt::Debug for RawPublisherBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawPublisherBuilder").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl fmt::Debug for RawPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawPublisher").field("topic", &self.topic).field("link", &self.link).finish()
    }
}
