//! Messages handed to a closure, on a thread that the subscription has for itself.

use crate::{
    error::{Error, ErrorKind, RecvError},
    raw::RawSubscriber,
};
use std::{
    any::Any,
    error, fmt,
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Keeps a subscription by closure alive; see [`SubscriberBuilder::on_message`](crate::SubscriberBuilder::on_message).
///
/// When the drop has returned, the closure is not called any more. It waits for a call that is under way, unless it
/// happens inside that very call. Two closures that drop each other's guards at once would wait for each other.
#[must_use = "dropping the guard ends the subscription"]
pub struct Guard {
    shared: Arc<Shared>,
    /// Ends the waiting for the next message.
    interrupt: Box<dyn Fn() + Send + Sync>,
    /// There until the drop.
    thread: Option<thread::JoinHandle<()>>,
    /// The process whose thread it is: a forked child has the guard, and not the thread.
    process: u32,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    ended: OnceLock<Ended>,
}

/// Why a subscription by closure ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// The closure panicked, with this text.
    Panicked(String),
    /// Nothing more can be received.
    Receive(RecvError),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(text) => write!(f, "the closure panicked: {text}"),
            Self::Receive(error) => error.fmt(f),
        }
    }
}

impl error::Error for Ended {}

impl Guard {
    /// Starts the thread. `step` receives one message and has the closure called with it.
    pub(crate) fn start<S, F>(
        subscriber: S,
        raw: fn(&S) -> &RawSubscriber,
        mut step: F,
    ) -> Result<Self, Error>
    where
        S: Send + Sync + 'static,
        F: FnMut(&S) -> Result<(), RecvError> + Send + 'static,
    {
        let (shared, subscriber) = (Arc::new(Shared::default()), Arc::new(subscriber));
        // Not kept alive by the guard: a subscription that ended by itself leaves its place to others.
        let weak = Arc::downgrade(&subscriber);
        let interrupt = Box::new(move || {
            if let Some(subscriber) = weak.upgrade() {
                raw(&subscriber).link().interrupt();
            }
        });
        let thread = thread::Builder::new().name(format!("msg {}", raw(&subscriber).topic()));
        let run = {
            let shared = Arc::clone(&shared);
            move || {
                let ended = receive(|| step(&subscriber), &shared.stop);
                // In this order: who sees the end sees the place free, and what the closure has captured may panic
                // when it is dropped.
                drop(subscriber);
                if let Some(ended) = ended {
                    shared.ended.get_or_init(|| ended);
                }
                drop(step);
            }
        };
        let thread = thread.spawn(run).map_err(|error| {
            Error::new(ErrorKind::Io, "cannot start a thread for the closure").with_source(error)
        })?;
        Ok(Self { shared, interrupt, thread: Some(thread), process: std::process::id() })
    }

    /// Why the closure is not called any more, if the subscription ended by itself.
    pub fn ended(&self) -> Option<&Ended> {
        self.shared.ended.get()
    }
}

/// Goes on from message to message until it shall stop, which is no reason to tell, or cannot go on.
fn receive(mut step: impl FnMut() -> Result<(), RecvError>, stop: &AtomicBool) -> Option<Ended> {
    // Pairs with the store in the drop of the guard, which interrupts us after it.
    while !stop.load(Ordering::Acquire) {
        // What a panic leaves half done in the closure is seen by nobody: it is not called again.
        match panic::catch_unwind(AssertUnwindSafe(&mut step)) {
            // Called, or interrupted, or counted.
            Ok(Ok(()) | Err(RecvError::Timeout | RecvError::Invalid(_))) => {}
            Ok(Err(error)) => return Some(Ended::Receive(error)),
            Err(payload) => {
                let ended = Ended::Panicked(text(payload.as_ref()));
                // Its drop may panic, and would end the thread before the reason is told.
                std::mem::forget(payload);
                return Some(ended);
            }
        }
    }
    None
}

/// What a panic said, if it said something.
fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a text").to_owned()
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // Nobody calls the closure here, and there is no thread to wait for.
            std::mem::forget(self.thread.take());
            return;
        }
        self.shared.stop.store(true, Ordering::Release);
        (self.interrupt)();
        let Some(thread) = self.thread.take() else { return };
        // Inside its own call it cannot wait for itself; the call that drops the guard is the last one.
        if thread.thread().id() != thread::current().id() {
            // A panic in the closure was caught; one in its drop is printed and concerns nobody else.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("ended", &self.ended()).finish_non_exhaustive()
    }
}
