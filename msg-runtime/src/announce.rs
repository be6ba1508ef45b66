//! Who is there: publishers and subscribers tell each other over the endpoint that they use, on topic `msg.Announce`.
//!
//! Each announces itself in full when it opens, when it ends and when somebody asks, and every ten seconds with its
//! counts. So topics and their schemas are found, and subscribers counted, on every network without a service.
//! `schemas/announce.fbs` is the message for other languages.

use crate::{
    Message, Open,
    endpoint::{Address, Compression, Endpoint},
    error::{Error, ErrorKind, RecvError},
    publisher::Publisher,
    stats::Stats,
    subscriber::Subscriber,
    topic::Topic,
    transport::{self, Stream},
};
use std::{
    collections::HashMap,
    fmt, fs,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// How often a handle tells its counts unasked.
const PERIOD: Duration = Duration::from_secs(10);
/// Those who were not heard of for so long are gone.
const SILENCE: Duration = Duration::from_secs(25);
/// Askers close together get one answer.
const ANSWER_AFTER: Duration = Duration::from_millis(5);
/// How long an asker waits for answers before it asks again.
const ASK_AGAIN: Duration = Duration::from_millis(250);

/// What a handle has done so far.
type OwnStats = Box<dyn Fn() -> Stats + Send + Sync>;

/// What an announcement is for.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
#[message(namespace = "msg")]
#[repr(u8)]
pub(crate) enum AnnounceKind {
    /// The handle is there: everything about it.
    Here = 0,
    /// The handle is still there: its counts.
    Counts = 1,
    /// The handle ends.
    Gone = 2,
    /// Everybody is asked to say that they are here.
    Who = 3,
}

/// What a handle does.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[message(namespace = "msg")]
#[repr(u8)]
pub(crate) enum AnnounceDirection {
    /// It publishes.
    Publisher = 0,
    /// It subscribes.
    Subscriber = 1,
}

/// One handle, as it tells of itself.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "msg")]
pub(crate) struct Announce {
    /// What this announcement is for.
    pub(crate) kind: Open<AnnounceKind>,
    /// Publishes or subscribes.
    pub(crate) direction: Open<AnnounceDirection>,
    /// A random number of the handle.
    pub(crate) handle: u64,
    /// The topic.
    pub(crate) topic: String,
    /// The fully qualified name of the messages' type; empty without a type.
    pub(crate) type_name: String,
    /// What payloads are: `flatbuffers`, `json` or `raw`.
    pub(crate) encoding: String,
    /// The fingerprint of the type.
    pub(crate) fingerprint: u64,
    /// The binary schema of the type; empty in an announcement of counts.
    pub(crate) schema: Vec<u8>,
    /// The name of the host.
    pub(crate) host: String,
    /// The process.
    pub(crate) pid: u32,
    /// The name of the program.
    pub(crate) program: String,
    /// Messages sent or received so far.
    pub(crate) messages: u64,
    /// Bytes of their payloads.
    pub(crate) bytes: u64,
}

/// Tells of the handles of this process at one endpoint, and hears of all others. There is one while such handles are.
pub(crate) struct Announcer {
    publisher: Publisher<Announce>,
    subscriber: Subscriber<Announce>,
    state: Mutex<State>,
    /// Something was heard.
    heard: Condvar,
    stop: AtomicBool,
    /// The process whose thread it is.
    process: u32,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    own: HashMap<u64, Own>,
    others: HashMap<u64, Heard>,
    /// When somebody asked who is here, and got no answer yet.
    asked: Option<Instant>,
}

/// A handle of this process.
struct Own {
    facts: Announce,
    stats: OwnStats,
}

/// A handle of anybody, as last heard of.
struct Heard {
    facts: Announce,
    at: Instant,
}

/// The announcers of this process.
static ANNOUNCERS: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

struct Entry {
    address: Address,
    announcer: Arc<Announcer>,
    /// Handles that are announced by it.
    handles: usize,
}

/// Announces a publisher until the result is dropped, where its transport wants that.
pub(crate) fn publisher(
    endpoint: &Endpoint,
    stream: &Stream,
    stats: impl Fn() -> Stats + Send + Sync + 'static,
) -> Result<Option<Announced>, Error> {
    announce(endpoint, stream, AnnounceDirection::Publisher, Box::new(stats))
}

/// Announces a subscriber until the result is dropped, where its transport wants that.
pub(crate) fn subscriber(
    endpoint: &Endpoint,
    stream: &Stream,
    stats: impl Fn() -> Stats + Send + Sync + 'static,
) -> Result<Option<Announced>, Error> {
    announce(endpoint, stream, AnnounceDirection::Subscriber, Box::new(stats))
}

fn announce(
    endpoint: &Endpoint,
    stream: &Stream,
    direction: AnnounceDirection,
    stats: OwnStats,
) -> Result<Option<Announced>, Error> {
    if !transport::announces(&endpoint.address) {
        return Ok(None);
    }
    let announcer = Announcer::of(endpoint)?;
    let facts = facts(stream, direction);
    let handle = facts.handle;
    announcer.tell(&facts);
    lock(&announcer.state).own.insert(handle, Own { facts, stats });
    Ok(Some(Announced { announcer, handle }))
}

/// What a handle of this process tells of itself.
fn facts(stream: &Stream, direction: AnnounceDirection) -> Announce {
    Announce {
        kind: AnnounceKind::Here.into(),
        direction: direction.into(),
        handle: transport::random(),
        topic: stream.topic.as_str().to_owned(),
        type_name: stream.type_name.to_owned(),
        encoding: stream.encoding.to_owned(),
        fingerprint: stream.fingerprint,
        schema: stream.schema.to_vec(),
        host: host(),
        pid: std::process::id(),
        program: program(),
        messages: 0,
        bytes: 0,
    }
}

impl Announcer {
    /// The announcer of this process for an endpoint, for one handle more.
    fn of(endpoint: &Endpoint) -> Result<Arc<Self>, Error> {
        // Held while it is opened, so that there are never two.
        let mut announcers = lock(&ANNOUNCERS);
        // A forked child's copy of its parent's hears and tells nothing.
        let mut ours = announcers.iter_mut().filter(|entry| entry.announcer.process == std::process::id());
        if let Some(entry) = ours.find(|entry| entry.address == endpoint.address) {
            entry.handles += 1;
            return Ok(Arc::clone(&entry.announcer));
        }
        let announcer = Arc::new(Self::open(endpoint)?);
        let thread = thread::Builder::new().name("msg announce".to_owned());
        let serve = {
            let announcer = Arc::clone(&announcer);
            move || announcer.serve()
        };
        let thread = thread.spawn(serve).map_err(|error| {
            Error::new(ErrorKind::Io, "cannot start a thread for announcements").with_source(error)
        })?;
        *lock(&announcer.thread) = Some(thread);
        let address = endpoint.address.clone();
        announcers.push(Entry { address, announcer: Arc::clone(&announcer), handles: 1 });
        Ok(announcer)
    }

    /// One handle less; with the last one goes the announcer.
    fn release(&self) {
        let mut announcers = lock(&ANNOUNCERS);
        let Some(at) = announcers.iter().position(|entry| std::ptr::eq(&*entry.announcer, self)) else {
            return;
        };
        announcers[at].handles -= 1;
        if announcers[at].handles > 0 {
            return;
        }
        let last = announcers.swap_remove(at);
        drop(announcers);
        self.stop.store(true, Ordering::Release);
        self.subscriber.interrupt();
        let thread = lock(&self.thread).take();
        // A forked child has no such thread to wait for.
        if let Some(thread) = thread
            && self.process == std::process::id()
        {
            let _ = thread.join();
        }
        drop(last);
    }

    fn open(endpoint: &Endpoint) -> Result<Self, Error> {
        // Schemas are long and repeat themselves.
        let compression = if cfg!(feature = "lz4") { Compression::Lz4 } else { Compression::None };
        let endpoint = Endpoint { compression, ..endpoint.clone() };
        Ok(Self {
            subscriber: Subscriber::unannounced(&endpoint)?,
            publisher: Publisher::unannounced(&endpoint)?,
            state: Mutex::default(),
            heard: Condvar::new(),
            stop: AtomicBool::new(false),
            process: std::process::id(),
            thread: Mutex::default(),
        })
    }

    /// Asks everybody, and waits until so many that do this on the topic have answered; false if fewer have when the
    /// time is over.
    pub(crate) fn wait_for(
        &self,
        topic: &str,
        direction: AnnounceDirection,
        count: usize,
        timeout: Duration,
    ) -> bool {
        let start = Instant::now();
        let answered = |state: &mut State| {
            let matching = |heard: &&Heard| {
                heard.at >= start
                    && heard.facts.topic == topic
                    && heard.facts.direction == Open::from(direction)
            };
            state.others.values().filter(matching).count() >= count
        };
        let mut state = lock(&self.state);
        while !answered(&mut state) {
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                return false;
            }
            drop(state);
            self.ask();
            state = lock(&self.state);
            let wait = self.heard.wait_timeout_while(state, left.min(ASK_AGAIN), |state| !answered(state));
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn ask(&self) {
        self.tell(&Announce {
            kind: AnnounceKind::Who.into(),
            direction: AnnounceDirection::Publisher.into(),
            handle: 0,
            topic: String::new(),
            type_name: String::new(),
            encoding: String::new(),
            fingerprint: 0,
            schema: Vec::new(),
            host: String::new(),
            pid: std::process::id(),
            program: String::new(),
            messages: 0,
            bytes: 0,
        });
    }

    /// Never waits: an announcement that finds no room is repeated soon enough.
    fn tell(&self, announce: &Announce) {
        let _ = self.publisher.try_send(announce);
    }

    /// Tells of every handle of this process.
    fn tell_all(&self, kind: AnnounceKind) {
        let state = lock(&self.state);
        let announcements: Vec<Announce> = state.own.values().map(|own| own.announcement(kind)).collect();
        drop(state);
        announcements.iter().for_each(|announce| self.tell(announce));
    }

    fn hear(&self, announce: Announce) {
        let mut state = lock(&self.state);
        match announce.kind.known() {
            Some(AnnounceKind::Who) => _ = state.asked.get_or_insert_with(Instant::now),
            Some(AnnounceKind::Gone) => _ = state.others.remove(&announce.handle),
            Some(AnnounceKind::Here) => {
                state.others.insert(announce.handle, Heard { facts: announce, at: Instant::now() });
            }
            Some(AnnounceKind::Counts) => {
                if let Some(heard) = state.others.get_mut(&announce.handle) {
                    heard.at = Instant::now();
                    (heard.facts.messages, heard.facts.bytes) = (announce.messages, announce.bytes);
                }
            }
            // Of a newer version.
            None => {}
        }
        state.others.retain(|_, heard| heard.at.elapsed() < SILENCE);
        drop(state);
        self.heard.notify_all();
    }

    /// Hears what comes, answers who asks, and tells counts now and then, until the last handle is gone.
    fn serve(&self) {
        let mut counts_due = Instant::now() + PERIOD;
        // Pairs with the store in `release`, which interrupts the waiting after it.
        while !self.stop.load(Ordering::Acquire) {
            let now = Instant::now();
            if counts_due <= now {
                self.tell_all(AnnounceKind::Counts);
                counts_due = now + PERIOD;
            }
            let answer_due = lock(&self.state).asked.map(|asked| asked + ANSWER_AFTER);
            if answer_due.is_some_and(|due| due <= now) {
                lock(&self.state).asked = None;
                self.tell_all(AnnounceKind::Here);
                continue;
            }
            let due = answer_due.unwrap_or(counts_due).min(counts_due);
            match self.subscriber.recv_timeout(due.saturating_duration_since(now)) {
                Ok(sample) => self.hear(sample.to_owned()),
                Err(RecvError::Timeout | RecvError::Invalid(_)) => {}
                Err(_) => return,
            }
        }
    }
}

impl Own {
    fn announcement(&self, kind: AnnounceKind) -> Announce {
        let Stats { messages, bytes, .. } = (self.stats)();
        let schema = if kind == AnnounceKind::Counts { Vec::new() } else { self.facts.schema.clone() };
        Announce { kind: kind.into(), messages, bytes, schema, ..self.facts.clone() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks leaves what they guard whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl fmt::Debug for Announcer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcer").field("handles", &lock(&self.state).own.len()).finish_non_exhaustive()
    }
}

/// Keeps a handle announced.
#[derive(Debug)]
pub(crate) struct Announced {
    announcer: Arc<Announcer>,
    handle: u64,
}

impl Announced {
    /// Asks, and waits until so many subscribers of the topic have answered; false if fewer have when the time is over.
    pub(crate) fn wait_for_subscribers(&self, topic: &Topic, count: usize, timeout: Duration) -> bool {
        self.announcer.wait_for(topic.as_str(), AnnounceDirection::Subscriber, count, timeout)
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        let own = lock(&self.announcer.state).own.remove(&self.handle);
        if let Some(own) = own {
            self.announcer.tell(&own.announcement(AnnounceKind::Gone));
        }
        self.announcer.release();
    }
}
