//! The protocol under loom: every interleaving, within a bound on preemptions, of small scenarios on the real code.
//!
//! Each rule has a scenario that passes, and a seeded fault (or an older, wrong rule written out here) with which the
//! same scenario fails. `RUSTFLAGS="--cfg loom" cargo test --release -p msg-runtime --lib shm::`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod names;

use std::array;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::super::layout::ReaderStatistics;
use super::super::wait::{EventCount, event_fence};
use super::*;
use crate::shm::sync::AtomicU32;

/// A ring in private memory, with one number for each slot's payload.
struct Model {
    tail: AtomicU64,
    entries: Vec<AtomicU64>,
    slots: Vec<AtomicU64>,
    shared: Arc<Places>,
    payloads: Vec<UnsafeCell<u64>>,
    faults: &'static [Fault],
}

/// The readers file, which outlives a ring that gives way to another.
struct Places {
    states: Vec<AtomicU64>,
    readers: Vec<ReaderRecord>,
    pinners: AtomicU64,
}

// SAFETY: the payloads are accessed under the protocol, which is what loom checks.
unsafe impl Sync for Model {}
// SAFETY: as above.
unsafe impl Send for Model {}

fn words(n: usize) -> Vec<AtomicU64> {
    (0..n).map(|_| AtomicU64::new(0)).collect()
}

/// The places of some readers and of one publisher.
fn places(readers: usize) -> Arc<Places> {
    let record = || ReaderRecord {
        cursor: AtomicU64::new(0),
        reading: AtomicU64::new(0),
        holds: array::from_fn(|_| AtomicU64::new(0)),
        statistics: ReaderStatistics::default(),
    };
    let readers_of = (0..readers).map(|_| record()).collect();
    Arc::new(Places { states: words(readers + 1), readers: readers_of, pinners: AtomicU64::new(0) })
}

impl Model {
    fn over(shared: Arc<Places>, slots: usize, faults: &'static [Fault]) -> Self {
        let payloads = (0..slots).map(|_| UnsafeCell::new(u64::MAX)).collect();
        let entries = words((2 * slots).next_power_of_two());
        Self { tail: AtomicU64::new(0), entries, slots: words(slots), shared, payloads, faults }
    }

    fn new(slots: usize, readers: usize, faults: &'static [Fault]) -> Arc<Self> {
        Arc::new(Self::over(places(readers), slots, faults))
    }

    fn ring(&self) -> Ring<'_> {
        Ring {
            tail: &self.tail,
            entries: &self.entries,
            slots: &self.slots,
            states: &self.shared.states,
            readers: &self.shared.readers,
            pinners: &self.shared.pinners,
            faults: self.faults,
        }
    }

    /// Makes the next sequence `first`, as if all before had been published long ago.
    fn start_at(&self, first: u64) {
        self.tail.store(first, Ordering::Release);
        for sequence in first.saturating_sub(self.entries.len() as u64)..first {
            let gone = Entry::new(sequence, super::super::word::MAX_SLOTS - 1);
            self.ring().place(sequence).store(gone.0, Ordering::Release);
        }
        // A slot that nobody took for 2^31 messages would have an older base; then `latest` finds a message only once its
        // slot is marked.
        for slot in &self.slots {
            slot.store(SlotWord::free(first as u32).0, Ordering::Release);
        }
    }

    fn fill(&self, slot: usize, value: u64) {
        // SAFETY: loom reports any access that races with this one.
        self.payloads[slot].with_mut(|payload| unsafe { *payload = value });
    }

    fn read(&self, slot: usize) -> u64 {
        // SAFETY: loom reports any write that races with this read.
        self.payloads[slot].with(|payload| unsafe { *payload })
    }

    /// A whole send. Returns the sequence, or nothing if the ring is full.
    fn send(&self, snapshot: &mut Snapshot, value: u64) -> Option<u64> {
        let taken = self.ring().loan(snapshot)?;
        self.fill(taken.slot, value);
        let sequence = self.ring().commit(taken.slot).unwrap();
        self.ring().mark(&taken, sequence);
        Some(sequence)
    }

    /// As many sends as find room; payload = sequence. Returns the sequence that comes next.
    fn send_all(&self, snapshot: &mut Snapshot, sequences: std::ops::Range<u64>) -> u64 {
        let mut next = sequences.start;
        for _ in sequences {
            if let Some(sequence) = self.send(snapshot, next) {
                assert_eq!(sequence, next);
                next += 1;
            }
        }
        next
    }

    fn next(&self, reader: usize) -> Option<Found> {
        self.ring().next(reader).unwrap()
    }

    /// Reads and releases one message; payload = sequence.
    fn receive(&self, reader: usize) -> Option<u64> {
        let found = self.next(reader)?;
        assert_eq!(self.read(found.slot), found.sequence);
        self.ring().release(reader, found.sequence);
        Some(found.sequence)
    }

    /// Reads all that is left, which must be `from..end`.
    fn drain(&self, reader: usize, from: u64, end: u64) {
        for expected in from..end {
            assert_eq!(self.receive(reader), Some(expected));
        }
        assert_eq!(self.receive(reader), None);
    }

    fn join(&self, reader: usize, kind: Kind) -> u64 {
        self.ring().join(reader, kind).unwrap().0
    }

    fn repair(&self, dead: usize) {
        self.ring().repair(|owner| owner.participant == dead);
    }
}

