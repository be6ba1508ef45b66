//! The queue between a transport's reader and a subscriber, bounded in bytes.
//!
//! The reader always drains its socket into it. Full, it drops the oldest messages and counts them, or makes the reader
//! wait, as the endpoint's `on_full` says. It knows each publisher's numbers, so gaps are counted and what comes twice or
//! late is dropped.

use super::{
    super::wakers::{Registration, WakerList},
    monitor::Monitor,
    pool::SharedBytes,
    stamp::Stamp,
};
use crate::event::DropCause;
use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Waker,
    time::Instant,
};

/// What a message in the queue costs beside its bytes, so that empty ones are bounded as well.
const COST: usize = 64;
/// Publishers whose numbers are remembered; beyond, all are forgotten, and gaps across that moment go unseen.
const MOST_PUBLISHERS: usize = 4096;

/// A frame that arrived.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) frame: SharedBytes,
    pub(crate) stamp: Option<Stamp>,
    /// Messages that were lost between the one before and this one.
    pub(crate) lost: u64,
}

/// What happens when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFull {
    /// The oldest messages are dropped.
    DropOldest,
    /// The reader waits.
    Block,
    /// All messages but the newest are dropped, full or not.
    KeepNewest,
}

/// Why nothing was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nothing {
    /// There is nothing now.
    Empty,
    /// Nothing will ever come.
    Closed,
}

#[derive(Debug)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    /// Something arrived, or the queue ended.
    arrived: Condvar,
    /// Something was taken out, or the queue ended.
    taken: Condvar,
    /// Futures that wait for `arrived`.
    receivers: Arc<WakerList>,
    /// Futures that wait for `taken`, where a transport has them.
    senders: OnceLock<Arc<WakerList>>,
    max_bytes: usize,
    on_full: OnFull,
    lost: AtomicU64,
    late: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Arrival>,
    bytes: usize,
    /// By publisher.
    numbers: HashMap<u64, Numbers>,
    /// Messages without a number that were dropped since the last one taken out.
    dropped_unnumbered: u64,
    /// Threads that wait for a message. Waking nobody would be a system call each time.
    waiting: usize,
    interrupted: bool,
    closed: bool,
}

/// A publisher's next message has this number, as seen at both ends of the queue.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    arriving: u64,
    leaving: u64,
}

impl Inbox {
    pub(crate) fn new(max_bytes: usize, on_full: OnFull) -> Self {
        Self {
            state: Mutex::default(),
            arrived: Condvar::new(),
            taken: Condvar::new(),
            receivers: Arc::default(),
            senders: OnceLock::new(),
            max_bytes,
            on_full,
            lost: AtomicU64::new(0),
            late: AtomicU64::new(0),
        }
    }

