//! A connection that publishes, shared by the publishers of this process at an address.
//!
//! Messages are pipelined, and nobody is woken for it. While no answer is due, the thread that sends writes its message
//! itself. While answers are due, messages queue up, and the thread that reads the answers writes all that waits: so the
//! batches grow with the load. A message too large to be written without waiting is announced by a `PING`, whose answer
//! brings that thread to it.
//!
//! ```text
//! try_send -> queue -> unanswered -> dropped, with their room in the publisher's backlog
//!                 pump            settle, one for each answer
//! ```
//!
//! What was written and not answered when a connection is lost may have arrived or not. It is not sent again, since nothing
//! arrives twice, but counted; what still waits is sent over the next connection.

use super::{
    super::network::{Monitor, SharedBytes, Waiting},
    link::{Link, Service},
    resp::{Answer, Reader, command},
    stream::{Input, Stream},
};
use crate::{
    endpoint::RedisAddress,
    error::{Error, FlushError},
    event::DropCause,
};
use std::{
    collections::VecDeque,
    fmt,
    io::{self, IoSlice},
    mem,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

/// The largest frame that is written by the thread that sends it. An idle connection takes that much at once.
const DIRECT: usize = (64 << 10) + 1024;
/// Larger frames are written from where they lie; smaller ones are copied into one piece first.
const COPIED: usize = 16 << 10;
/// Most bytes of such a piece, unless a single frame has more.
const BATCH: usize = 256 << 10;
/// Bytes that may be on the way to the server and not answered.
const WINDOW: usize = 4 << 20;

/// A publisher, as its connection knows it.
#[derive(Debug)]
pub(super) struct Source {
    /// The command up to the frame's length.
    command: Vec<u8>,
    monitor: Arc<Monitor>,
    /// Messages queued, and messages answered or given up. Written under the session's lock.
    taken: AtomicU64,
    settled: AtomicU64,
    /// Messages given up since the last flush.
    given_up: AtomicU64,
}

impl Source {
    pub(super) fn new(topic: &str, monitor: &Arc<Monitor>) -> Arc<Self> {
        let mut command = command(&[b"PUBLISH", topic.as_bytes()]);
        // A third word follows, whose length is not known yet.
        command[1] = b'3';
        command.push(b'$');
        Arc::new(Self {
            command,
            monitor: Arc::clone(monitor),
            taken: AtomicU64::new(0),
            settled: AtomicU64::new(0),
            given_up: AtomicU64::new(0),
        })
    }

    fn waits(&self) -> u64 {
        self.taken.load(Ordering::Relaxed) - self.settled.load(Ordering::Relaxed)
    }
}

/// A message of a publisher.
struct Entry {
    frame: Waiting,
    source: Arc<Source>,
}

impl Entry {
    fn len(&self) -> usize {
        self.frame.as_ref().len()
    }
}

#[derive(Debug)]
pub(super) struct Session {
    address: RedisAddress,
    shared: Arc<Shared>,
    link: Link,
}

/// What publishers and the link's thread share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Messages were settled, or writing has ended.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The connection, while there is one.
    stream: Option<Arc<Stream>>,
    queue: VecDeque<Entry>,
    /// What the server will answer, in this order: messages, and `None` for a `PING`.
    unanswered: VecDeque<Option<Entry>>,
    unanswered_bytes: usize,
    /// Somebody writes. Answers are due then.
    writing: bool,
    /// Threads that wait for a change.
    waiting: usize,
    /// Memory for the next batch.
    batch: Vec<u8>,
    monitors: Vec<Weak<Monitor>>,
    /// Why there is no connection.
    last_failure: Option<String>,
}

/// Connections by address, while somebody uses them.
static SESSIONS: Mutex<Vec<Weak<Session>>> = Mutex::new(Vec::new());

impl Session {
    pub(super) fn of(address: &RedisAddress) -> Result<Arc<Self>, Error> {
        // A forked child has none of its parent's connections.
        let find = |sessions: &mut Vec<Weak<Self>>| {
            sessions.retain(|session| session.strong_count() > 0);
            let sessions = sessions.iter().filter_map(Weak::upgrade);
            sessions.into_iter().find(|session| session.address == *address && session.link.is_ours())
        };
        if let Some(session) = find(&mut lock(&SESSIONS)) {
            return Ok(session);
        }
        // Connecting takes its time, which handles elsewhere need not wait for. Two at once: the first one is kept.
        let shared = Arc::new(Shared::default());
        let link = Link::open("msg redis", address, &shared)?;
        let session = Arc::new(Self { address: address.clone(), shared, link });
        let mut sessions = lock(&SESSIONS);
        if let Some(other) = find(&mut sessions) {
            return Ok(other);
        }
        sessions.push(Arc::downgrade(&session));
        Ok(session)
    }