fn publisher(participant: usize) -> Snapshot {
    Snapshot::new(Owner::new(participant, 1), 8)
}

/// Runs a scenario in every way that its threads can come in between each other, with at most so many preemptions.
fn check(preemptions: usize, scenario: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    // Not loom's: counts over all ways.
    let ways = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&ways);
    builder.check(move || {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        scenario();
    });
    let ways = ways.load(std::sync::atomic::Ordering::Relaxed);
    println!("{ways} ways");
    assert!(ways >= FEWEST_WAYS, "{ways} ways: the threads hardly meet");
}

/// A model with fewer shows little. Loom remembers one access of each word, the last: which of two sides is the thread
/// that starts and which is the model itself decides whether it sees a reason to try another order.
const FEWEST_WAYS: usize = 15;

// ---- joining

/// A joiner against a publisher with a cached snapshot: nothing from its cursor on is missed or overwritten, and the
/// ring is full only when messages that it needs fill the slots.
fn join(faults: &'static [Fault], slots: usize, sends: u64, before: u64, first: u64) {
    check(3, move || {
        let model = Model::new(slots, 1, faults);
        model.start_at(first);
        let before = first + before;
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, first..before);
        let other = Arc::clone(&model);
        let sender = thread::spawn(move || {
            let (mut next, mut full) = (before, Vec::new());
            for _ in 0..sends {
                match other.send(&mut snapshot, next) {
                    Some(sequence) => {
                        assert_eq!(sequence, next);
                        next += 1;
                    }
                    None => full.push(next),
                }
            }
            (next, full)
        });
        let joined = model.join(0, Kind::Lossless);
        let received = u64::from(model.receive(0).is_some());
        let (end, full) = sender.join().unwrap();
        for full in full {
            assert!(full >= joined + slots as u64, "full at {full} though the reader joined at {joined}");
        }
        model.drain(0, joined + received, end);
    });
}

#[test]
fn join_misses_nothing_with_one_slot() {
    join(&[], 1, 3, 0, 0);
}

#[test]
fn join_misses_nothing_with_two_slots() {
    join(&[], 2, 4, 2, 0);
}

#[test]
fn join_works_where_half_words_wrap() {
    join(&[], 1, 3, 0, (1 << 32) - 2);
}

#[test]
fn join_works_where_sequences_end() {
    join(&[], 1, 3, 0, SEQUENCE_LIMIT - 8);
}

/// The rule that `join` replaces: a cursor that is written before it counts and corrected afterwards.
#[test]
#[should_panic(expected = "though the reader joined")]
fn a_cursor_that_is_corrected_later_makes_the_ring_full() {
    check(3, || {
        let model = Model::new(1, 1, &[]);
        let mut snapshot = publisher(65);
        let other = Arc::clone(&model);
        let sender = thread::spawn(move || {
            let mut next = 0;
            (0..3).find_map(|_| {
                let sent = other.send(&mut snapshot, next);
                next += u64::from(sent.is_some());
                sent.is_none().then_some(next)
            })
        });
        let (ring, record) = (model.ring(), &model.shared.readers[0]);
        record.cursor.store(ring.tail.load(Ordering::Acquire), Ordering::Release);
        ring.states[0].store(State::new(1, Kind::Lossless).0, Ordering::Release);
        fence(Ordering::SeqCst);
        let joined = ring.tail.load(Ordering::Acquire);
        record.cursor.store(joined, Ordering::Release);
        if let Some(full) = sender.join().unwrap() {
            assert!(full > joined, "full at {full} though the reader joined at {joined}");
        }
    });
}

/// Two publishers, each with a snapshot of its own, and a joiner.
fn join_two_publishers(faults: &'static [Fault], slots: usize, before: u64) {
    check(2, move || {
        let model = Model::new(slots, 1, faults);
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..before);
        let other = Arc::clone(&model);
        let two =
            thread::spawn(move || (0..2).filter(|k| other.send(&mut snapshot, 10 + k).is_some()).count());
        let other = Arc::clone(&model);
        let one = thread::spawn(move || usize::from(other.send(&mut publisher(66), 20).is_some()));
        let mut cursor = model.join(0, Kind::Lossless);
        let end = before + (two.join().unwrap() + one.join().unwrap()) as u64;
        while let Some(found) = model.next(0) {
            assert_eq!(found.sequence, cursor);
            assert!(model.read(found.slot) >= if found.sequence < before { 0 } else { 10 });
            model.ring().release(0, found.sequence);
            cursor += 1;
        }
        assert_eq!(cursor, end);
    });
}

#[test]
fn join_misses_nothing_beside_two_publishers() {
    join_two_publishers(&[], 2, 2);
}

/// A joiner stops, or dies, between its state and its cursor: a publisher that scans gives it a place that no other
/// publisher's snapshot, taken just before, has passed.
fn half_joined(faults: &'static [Fault]) {
    check(3, move || {
        let model = Model::new(1, 1, faults);
        let other = Arc::clone(&model);
        let sender = thread::spawn(move || other.send_all(&mut publisher(65), 0..2));
        let other = Arc::clone(&model);
        let helper = thread::spawn(move || other.ring().scan(&mut publisher(66)));
        let joining = Cursor::joining(1);
        model.shared.readers[0].cursor.store(joining.0, Ordering::Release);
        model.shared.states[0].store(State::new(1, Kind::Lossless).0, Ordering::Release);
        let end = sender.join().unwrap();
        helper.join().unwrap();
        let cursor = model.ring().counted_cursor(0).unwrap();
        model.drain(0, cursor, end);
    });
}

