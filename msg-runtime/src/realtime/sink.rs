//! Where the worker's messages go: to a publisher, several at a time.

use super::RealtimeMessage;
use crate::{error::SendError, publisher::Publisher};
use std::{thread, time::Duration};

/// What the worker sends to.
pub(super) trait Sink<T>: Send {
    /// Sends one message, waiting for room at most about this long; an error other than `Timeout` is final.
    fn send(&mut self, message: &T, longest: Duration) -> Result<(), SendError>;

    /// Called when there is nothing more to send for now.
    fn flush(&mut self) {}
}

#[cfg(test)]
impl<T, F: FnMut(&T, Duration) -> Result<(), SendError> + Send> Sink<T> for F {
    fn send(&mut self, message: &T, longest: Duration) -> Result<(), SendError> {
        self(message, longest)
    }
}

/// Most messages that a subscriber sleeps through while more are being sent.
const MOST: u32 = 64;
/// How long to look for room: a subscriber that runs on another processor lets go of a small message within this.
const LOOK: Duration = Duration::from_micros(20);
/// How long to leave the processor to a subscriber that does not.
const NAP: Duration = Duration::from_micros(50);

/// Sends to a publisher. Subscribers that sleep are woken after a batch and not by its first message: one system call
/// for all of it, and a subscriber on the worker's processor does not take that processor for each message.
///
/// For the same reason it does not ask to be woken by the first place that is free in a full ring before it has napped:
/// then there is room for many.
pub(super) struct Batch<M: RealtimeMessage> {
    publisher: Publisher<M>,
    /// Messages that nobody was woken for yet.
    quiet: u32,
}

impl<M: RealtimeMessage> Batch<M> {
    pub(super) fn new(publisher: Publisher<M>) -> Self {
        Self { publisher, quiet: 0 }
    }

    #[cold]
    fn wait_for_room(&mut self, message: &M, longest: Duration) -> Result<(), SendError> {
        // Who shall make room must not sleep.
        self.flush();
        match self.publisher.send_timeout(message, LOOK) {
            Err(SendError::Timeout) => {}
            other => return other,
        }
        thread::sleep(NAP);
        self.publisher.send_timeout(message, longest)
    }
}

impl<M: RealtimeMessage> Sink<M> for Batch<M> {
    fn send(&mut self, message: &M, longest: Duration) -> Result<(), SendError> {
        match self.publisher.try_send_quietly(message) {
            Ok(()) => {}
            Err(SendError::Timeout) => return self.wait_for_room(message, longest),
            Err(error) => return Err(error),
        }
        self.quiet += 1;
        if self.quiet == MOST {
            self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) {
        if self.quiet > 0 {
            self.quiet = 0;
            self.publisher.wake_subscribers();
        }
    }
}
