//! The queue between the thread that may never block and the worker: one producer, one consumer, no locks, no
//! allocation after it was made, every push in a bounded number of steps.
//!
//! **Refuse newest** is a ring of places. Each end keeps a copy of the other's count and reads the shared one only when
//! the copy says full, or empty, so a push that is accepted or refused mostly touches its own cache lines.
//!
//! **Overwrite oldest** must let the producer go on while the consumer reads the oldest message, so places are not
//! bound to slots: a place holds the *number* of a slot, and a slot has one owner at every instant.
//!
//! ```text
//!   producer's slot        places (capacity)             consumer's slot
//!        [5]          [ 0 full | 3 full | 1 empty ]           [2]
//!
//!   push:  fill the own slot, swap it with the place's: what comes out is the next own slot
//!          (if it was full, the oldest message was overwritten)
//!   take:  exchange the own slot for a full place's by compare-and-swap; a failure means it was overwritten
//! ```
//!
//! With two slots more than places, nobody ever waits and no slot is read while it is written. A push is one swap.
//!
//! **Latest only** is the same with a single place: that is a triple buffer.
//!
//! Invariant OWNER: between two atomic operations that hand it over, a slot is accessed by one thread only. In the ring,
//! slots of `head..tail` are the consumer's, the others the producer's; storing `tail` hands one to the consumer, storing
//! `head` one back. In the exchange, the thread that takes a slot's number out of a place owns the slot.

use super::sync::{AtomicU64, Ordering, UnsafeCell};
use std::{error, fmt, ops, sync::Arc};

/// What a push does when the queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It refuses the new message: `push` returns [`Full`].
    #[default]
    RefuseNewest,
    /// It drops the oldest message that is not being published.
    OverwriteOldest,
    /// Only the newest message is kept; the capacity is one.
    LatestOnly,
}

/// The queue is full and the message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("full: the worker has not published the messages in the queue yet")
    }
}

impl error::Error for Full {}

/// What became of a message that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    /// Nothing else was touched.
    Added,
    /// The oldest message was dropped for it.
    Overwrote,
}

/// Most places of a queue.
pub(super) const MAX_CAPACITY: usize = 1 << 22;

/// Makes a queue whose slots hold `initial`, which also brings their pages into memory.
///
/// # Panics
///
/// If the capacity is not between 1 and [`MAX_CAPACITY`].
pub(super) fn queue<T: Copy>(capacity: usize, when_full: WhenFull, initial: T) -> (Producer<T>, Consumer<T>) {
    assert!((1..=MAX_CAPACITY).contains(&capacity), "capacity {capacity}, expected 1 to {MAX_CAPACITY}");
    match when_full {
        WhenFull::RefuseNewest => {
            let shared = Arc::new(Ring::new(capacity, initial));
            let producer = RingProducer { shared: Arc::clone(&shared), tail: 0, limit: capacity as u64 };
            let consumer = RingConsumer { shared, head: 0, known_tail: 0 };
            (Producer::Ring(producer), Consumer::Ring(consumer))
        }
        WhenFull::OverwriteOldest => exchange(capacity, initial),
        WhenFull::LatestOnly => exchange(1, initial),
    }
}

fn exchange<T: Copy>(capacity: usize, initial: T) -> (Producer<T>, Consumer<T>) {
    let shared = Arc::new(Exchange::new(capacity, initial));
    let producer = ExchangeProducer { shared: Arc::clone(&shared), slot: capacity, sequence: 0, at: 0 };
    let consumer = ExchangeConsumer { shared, slot: capacity + 1, sequence: 0, at: 0, holds: false };
    (Producer::Exchange(producer), Consumer::Exchange(consumer))
}

/// The end that pushes.
#[derive(Debug)]
pub(super) enum Producer<T> {
    Ring(RingProducer<T>),
    Exchange(ExchangeProducer<T>),
}

impl<T: Copy> Producer<T> {
    /// Lets `fill` write a message into its slot, which holds some earlier one, and queues it. If `fill` panics, nothing
    /// is queued.
    #[inline]
    pub(super) fn push_with(&mut self, fill: impl FnOnce(&mut T)) -> Result<Pushed, Full> {
        match self {
            Self::Ring(producer) => producer.push_with(fill),
            Self::Exchange(producer) => Ok(producer.push_with(fill)),
        }
    }