#[test]
fn a_half_joined_reader_gets_a_place_that_is_kept() {
    half_joined(&[]);
}

// ---- giving way to another ring

/// A ring that is replaced before anything was published, a publisher that is about to, and a joiner. The two rings
/// share the readers' places, as two data files share a readers file. Whoever has joined sees every message.
fn replaced(faults: &'static [Fault]) {
    check(3, move || {
        let shared = places(1);
        let old = Arc::new(Model::over(Arc::clone(&shared), 1, faults));
        let new = Arc::new(Model::over(shared, 1, faults));
        let (old_too, new_too) = (Arc::clone(&old), Arc::clone(&new));
        let replacer = thread::spawn(move || {
            let sealed = old_too.ring().seal();
            let ring = if sealed { &new_too } else { &old_too };
            let sent = ring.send_all(&mut publisher(65), u64::from(!sealed)..3);
            (sealed, sent)
        });
        let (old_too, new_too) = (Arc::clone(&old), Arc::clone(&new));
        let early = thread::spawn(move || {
            let mut snapshot = publisher(66);
            let taken = old_too.ring().loan(&mut snapshot).unwrap();
            old_too.fill(taken.slot, 0);
            match old_too.ring().commit(taken.slot) {
                Ok(sequence) => {
                    assert_eq!(sequence, 0);
                    old_too.ring().mark(&taken, 0);
                    true
                }
                Err(error) => {
                    assert_eq!(error, CommitError::Sealed);
                    drop(new_too);
                    false
                }
            }
        });
        let joined = old.ring().join(0, Kind::Lossless);
        let published = early.join().unwrap();
        let (sealed, end) = replacer.join().unwrap();
        assert_ne!(published, sealed, "exactly one of the two takes the first place");
        let ring = if sealed { &new } else { &old };
        assert_eq!(old.ring().is_sealed(), sealed);
        match joined {
            Some((cursor, _)) => ring.drain(0, cursor, end.max(cursor)),
            None => {
                assert!(sealed);
                let cursor = new.join(0, Kind::Lossless);
                new.drain(0, cursor, end);
            }
        }
    });
}

#[test]
fn a_ring_gives_way_only_before_anything_is_published() {
    replaced(&[]);
}

// ---- holds

/// Two kept samples, dropped in the other order, against a publisher with a cached snapshot.
fn holds(faults: &'static [Fault], keep: impl Fn(&Model, usize, Found) + Sync + Send + Copy + 'static) {
    check(3, move || {
        let model = Model::new(2, 1, faults);
        model.join(0, Kind::Lossless);
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..2);
        let other = Arc::clone(&model);
        let sender = thread::spawn(move || other.send_all(&mut snapshot, 2..4));
        let first = model.next(0).unwrap();
        keep(&model, 0, first);
        let second = model.next(0).unwrap();
        keep(&model, 1, second);
        assert_eq!(model.read(second.slot), 1);
        model.ring().drop_hold(0, 1);
        assert_eq!(model.read(first.slot), 0);
        model.ring().drop_hold(0, 0);
        let end = sender.join().unwrap();
        model.drain(0, 2, end);
    });
}

#[test]
fn kept_samples_are_dropped_in_any_order() {
    holds(&[], |model, hold, found| model.ring().keep(0, hold, found));
}

#[test]
#[should_panic]
fn a_hold_is_written_before_the_cursor() {
    holds(&[], |model, hold, found| {
        model.ring().release(0, found.sequence);
        model.ring().keep(0, hold, found);
    });
}

// ---- latest-only

/// A latest-only reader that keeps one sample, against a publisher that laps it.
fn latest(faults: &'static [Fault], slots: usize, preemptions: usize, first: u64) {
    check(preemptions, move || {
        let model = Model::new(slots, 1, faults);
        model.start_at(first);
        let mut snapshot = publisher(65);
        model.join(0, Kind::Latest);
        model.send_all(&mut snapshot, first..first + 1);
        let other = Arc::clone(&model);
        let sender = thread::spawn(move || other.send_all(&mut snapshot, first + 1..first + 4));
        let (ring, mut next, mut lost, mut got) = (model.ring(), first, 0, 0);
        for hold in 0..2 {
            let Some(found) = ring.latest(0, next, 1) else { continue };
            assert_eq!(model.read(found.slot), found.sequence);
            ring.keep_latest(0, hold, found);
            assert_eq!(model.read(found.slot), found.sequence);
            ring.drop_hold(0, hold);
            lost += found.sequence - next;
            got += 1;
            next = found.sequence + 1;
        }
        let end = sender.join().unwrap();
        if let Some(found) = ring.latest(0, next, 1) {
            assert_eq!(model.read(found.slot), found.sequence);
            lost += found.sequence - next;
            got += 1;
            next = found.sequence + 1;
        }
        assert_eq!(
            (next, first + lost + got),
            (end, end),
            "the newest is readable at rest, and counts are exact"
        );
    });
}

#[test]
fn latest_reads_whole_messages_with_three_slots() {
    latest(&[], 3, 2, 0);
}

#[test]
fn latest_reads_whole_messages_with_two_slots() {
    latest(&[], 2, 3, 0);
}

