//! One topic of a bridge: a thread that receives here and passes on there.

use super::{ANSWERS, BridgeStats, BridgedTopic, lock, seen::Seen};
use crate::{
    announce::{self, AnnounceDirection, Announced},
    endpoint::{Address, Endpoint},
    error::{Error, ErrorKind, RecvError, SendError},
    topic::Topic,
    topics::{Direction, TopicInfo, Watch},
    transport::{self, Delivery, Packing, Parcel, PublisherLink, Stream, SubscriberLink, Wait},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// How often a route without messages looks whether the type is known by now, and whether it is to end.
const TICK: Duration = Duration::from_millis(100);
/// How long a route that failed waits before it tries again.
const AGAIN: Duration = Duration::from_secs(1);

/// Both ends of a bridge.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    /// As the other ends of bridges are announced.
    pub(super) from_place: String,
    pub(super) to_place: String,
    /// `None` where nothing is announced.
    pub(super) here: Option<Arc<Watch>>,
    pub(super) there: Option<Arc<Watch>>,
    pub(super) packing: Packing,
}

impl Ends {
    /// A ring is made by those who know its type, and waited for.
    pub(super) fn may_open(&self, info: Option<&TopicInfo>) -> bool {
        info.is_some() || !matches!(self.from.address, Address::Shm(_))
    }

    /// What is known here of a topic.
    fn info(&self, topic: &Topic) -> Option<TopicInfo> {
        let found = self.here.as_ref()?.topics().ok()?;
        found.into_iter().find(|info| info.topic == topic.as_str())
    }

    /// Refuses a circle in which nobody could tell what has been around.
    fn refuse_loop(&self, topic: &Topic) -> Result<(), Error> {
        if transport::stamps(&self.from.address) && transport::stamps(&self.to.address) {
            return Ok(());
        }
        let closes = |watch: &Option<Arc<Watch>>, direction: Direction, other_end: &str| {
            let Some(watch) = watch else { return Ok(false) };
            watch.ask(ANSWERS);
            let topics = watch.topics()?;
            let handles = topics.iter().filter(|info| info.topic == topic.as_str());
            let mut handles = handles.flat_map(|info| &info.handles);
            Ok::<_, Error>(handles.any(|one| one.direction == direction && one.bridge == other_end))
        };
        if !closes(&self.there, Direction::Subscriber, &self.from_place)?
            && !closes(&self.here, Direction::Publisher, &self.to_place)?
        {
            return Ok(());
        }
        let text = format!(
            "another bridge carries the topic from `{}` to `{}`, and where messages have no stamps (`redis`, \
             `stamp=off`) nobody could tell what has been around: end it, or bridge other topics",
            self.to_place, self.from_place
        );
        Err(Error::new(ErrorKind::Incompatible, text))
    }
}

/// A topic that is carried.
#[derive(Debug)]
pub(super) struct Route {
    state: Arc<State>,
    thread: Option<thread::JoinHandle<()>>,
}

#[derive(Debug)]
struct State {
    ends: Ends,
    topic: Topic,
    stop: AtomicBool,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    stats: BridgeStats,
    /// Lost and invalid on links that are closed by now.
    before: (u64, u64),
    type_name: String,
    last_error: Option<String>,
}

/// One end, and who tells of it.
struct End<L: ?Sized> {
    /// Dropped first.
    _announced: Option<Announced>,
    link: Arc<L>,
}

type Source = End<dyn SubscriberLink>;
type Destination = End<dyn PublisherLink>;

impl Route {
    /// Opens the topic at both ends, as far as its type is known, and starts carrying.
    pub(super) fn start(ends: &Ends, topic: &Topic, info: Option<&TopicInfo>) -> Result<Self, Error> {
        let state = Arc::new(State {
            ends: ends.clone(),
            topic: topic.clone(),
            stop: AtomicBool::new(false),
            progress: Mutex::default(),
        });
        let source = state.source(info)?;
        let destination = info.map(|info| state.destination(Some(info))).transpose()?;
        ends.refuse_loop(topic)?;
        let thread = thread::Builder::new().name("msg route".to_owned()).spawn({
            let state = Arc::clone(&state);
            move || state.run(source, destination)
        });
        let failed =
            |error| Error::new(ErrorKind::Io, "cannot start a thread for a topic").with_source(error);
        Ok(Self { state, thread: Some(thread.map_err(failed)?) })
    }

    pub(super) fn is_of(&self, topic: &Topic) -> bool {
        self.state.topic == *topic
    }

    pub(super) fn describe(&self) -> BridgedTopic {
        let progress = lock(&self.state.progress);
        BridgedTopic {
            topic: self.state.topic.to_string(),
            type_name: progress.type_name.clone(),
            stats: progress.stats,
            last_error: progress.last_error.clone(),
        }
    }

    /// Has it end within a tick.
    pub(super) fn stop(&self) {
        self.state.stop.store(true, Ordering::Relaxed);
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed.
            let _ = thread.join();
        }
    }
}

impl State {
    fn stream(&self, info: Option<&TopicInfo>) -> Stream {
        let text = |of: fn(&TopicInfo) -> &String| info.map(of).cloned().unwrap_or_default();
        Stream {
            topic: self.topic.clone(),
            type_name: text(|info| &info.type_name).into(),
            encoding: text(|info| &info.encoding).into(),
            fingerprint: info.map_or(0, |info| info.fingerprint),
            schema: info.map(|info| info.schema.clone()).unwrap_or_default().into(),
            plain_bytes: None,
        }
    }

