//! One thread for all handles of this process at an endpoint: it tells of them, hears of all others, and answers who asks.

use super::{
    lock,
    message::{Announce, AnnounceKind},
    own::{Own, Tell},
};
use crate::{
    endpoint::{Address, Compression, Endpoint},
    error::{Error, ErrorKind, RecvError},
    event::Event,
    publisher::Publisher,
    subscriber::Subscriber,
};
use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
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
/// Handles that are remembered; who announces more than that is not believed.
const MOST_OTHERS: usize = 1 << 14;

/// Tells of the handles of this process at one endpoint, and hears of all others. There is one while such handles are.
pub(super) struct Announcer {
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
    /// We have asked who was here before us.
    asked_once: bool,
}

impl State {
    /// A handle tells of itself in full. Returns what users of ours are to be told of it.
    fn here(&mut self, facts: Announce) -> Vec<(Tell, Event)> {
        let news = self.own.values_mut().filter_map(|own| own.news(&facts)).collect();
        if self.others.len() < MOST_OTHERS || self.others.contains_key(&facts.handle) {
            self.others.insert(facts.handle, Heard { facts, at: Instant::now() });
        }
        news
    }

    fn forget_silent(&mut self) {
        self.others.retain(|_, heard| heard.at.elapsed() < SILENCE);
    }
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

impl Announcer {
    /// The announcer of this process for an endpoint, for one handle more.
    pub(super) fn of(endpoint: &Endpoint) -> Result<Arc<Self>, Error> {
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
    pub(super) fn release(&self) {
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
        // A forked child has no such thread to wait for; and a user's closure, which runs on it, may end the last handle.
        if let Some(thread) = thread
            && self.process == std::process::id()
            && thread.thread().id() != thread::current().id()
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

    /// Announces a handle, from now on.
    pub(super) fn add(&self, own: Own) {
        let facts = own.facts.clone();
        lock(&self.state).own.insert(facts.handle, own);
        self.tell(&facts);
    }

    /// Tells that a handle ends.
    pub(super) fn remove(&self, handle: u64) {
        let own = lock(&self.state).own.remove(&handle);
        if let Some(own) = own {
            self.tell(&own.announcement(AnnounceKind::Gone));
        }
    }

    /// Has a handle told of those that do not go with it: who is known now, who answers, and who comes.
    pub(super) fn compare(&self, handle: u64, tell: Tell) {
        let mut state = lock(&self.state);
        let State { own, others, asked_once, .. } = &mut *state;
        let Some(own) = own.get_mut(&handle) else { return };
        own.set_tell(tell);
        let news: Vec<_> = others.values().filter_map(|heard| own.news(&heard.facts)).collect();
        let ask = !std::mem::replace(asked_once, true);
        drop(state);
        news.iter().for_each(|(tell, event)| tell(event));
        if ask {
            self.ask();
        }
    }

    /// Everybody who was heard of, and of whom it is known what they are.
    pub(super) fn handles(&self) -> Vec<Announce> {
        let mut state = lock(&self.state);
        state.forget_silent();
        state.others.values().map(|heard| heard.facts.clone()).collect()
    }

    /// Asks everybody, and waits until so many of this kind have answered; false if fewer have when the time is over.
    pub(super) fn wait_for(&self, kind: impl Fn(&Announce) -> bool, count: usize, timeout: Duration) -> bool {
        let start = Instant::now();
        let answered = |state: &mut State| {
            let matching = |heard: &&Heard| heard.at >= start && kind(&heard.facts);
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
        self.tell(&Announce::new(AnnounceKind::Who));
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
        let mut news = Vec::new();
        match announce.kind.known() {
            Some(AnnounceKind::Who) => _ = state.asked.get_or_insert_with(Instant::now),
            Some(AnnounceKind::Gone) => _ = state.others.remove(&announce.handle),
            Some(AnnounceKind::Here) => news = state.here(announce),
            Some(AnnounceKind::Counts) => {
                if let Some(heard) = state.others.get_mut(&announce.handle) {
                    heard.at = Instant::now();
                    (heard.facts.messages, heard.facts.bytes) = (announce.messages, announce.bytes);
                }
            }
            // Of a newer version.
            None => {}
        }
        state.forget_silent();
        drop(state);
        self.heard.notify_all();
        news.iter().for_each(|(tell, event)| tell(event));
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

impl fmt::Debug for Announcer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcer").field("handles", &lock(&self.state).own.len()).finish_non_exhaustive()
    }
}