#[test]
fn latest_works_where_half_words_wrap() {
    latest(&[], 2, 2, (1 << 32) - 2);
}

#[test]
fn latest_works_where_sequences_end() {
    latest(&[], 2, 2, SEQUENCE_LIMIT - 8);
}

/// One loan is held for long and another publisher looks for room: the newest message stays readable.
fn newest(faults: &'static [Fault]) {
    check(3, move || {
        let model = Model::new(2, 1, faults);
        model.join(0, Kind::Latest);
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..1);
        let other = Arc::clone(&model);
        let slow = thread::spawn(move || other.ring().loan(&mut snapshot).is_some());
        let other = Arc::clone(&model);
        let reader = thread::spawn(move || {
            let found = other.ring().latest(0, 0, 1).expect("the newest message is gone");
            assert_eq!(other.read(found.slot), found.sequence);
        });
        let _other = model.ring().loan(&mut publisher(66));
        slow.join().unwrap();
        reader.join().unwrap();
    });
}

#[test]
fn the_newest_message_stays() {
    newest(&[]);
}

/// A latest-only reader stops in the middle of reading: with the newest, its own and one to fill, nobody waits for it.
fn never_full(slots: usize) {
    check(4, move || {
        let model = Model::new(slots, 1, &[]);
        model.join(0, Kind::Latest);
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..1);
        let other = Arc::clone(&model);
        let reader = thread::spawn(move || {
            if let Some(found) = other.ring().latest(0, 0, 1) {
                assert_eq!(other.read(found.slot), found.sequence);
            }
        });
        for sequence in 1..4 {
            model.send(&mut snapshot, sequence).expect("held back by a latest-only reader");
        }
        reader.join().unwrap();
    });
}

#[test]
fn three_slots_never_wait_for_a_latest_only_reader() {
    never_full(3);
}

#[test]
#[should_panic(expected = "held back")]
fn two_slots_may_wait_for_a_latest_only_reader() {
    never_full(2);
}

/// A latest-only reader keeps a sample and copies a newer message, with two pins at once; it may stop in the middle.
fn never_full_beside_a_copy(slots: usize) {
    check(4, move || {
        let model = Model::new(slots, 1, &[]);
        model.join(0, Kind::Latest);
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..1);
        let kept = model.ring().latest(0, 0, 1).unwrap();
        model.ring().keep_latest(0, 0, kept);
        model.send_all(&mut snapshot, 1..2);
        let other = Arc::clone(&model);
        let reader = thread::spawn(move || {
            if let Some(found) = other.ring().latest(0, 1, 1) {
                assert_eq!(other.read(found.slot), found.sequence);
            }
            assert_eq!(other.read(kept.slot), 0);
        });
        for sequence in 2..5 {
            model.send(&mut snapshot, sequence).expect("held back by a latest-only reader");
        }
        reader.join().unwrap();
    });
}

#[test]
fn four_slots_never_wait_for_a_latest_only_reader_that_copies() {
    never_full_beside_a_copy(4);
}

#[test]
#[should_panic(expected = "held back")]
fn three_slots_may_wait_for_a_latest_only_reader_that_copies() {
    never_full_beside_a_copy(3);
}

/// A latest-only reader joins beside a publisher that laps the ring: whole messages, none from before it joined, and
/// counts that are exact.
fn latest_join(faults: &'static [Fault]) {
    check(2, move || {
        let model = Model::new(4, 1, faults);
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..2);
        let other = Arc::clone(&model);
        let sender = thread::spawn(move || other.send_all(&mut snapshot, 2..5));
        let joined = model.join(0, Kind::Latest);
        let mut next = joined;
        let mut look = || {
            let found = model.ring().latest(0, next, 2)?;
            assert_eq!(model.read(found.slot), found.sequence);
            model.ring().drop_reading(0);
            assert!(found.sequence >= next);
            next = found.sequence + 1;
            Some(next)
        };
        look();
        let end = sender.join().unwrap();
        assert_eq!(look().unwrap_or(end), end, "the newest is readable at rest");
    });
}

#[test]
fn a_latest_only_join_beside_a_publisher_counts_exactly() {
    latest_join(&[]);
}

/// Two latest-only readers beside two publishers, with the fewest slots that are allowed: whole messages, and nobody
/// waits.
fn two_latest(faults: &'static [Fault], slots: usize) {
    check(1, move || {
        let model = Model::new(slots, 2, faults);
        for reader in 0..2 {
            model.join(reader, Kind::Latest);
        }
        let senders = [65, 66].map(|participant| {
            let other = Arc::clone(&model);
            thread::spawn(move || {
                let mut snapshot = publisher(participant);
                for _ in 0..2 {
                    other.send(&mut snapshot, participant as u64).expect("held back");
                }
            })
        });
        let read = |reader| {
            let Some(found) = model.ring().latest(reader, 0, 1) else { return };
            assert!([65, 66].contains(&model.read(found.slot)));
            model.ring().keep_latest(reader, 0, found);
            assert!([65, 66].contains(&model.read(found.slot)));
        };
        (0..2).for_each(read);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        (0..2).for_each(|reader| model.ring().drop_hold(reader, 0));
        (0..2).for_each(|reader| assert_eq!(model.ring().latest(reader, 0, 1).unwrap().sequence, 3));
    });
}

#[test]
fn two_latest_only_readers_beside_two_publishers() {
    two_latest(&[], 7);
}

