//! What happens to a link: counted, told to the user's closure, logged, and remembered.

use crate::transport::OnEvent;
use crate::{
    error::{Error, ErrorKind},
    event::{DropCause, Event},
    stats::Stats,
    topic::Topic,
};
use std::{
    fmt,
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Whom a transport tells what happens to a link. Shared by the link and the threads that serve it.
///
/// All counts are read by themselves, so every access is relaxed.
#[derive(Default)]
pub(crate) struct Monitor {
    topic: String,
    on_event: Option<OnEvent>,
    /// When an event of each kind was logged last.
    logged: Mutex<[Option<Instant>; 4]>,
    connected_before: AtomicBool,
    reconnects: AtomicU64,
    unsent: AtomicU64,
    overflowed: AtomicU64,
    too_slow: AtomicU64,
    overflowed_datagrams: AtomicU64,
    incomplete: AtomicU64,
    malformed: AtomicU64,
    last_error: Mutex<Option<String>>,
}

impl Monitor {
    pub(crate) fn new(topic: &Topic, on_event: Option<OnEvent>) -> Self {
        Self { topic: topic.to_string(), on_event, ..Self::default() }
    }

    /// The link is there, for the first time or again.
    pub(crate) fn connected(&self) {
        if self.connected_before.swap(true, Ordering::Relaxed) {
            self.reconnects.fetch_add(1, Ordering::Relaxed);
            self.tell(&Event::Reconnected);
        } else {
            self.tell(&Event::Connected);
        }
    }

    /// The link is gone. The reason holds no secret.
    pub(crate) fn disconnected(&self, reason: impl Into<String>) {
        let reason = reason.into();
        self.failed(reason.clone());
        self.tell(&Event::Disconnected(reason));
    }

    /// Something failed that does not end the link. The text holds no secret.
    pub(crate) fn failed(&self, text: String) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    /// Somebody else found something wrong with what goes over the link.
    pub(crate) fn found(&self, event: &Event) {
        self.failed(event.to_string());
        self.tell(event);
    }

    /// Messages were dropped.
    pub(crate) fn dropped(&self, cause: DropCause, count: u64) {
        if count == 0 {
            return;
        }
        let counter = match cause {
            DropCause::Unsent => &self.unsent,
            DropCause::QueueFull => &self.overflowed,
            DropCause::TooSlow => &self.too_slow,
            DropCause::ReceiveBufferFull => &self.overflowed_datagrams,
            DropCause::Incomplete => &self.incomplete,
            DropCause::Malformed => &self.malformed,
        };
        counter.fetch_add(count, Ordering::Relaxed);
        self.tell(&Event::Dropped { count, cause });
    }

    /// The last thing that went wrong.
    pub(crate) fn last_error(&self) -> Option<String> {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds what was counted here.
    pub(crate) fn add_to(&self, stats: &mut Stats) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        stats.unsent += count(&self.unsent);
        stats.overflowed += count(&self.overflowed);
        stats.lost += count(&self.too_slow);
        stats.overflowed_datagrams += count(&self.overflowed_datagrams);
        stats.incomplete += count(&self.incomplete);
        stats.invalid += count(&self.malformed);
        stats.reconnects += count(&self.reconnects);
    }

    /// A panic of the closure stays there: it runs on the transport's threads, which serve others too.
    fn tell(&self, event: &Event) {
        self.log(event);
        if let Some(on_event) = &self.on_event {
            let told = panic::catch_unwind(AssertUnwindSafe(|| on_event(event)));
            if let Err(payload) = told {
                // Its drop may panic as well.
                std::mem::forget(payload);
            }
        }
    }
}

impl Monitor {
    /// One line a second and kind: who drops a thousand messages a second is told so once.
    fn log(&self, event: &Event) {
        let kind = match event {
            Event::Connected => return tracing::debug!(topic = %self.topic, "{event}"),
            Event::Disconnected(_) => 0,
            Event::Reconnected => 1,
            Event::Dropped { .. } => 2,
            Event::Incompatible { .. } => 3,
        };
        let now = Instant::now();
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged[kind].is_none_or(|last| now.duration_since(last) >= Duration::from_secs(1)) {
            logged[kind] = Some(now);
            drop(logged);
            tracing::warn!(topic = %self.topic, "{event}");
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stats = Stats::default();
        self.add_to(&mut stats);
        f.debug_struct("Monitor").field("stats", &stats).field("last_error", &self.last_error()).finish()
    }
}

/// The system gives no thread.
pub(crate) fn no_thread(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, "cannot start a thread for the link").with_source(error)
}