    /// A frame arrived. Waits for room if the queue blocks when it is full.
    pub(crate) fn push(&self, frame: SharedBytes, stamp: Option<Stamp>, monitor: &Monitor) {
        let cost = frame.len() + COST;
        let mut state = self.lock();
        while self.on_full == OnFull::Block && state.lacks_room(cost, self.max_bytes) && !state.closed {
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed || !self.is_new(&mut state, stamp) {
            return;
        }
        let dropped = self.make_room(&mut state, cost);
        state.bytes += cost;
        state.queue.push_back(Arrival { frame, stamp, lost: 0 });
        let waiting = state.waiting > 0;
        drop(state);
        if waiting {
            self.arrived.notify_one();
        }
        self.receivers.wake_all();
        monitor.dropped(DropCause::QueueFull, dropped);
    }

    /// Whether a frame of this many bytes can be pushed now without waiting or dropping another.
    pub(crate) fn has_room(&self, len: usize) -> bool {
        let state = self.lock();
        self.on_full != OnFull::Block || state.closed || !state.lacks_room(len + COST, self.max_bytes)
    }

    /// Waits until something was taken out, or the time is over.
    pub(crate) fn wait_for_room(&self, len: usize, deadline: Instant) {
        let mut state = self.lock();
        while state.lacks_room(len + COST, self.max_bytes) && !state.closed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.taken.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The next frame, if there is one.
    pub(crate) fn try_pop(&self) -> Result<Arrival, Nothing> {
        let popped = self.pop_from(&mut self.lock());
        self.left(popped)
    }

    /// Has the waker woken when something arrives, or the queue ends.
    pub(crate) fn watch(&self, waker: &Waker) -> Registration {
        self.receivers.enter(waker)
    }

    /// Wakes these whenever something was taken out, or the queue ends. For the one transport that owns the queue.
    pub(crate) fn wake_for_room(&self, senders: &Arc<WakerList>) {
        self.senders.get_or_init(|| Arc::clone(senders));
    }

    /// The newest frame; those before it are passed over.
    pub(crate) fn pop_newest(&self) -> Result<Arrival, Nothing> {
        let mut state = self.lock();
        let mut lost = 0;
        while state.queue.len() > 1 {
            let passed = self.pop_from(&mut state)?;
            self.lost.fetch_add(1, Ordering::Relaxed);
            lost += passed.lost + 1;
        }
        let newest = self.pop_from(&mut state);
        drop(state);
        self.left(newest).map(|newest| Arrival { lost: newest.lost + lost, ..newest })
    }

    /// The next frame; waits until then, if there is one.
    pub(crate) fn pop(&self, deadline: Option<Instant>) -> Result<Arrival, Nothing> {
        let mut state = self.lock();
        loop {
            match self.pop_from(&mut state) {
                Err(Nothing::Empty) if !state.interrupted => {}
                popped => {
                    drop(state);
                    return self.left(popped);
                }
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(Nothing::Empty);
            }
            state.waiting += 1;
            state = match left {
                Some(left) => {
                    self.arrived.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
            state.waiting -= 1;
        }
    }

    /// Ends all waiting for frames, now and from here on.
    pub(crate) fn interrupt(&self) {
        self.end(|state| state.interrupted = true);
    }

    /// Nothing comes any more; what is there can still be taken out.
    pub(crate) fn close(&self) {
        self.end(|state| state.closed = true);
    }

    /// Messages lost so far, as far as it is known; those dropped because they came late; those that wait.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let queued = self.lock().queue.len() as u64;
        (self.lost.load(Ordering::Relaxed), self.late.load(Ordering::Relaxed), queued)
    }

    fn end(&self, how: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        how(&mut state);
        drop(state);
        self.arrived.notify_all();
        self.taken.notify_all();
        self.receivers.wake_all();
        self.wake_senders();
    }

    /// Whether a message was not there before. A publisher that is seen for the first time has lost nothing yet.
    fn is_new(&self, state: &mut State, stamp: Option<Stamp>) -> bool {
        let Some(Stamp { publisher, sequence, .. }) = stamp else { return true };
        if state.numbers.len() >= MOST_PUBLISHERS && !state.numbers.contains_key(&publisher) {
            state.numbers.clear();
        }
        let first = Numbers { arriving: sequence, leaving: sequence };
        let numbers = state.numbers.entry(publisher).or_insert(first);
        if sequence < numbers.arriving {
            self.late.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        numbers.arriving = sequence.saturating_add(1);
        true
    }

    /// Drops what must go before a message of this cost comes in; gives how many overflowed.
    fn make_room(&self, state: &mut State, cost: usize) -> u64 {
        let mut overflowed = 0;
        while !state.queue.is_empty() {
            let newest_only = self.on_full == OnFull::KeepNewest;
            let full = self.on_full == OnFull::DropOldest && state.lacks_room(cost, self.max_bytes);
            if !newest_only && !full {
                break;
            }
            overflowed += u64::from(full);
            self.pass_over(state);
        }
        overflowed
    }

    /// Drops the oldest message. One with a number is missed by the next of its publisher.
    fn pass_over(&self, state: &mut State) {
        let Some(oldest) = state.queue.pop_front() else { return };
        state.bytes -= oldest.frame.len() + COST;
        if oldest.stamp.is_none() {
            state.dropped_unnumbered += 1;
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn pop_from(&self, state: &mut State) -> Result<Arrival, Nothing> {
        let Some(mut arrival) = state.queue.pop_front() else {
            return Err(if state.closed { Nothing::Closed } else { Nothing::Empty });
        };
        state.bytes -= arrival.frame.len() + COST;
        arrival.lost = std::mem::take(&mut state.dropped_unnumbered);
        if let Some(Stamp { publisher, sequence, .. }) = arrival.stamp {
            // Forgotten if there were too many publishers meanwhile.
            if let Some(numbers) = state.numbers.get_mut(&publisher) {
                let gap = sequence.saturating_sub(numbers.leaving);
                numbers.leaving = sequence.saturating_add(1);
                self.lost.fetch_add(gap, Ordering::Relaxed);
                arrival.lost += gap;
            }
        }
        Ok(arrival)
    }

    /// Tells who waits for room that there may be some; the lock is free again.
    fn left(&self, popped: Result<Arrival, Nothing>) -> Result<Arrival, Nothing> {
        if popped.is_ok() && self.on_full == OnFull::Block {
            self.taken.notify_all();
            self.wake_senders();
        }
        popped
    }

    fn wake_senders(&self) {
        if let Some(senders) = self.senders.get() {
            senders.wake_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change below the lock leaves the state whole, so a panic elsewhere says nothing about it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A single message that is larger than the queue is let in alone.
    fn lacks_room(&self, cost: usize, max_bytes: usize) -> bool {
        !self.queue.is_empty() && self.bytes + cost > max_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::Arc, thread};

    const A: u64 = 7;
    const B: u64 = 8;

    fn stamp(publisher: u64, sequence: u64) -> Option<Stamp> {
        Some(Stamp { publisher, sequence, sent: 0 })
    }

    fn push(inbox: &Inbox, stamp: Option<Stamp>) {
        inbox.push(SharedBytes::new([0; 36]), stamp, &Monitor::default());
    }

    /// Publisher, sequence and loss of everything in the queue.
    fn pop_all(inbox: &Inbox) -> Vec<(u64, u64, u64)> {
        std::iter::from_fn(|| inbox.try_pop().ok())
            .map(|arrival| {
                let stamp = arrival.stamp.unwrap();
                (stamp.publisher, stamp.sequence, arrival.lost)
            })
            .collect()
    }

    #[test]
    fn gaps_are_lost_and_repeats_are_late() {
        let inbox = Inbox::new(1 << 20, OnFull::DropOldest);
        for (publisher, sequence) in [(A, 5), (A, 6), (B, 0), (A, 6), (A, 9), (A, 8), (B, 1), (B, u64::MAX)] {
            push(&inbox, stamp(publisher, sequence));
        }
        let expected =
            vec![(A, 5, 0), (A, 6, 0), (B, 0, 0), (A, 9, 2), (B, 1, 0), (B, u64::MAX, u64::MAX - 2)];
        assert_eq!(pop_all(&inbox), expected);
        assert_eq!(inbox.counts(), (u64::MAX, 2, 0));
    }

    #[test]
    fn a_full_queue_drops_the_oldest_and_counts_them_once() {
        let inbox = Inbox::new(250, OnFull::DropOldest);
        let monitor = Monitor::default();
        for sequence in 0..10 {
            inbox.push(SharedBytes::new([0; 36]), stamp(A, sequence), &monitor);
        }
        let mut stats = crate::stats::Stats::default();
        monitor.add_to(&mut stats);
        assert_eq!(stats.overflowed, 8);
        assert_eq!(pop_all(&inbox), [(A, 8, 8), (A, 9, 0)]);
        assert_eq!(inbox.counts().0, 8);
    }

    #[test]
    fn without_numbers_what_the_queue_drops_is_lost() {
        let inbox = Inbox::new(250, OnFull::DropOldest);
        (0..5).for_each(|_| push(&inbox, None));
        assert_eq!(inbox.try_pop().unwrap().lost, 3);
        assert_eq!(inbox.try_pop().unwrap().lost, 0);
        assert_eq!(inbox.counts(), (3, 0, 0));
    }

    #[test]
    fn the_newest_alone_is_kept() {
        let inbox = Inbox::new(1 << 20, OnFull::KeepNewest);
        (0..5).for_each(|sequence| push(&inbox, stamp(A, sequence)));
        assert_eq!(pop_all(&inbox), [(A, 4, 4)]);
    }

    #[test]
    fn a_message_larger_than_the_queue_is_let_in_alone() {
        let inbox = Inbox::new(10, OnFull::DropOldest);
        push(&inbox, stamp(A, 0));
        push(&inbox, stamp(A, 1));
        assert_eq!(pop_all(&inbox), [(A, 1, 1)]);
    }

    #[test]
    fn a_blocking_queue_loses_nothing() {
        let inbox = Arc::new(Inbox::new(250, OnFull::Block));
        let reader = {
            let inbox = Arc::clone(&inbox);
            thread::spawn(move || (0..1000).for_each(|sequence| push(&inbox, stamp(A, sequence))))
        };
        for sequence in 0..1000 {
            assert_eq!(inbox.pop(None).unwrap().stamp, stamp(A, sequence));
        }
        reader.join().unwrap();
        assert_eq!(inbox.counts(), (0, 0, 0));
    }

    #[test]
    fn closing_ends_a_blocked_reader_and_what_is_there_can_be_taken() {
        let inbox = Arc::new(Inbox::new(10, OnFull::Block));
        push(&inbox, None);
        let reader = {
            let inbox = Arc::clone(&inbox);
            thread::spawn(move || push(&inbox, None))
        };
        inbox.close();
        reader.join().unwrap();
        assert!(inbox.pop(None).is_ok());
        assert_eq!(inbox.pop(None).unwrap_err(), Nothing::Closed);
    }

    #[test]
    fn interrupting_ends_waiting() {
        let inbox = Arc::new(Inbox::new(10, OnFull::DropOldest));
        let waiting = {
            let inbox = Arc::clone(&inbox);
            thread::spawn(move || inbox.pop(None).unwrap_err())
        };
        inbox.interrupt();
        assert_eq!(waiting.join().unwrap(), Nothing::Empty);
    }
}