/// A publisher leaves and another takes its place and index, while a third repairs: the new one's loan is its own.
///
/// Generations in a loan are the low 24 bits, so the places start with one that wraps there or does not.
fn taken_again(generation: u64, dead_is: impl Fn(Owner, Owner) -> bool + Sync + Send + Copy + 'static) {
    check(3, move || {
        let model = Arc::new(Model::over(places(1), 2, &[]));
        model.shared.states[1].store(State::new(generation, Kind::Free).0, Ordering::Release);
        let owner = |model: &Model| Owner::new(1, model.ring().enlist(1).generation());
        let dead = owner(&model);
        let _left = model.ring().loan(&mut Snapshot::new(dead, 8)).unwrap();
        let other = Arc::clone(&model);
        let repairer = thread::spawn(move || {
            other.ring().repair(|found| {
                let state = State(other.shared.states[1].load(Ordering::Acquire));
                dead_is(found, Owner::new(1, state.generation()))
            });
        });
        let mut snapshot = Snapshot::new(owner(&model), 8);
        let taken = model.ring().loan(&mut snapshot).unwrap();
        model.fill(taken.slot, 5);
        let sequence = model.ring().commit(taken.slot).unwrap();
        model.ring().mark(&taken, sequence);
        repairer.join().unwrap();
        let word = SlotWord(model.slots[taken.slot].load(Ordering::Acquire));
        assert_eq!(word.carried(), Some(sequence + 1));
        model.ring().repair(|found| found == dead);
        let loans = std::iter::from_fn(|| model.ring().loan(&mut snapshot)).count();
        assert_eq!(loans, 2, "a slot is lost");
    });
}

#[test]
fn a_place_that_is_taken_again_is_not_mistaken_for_the_dead_one() {
    taken_again(0, |found, now| found != now);
}

#[test]
fn a_place_is_taken_again_where_generations_wrap() {
    taken_again((1 << 24) - 3, |found, now| found != now);
}

#[test]
#[should_panic]
fn a_loan_is_not_judged_by_its_place_alone() {
    taken_again(0, |found, now| found.participant == now.participant);
}

// ---- loans that end badly

/// A loan is written and dropped, or its publisher dies while filling: the message that was there must not come back.
fn half_filled(faults: &'static [Fault], end: impl Fn(&Model, &Taken) + Sync + Send + Copy + 'static) {
    check(3, move || {
        let model = Model::new(1, 1, faults);
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..1);
        let other = Arc::clone(&model);
        let sender = thread::spawn(move || {
            let Some(taken) = other.ring().loan(&mut snapshot) else { return };
            other.fill(taken.slot, 77);
            end(&other, &taken);
            if let Some(taken) = other.ring().loan(&mut publisher(66)) {
                other.fill(taken.slot, 78);
            }
        });
        model.join(0, Kind::Latest);
        let look = || {
            if let Some(found) = model.ring().latest(0, 0, 1) {
                assert_eq!(model.read(found.slot), found.sequence);
                model.ring().drop_reading(0);
            }
        };
        look();
        sender.join().unwrap();
        look();
    });
}

#[test]
fn a_dropped_loan_leaves_nothing() {
    half_filled(&[], |model, taken| model.ring().abort(taken));
}

#[test]
fn a_dead_publishers_loan_leaves_nothing() {
    half_filled(&[], |model, _| model.repair(65));
}

#[test]
#[should_panic]
fn a_dropped_loan_must_not_become_its_old_message() {
    half_filled(&[], |model, taken| {
        model.slots[taken.slot].store(taken.before.0, Ordering::Release);
    });
}

/// A publisher died between its commit and the mark; a reader keeps the message while the ring laps its entry; two
/// repair at once.
fn wrapped(faults: &'static [Fault], kind: Kind, preemptions: usize, first: u64) {
    check(preemptions, move || {
        let model = Model::new(3, 1, faults);
        model.start_at(first);
        // Four places for three slots, so that four more messages lap the dead publisher's entry.
        model.join(0, kind);
        let dead = model.ring().loan(&mut publisher(65)).unwrap();
        model.fill(dead.slot, first);
        let sequence = model.ring().commit(dead.slot).unwrap();
        model.ring().help_tail();
        let found = Found { sequence, slot: dead.slot };
        match kind {
            Kind::Latest => assert_eq!(model.ring().latest(0, first, 1), Some(found)),
            _ => model.ring().keep(0, 0, found),
        }
        let lossless = kind == Kind::Lossless;
        let mut snapshot = publisher(66);
        let publish = move |model: &Model, snapshot: &mut Snapshot, sequence| {
            let sent = model.send(snapshot, sequence);
            if let Some(sequence) = sent.filter(|_| lossless) {
                model.ring().release(0, sequence);
            }
        };
        let places = model.entries.len() as u64;
        for sequence in first + 1..=first + places {
            publish(&model, &mut snapshot, sequence);
        }
        let other = Arc::clone(&model);
        let one = thread::spawn(move || {
            other.repair(65);
            for sequence in first + places + 1..first + places + 4 {
                publish(&other, &mut snapshot, sequence);
            }
        });
        let other = Arc::clone(&model);
        let two = thread::spawn(move || other.repair(65));
        assert_eq!(model.read(dead.slot), first);
        if lossless {
            model.ring().drop_hold(0, 0)
        } else {
            model.ring().drop_reading(0)
        }
        one.join().unwrap();
        two.join().unwrap();
        model.repair(65);
        let word = SlotWord(model.slots[dead.slot].load(Ordering::Acquire));
        assert!(!word.is_loan(), "the slot is lost");
    });
}

