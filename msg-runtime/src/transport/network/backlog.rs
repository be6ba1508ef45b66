//! Frames that a client has taken and not sent yet, bounded in bytes.

use super::{
    super::wakers::{Registration, WakerList},
    pool::SharedBytes,
};
use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::Waker,
    time::Instant,
};

/// What a frame in a queue costs beside its bytes, so that empty ones are bounded as well.
const COST: usize = 64;

/// Counts the frames of one publisher that wait for the link.
#[derive(Debug)]
pub(crate) struct Backlog {
    max_bytes: usize,
    waiting: Mutex<Counts>,
    left: Condvar,
    wakers: Arc<WakerList>,
}

#[derive(Debug, Default)]
struct Counts {
    messages: u64,
    bytes: usize,
    /// Threads that wait for room.
    waiters: usize,
}

/// A frame that waits; dropping it says that it does no more.
#[derive(Debug)]
pub(crate) struct Waiting {
    frame: SharedBytes,
    backlog: Arc<Backlog>,
}

impl Backlog {
    pub(crate) fn new(max_bytes: usize) -> Arc<Self> {
        Arc::new(Self { max_bytes, waiting: Mutex::default(), left: Condvar::new(), wakers: Arc::default() })
    }

    /// Counts a frame in, if there is room. One that is larger than the bound is let in alone.
    pub(crate) fn enter(self: &Arc<Self>, frame: SharedBytes) -> Option<Waiting> {
        let mut waiting = self.lock();
        if !waiting.has_room(frame.len(), self.max_bytes) {
            return None;
        }
        waiting.messages += 1;
        waiting.bytes += frame.len() + COST;
        Some(Waiting { frame, backlog: Arc::clone(self) })
    }

    /// Waits until a frame of this many bytes has room, or the time is over.
    pub(crate) fn wait_for_room(&self, len: usize, deadline: Instant) {
        let mut waiting = self.lock();
        while !waiting.has_room(len, self.max_bytes) {
            let time = deadline.saturating_duration_since(Instant::now());
            if time.is_zero() {
                return;
            }
            waiting.waiters += 1;
            waiting = self.left.wait_timeout(waiting, time).unwrap_or_else(PoisonError::into_inner).0;
            waiting.waiters -= 1;
        }
    }

    /// Has the waker woken when a frame leaves.
    pub(crate) fn watch(&self, waker: &Waker) -> Registration {
        self.wakers.enter(waker)
    }

    /// Frames that wait.
    pub(crate) fn messages(&self) -> u64 {
        self.lock().messages
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Counts are whole after every statement.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn has_room(&self, len: usize, max_bytes: usize) -> bool {
        self.messages == 0 || self.bytes + len + COST <= max_bytes
    }
}

impl Waiting {
    /// The frame, which may outlive its waiting.
    pub(crate) fn frame(&self) -> SharedBytes {
        self.frame.clone()
    }
}

impl AsRef<[u8]> for Waiting {
    fn as_ref(&self) -> &[u8] {
        &self.frame
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut waiting = self.backlog.lock();
        waiting.messages -= 1;
        waiting.bytes -= self.frame.len() + COST;
        let wake = waiting.waiters > 0;
        drop(waiting);
        if wake {
            self.backlog.left.notify_all();
        }
        self.backlog.wakers.wake_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{thread, time::Duration};

    #[test]
    fn a_full_backlog_takes_no_more_until_something_leaves() {
        let backlog = Backlog::new(300);
        let frame = || SharedBytes::new([0; 36]);
        let first = backlog.enter(frame()).unwrap();
        let _second = backlog.enter(frame()).unwrap();
        let _third = backlog.enter(frame()).unwrap();
        assert!(backlog.enter(frame()).is_none());
        assert_eq!(backlog.messages(), 3);
        let waits = {
            let backlog = Arc::clone(&backlog);
            thread::spawn(move || backlog.wait_for_room(36, Instant::now() + Duration::from_secs(60)))
        };
        drop(first);
        waits.join().unwrap();
        assert!(backlog.enter(frame()).is_some());
    }

    #[test]
    fn a_frame_larger_than_the_bound_waits_alone() {
        let backlog = Backlog::new(10);
        let large = backlog.enter(SharedBytes::new([0; 1000])).unwrap();
        assert!(backlog.enter(SharedBytes::new([0; 1])).is_none());
        drop(large);
        assert!(backlog.enter(SharedBytes::new([0; 1])).is_some());
    }
}
