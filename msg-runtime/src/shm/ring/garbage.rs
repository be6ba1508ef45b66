//! Control words that make no sense: a clear error or a plain answer, never a panic, a hang or an index out of range.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::array;
use std::time::Instant;

use super::*;
use crate::shm::layout::ReaderStatistics;

const ENTRIES: usize = 8;
const SLOTS: usize = 4;
const READERS: usize = 3;

struct Memory {
    tail: AtomicU64,
    entries: [AtomicU64; ENTRIES],
    slots: [AtomicU64; SLOTS],
    states: [AtomicU64; 2 * READERS],
    pinners: AtomicU64,
    readers: [ReaderRecord; READERS],
}

fn words<const N: usize>() -> [AtomicU64; N] {
    array::from_fn(|_| AtomicU64::new(0))
}

impl Memory {
    fn new() -> Self {
        let record = |_| ReaderRecord {
            cursor: AtomicU64::new(0),
            reading: AtomicU64::new(0),
            holds: words(),
            statistics: ReaderStatistics::default(),
        };
        Self {
            tail: AtomicU64::new(0),
            entries: words(),
            slots: words(),
            states: words(),
            pinners: AtomicU64::new(0),
            readers: array::from_fn(record),
        }
    }

    fn ring(&self) -> Ring<'_> {
        Ring {
            tail: &self.tail,
            entries: &self.entries,
            slots: &self.slots,
            states: &self.states,
            readers: &self.readers,
            pinners: &self.pinners,
        }
    }

    fn words(&self) -> Vec<&AtomicU64> {
        let mut words = vec![&self.tail, &self.pinners];
        words.extend(self.entries.iter().chain(&self.slots).chain(&self.states));
        for reader in &self.readers {
            words.extend([&reader.cursor, &reader.reading].into_iter().chain(&reader.holds));
        }
        words
    }
}

/// A small generator with a fixed start, so that a failure comes again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A word of the kinds that mean something somewhere.
    fn word(&mut self) -> u64 {
        match self.below(7) {
            0 => self.next(),
            1 => self.below(16),
            2 => u64::MAX - self.below(16),
            3 => self.below(16) << 10 | self.below(8),
            4 => 1 << (60 + self.below(4)) | self.below(16),
            5 => SEQUENCE_LIMIT - 8 + self.below(16),
            _ => 0,
        }
    }
}

/// Everything that anybody does, once each.
fn use_everything(ring: &Ring<'_>, snapshot: &mut Snapshot) {
    for _ in 0..3 {
        if let Some(taken) = ring.loan(snapshot) {
            assert!(taken.slot < SLOTS);
            match ring.commit(taken.slot) {
                Ok(sequence) => ring.mark(&taken, sequence),
                Err(_) => ring.abort(&taken),
            }
        }
        ring.repair(|owner| owner.participant % 2 == 1);
        for reader in 0..READERS {
            if let Ok(Some(found)) = ring.next(reader) {
                assert!(found.slot < SLOTS);
                ring.keep(reader, 0, found);
                ring.drop_hold(reader, 0);
            }
            let state = ring.state(reader);
            if let Ok(Some(found)) = ring.next_evictable(reader, state) {
                assert!(found.slot < SLOTS);
            }
            if let Some(found) = ring.latest(reader, 0, 3) {
                assert!(found.slot < SLOTS);
            }
            ring.drop_reading(reader);
            ring.evict(reader);
        }
    }
    ring.join(1, Kind::Lossless);
    ring.join(2, Kind::Latest);
    ring.enlist(4);
    ring.retire(3);
    free_record(&ring.states[5]);
    ring.seal();
}

/// One control block that makes no sense.
fn round(random: &mut Random, number: u32) {
    let memory = Memory::new();
    let (ring, words) = (memory.ring(), memory.words());
    let mut snapshot = Snapshot::new(Owner::new(65, 1), READERS * 8);
    if number.is_multiple_of(2) {
        for word in &words {
            word.store(random.word(), Ordering::Relaxed);
        }
    } else {
        // A ring at work, with one word gone wrong.
        ring.join(0, Kind::Lossless);
        for _ in 0..random.below(9) {
            if let Some(taken) = ring.loan(&mut snapshot) {
                let sequence = ring.commit(taken.slot).unwrap();
                ring.mark(&taken, sequence);
            }
            if let Some(found) = ring.next(0).unwrap() {
                ring.release(0, found.sequence);
            }
        }
        let wrong = random.below(words.len() as u64) as usize;
        words[wrong].store(random.next() >> random.below(64), Ordering::Relaxed);
    }
    use_everything(&ring, &mut snapshot);
}

/// More with `MSG_GARBAGE_ROUNDS=10000000`, best with `--release`.
#[test]
fn garbage_never_panics_hangs_or_leads_outside() {
    let started = Instant::now();
    let rounds: u32 =
        std::env::var("MSG_GARBAGE_ROUNDS").map_or(60_000, |text| text.parse().expect("a number of rounds"));
    std::thread::scope(|scope| {
        for seed in [0x9e37_79b9_7f4a_7c15, 0x2545_f491_4f6c_dd1d] {
            scope.spawn(move || {
                let mut random = Random(seed);
                (0..rounds.div_ceil(2)).for_each(|number| round(&mut random, number));
            });
        }
    });
    assert!(started.elapsed().as_millis() < 1000 + u128::from(rounds), "every move is bounded");
}

#[test]
fn a_pass_that_took_a_slot_and_gave_it_back_says_so() {
    let memory = Memory::new();
    let (ring, mut snapshot) = (memory.ring(), Snapshot::new(Owner::new(65, 1), READERS * 8));
    for sequence in 0..SLOTS as u64 {
        let taken = ring.loan(&mut snapshot).unwrap();
        assert_eq!(ring.commit(taken.slot), Ok(sequence));
        ring.mark(&taken, sequence);
    }
    assert!(!snapshot.take_gave_back());
    // A latest-only reader borrows one of the older messages: the pass goes round it.
    ring.join(2, Kind::Latest).unwrap();
    let borrowed = Entry(memory.entries[0].load(Ordering::Relaxed));
    memory.readers[2].reading.store(borrowed.0, Ordering::Relaxed);
    let taken = ring.loan(&mut snapshot).unwrap();
    assert_ne!(taken.slot, borrowed.slot());
    assert!(snapshot.take_gave_back());
    assert!(!snapshot.take_gave_back());
    assert_eq!(SlotWord(memory.slots[borrowed.slot()].load(Ordering::Relaxed)), SlotWord::published(1));
}

#[test]
fn a_ring_whose_words_stand_still_says_so() {
    let memory = Memory::new();
    // The tail says 5, but its place carries nothing of the lap before.
    memory.tail.store(5 + 2 * ENTRIES as u64, Ordering::Relaxed);
    assert_eq!(memory.ring().commit(0), Err(CommitError::Corrupted));
    memory.tail.store(SEQUENCE_LIMIT, Ordering::Relaxed);
    assert_eq!(memory.ring().commit(0), Err(CommitError::Corrupted));
    // A lossless reader is never lapped.
    memory.entries[0].store(Entry::new(8, 0).0, Ordering::Relaxed);
    assert_eq!(memory.ring().next(0), Err(NextError::Corrupted));
    // A slot that does not exist.
    memory.entries[0].store(Entry::new(0, SLOTS).0, Ordering::Relaxed);
    assert_eq!(memory.ring().next(0), Err(NextError::Corrupted));
}