#[test]
fn a_dead_publishers_kept_message_stays_while_the_ring_laps_it() {
    wrapped(&[], Kind::Lossless, 3, 0);
}

#[test]
fn a_dead_publishers_read_message_stays_while_the_ring_laps_it() {
    wrapped(&[], Kind::Latest, 2, 0);
}

#[test]
fn a_dead_publishers_message_stays_where_half_words_wrap() {
    wrapped(&[], Kind::Lossless, 1, (1 << 32) - 3);
    wrapped(&[], Kind::Latest, 1, (1 << 32) - 3);
}

#[test]
fn a_dead_publishers_message_stays_where_sequences_end() {
    wrapped(&[], Kind::Lossless, 1, SEQUENCE_LIMIT - 16);
    wrapped(&[], Kind::Latest, 1, SEQUENCE_LIMIT - 16);
}

/// A publisher died between its commit and the mark; two repair at once, and one of them publishes.
fn committed_once(first: u64, repair: impl Fn(&Model, &Taken) + Sync + Send + Copy + 'static) {
    check(3, move || {
        let model = Model::new(2, 1, &[]);
        model.start_at(first);
        model.join(0, Kind::Lossless);
        let dead = model.ring().loan(&mut publisher(65)).unwrap();
        model.fill(dead.slot, first);
        model.ring().commit(dead.slot).unwrap();
        let other = Arc::clone(&model);
        let one = thread::spawn(move || repair(&other, &dead));
        let other = Arc::clone(&model);
        let two = thread::spawn(move || {
            repair(&other, &dead);
            other.send(&mut publisher(66), first + 1).unwrap()
        });
        one.join().unwrap();
        assert_eq!(two.join().unwrap(), first + 1);
        model.drain(0, first, first + 2);
    });
}

#[test]
fn what_a_dead_publisher_committed_is_received_once() {
    for first in [0, (1 << 32) - 2, SEQUENCE_LIMIT - 8] {
        committed_once(first, |model, _| model.repair(65));
    }
}

#[test]
#[should_panic]
fn what_a_dead_publisher_committed_is_not_free() {
    committed_once(0, |model, dead| {
        model.ring().abort(dead);
        model.ring().help_tail();
    });
}

// ---- eviction

/// A reader is evicted while it reads: the slot that it borrowed is not taken.
fn evict(
    faults: &'static [Fault],
    next: impl Fn(&Model, State) -> Option<Found> + Sync + Send + Copy + 'static,
) {
    check(3, move || {
        let model = Model::new(2, 1, faults);
        let (_, state) = model.ring().join(0, Kind::Lossless).unwrap();
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..2);
        let other = Arc::clone(&model);
        let reader = thread::spawn(move || {
            if let Some(found) = next(&other, state) {
                assert_eq!(other.read(found.slot), found.sequence);
                other.ring().release(0, found.sequence);
                other.ring().drop_reading(0);
            }
        });
        if model.send(&mut snapshot, 2).is_none() {
            model.ring().evict(0);
            model.send(&mut snapshot, 2);
        }
        reader.join().unwrap();
    });
}

#[test]
fn an_evicted_reader_keeps_what_it_borrowed() {
    evict(&[], |model, state| model.ring().next_evictable(0, state).ok().flatten());
}

#[test]
#[should_panic]
fn an_evictable_reader_announces_what_it_borrows() {
    evict(&[], |model, _| model.next(0));
}

/// A subscriber ends while one of its samples lives: publishers go on, and the sample stays what it was.
fn outlives(let_go: impl Fn(&Model) + Sync + Send + Copy + 'static) {
    check(3, move || {
        let model = Model::new(2, 1, &[]);
        model.join(0, Kind::Lossless);
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..2);
        let other = Arc::clone(&model);
        let sender = thread::spawn(move || other.send_all(&mut snapshot, 2..4));
        let found = model.next(0).unwrap();
        model.ring().keep(0, 0, found);
        let_go(&model);
        assert_eq!(model.read(found.slot), 0);
        model.ring().drop_hold(0, 0);
        sender.join().unwrap();
        assert!(model.send(&mut publisher(66), 9).is_some(), "nobody waits for a reader that ended");
    });
}

#[test]
fn a_sample_outlives_its_subscriber() {
    outlives(|model| model.ring().evict(0));
}

#[test]
#[should_panic]
fn a_subscriber_with_samples_does_not_free_its_record() {
    outlives(|model| free_record(&model.shared.states[0]));
}

// ---- publishers and readers in general

fn one_order(faults: &'static [Fault]) {
    check(3, move || {
        let model = Model::new(2, 1, faults);
        model.join(0, Kind::Lossless);
        let senders = [(65, 11), (66, 22)].map(|(participant, value)| {
            let other = Arc::clone(&model);
            thread::spawn(move || other.send(&mut publisher(participant), value).unwrap())
        });
        let mut got = Vec::new();
        let mut receive = || {
            if let Some(found) = model.next(0) {
                got.push(model.read(found.slot));
                model.ring().release(0, found.sequence);
            }
        };
        receive();
        receive();
        let sequences = senders.map(|sender| sender.join().unwrap());
        receive();
        receive();
        assert_eq!(got.len(), 2);
        assert_eq!(got[sequences[0] as usize], 11);
        assert_eq!(got[sequences[1] as usize], 22);
    });
}

