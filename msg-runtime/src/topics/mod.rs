//! Which topics there are at an endpoint, what they carry, and who publishes and subscribes.
//!
//! On a network everybody is asked, on shared memory the rings are looked at, inside a process there is a list. No
//! service keeps books: what is found is what is open now.

mod handle;

pub use handle::{TopicPublisher, TopicSample, TopicSubscriber};

use crate::{
    Message, Open,
    announce::{self, Announce, AnnounceDirection, Listener},
    endpoint::{Address, Endpoint, ShmAddress},
    error::Error,
    transport::{self, Seen},
};
use std::{fs, time::Duration};

/// A topic that somebody has open.
///
/// Where handles of a topic have different types, there is one for each type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopicInfo {
    /// The topic.
    pub topic: String,
    /// The fully qualified name of the messages' type; empty if there is none.
    pub type_name: String,
    /// What payloads are: `flatbuffers`, `json` or `raw`; empty if nobody said.
    pub encoding: String,
    /// The fingerprint of the type; 0 if there is none.
    pub fingerprint: u64,
    /// The binary schema of the type, as `msg_schema::Schema` reads it; empty if there is none.
    pub schema: Vec<u8>,
    /// Who has it open: publishers first.
    pub handles: Vec<HandleInfo>,
}

impl TopicInfo {
    /// A topic of messages of a schema's root type.
    pub fn of(topic: &str, schema: &msg_schema::Schema) -> Self {
        Self {
            topic: topic.to_owned(),
            type_name: schema.root.clone().unwrap_or_default(),
            encoding: "flatbuffers".to_owned(),
            fingerprint: schema.fingerprint(),
            schema: schema.to_bytes(),
            handles: Vec::new(),
        }
    }

    /// A topic of which nothing is known but its name.
    pub fn unknown(topic: &str) -> Self {
        Self {
            topic: topic.to_owned(),
            type_name: String::new(),
            encoding: String::new(),
            fingerprint: 0,
            schema: Vec::new(),
            handles: Vec::new(),
        }
    }
}

/// A publisher or subscriber.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct HandleInfo {
    /// What it does.
    pub direction: Direction,
    /// The name of its host.
    pub host: String,
    /// The name of its program; empty if it cannot be known.
    pub program: String,
    /// Its process; 0 if it cannot be known.
    pub pid: u32,
    /// Messages that it has sent or received so far.
    pub messages: u64,
    /// Bytes of their payloads; on shared memory as they lie in the ring, compressed or not.
    pub bytes: u64,
    /// Where the other end is, if it is one end of a bridge; otherwise empty. On shared memory it is not known.
    pub bridge: String,
}

/// What a handle does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// It publishes.
    Publisher,
    /// It subscribes.
    Subscriber,
}

/// The topics at an endpoint, with everybody who has them open, sorted by name. On a network everybody is asked and has
/// so much time to answer: 500 ms are usual. Otherwise it takes no time.
///
/// Who does not announce itself is not found: handles with `announce=off`, and programs that are not ours.
///
/// # Errors
///
/// A malformed endpoint, `announce=off` in it, or what opening a handle there fails with.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Message, Publisher, topics};
/// use std::time::Duration;
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Wheel {
///     turns: f32,
/// }
///
/// let publisher = Publisher::<Wheel>::open("shm;doc-topics")?;
/// publisher.send(&Wheel { turns: 1.5 })?;
/// let found = topics::topics("shm;doc-topics", Duration::ZERO)?;
/// assert_eq!((&*found[0].topic, &*found[0].type_name), ("demo.Wheel", "demo.Wheel"));
/// assert_eq!((found[0].handles.len(), found[0].handles[0].messages), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn topics(endpoint: &str, wait: Duration) -> Result<Vec<TopicInfo>, Error> {
    let watch = Watch::open(&endpoint.parse()?)?;
    watch.ask(wait);
    watch.topics()
}

/// The binary schema of announcements, which go over topic `msg.Announce` of every network endpoint;
/// `schemas/announce.fbs` is the same as text.
pub fn announcement_schema() -> &'static [u8] {
    Announce::schema()
}

/// Looks at an endpoint again and again.
#[derive(Debug)]
pub(crate) enum Watch {
    Shm(ShmAddress),
    Listener(Listener),
}

impl Watch {
    /// # Errors
    ///
    /// As [`topics`].
    pub(crate) fn open(endpoint: &Endpoint) -> Result<Self, Error> {
        match &endpoint.address {
            Address::Shm(address) => Ok(Self::Shm(address.clone())),
            _ => Listener::open(endpoint).map(Self::Listener),
        }
    }

    /// Asks everybody, and gives the time for answers.
    pub(crate) fn ask(&self, wait: Duration) {
        if let Self::Listener(listener) = self {
            listener.ask(wait);
        }
    }

    /// What is known now.
    ///
    /// # Errors
    ///
    /// As [`topics`].
    pub(crate) fn topics(&self) -> Result<Vec<TopicInfo>, Error> {
        let mut topics = Vec::new();
        match self {
            Self::Shm(address) => {
                let host = announce::host();
                for seen in transport::look(address)? {
                    add_seen(&mut topics, seen, &host);
                }
            }
            Self::Listener(listener) => {
                listener.handles().into_iter().for_each(|announce| add_announced(&mut topics, announce));
            }
        }
        topics.sort_by(|a, b| (&a.topic, &a.type_name).cmp(&(&b.topic, &b.type_name)));
        topics.iter_mut().for_each(|topic| topic.handles.sort());
        Ok(topics)
    }
}

fn add_seen(topics: &mut Vec<TopicInfo>, seen: Seen, host: &str) {
    let handle = |publishes: bool, pid: Option<u32>, messages, bytes| HandleInfo {
        direction: if publishes { Direction::Publisher } else { Direction::Subscriber },
        host: host.to_owned(),
        program: pid.map(program).unwrap_or_default(),
        pid: pid.unwrap_or_default(),
        messages,
        bytes,
        bridge: String::new(),
    };
    let handles = seen.handles.into_iter();
    topics.push(TopicInfo {
        topic: seen.topic,
        // A ring knows types only.
        encoding: if seen.schema.is_empty() { String::new() } else { "flatbuffers".to_owned() },
        type_name: seen.type_name,
        fingerprint: seen.fingerprint,
        schema: seen.schema,
        handles: handles
            .map(|(publishes, pid, messages, bytes)| handle(publishes, pid, messages, bytes))
            .collect(),
    });
}

fn add_announced(topics: &mut Vec<TopicInfo>, announce: Announce) {
    let publishes = announce.direction == Open::from(AnnounceDirection::Publisher);
    let handle = HandleInfo {
        direction: if publishes { Direction::Publisher } else { Direction::Subscriber },
        host: announce.host,
        program: announce.program,
        pid: announce.pid,
        messages: announce.messages,
        bytes: announce.bytes,
        bridge: announce.bridge,
    };
    let same = topics.iter_mut().find(|topic| {
        topic.topic == announce.topic
            && topic.fingerprint == announce.fingerprint
            && topic.type_name == announce.type_name
            && topic.encoding == announce.encoding
    });
    match same {
        Some(topic) => topic.handles.push(handle),
        None => topics.push(TopicInfo {
            topic: announce.topic,
            type_name: announce.type_name,
            encoding: announce.encoding,
            fingerprint: announce.fingerprint,
            schema: announce.schema,
            handles: vec![handle],
        }),
    }
}

/// The name of a process's program, as far as the system shows it to us.
fn program(pid: u32) -> String {
    let path = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !name.is_empty() {
        return name;
    }
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}
