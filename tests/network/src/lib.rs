//! What the tests of network transports share: a message, waiting, links that can be cut, and what a process uses.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

pub mod hosts;
pub mod relay;
pub mod udp;
pub mod usage;
pub mod zenoh;

use msg_runtime::{Event, Message, Publisher, Subscriber};
use std::{
    sync::mpsc,
    time::{Duration, Instant},
};

/// Longer than anything takes on the slowest machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A message that is as long as its bytes.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "network")]
pub struct Note {
    /// Counts.
    pub number: u64,
    /// Anything.
    pub bytes: Vec<u8>,
}

/// A short message.
pub fn note(number: u64) -> Note {
    Note { number, bytes: Vec::new() }
}

/// A publisher of notes.
pub fn publisher(endpoint: &str, topic: &str) -> Publisher<Note> {
    Publisher::<Note>::builder(endpoint).topic(topic).open().unwrap()
}

/// A subscriber to notes.
pub fn subscriber(endpoint: &str, topic: &str) -> Subscriber<Note> {
    Subscriber::<Note>::builder(endpoint).topic(topic).open().unwrap()
}

/// The number of the next note.
pub fn next(subscriber: &Subscriber<Note>) -> u64 {
    subscriber.recv_timeout(PATIENCE).unwrap().view().number()
}

/// A closure that passes events on, and what it passes.
pub fn events() -> (impl Fn(&Event) + Send + Sync + 'static, mpsc::Receiver<Event>) {
    let (sender, events) = mpsc::channel();
    // Nobody may listen any more.
    (move |event: &Event| _ = sender.send(event.clone()), events)
}

/// Waits until something holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