    /// Whether the connection is this process's.
    pub(super) fn is_ours(&self) -> bool {
        self.link.is_ours()
    }

    /// Tells a handle what happens to the connection, from now on.
    pub(super) fn tell(&self, monitor: &Arc<Monitor>) {
        let mut state = lock(&self.shared.state);
        state.monitors.push(Arc::downgrade(monitor));
        let (connected, failure) = (state.stream.is_some(), state.last_failure.clone());
        drop(state);
        if connected {
            monitor.connected();
        } else if let Some(failure) = failure {
            monitor.failed(failure);
        }
    }

    /// Takes a message.
    pub(super) fn submit(&self, frame: Waiting, source: &Arc<Source>) {
        let mut state = lock(&self.shared.state);
        source.taken.fetch_add(1, Ordering::Relaxed);
        state.queue.push_back(Entry { frame, source: Arc::clone(source) });
        self.shared.start(state);
    }

    /// Waits until a publisher's messages are answered, all that were taken so far.
    pub(super) fn flush(&self, source: &Source, deadline: Instant) -> Result<(), FlushError> {
        let mut state = lock(&self.shared.state);
        let taken = source.taken.load(Ordering::Relaxed);
        while source.settled.load(Ordering::Relaxed) < taken {
            let time = deadline.saturating_duration_since(Instant::now());
            if time.is_zero() || !self.is_ours() {
                return Err(FlushError::Timeout { unsent: source.waits() });
            }
            state.waiting += 1;
            state = self.shared.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
        match source.given_up.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            // They are counted already.
            _ => Err(FlushError::Timeout { unsent: 0 }),
        }
    }

    /// Forgets what a publisher has queued, and has counted as dropped.
    pub(super) fn forget(&self, source: &Arc<Source>) {
        let mut state = lock(&self.shared.state);
        if source.waits() > 0 {
            state.queue.retain(|entry| !Arc::ptr_eq(&entry.source, source));
        }
    }
}

impl Shared {
    /// Sees to it that what waits is written: by this thread if it cannot take long, otherwise by the one that reads
    /// answers. Answers that are due bring it, and otherwise one is asked for.
    fn start<'a>(&'a self, mut state: MutexGuard<'a, State>) {
        while state.unanswered.is_empty() && !state.writing && !state.queue.is_empty() {
            let direct = state.queue.len() == 1 && state.queue[0].len() <= DIRECT;
            let written;
            (state, written) = if direct { self.write_batch(state) } else { self.ping(state) };
            if !written {
                return;
            }
            // Once more: the answer may have come before this thread said that it writes no longer.
        }
    }

    /// Writes what waits, as far as the server keeps up.
    fn pump(&self) {
        let mut state = lock(&self.state);
        let mut written = true;
        while written && !state.queue.is_empty() && state.unanswered_bytes < WINDOW {
            (state, written) = self.write_batch(state);
        }
    }

    /// Writes the messages that wait longest, unless somebody else writes; false if it did not.
    fn write_batch<'a>(&'a self, mut state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, bool) {
        let Some(stream) = state.stream.clone().filter(|_| !state.writing) else { return (state, false) };
        let mut batch = mem::take(&mut state.batch);
        batch.clear();
        let large = state.take_batch(&mut batch);
        state.writing = true;
        drop(state);
        let written = match &large {
            None => stream.write(&mut [IoSlice::new(&batch)]),
            Some(frame) => {
                stream.write(&mut [IoSlice::new(&batch), IoSlice::new(frame), IoSlice::new(b"\r\n")])
            }
        };
        let mut state = lock(&self.state);
        state.batch = batch;
        self.end_writing(state, &stream, &written)
    }

    /// Asks the server for an answer, unless it owes one anyway; false if that was not possible.
    fn ping<'a>(&'a self, mut state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, bool) {
        let idle = state.unanswered.is_empty() && !state.writing;
        let Some(stream) = state.stream.clone().filter(|_| idle) else { return (state, false) };
        state.unanswered.push_back(None);
        state.writing = true;
        drop(state);
        let written = stream.write(&mut [IoSlice::new(b"*1\r\n$4\r\nPING\r\n")]);
        self.end_writing(lock(&self.state), &stream, &written)
    }

    /// A connection that could not be written to is ended, which its reader notices.
    fn end_writing<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        on: &Stream,
        how: &io::Result<()>,
    ) -> (MutexGuard<'a, State>, bool) {
        state.writing = false;
        if how.is_err() {
            on.shut_down();
        }
        if state.waiting > 0 {
            self.changed.notify_all();
        }
        (state, how.is_ok())
    }

    /// Takes these answers for those that are due.
    fn settle(&self, answers: &mut Vec<Answer>) -> io::Result<()> {
        let mut refused = Vec::new();
        let mut state = lock(&self.state);
        for answer in answers.drain(..) {
            let Some(due) = state.unanswered.pop_front() else {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "it answers what was not asked"));
            };
            let Some(entry) = due else { continue };
            state.unanswered_bytes -= entry.len();
            entry.source.settled.fetch_add(1, Ordering::Relaxed);
            if let Answer::Refused(reason) = answer {
                refused.push((Arc::clone(&entry.source), reason));
            }
        }
        let wake = state.waiting > 0;
        drop(state);
        if wake {
            self.changed.notify_all();
        }
        for (source, reason) in refused {
            source.give_up(1);
            source.monitor.failed(format!("the server refuses a message: {reason}"));
        }
        Ok(())
    }
}

