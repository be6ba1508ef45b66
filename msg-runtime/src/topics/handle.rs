//! Handles of a topic whose type is known from an announcement or a schema, and not to the compiler.

use super::TopicInfo;
use crate::{
    announce::{self, Announced},
    endpoint::Endpoint,
    error::{Error, FlushError, RecvError, SendError},
    stats::Stats,
    topic::Topic,
    transport::{self, Delivery, Info, Payload, PublisherLink, Stream, SubscriberLink, Wait},
};
use std::{fmt, ops, sync::Arc, time::Duration};

/// Receives the payloads of a topic, as bytes; `msg_schema` reads them with the topic's schema.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Message, Publisher, topics::{self, TopicSubscriber}};
/// use std::time::Duration;
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Door {
///     open: bool,
/// }
///
/// let publisher = Publisher::<Door>::open("shm;doc-topic-subscriber")?;
/// let found = topics::topics("shm;doc-topic-subscriber", Duration::ZERO)?;
/// let doors = TopicSubscriber::open("shm;doc-topic-subscriber", &found[0])?;
/// publisher.send(&Door { open: true })?;
/// let payload = doors.recv_timeout(Duration::from_secs(1))?;
/// let schema = msg_schema::Schema::from_bytes(&found[0].schema)?;
/// let decoder = msg_schema::Decoder::new(&schema)?;
/// assert_eq!(decoder.payload(&payload)?.to_json(Default::default())?, r#"{"open":true}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TopicSubscriber {
    _announced: Option<Announced>,
    link: Arc<dyn SubscriberLink>,
}

/// Sends payloads to a topic, as bytes that are what the topic's type says.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Message, Subscriber, topics::{TopicInfo, TopicPublisher}};
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Horn {
///     seconds: f32,
/// }
///
/// let horns = Subscriber::<Horn>::open("shm;doc-topic-publisher")?;
/// let schema = msg_schema::Schema::from_bytes(Horn::schema())?;
/// let publisher = TopicPublisher::open("shm;doc-topic-publisher", &TopicInfo::of("demo.Horn", &schema))?;
/// publisher.send(&msg_schema::Decoder::new(&schema)?.encode_json(r#"{"seconds":1.5}"#)?)?;
/// assert_eq!(horns.recv()?.view().seconds(), 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TopicPublisher {
    announced: Option<Announced>,
    link: Arc<dyn PublisherLink>,
    topic: Topic,
}

/// A received payload, which keeps what it lies in.
#[derive(Debug)]
pub struct TopicSample {
    payload: Payload,
    info: Info,
}

fn stream(topic: &TopicInfo) -> Result<Stream, Error> {
    Ok(Stream {
        topic: Topic::new(topic.topic.clone())?,
        type_name: topic.type_name.clone().into(),
        encoding: topic.encoding.clone().into(),
        fingerprint: topic.fingerprint,
        schema: topic.schema.clone().into(),
        plain_bytes: None,
    })
}

impl TopicSubscriber {
    /// Subscribes to a topic.
    ///
    /// # Errors
    ///
    /// As [`Subscriber::open`](crate::Subscriber::open).
    pub fn open(endpoint: &str, topic: &TopicInfo) -> Result<Self, Error> {
        let (endpoint, stream): (Endpoint, Stream) = (endpoint.parse()?, stream(topic)?);
        let link: Arc<dyn SubscriberLink> =
            transport::open_subscriber(&endpoint, &stream, Delivery::Everything, None)?.into();
        let counts = Arc::downgrade(&link);
        let stats = move || counts.upgrade().map(|link| link.stats()).unwrap_or_default();
        Ok(Self { _announced: announce::subscriber(&endpoint, &stream, stats)?, link })
    }

    /// The next payload, as it came: it is not verified. Waits at most this long.
    ///
    /// # Errors
    ///
    /// [`RecvError`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<TopicSample, RecvError> {
        let (payload, info) = self.link.recv(Wait::AtMost(timeout))?;
        Ok(TopicSample { payload, info })
    }

    /// What was received and lost so far.
    pub fn stats(&self) -> Stats {
        self.link.stats()
    }
}

impl TopicPublisher {
    /// Opens a publisher of a topic.
    ///
    /// # Errors
    ///
    /// As [`Publisher::open`](crate::Publisher::open).
    pub fn open(endpoint: &str, topic: &TopicInfo) -> Result<Self, Error> {
        let (endpoint, stream): (Endpoint, Stream) = (endpoint.parse()?, stream(topic)?);
        let link: Arc<dyn PublisherLink> = transport::open_publisher(&endpoint, &stream, None)?.into();
        let counts = Arc::downgrade(&link);
        let stats = move || counts.upgrade().map(|link| link.stats()).unwrap_or_default();
        Ok(Self { announced: announce::publisher(&endpoint, &stream, stats)?, link, topic: stream.topic })
    }

    /// Sends a payload.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn send(&self, payload: &[u8]) -> Result<(), SendError> {
        let mut loan = self.link.loan(Some(payload.len()), Wait::Default)?;
        loan[..payload.len()].copy_from_slice(payload);
        loan.send(payload.len())
    }

    /// Waits until at least `count` subscribers are there, as
    /// [`Publisher::wait_for_subscribers`](crate::Publisher::wait_for_subscribers).
    pub fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> bool {
        match (self.link.wait_for_subscribers(count, timeout), &self.announced) {
            (Some(there), _) => there,
            (None, Some(announced)) => announced.wait_for_subscribers(&self.topic, count, timeout),
            (None, None) => count == 0,
        }
    }

    /// Waits until everything sent is with the other side, as [`Publisher::flush`](crate::Publisher::flush).
    ///
    /// # Errors
    ///
    /// [`FlushError`].
    pub fn flush(&self, timeout: Duration) -> Result<(), FlushError> {
        self.link.flush(timeout)
    }
}

impl TopicSample {
    /// What is known about the message beside its payload.
    pub fn info(&self) -> Info {
        self.info
    }
}

impl ops::Deref for TopicSample {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.payload
    }
}

impl fmt::Debug for TopicSubscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopicSubscriber").field("link", &self.link).finish_non_exhaustive()
    }
}

impl fmt::Debug for TopicPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopicPublisher").field("topic", &self.topic).field("link", &self.link).finish()
    }
}