    /// Messages that were queued so far.
    pub(super) fn accepted(&self) -> u64 {
        match self {
            Self::Ring(producer) => producer.tail,
            Self::Exchange(producer) => producer.sequence,
        }
    }
}

/// The end that takes messages out, in the order in which they were pushed.
#[derive(Debug)]
pub(super) enum Consumer<T> {
    Ring(RingConsumer<T>),
    Exchange(ExchangeConsumer<T>),
}

impl<T: Copy> Consumer<T> {
    /// Shows the oldest message, which stays where it is until [`release`](Consumer::release).
    pub(super) fn front<R>(&mut self, look: impl FnOnce(&T) -> R) -> Option<R> {
        match self {
            Self::Ring(consumer) => consumer.front(look),
            Self::Exchange(consumer) => consumer.front(look),
        }
    }

    /// Gives up the message that [`front`](Consumer::front) showed.
    pub(super) fn release(&mut self) {
        match self {
            Self::Ring(consumer) => consumer.release(),
            Self::Exchange(consumer) => consumer.holds = false,
        }
    }

    /// True if a message was pushed after the one that [`front`](Consumer::front) showed.
    pub(super) fn has_newer(&self) -> bool {
        match self {
            Self::Ring(consumer) => consumer.len() > 1,
            Self::Exchange(consumer) => consumer.is_next_full(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Ring(consumer) => consumer.len() == 0,
            Self::Exchange(consumer) => !consumer.holds && !consumer.is_next_full(),
        }
    }

    /// Messages in the queue, with the one that was shown and not released. Exact when nobody pushes.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ring(consumer) => consumer.len(),
            Self::Exchange(consumer) => consumer.len(),
        }
    }
}

/// Keeps what two threads write on lines of their own; two lines, since processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Alone<T>(T);

impl<T> ops::Deref for Alone<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The messages themselves.
struct Slots<T>(Box<[UnsafeCell<T>]>);

// SAFETY: invariant OWNER: a slot is accessed by one thread at a time, and messages may move between threads (`Send`).
unsafe impl<T: Send> Sync for Slots<T> {}
// SAFETY: the cells own plain values of `T`, which may move between threads (`Send`).
unsafe impl<T: Send> Send for Slots<T> {}

impl<T: Copy> Slots<T> {
    fn new(count: usize, initial: T) -> Self {
        Self((0..count).map(|_| UnsafeCell::new(initial)).collect())
    }

    /// # Safety
    ///
    /// The calling thread owns the slot (invariant OWNER) until this returns.
    #[inline(always)]
    unsafe fn write(&self, slot: usize, fill: impl FnOnce(&mut T)) {
        self.0[slot].with_mut(|message| {
            // SAFETY: the pointer is a cell's, which always holds a value; by the caller's promise nobody else
            // accesses it now.
            fill(unsafe { &mut *message });
        });
    }

    /// # Safety
    ///
    /// The calling thread owns the slot (invariant OWNER) until this returns.
    #[inline(always)]
    unsafe fn read<R>(&self, slot: usize, look: impl FnOnce(&T) -> R) -> R {
        self.0[slot].with(|message| {
            // SAFETY: the pointer is a cell's, which always holds a value; by the caller's promise nobody else
            // accesses it now.
            look(unsafe { &*message })
        })
    }
}

impl<T> fmt::Debug for Slots<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slots").field(&self.0.len()).finish()
    }
}

/// Refuse newest: what both ends see.
#[derive(Debug)]
struct Ring<T> {
    /// Messages released so far. Written by the consumer alone; `tail - head` is 0 to the capacity.
    head: Alone<AtomicU64>,
    /// Messages pushed so far. Written by the producer alone.
    tail: Alone<AtomicU64>,
    capacity: u64,
    /// A power of two, so that the slot of a message is some bits of its number: 64-bit numbers never come round.
    slots: Slots<T>,
}

impl<T: Copy> Ring<T> {
    fn new(capacity: usize, initial: T) -> Self {
        let zero = || Alone(AtomicU64::new(0));
        let slots = Slots::new(capacity.next_power_of_two(), initial);
        Self { head: zero(), tail: zero(), capacity: capacity as u64, slots }
    }

    #[inline(always)]
    fn slot_of(&self, number: u64) -> usize {
        number as usize & (self.slots.0.len() - 1)
    }
}

