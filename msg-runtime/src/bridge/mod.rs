//! Topics carried from one endpoint to another: shared memory to a network and back, one network to the next.
//!
//! Messages are not decoded, and whose they are stays with them: publisher, number and time (on shared memory a ring counts
//! as one publisher, since it numbers the messages of all of its publishers in one row). So what a bridge brings back to
//! where it came from is known there, and bridges in a circle carry each message around once at most.
//!
//! ```text
//! Bridge --- looks who is there --> a Route for each topic: recv_parcel -> seen before? -> pass_on
//! ```

mod route;
mod seen;

use crate::{
    announce,
    endpoint::{Address, Compression, Endpoint},
    error::{Error, ErrorKind},
    topic::Topic,
    topics::{Direction, TopicInfo, Watch},
    transport,
};
use route::{Ends, Route};
use std::{
    fmt, process,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

/// How long others have for saying who they are.
const ANSWERS: Duration = Duration::from_millis(500);
/// How often new topics are looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Carries topics from one endpoint to another until it is dropped.
///
/// Messages pass as they are, compressed or not; where the destination's endpoint names a compression, each is
/// decompressed and compressed that way. Type and schema go along, so that typed handles on the other side are checked.
///
/// Two bridges in opposite directions are no loop: a message that came from the other side is not taken back. An endpoint
/// without stamps (`redis`, `stamp=off`) cannot tell, and there the second of both is refused as far as announcements
/// show the first.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Message, Publisher, Subscriber, bridge::Bridge};
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Depth {
///     metres: f32,
/// }
///
/// let publisher = Publisher::<Depth>::open("shm;doc-bridge")?;
/// let depths = Subscriber::<Depth>::open("inproc;doc-bridge")?;
/// let bridge = Bridge::open("shm;doc-bridge", "inproc;doc-bridge")?;
/// publisher.send(&Depth { metres: 4.5 })?;
/// assert_eq!(depths.recv()?.view().metres(), 4.5);
/// assert_eq!(bridge.topics()[0].topic, "demo.Depth");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Bridge {
    shared: Arc<Shared>,
    looker: Option<thread::JoinHandle<()>>,
}

/// Opens a [`Bridge`] for some topics.
#[derive(Clone, Debug)]
pub struct BridgeBuilder {
    from: String,
    to: String,
    topics: Vec<String>,
}

/// What a bridge has done with the messages of a topic. Each message that it received is in one of the counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BridgeStats {
    /// Messages that the destination took.
    pub forwarded: u64,
    /// Bytes of these, as they travelled.
    pub bytes: u64,
    /// Messages that came from the destination, or that were carried before.
    pub seen: u64,
    /// Messages that the destination did not take: too large for it, or no room within its `timeout`.
    pub refused: u64,
    /// Messages that make no sense as frames.
    pub invalid: u64,
    /// Messages that passed by without being received, as far as it is known.
    pub lost: u64,
}

/// A topic of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BridgedTopic {
    /// The topic.
    pub topic: String,
    /// The type of its messages; empty if it is not known.
    pub type_name: String,
    /// What was done so far.
    pub stats: BridgeStats,
    /// The last thing that went wrong.
    pub last_error: Option<String>,
}

struct Shared {
    ends: Ends,
    /// What to carry; everything if empty.
    wanted: Vec<Topic>,
    routes: Mutex<Vec<Route>>,
    stopped: Mutex<bool>,
    stopping: Condvar,
}

impl BridgeBuilder {
    /// Carries this topic, and others named so; without any, all that have a publisher.
    pub fn topic(mut self, topic: impl Into<String>) -> Self {
        self.topics.push(topic.into());
        self
    }

    /// Opens the bridge.
    ///
    /// # Errors
    ///
    /// A malformed endpoint or topic, both ends in one place, an end that cannot be opened, or a loop (see [`Bridge`]).
    pub fn open(self) -> Result<Bridge, Error> {
        let (from, to): (Endpoint, Endpoint) = (self.from.parse()?, self.to.parse()?);
        let ends = Ends {
            packing: match to.compression {
                Compression::None => transport::Packing::AsItCame,
                _ => transport::Packing::Unpacked,
            },
            from_place: place(&from),
            to_place: place(&to),
            here: watch(&from, !self.topics.is_empty())?,
            there: watch(&to, true)?,
            from,
            to,
        };
        if ends.from_place == ends.to_place {
            let text = format!("both ends of the bridge are `{}`; name two places", ends.to_place);
            return Err(Error::new(ErrorKind::InvalidEndpoint, text));
        }
        let wanted = self.topics.into_iter().map(Topic::new).collect::<Result<_, _>>()?;
        let shared = Arc::new(Shared {
            ends,
            wanted,
            routes: Mutex::default(),
            stopped: Mutex::new(false),
            stopping: Condvar::new(),
        });
        shared.ends.here.iter().for_each(|watch| watch.ask(ANSWERS));
        shared.add_topics(true)?;
        let looker = thread::Builder::new().name("msg bridge".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.keep_looking()
        });
        let failed =
            |error| Error::new(ErrorKind::Io, "cannot start a thread for a bridge").with_source(error);
        Ok(Bridge { looker: Some(looker.map_err(failed)?), shared })
    }
}