impl Source {
    fn give_up(&self, count: u64) {
        self.given_up.fetch_add(count, Ordering::Relaxed);
        self.monitor.dropped(DropCause::Unsent, count);
    }
}

impl State {
    /// The publishers that hear of what happens. They are told without the lock: they run the user's closures.
    fn monitors(&mut self) -> Vec<Arc<Monitor>> {
        self.monitors.retain(|monitor| monitor.strong_count() > 0);
        self.monitors.iter().filter_map(Weak::upgrade).collect()
    }

    /// Moves messages from the queue to those that are to be answered, and writes their commands into `batch`: up to the
    /// frame of the last one, if that one is large.
    fn take_batch(&mut self, batch: &mut Vec<u8>) -> Option<SharedBytes> {
        while let Some(entry) = self.queue.pop_front() {
            let large = (entry.len() > COPIED).then(|| entry.frame.frame());
            batch.extend_from_slice(&entry.source.command);
            batch.extend_from_slice(entry.len().to_string().as_bytes());
            batch.extend_from_slice(b"\r\n");
            if large.is_none() {
                batch.extend_from_slice(entry.frame.as_ref());
                batch.extend_from_slice(b"\r\n");
            }
            self.unanswered_bytes += entry.len();
            self.unanswered.push_back(Some(entry));
            if large.is_some() || batch.len() >= BATCH {
                return large;
            }
        }
        None
    }
}

impl Service for Shared {
    fn greet(&self, _: &Arc<Stream>, _: &mut Reader<Input>) -> Result<(), Error> {
        Ok(())
    }

    fn up(self: &Arc<Self>, stream: &Arc<Stream>, reader: &mut Reader<Input>) -> io::Result<()> {
        let shared = Arc::clone(self);
        reader.source.watch(Box::new(move || {
            drop(shared.ping(lock(&shared.state)));
            Ok(())
        }))?;
        let mut state = lock(&self.state);
        state.stream = Some(Arc::clone(stream));
        let monitors = state.monitors();
        drop(state);
        monitors.iter().for_each(|monitor| monitor.connected());
        self.pump();
        Ok(())
    }

    fn serve(&self, reader: &mut Reader<Input>) -> io::Error {
        let mut answers = Vec::new();
        loop {
            loop {
                match reader.answer() {
                    Ok(answer) => answers.push(answer),
                    Err(error) => return error,
                }
                if !reader.has_more() {
                    break;
                }
            }
            if let Err(error) = self.settle(&mut answers) {
                return error;
            }
            self.pump();
        }
    }

    fn down(&self, reason: String) {
        let mut state = lock(&self.state);
        state.stream = None;
        state.last_failure = Some(reason.clone());
        let monitors = state.monitors();
        // It fails at once: the connection is shut down.
        while state.writing {
            state.waiting += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state.unanswered_bytes = 0;
        let lost: Vec<Entry> = mem::take(&mut state.unanswered).into_iter().flatten().collect();
        lost.iter().for_each(|entry| _ = entry.source.settled.fetch_add(1, Ordering::Relaxed));
        drop(state);
        for same in lost.chunk_by(|one, next| Arc::ptr_eq(&one.source, &next.source)) {
            same[0].source.give_up(same.len() as u64);
        }
        self.changed.notify_all();
        monitors.iter().for_each(|monitor| monitor.disconnected(reason.clone()));
    }

    fn failed(&self, reason: String) {
        let mut state = lock(&self.state);
        state.last_failure = Some(reason.clone());
        let monitors = state.monitors();
        drop(state);
        monitors.iter().for_each(|monitor| monitor.failed(reason.clone()));
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks leaves what they guard whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