/// The place after `at` in a circle of this many.
#[inline(always)]
fn after(at: usize, places: usize) -> usize {
    if at + 1 == places { 0 } else { at + 1 }
}

#[derive(Debug)]
pub(super) struct RingProducer<T> {
    shared: Arc<Ring<T>>,
    /// The shared `tail`, which only this end writes.
    tail: u64,
    /// The `tail` at which the ring is full, as far as this end knows: at least so far there is room.
    limit: u64,
}

impl<T: Copy> RingProducer<T> {
    #[inline]
    pub(super) fn push_with(&mut self, fill: impl FnOnce(&mut T)) -> Result<Pushed, Full> {
        if self.tail == self.limit {
            self.look_for_room()?;
        }
        let ring = &*self.shared;
        // SAFETY: there is room, so `head..tail` is shorter than the ring and the slot of `tail` is the producer's (OWNER),
        // and there is one producer.
        unsafe { ring.slots.write(ring.slot_of(self.tail), fill) };
        self.tail += 1;
        // Pairs with the load in `front`: it makes the message visible.
        ring.tail.store(self.tail, Ordering::Release);
        Ok(Pushed::Added)
    }

    fn look_for_room(&mut self) -> Result<(), Full> {
        // Pairs with the store in `release`: the consumer's reads of a slot happened before it is written again.
        let head = self.shared.head.load(Ordering::Acquire);
        self.limit = head + self.shared.capacity;
        if self.tail == self.limit { Err(Full) } else { Ok(()) }
    }
}

#[derive(Debug)]
pub(super) struct RingConsumer<T> {
    shared: Arc<Ring<T>>,
    /// The shared `head`, which only this end writes.
    head: u64,
    /// The shared `tail` when it was last read: at most what it is now.
    known_tail: u64,
}

impl<T: Copy> RingConsumer<T> {
    fn front<R>(&mut self, look: impl FnOnce(&T) -> R) -> Option<R> {
        if self.head == self.known_tail {
            // Pairs with the store in `push_with`: the messages up to it are visible.
            self.known_tail = self.shared.tail.load(Ordering::Acquire);
            if self.head == self.known_tail {
                return None;
            }
        }
        // SAFETY: `head` is before `tail`, so its slot is the consumer's (OWNER), and there is one consumer.
        Some(unsafe { self.shared.slots.read(self.shared.slot_of(self.head), look) })
    }

    fn release(&mut self) {
        debug_assert_ne!(self.head, self.known_tail, "released without having been shown");
        self.head += 1;
        // Pairs with the load in `push_with`: this end is done with the slot.
        self.shared.head.store(self.head, Ordering::Release);
    }

    fn len(&self) -> usize {
        // Relaxed: a count, no message is read on the strength of it.
        (self.shared.tail.load(Ordering::Relaxed) - self.head) as usize
    }
}

/// What a place of the exchange holds: 40 bits of the message's sequence, 23 bits of the slot's number, one bit that
/// says whether there is a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place(u64);

const SLOT_BITS: u32 = 23;
const SEQUENCE_BITS: u32 = 40;
const SEQUENCE_MASK: u64 = (1 << SEQUENCE_BITS) - 1;
const _: () = assert!(MAX_CAPACITY + 2 <= 1 << SLOT_BITS && 1 + SLOT_BITS + SEQUENCE_BITS == u64::BITS);

impl Place {
    fn empty(slot: usize) -> Self {
        Self((slot as u64) << 1)
    }

    fn full(slot: usize, sequence: u64) -> Self {
        Self(((sequence & SEQUENCE_MASK) << (1 + SLOT_BITS)) | ((slot as u64) << 1) | 1)
    }

    fn is_full(self) -> bool {
        self.0 & 1 == 1
    }

    fn slot(self) -> usize {
        ((self.0 >> 1) & ((1 << SLOT_BITS) - 1)) as usize
    }

    /// How far the message lies after `sequence`.
    fn distance_from(self, sequence: u64) -> u64 {
        (self.0 >> (1 + SLOT_BITS)).wrapping_sub(sequence) & SEQUENCE_MASK
    }
}