impl Bridge {
    /// Carries all topics from one endpoint to another, those that come later too.
    ///
    /// # Errors
    ///
    /// As [`BridgeBuilder::open`].
    pub fn open(from: &str, to: &str) -> Result<Self, Error> {
        Self::builder(from, to).open()
    }

    /// Chooses topics before opening.
    pub fn builder(from: &str, to: &str) -> BridgeBuilder {
        BridgeBuilder { from: from.to_owned(), to: to.to_owned(), topics: Vec::new() }
    }

    /// The topics that are carried now.
    pub fn topics(&self) -> Vec<BridgedTopic> {
        self.shared.routes().iter().map(Route::describe).collect()
    }

    /// What was done so far, of all topics together.
    pub fn stats(&self) -> BridgeStats {
        let mut sum = BridgeStats::default();
        for BridgedTopic { stats, .. } in self.topics() {
            sum.forwarded += stats.forwarded;
            sum.bytes += stats.bytes;
            sum.seen += stats.seen;
            sum.refused += stats.refused;
            sum.invalid += stats.invalid;
            sum.lost += stats.lost;
        }
        sum
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        *lock(&self.shared.stopped) = true;
        self.shared.stopping.notify_all();
        if let Some(looker) = self.looker.take() {
            // A panic there has been printed.
            let _ = looker.join();
        }
        let routes = std::mem::take(&mut *self.shared.routes());
        routes.iter().for_each(Route::stop);
        drop(routes);
    }
}

impl Shared {
    fn routes(&self) -> MutexGuard<'_, Vec<Route>> {
        lock(&self.routes)
    }

    fn keep_looking(&self) {
        let mut stopped = lock(&self.stopped);
        while !*stopped {
            drop(stopped);
            if let Err(error) = self.add_topics(false) {
                tracing::warn!(from = %self.ends.from_place, "a bridge cannot see what is there: {error}");
            }
            stopped = lock(&self.stopped);
            if !*stopped {
                let waited = self.stopping.wait_timeout(stopped, LOOK);
                stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Starts carrying what is there and wanted and not carried yet. What fails is tried again, but for the first time.
    fn add_topics(&self, first: bool) -> Result<(), Error> {
        let found = self.ends.here.as_ref().map_or(Ok(Vec::new()), |watch| watch.topics())?;
        for topic in self.wanted_of(&found) {
            let info = found.iter().find(|info| info.topic == topic.as_str());
            let known = self.routes().iter().any(|route| route.is_of(&topic));
            if known || !self.ends.may_open(info) {
                continue;
            }
            match Route::start(&self.ends, &topic, info) {
                Ok(route) => self.routes().push(route),
                Err(error) if first => return Err(error.within(&format!("topic `{topic}`"))),
                Err(error) => tracing::warn!(%topic, "a bridge cannot carry it: {error}"),
            }
        }
        Ok(())
    }

    fn wanted_of(&self, found: &[TopicInfo]) -> Vec<Topic> {
        if !self.wanted.is_empty() {
            return self.wanted.clone();
        }
        // What only a bridge from over there brings need not go back.
        let native = |info: &&TopicInfo| {
            info.handles
                .iter()
                .any(|handle| handle.direction == Direction::Publisher && handle.bridge != self.ends.to_place)
        };
        let mut topics: Vec<Topic> =
            found.iter().filter(native).filter_map(|info| Topic::new(info.topic.clone()).ok()).collect();
        topics.dedup();
        topics
    }
}

/// Looks at one end; not where announcements are off, if that is allowed.
fn watch(endpoint: &Endpoint, optional: bool) -> Result<Option<Arc<Watch>>, Error> {
    let hears = matches!(endpoint.address, Address::Shm(_) | Address::Inproc(_))
        || transport::announces(&endpoint.address);
    if optional && !hears {
        return Ok(None);
    }
    Watch::open(endpoint).map(|watch| Some(Arc::new(watch)))
}

/// An endpoint as others see it: without options and compression, and with the host where that matters.
fn place(endpoint: &Endpoint) -> String {
    let plain = Endpoint { compression: Compression::None, address: endpoint.address.clone() }.to_string();
    let plain = plain.rsplit_once('?').map_or(plain.as_str(), |(before, _)| before).replacen("none;", "", 1);
    match endpoint.address {
        Address::Shm(_) => format!("{plain} on {}", announce::host()),
        Address::Inproc(_) => format!("{plain} of process {} on {}", process::id(), announce::host()),
        _ => plain,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks leaves what they guard whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge")
            .field("from", &self.shared.ends.from_place)
            .field("to", &self.shared.ends.to_place)
            .field("topics", &self.topics())
            .finish()
    }
}
