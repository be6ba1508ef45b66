//! Sleeping for others: one thread waits for the events of many handles, which themselves only announce a sleeper.
//!
//! ```text
//! handle    announce, remember the ticket · look again · hand word and ticket over · ring the bell
//! sleeper   listen to the bell · take what was handed over · sleep while every word is its ticket's and no bell rings
//! ```
//!
//! The handle has announced before its last look, so an event after that look changes the word, and a sleeper that comes
//! later than the event does not sleep. Nobody here starts that thread: the transport has it.

use std::sync::Arc;
use std::time::Duration;

use super::file::Mapping;
use super::layout::Readers;
use super::sync::AtomicU32;
use super::wait::{EventCount, Ticket, event_fence, sleep_any};

/// How long the sleeper sleeps at once where the kernel has no way to wait for several words.
const PERIOD: Duration = Duration::from_millis(2);

/// What a handle waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    Message,
    Room,
}

/// An event of a ring that somebody has announced to sleep for.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// The words alone: neither a place in the segment nor a lock.
    readers: Arc<Mapping>,
    awaited: Awaited,
    ticket: Ticket,
    longest: Duration,
}

impl Watch {
    /// Announces a sleeper, who looks once more for what it waits for before it lets somebody sleep for it.
    pub(super) fn announce(readers: &Arc<Mapping>, awaited: Awaited, longest: Duration) -> Self {
        let ticket = count(readers, awaited).announce();
        Self { readers: Arc::clone(readers), awaited, ticket, longest }
    }

    /// Whether the event has happened.
    pub(crate) fn has_happened(&self) -> bool {
        count(&self.readers, self.awaited).is_later_than(self.ticket)
    }

    /// The same for who never wants to look around.
    #[cfg(test)]
    pub(crate) fn patient(self) -> Self {
        Self { longest: Duration::from_secs(3600), ..self }
    }

    /// After this time the handle wants to look around, event or not.
    pub(crate) fn longest(&self) -> Duration {
        self.longest
    }
}

fn count(readers: &Mapping, awaited: Awaited) -> EventCount<'_> {
    let readers = &readers.words::<Readers>(0, 1)[0];
    EventCount(match awaited {
        Awaited::Message => &readers.wake.0,
        Awaited::Room => &readers.space.0,
    })
}

/// Ends the sleep of this process's sleeper.
#[derive(Debug)]
pub(crate) struct Bell(AtomicU32);

impl Bell {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    pub(crate) fn ring(&self) {
        EventCount(&self.0).wake_after(event_fence());
    }

    /// Rings from here on are heard by `sleep`.
    pub(crate) fn listen(&self) -> Listening<'_> {
        Listening { bell: EventCount(&self.0), ticket: EventCount(&self.0).announce() }
    }
}

/// Hears every ring since it was made.
#[derive(Debug)]
pub(crate) struct Listening<'a> {
    bell: EventCount<'a>,
    ticket: Ticket,
}

impl Listening<'_> {
    /// Sleeps until the bell has rung or one of the events happened, or for at most this long; may return early.
    pub(crate) fn sleep(self, watches: &[Watch], longest: Duration) {
        let words: Vec<_> = std::iter::once((self.bell, self.ticket))
            .chain(watches.iter().map(|watch| (count(&watch.readers, watch.awaited), watch.ticket)))
            .collect();
        if !sleep_any(&words, longest) {
            self.bell.sleep(self.ticket, longest.min(PERIOD));
        }
    }
}