#[test]
fn two_publishers_and_a_reader_agree_on_one_order() {
    one_order(&[]);
}

/// Commits that lose their patience after two turns, because the others are faster, say so and nothing else: trying
/// again works. Returns in how many ways one of them did.
fn busy(faults: &'static [Fault]) -> usize {
    let busy = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&busy);
    check(3, move || {
        let model = Model::new(3, 1, faults);
        model.join(0, Kind::Lossless);
        let commit = |model: &Model, taken: &Taken| {
            let mut busy = 0;
            loop {
                match model.ring().commit(taken.slot) {
                    Ok(sequence) => break (sequence, busy),
                    Err(error) => assert_eq!(error, CommitError::Busy),
                }
                busy += 1;
                assert!(busy < 4, "there are only two messages of others");
            }
        };
        let other = Arc::clone(&model);
        let sender = thread::spawn(move || {
            let mut snapshot = publisher(66);
            for value in [21, 22] {
                let taken = other.ring().loan(&mut snapshot).unwrap();
                other.fill(taken.slot, value);
                let (sequence, _) = commit(&other, &taken);
                other.ring().mark(&taken, sequence);
            }
        });
        let taken = model.ring().loan(&mut publisher(65)).unwrap();
        model.fill(taken.slot, 11);
        let (sequence, tries) = commit(&model, &taken);
        model.ring().mark(&taken, sequence);
        sender.join().unwrap();
        let got = std::array::from_fn::<u64, 3, _>(|_| {
            let found = model.next(0).unwrap();
            let value = model.read(found.slot);
            model.ring().release(0, found.sequence);
            value
        });
        let mut wanted = vec![21, 22];
        wanted.insert(sequence as usize, 11);
        assert_eq!(got[..], wanted);
        counted.fetch_add(tries, std::sync::atomic::Ordering::Relaxed);
    });
    busy.load(std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn a_commit_that_others_are_faster_than_is_busy_and_works_when_tried_again() {
    assert!(busy(&[Fault::Impatient]) > 0, "nobody was ever busy");
}

fn reused(faults: &'static [Fault]) {
    check(5, move || {
        let model = Model::new(1, 1, faults);
        model.join(0, Kind::Lossless);
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..1);
        let other = Arc::clone(&model);
        let sender = thread::spawn(move || other.send_all(&mut snapshot, 1..4));
        let received = (0..3).filter(|_| model.receive(0).is_some()).count() as u64;
        let end = sender.join().unwrap();
        model.drain(0, received, end);
    });
}

#[test]
fn one_slot_is_reused_only_after_its_release() {
    reused(&[]);
}

/// Somebody joins where a slot is used again and again.
fn join_beside_reuse(faults: &'static [Fault]) {
    check(4, move || {
        let model = Model::new(1, 1, faults);
        let mut snapshot = publisher(65);
        model.send_all(&mut snapshot, 0..1);
        let other = Arc::clone(&model);
        let joiner = thread::spawn(move || {
            other.join(0, Kind::Lossless);
            other.receive(0);
        });
        model.send_all(&mut snapshot, 1..3);
        joiner.join().unwrap();
    });
}

#[test]
fn a_join_beside_reuse_sees_whole_messages() {
    join_beside_reuse(&[]);
}

/// A publisher and a reader side by side in one slot.
///
/// The reader is the thread that starts later. Loom remembers one access of each word, and a publisher loads a place
/// right before it exchanges it: from a run in which the reader looked first, loom sees no reason to try the other order.
fn one_slot(faults: &'static [Fault]) {
    check(5, move || {
        let model = Model::new(1, 1, faults);
        model.join(0, Kind::Lossless);
        let other = Arc::clone(&model);
        let receiver = thread::spawn(move || (0..3).filter(|_| other.receive(0).is_some()).count() as u64);
        let end = model.send_all(&mut publisher(65), 0..3);
        model.drain(0, receiver.join().unwrap(), end);
    });
}

#[test]
fn messages_pass_through_one_slot() {
    one_slot(&[]);
}

/// Two publishers borrow the same slot, one after the other, and one gives it back without publishing.
fn two_loans(faults: &'static [Fault]) {
    check(5, move || {
        let model = Model::new(1, 0, faults);
        let other = Arc::clone(&model);
        let fill = |model: &Model, participant| {
            if let Some(taken) = model.ring().loan(&mut publisher(participant)) {
                model.fill(taken.slot, 1);
                model.ring().abort(&taken);
            }
        };
        let one = thread::spawn(move || fill(&other, 65));
        fill(&model, 66);
        one.join().unwrap();
    });
}

#[test]
fn a_slot_that_was_given_back_is_borrowed_again() {
    two_loans(&[]);
}

// ---- seeded faults