/// Overwrite oldest, latest only: what both ends see.
#[derive(Debug)]
struct Exchange<T> {
    /// Message `n` is put into place `n` modulo their number.
    places: Box<[AtomicU64]>,
    /// Two more than places: one is the producer's, one the consumer's.
    slots: Slots<T>,
}

impl<T: Copy> Exchange<T> {
    fn new(capacity: usize, initial: T) -> Self {
        let places = (0..capacity).map(|slot| AtomicU64::new(Place::empty(slot).0)).collect();
        Self { places, slots: Slots::new(capacity + 2, initial) }
    }
}

#[derive(Debug)]
pub(super) struct ExchangeProducer<T> {
    shared: Arc<Exchange<T>>,
    /// The slot this end owns.
    slot: usize,
    /// Of the next message.
    sequence: u64,
    /// The place of `sequence`.
    at: usize,
}

impl<T: Copy> ExchangeProducer<T> {
    #[inline]
    fn push_with(&mut self, fill: impl FnOnce(&mut T)) -> Pushed {
        let exchange = &*self.shared;
        // SAFETY: the slot's number came out of a place, or was never in one, and was put into none since (OWNER).
        unsafe { exchange.slots.write(self.slot, fill) };
        let new = Place::full(self.slot, self.sequence);
        // Release pairs with the consumer's compare-and-swap: it makes the message visible. Acquire pairs with the same:
        // the consumer's reads of the slot that comes out happened before it is written again.
        let old = Place(exchange.places[self.at].swap(new.0, Ordering::AcqRel));
        self.slot = old.slot();
        self.sequence += 1;
        self.at = after(self.at, exchange.places.len());
        if old.is_full() { Pushed::Overwrote } else { Pushed::Added }
    }
}

#[derive(Debug)]
pub(super) struct ExchangeConsumer<T> {
    shared: Arc<Exchange<T>>,
    /// The slot this end owns.
    slot: usize,
    /// Of the oldest message that may still be there.
    sequence: u64,
    /// The place of `sequence`.
    at: usize,
    /// `slot` has a message that was shown and not released.
    holds: bool,
}

impl<T: Copy> ExchangeConsumer<T> {
    fn front<R>(&mut self, look: impl FnOnce(&T) -> R) -> Option<R> {
        if !self.holds {
            self.take()?;
        }
        // SAFETY: the slot's number came out of a place by `take` and was put into none since (OWNER).
        Some(unsafe { self.shared.slots.read(self.slot, look) })
    }

    /// Exchanges the own slot for that of the oldest message. It tries again only after the producer has overwritten
    /// the message it went for.
    fn take(&mut self) -> Option<()> {
        loop {
            let place = &self.shared.places[self.at];
            // Relaxed: the compare-and-swap below synchronizes.
            let found = Place(place.load(Ordering::Relaxed));
            if !found.is_full() {
                return None;
            }
            let distance = found.distance_from(self.sequence);
            if distance > 0 {
                // The producer has come round at least once: `found` lies a multiple of the capacity ahead, and
                // everything a capacity or more before it is overwritten. The oldest is in the next place.
                self.sequence += distance + 1 - self.shared.places.len() as u64;
                self.at = after(self.at, self.shared.places.len());
                continue;
            }
            let empty = Place::empty(self.slot);
            // Acquire pairs with the producer's swap: the message is visible. Release pairs with the same: this end is
            // done with the slot that it gives.
            let taken = place.compare_exchange(found.0, empty.0, Ordering::AcqRel, Ordering::Relaxed);
            if taken.is_ok() {
                self.slot = found.slot();
                self.sequence += 1;
                self.at = after(self.at, self.shared.places.len());
                self.holds = true;
                return Some(());
            }
        }
    }

    fn is_next_full(&self) -> bool {
        // Relaxed: a hint, `take` synchronizes.
        Place(self.shared.places[self.at].load(Ordering::Relaxed)).is_full()
    }