    fn source(&self, info: Option<&TopicInfo>) -> Result<Source, Error> {
        let (Ends { from, to_place, .. }, stream) = (&self.ends, self.stream(info));
        let link: Arc<dyn SubscriberLink> =
            transport::open_subscriber(from, &stream, Delivery::Everything, None)?.into();
        let counts = Arc::downgrade(&link);
        let stats = move || counts.upgrade().map(|link| link.stats()).unwrap_or_default();
        let direction = AnnounceDirection::Subscriber;
        let announced = announce::bridge(from, &stream, direction, to_place.clone(), stats)?;
        Ok(End { _announced: announced, link })
    }

    fn destination(&self, info: Option<&TopicInfo>) -> Result<Destination, Error> {
        let (Ends { to, from_place, .. }, stream) = (&self.ends, self.stream(info));
        let link: Arc<dyn PublisherLink> = transport::open_publisher(to, &stream, None)?.into();
        let counts = Arc::downgrade(&link);
        let stats = move || counts.upgrade().map(|link| link.stats()).unwrap_or_default();
        let direction = AnnounceDirection::Publisher;
        let announced = announce::bridge(to, &stream, direction, from_place.clone(), stats)?;
        lock(&self.progress).type_name = stream.type_name.into_owned();
        Ok(End { _announced: announced, link })
    }

    /// Carries until it is stopped. A link that ends is opened again.
    fn run(&self, source: Source, destination: Option<Destination>) {
        let mut ends = Some((source, destination));
        let mut seen = Seen::default();
        while !self.is_stopped() {
            let opened = ends.take().map_or_else(|| Ok((self.source(self.info().as_ref())?, None)), Ok);
            let carried = opened.and_then(|(source, destination)| {
                let carried = self.carry(&source, destination, &mut seen);
                self.count_source(&source, true);
                carried
            });
            if let Err(error) = carried {
                tracing::warn!(topic = %self.topic, "a bridge starts anew: {error}");
                lock(&self.progress).last_error = Some(error.to_string());
                let tries = AGAIN.as_millis() / TICK.as_millis();
                (0..tries).take_while(|_| !self.is_stopped()).for_each(|_| thread::sleep(TICK));
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn info(&self) -> Option<TopicInfo> {
        self.ends.info(&self.topic)
    }

    /// Carries until it is stopped, or until a link ends.
    fn carry(
        &self,
        source: &Source,
        mut destination: Option<Destination>,
        seen: &mut Seen,
    ) -> Result<(), Error> {
        while !self.is_stopped() {
            let parcel = match source.link.recv_parcel(Wait::AtMost(TICK), self.ends.packing) {
                Ok(parcel) => Some(parcel),
                Err(RecvError::Timeout) => None,
                // Counted by the link.
                Err(RecvError::Invalid(_) | RecvError::Corrupted) => continue,
                Err(error) => return Err(Error::new(ErrorKind::Io, format!("receiving: {error}"))),
            };
            if destination.is_none() {
                let info = self.info();
                if info.is_some() || parcel.is_some() {
                    let opened = self.destination(self.late_info(info).as_ref()).inspect_err(|_| {
                        lock(&self.progress).stats.refused += u64::from(parcel.is_some());
                    });
                    destination = Some(opened?);
                }
            }
            if let (Some(parcel), Some(destination)) = (parcel, &destination) {
                self.pass_on(&parcel, &*destination.link, seen)?;
            }
            self.count_source(source, false);
        }
        Ok(())
    }

    /// What is known once everybody was asked, before a message whose type nobody said goes on without.
    fn late_info(&self, info: Option<TopicInfo>) -> Option<TopicInfo> {
        info.or_else(|| {
            self.ends.here.as_ref()?.ask(ANSWERS);
            self.info()
        })
    }

    fn pass_on(
        &self,
        parcel: &Parcel,
        destination: &dyn PublisherLink,
        seen: &mut Seen,
    ) -> Result<(), Error> {
        let origin = parcel.origin;
        let came_from_there = origin.is_some_and(|origin| destination.source_id() == Some(origin.publisher));
        if came_from_there || !seen.is_new(origin) {
            lock(&self.progress).stats.seen += 1;
            return Ok(());
        }
        let sent = destination.pass_on(parcel, Wait::Default);
        let mut progress = lock(&self.progress);
        match sent {
            Ok(()) => {
                progress.stats.forwarded += 1;
                progress.stats.bytes += parcel.body.len() as u64;
            }
            Err(error) => {
                progress.stats.refused += 1;
                progress.last_error = Some(error.to_string());
                if !matches!(error, SendError::Timeout | SendError::TooLarge { .. }) {
                    return Err(Error::new(ErrorKind::Io, format!("sending: {error}")));
                }
            }
        }
        Ok(())
    }

    /// What the source's link counts, added to what links before it have counted.
    fn count_source(&self, source: &Source, last: bool) {
        let stats = source.link.stats();
        let mut progress = lock(&self.progress);
        let (lost, invalid) = progress.before;
        progress.stats.lost = lost + stats.lost;
        progress.stats.invalid = invalid + stats.invalid;
        if last {
            progress.before = (progress.stats.lost, progress.stats.invalid);
        }
    }
}