/// The scenario that a fault must not survive, and the faults that it is run with in any case.
fn scenario(fault: Fault) -> (fn(&'static [Fault]), &'static [Fault]) {
    let scenario: fn(&'static [Fault]) = match fault {
        Fault::NoScanFence | Fault::NoJoinFence | Fault::MinimumIsInfinite => {
            |faults| join(faults, 1, 3, 1, 0)
        }
        Fault::NoHelperFence => half_joined,
        Fault::NoTakeFence | Fault::PinHoldFirst | Fault::RelaxedDropHold => |faults| latest(faults, 2, 3, 0),
        Fault::NoReadingFence => |faults| latest(faults, 2, 3, 0),
        Fault::NoEvictableFence | Fault::RelaxedDropReading => {
            |faults| evict(faults, |model, state| model.ring().next_evictable(0, state).ok().flatten())
        }
        Fault::HoldsBeforeCursor => {
            |faults| holds(faults, |model, hold, found| model.ring().keep(0, hold, found))
        }
        Fault::PinBySequence => |faults| wrapped(faults, Kind::Latest, 2, 0),
        Fault::TakeNewest => newest,
        Fault::RepairWithoutBase => |faults| half_filled(faults, |model, _| model.repair(65)),
        Fault::RepairWithoutHolds => |faults| wrapped(faults, Kind::Lossless, 2, 0),
        Fault::NoSealCheck => replaced,
        Fault::RelaxedCommit | Fault::RelaxedEntry | Fault::RelaxedRelease => one_slot,
        Fault::RelaxedExchange => two_loans,
        Fault::BusyIsCorrupted => |faults| {
            busy(faults);
        },
        Fault::Impatient => unreachable!("it is no mistake"),
    };
    let beside: &[Fault] = match fault {
        // A pin that is compared by sequence only matters for a slot whose word is behind its message.
        Fault::PinBySequence => &[Fault::RepairWithoutBase],
        Fault::BusyIsCorrupted => &[Fault::Impatient],
        _ => &[],
    };
    (scenario, beside)
}

/// Scenarios that no fault has as its own, and one that each of them catches.
const OTHERS: [(&str, fn(&'static [Fault]), Fault); 9] = [
    ("join, two slots", |faults| join(faults, 2, 4, 2, 0), Fault::NoJoinFence),
    ("join, half words wrap", |faults| join(faults, 1, 3, 0, (1 << 32) - 2), Fault::NoScanFence),
    ("join, sequences end", |faults| join(faults, 1, 3, 0, SEQUENCE_LIMIT - 8), Fault::NoScanFence),
    ("latest, three slots", |faults| latest(faults, 3, 2, 0), Fault::NoReadingFence),
    ("latest, half words wrap", |faults| latest(faults, 2, 2, (1 << 32) - 2), Fault::NoReadingFence),
    ("latest, sequences end", |faults| latest(faults, 2, 2, SEQUENCE_LIMIT - 8), Fault::NoReadingFence),
    ("latest, joining", latest_join, Fault::RelaxedCommit),
    ("reuse", reused, Fault::RelaxedRelease),
    ("join beside reuse", join_beside_reuse, Fault::RelaxedCommit),
];

#[test]
fn every_scenario_catches_a_fault() {
    let misses = |(name, scenario, fault): (&'static str, fn(&'static [Fault]), Fault)| {
        let faults: &'static [Fault] = vec![fault].leak();
        let missed = std::thread::spawn(move || scenario(faults)).join().is_ok();
        missed.then(|| format!("{name}: {fault:?}"))
    };
    let missed: Vec<String> = OTHERS.into_iter().filter_map(misses).collect();
    assert!(missed.is_empty(), "not caught: {missed:#?}");
}

/// Each fault fails a scenario that passes without it.
#[test]
fn every_seeded_fault_is_caught() {
    let check = |fault: Fault| {
        let (scenario, beside) = scenario(fault);
        let fails = |faults: Vec<Fault>| {
            let faults: &'static [Fault] = faults.leak();
            std::thread::spawn(move || scenario(faults)).join().is_err()
        };
        assert!(!fails(beside.to_vec()), "the scenario of {fault:?} fails without it");
        assert!(fails([beside, &[fault]].concat()), "{fault:?} is not caught");
    };
    // Two at a time: every scenario takes a processor.
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || Fault::ALL.iter().skip(half).step_by(2).for_each(|fault| check(*fault)));
        }
    });
}

// ---- sleeping and waking

/// A sleeper waits for a flag that a waker raises. A lost wake-up is a deadlock, which loom reports.
fn sleep(count: u32, announce: impl Fn(&AtomicU32, &dyn Fn() -> bool) + Sync + Send + Copy + 'static) {
    check(3, move || {
        // Not loom's: after a deadlock it could not be dropped.
        let shared = std::sync::Arc::new((AtomicU64::new(0), AtomicU32::new(count)));
        let other = std::sync::Arc::clone(&shared);
        let waker = thread::spawn(move || {
            for _ in 0..2 {
                other.0.fetch_add(1, Ordering::Release);
                EventCount(&other.1).wake_after(event_fence());
            }
        });
        let raised = || shared.0.load(Ordering::Acquire) == 2;
        while !raised() {
            announce(&shared.1, &raised);
        }
        waker.join().unwrap();
    });
}

#[test]
fn no_wakeup_is_lost() {
    // At the beginning, and before the count wraps.
    for count in [0, u32::MAX - 3] {
        sleep(count, |word, raised| {
            let count = EventCount(word);
            let ticket = count.announce();
            if !raised() {
                count.sleep(ticket, std::time::Duration::ZERO);
            }
        });
    }
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_sleeper_looks_again_after_it_announced_itself() {
    sleep(0, |word, _| {
        let count = EventCount(word);
        let ticket = count.announce();
        count.sleep(ticket, std::time::Duration::ZERO);
    });
}