    fn len(&self) -> usize {
        let full = |place: &&AtomicU64| Place(place.load(Ordering::Relaxed)).is_full();
        self.shared.places.iter().filter(full).count() + usize::from(self.holds)
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
mod tests {
    use super::*;
    use std::thread;

    fn take<T: Copy>(consumer: &mut Consumer<T>) -> Option<T> {
        let message = consumer.front(|message| *message)?;
        consumer.release();
        Some(message)
    }

    fn push<T: Copy>(producer: &mut Producer<T>, message: T) -> Result<Pushed, Full> {
        producer.push_with(|slot| *slot = message)
    }

    #[test]
    fn what_is_pushed_into_a_full_queue() {
        let check = |when_full, capacity, left: &[u32], overwritten| {
            let (mut producer, mut consumer) = queue(capacity, when_full, 0_u32);
            let pushed: Vec<_> = (1..=7).map(|message| push(&mut producer, message)).collect();
            assert_eq!(pushed.iter().filter(|pushed| **pushed == Ok(Pushed::Overwrote)).count(), overwritten);
            assert_eq!(pushed.iter().filter(|pushed| pushed.is_err()).count(), 7 - overwritten - left.len());
            assert_eq!(consumer.len(), left.len());
            let taken: Vec<_> = std::iter::from_fn(|| take(&mut consumer)).collect();
            assert_eq!(taken, left, "{when_full:?} with {capacity} places");
            assert!(consumer.is_empty());
        };
        check(WhenFull::RefuseNewest, 1, &[1], 0);
        check(WhenFull::RefuseNewest, 3, &[1, 2, 3], 0);
        check(WhenFull::RefuseNewest, 8, &[1, 2, 3, 4, 5, 6, 7], 0);
        check(WhenFull::OverwriteOldest, 1, &[7], 6);
        check(WhenFull::OverwriteOldest, 3, &[5, 6, 7], 4);
        check(WhenFull::OverwriteOldest, 8, &[1, 2, 3, 4, 5, 6, 7], 0);
        check(WhenFull::LatestOnly, 5, &[7], 6);
    }

    #[test]
    fn a_message_that_was_shown_stays_until_it_is_released() {
        for when_full in [WhenFull::RefuseNewest, WhenFull::OverwriteOldest, WhenFull::LatestOnly] {
            let (mut producer, mut consumer) = queue(2, when_full, 0_u32);
            push(&mut producer, 1).unwrap();
            assert_eq!(consumer.front(|message| *message), Some(1));
            assert!(!consumer.has_newer());
            for message in 2..10 {
                // Some are refused or overwritten, which is what the test above is about.
                let _ = push(&mut producer, message);
                assert_eq!(consumer.front(|message| *message), Some(1), "{when_full:?}");
            }
            assert!(consumer.has_newer());
            consumer.release();
            assert!(take(&mut consumer).is_some_and(|message| message > 1));
        }
    }

    #[test]
    fn a_filling_that_panics_queues_nothing() {
        for when_full in [WhenFull::RefuseNewest, WhenFull::OverwriteOldest] {
            let (mut producer, mut consumer) = queue(2, when_full, 0_u32);
            let panics =
                std::panic::AssertUnwindSafe(|| producer.push_with(|_| panic!("a bad sensor")).map(drop));
            assert!(std::panic::catch_unwind(panics).is_err());
            assert!(consumer.is_empty());
            push(&mut producer, 1).unwrap();
            assert_eq!(take(&mut consumer), Some(1));
        }
    }

    #[test]
    fn sequences_may_wrap() {
        let (mut producer, mut consumer) = queue(3, WhenFull::OverwriteOldest, 0_u64);
        let (Producer::Exchange(pushing), Consumer::Exchange(taking)) = (&mut producer, &mut consumer) else {
            unreachable!()
        };
        (pushing.sequence, taking.sequence) = (SEQUENCE_MASK - 4, SEQUENCE_MASK - 4);
        for message in 0..20 {
            push(&mut producer, message).unwrap();
            if message % 5 == 4 {
                let taken: Vec<_> = std::iter::from_fn(|| take(&mut consumer)).collect();
                assert_eq!(taken, [message - 2, message - 1, message]);
            }
        }
    }

    /// Every message carries its number in all of its words: a torn one would show two.
    #[test]
    fn nothing_is_torn_lost_or_out_of_order_between_threads() {
        const MESSAGES: u64 = 300_000;
        for (when_full, capacity) in [
            (WhenFull::RefuseNewest, 1),
            (WhenFull::RefuseNewest, 64),
            (WhenFull::OverwriteOldest, 2),
            (WhenFull::OverwriteOldest, 64),
            (WhenFull::LatestOnly, 1),
        ] {
            let (mut producer, mut consumer) = queue(capacity, when_full, [0_u64; 32]);
            let (mut refused, mut overwritten, mut taken, mut last) = (0, 0, 0, 0);
            thread::scope(|scope| {
                let pushing = scope.spawn(|| {
                    for number in 1..=MESSAGES {
                        match push(&mut producer, [number; 32]) {
                            Ok(Pushed::Added) => {}
                            Ok(Pushed::Overwrote) => overwritten += 1,
                            Err(Full) => refused += 1,
                        }
                    }
                });
                loop {
                    let finished = pushing.is_finished();
                    let Some(message) = take(&mut consumer) else { if finished { break } else { continue } };
                    assert!(message.iter().all(|word| *word == message[0]), "torn: {message:?}");
                    assert!(message[0] > last, "{} after {last}", message[0]);
                    (last, taken) = (message[0], taken + 1);
                }
            });
            assert_eq!(taken + refused + overwritten, MESSAGES, "{when_full:?} with {capacity} places");
            assert!(when_full == WhenFull::RefuseNewest || last == MESSAGES, "the newest is always kept");
        }
    }
}

/// Every interleaving of a few steps: loom's cells fail a model in which a slot is read while it is written.
#[cfg(all(test, loom))]
#[allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
mod models {
    use super::{super::bell::Bell, *};
    use loom::{sync::Arc as LoomArc, thread};
    use std::time::Duration;

    fn every_message_is_accounted_for(when_full: WhenFull, capacity: usize, messages: u32) {
        loom::model(move || {
            let (mut producer, mut consumer) = queue(capacity, when_full, 0_u32);
            let pushing = thread::spawn(move || {
                let (mut refused, mut overwritten) = (0, 0);
                for message in 1..=messages {
                    match producer.push_with(|slot| *slot = message) {
                        Ok(Pushed::Added) => {}
                        Ok(Pushed::Overwrote) => overwritten += 1,
                        Err(Full) => refused += 1,
                    }
                }
                refused + overwritten
            });
            let (mut taken, mut last) = (0, 0);
            let mut take = |consumer: &mut Consumer<u32>| {
                let Some(message) = consumer.front(|message| *message) else { return false };
                assert!(message > last, "{message} after {last}");
                consumer.release();
                (last, taken) = (message, taken + 1);
                true
            };
            for _ in 0..2 {
                take(&mut consumer);
            }
            let dropped = pushing.join().unwrap();
            while take(&mut consumer) {}
            assert_eq!(taken + dropped, messages);
            assert!(when_full == WhenFull::RefuseNewest || last == messages, "the newest is always kept");
        });
    }

    #[test]
    fn refuse_newest() {
        every_message_is_accounted_for(WhenFull::RefuseNewest, 1, 3);
        every_message_is_accounted_for(WhenFull::RefuseNewest, 2, 4);
    }

    #[test]
    fn overwrite_oldest() {
        every_message_is_accounted_for(WhenFull::OverwriteOldest, 2, 4);
        every_message_is_accounted_for(WhenFull::OverwriteOldest, 3, 5);
    }

    #[test]
    fn latest_only() {
        every_message_is_accounted_for(WhenFull::LatestOnly, 1, 4);
    }

    /// loom's `park` has no time limit: a lost wake-up ends the model as a deadlock.
    fn no_wake_up_is_lost(when_full: WhenFull) {
        loom::model(move || {
            let (mut producer, mut consumer) = queue(2, when_full, 0_u32);
            let bell = LoomArc::new(Bell::new());
            let worker = {
                let bell = LoomArc::clone(&bell);
                thread::spawn(move || {
                    let mut last = 0;
                    while last < 2 {
                        match consumer.front(|message| *message) {
                            Some(message) => {
                                last = message;
                                consumer.release();
                            }
                            None => bell.sleep(Duration::MAX, || !consumer.is_empty()),
                        }
                    }
                })
            };
            for message in 1..=2 {
                producer.push_with(|slot| *slot = message).unwrap();
                bell.ring(|| worker.thread().unpark());
            }
            worker.join().unwrap();
        });
    }

    #[test]
    fn no_wake_up_is_lost_in_the_ring() {
        no_wake_up_is_lost(WhenFull::RefuseNewest);
    }

    #[test]
    fn no_wake_up_is_lost_in_the_exchange() {
        no_wake_up_is_lost(WhenFull::OverwriteOldest);
    }
}
