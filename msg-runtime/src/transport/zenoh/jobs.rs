//! What a session's thread has to do, in order, and the doing of it.

use super::super::network::{Monitor, SharedBytes, Stamp, Waiting};
use crate::event::DropCause;
use bytes::Bytes;
use std::{
    collections::VecDeque,
    fmt, mem,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use zenoh::{
    Session, Wait,
    bytes::ZBytes,
    pubsub::Publisher,
    qos::{CongestionControl, Reliability},
};

/// One publisher's stream, as the session's thread knows it.
pub(super) struct Source {
    topic: String,
    congestion: CongestionControl,
    monitor: Arc<Monitor>,
    /// Its handle is gone: what still waits is dropped.
    ended: AtomicBool,
    /// Declared, used and dropped by the session's thread.
    publisher: Mutex<Option<Publisher<'static>>>,
}

/// Something for the session's thread.
pub(super) enum Job {
    /// A frame to hand to Zenoh; `waiting` counts it until that is done.
    Put { source: Arc<Source>, frame: SharedBytes, stamp: Option<Stamp>, waiting: Waiting },
    /// A publisher is gone.
    End(Arc<Source>),
}

/// What a session's thread has to do.
#[derive(Default)]
pub(super) struct Jobs {
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    /// The thread sleeps. Waking nobody would be a system call each time.
    sleeping: bool,
    closed: bool,
}

impl Jobs {
    /// Adds a job; false if nobody will ever do it.
    pub(super) fn push(&self, job: Job) -> bool {
        let mut state = self.lock();
        if state.closed {
            return false;
        }
        state.waiting.push_back(job);
        let wake = mem::take(&mut state.sleeping);
        drop(state);
        if wake {
            self.came.notify_one();
        }
        true
    }

    /// No job comes any more.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.came.notify_one();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Waits for jobs and moves all there are into an empty queue; false if there will be none.
    pub(super) fn take(&self, into: &mut VecDeque<Job>) -> bool {
        let mut state = self.lock();
        while state.waiting.is_empty() {
            if state.closed {
                return false;
            }
            state.sleeping = true;
            state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.sleeping = false;
        mem::swap(&mut state.waiting, into);
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change below the lock leaves the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").field("waiting", &self.lock().waiting.len()).finish_non_exhaustive()
    }
}

impl Job {
    /// Does it. `linked` is whether somebody is there whom the endpoint names.
    pub(super) fn run(self, session: &Session, linked: bool) {
        match self {
            Self::Put { source, frame, stamp, waiting } => {
                if !source.ended.load(Ordering::Acquire) {
                    source.put(session, frame, stamp, linked);
                }
                drop(waiting);
            }
            Self::End(source) => drop(source.take()),
        }
    }
}

impl Source {
    pub(super) fn new(topic: &str, drops_on_congestion: bool, monitor: Arc<Monitor>) -> Self {
        Self {
            topic: topic.to_owned(),
            congestion: match drops_on_congestion {
                true => CongestionControl::Drop,
                false => CongestionControl::Block,
            },
            monitor,
            ended: AtomicBool::new(false),
            publisher: Mutex::default(),
        }
    }

    pub(super) fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// What waits from here on is dropped. Pairs with the load in `Job::run`, after which nothing is put.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }

    fn take(&self) -> Option<Publisher<'static>> {
        self.publisher.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Zenoh takes frames without a link as well, and drops them: those are counted.
    fn put(&self, session: &Session, frame: SharedBytes, stamp: Option<Stamp>, linked: bool) {
        let mut publisher = self.publisher.lock().unwrap_or_else(PoisonError::into_inner);
        if publisher.is_none() {
            *publisher = self.declared(session);
        }
        let put = publisher.as_ref().map(|publisher| {
            let put = publisher.put(ZBytes::from(Bytes::from_owner(frame)));
            match stamp {
                Some(stamp) => put.attachment(stamp.to_bytes()).wait(),
                None => put.wait(),
            }
        });
        if let Some(Err(error)) = &put {
            self.monitor.failed(format!("zenoh does not take a message: {error}"));
        }
        if !linked || !matches!(put, Some(Ok(()))) {
            self.monitor.dropped(DropCause::Unsent, 1);
        }
    }

    fn declared(&self, session: &Session) -> Option<Publisher<'static>> {
        let publisher = session
            .declare_publisher(self.topic.clone())
            .congestion_control(self.congestion)
            .reliability(Reliability::Reliable)
            .wait();
        publisher.map_err(|error| self.monitor.failed(format!("zenoh takes no publisher: {error}"))).ok()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("topic", &self.topic).finish_non_exhaustive()
    }
}
