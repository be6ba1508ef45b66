//! Everybody at once over one ring in private memory: publishers, a lossless reader that keeps samples, a latest-only
//! reader, and one that is evicted.
//!
//! ```text
//! cargo test -p msg-runtime --lib stress                                   real threads, also under ThreadSanitizer
//! RUSTFLAGS="--cfg shuttle" cargo test --release -p msg-runtime --lib stress     random schedules
//! ```

#![allow(clippy::unwrap_used, reason = "a test")]

use std::array;
use std::cell::UnsafeCell;
use std::sync::Arc;

#[cfg(shuttle)]
use shuttle::thread;
#[cfg(not(shuttle))]
use std::thread;

use super::*;
use crate::shm::layout::ReaderStatistics;

const ENTRIES: usize = 16;
const SLOTS: usize = 8;
const PUBLISHERS: usize = 2;
const LOSSLESS: usize = 0;
const LATEST: usize = 1;
const EVICTED: usize = 2;
const READERS: usize = 3;

/// A ring whose payloads are not atomic, so that whatever watches data races sees each one.
struct Rig {
    tail: AtomicU64,
    entries: [AtomicU64; ENTRIES],
    slots: [AtomicU64; SLOTS],
    states: [AtomicU64; READERS],
    pinners: AtomicU64,
    readers: [ReaderRecord; READERS],
    payloads: [UnsafeCell<[u64; 2]>; SLOTS],
    #[cfg(any(shuttle, seeded))]
    faults: &'static [Fault],
}

// SAFETY: the payloads are accessed under the protocol, which is what is tested.
unsafe impl Sync for Rig {}
// SAFETY: as above.
unsafe impl Send for Rig {}

fn words<const N: usize>() -> [AtomicU64; N] {
    array::from_fn(|_| AtomicU64::new(0))
}

/// Where another thread may come in between; real ones come by themselves.
fn pause() {
    #[cfg(shuttle)]
    thread::yield_now();
}

impl Rig {
    fn new(
        first: u64,
        #[cfg_attr(not(any(shuttle, seeded)), expect(unused))] faults: &'static [Fault],
    ) -> Self {
        let record = |_| ReaderRecord {
            cursor: AtomicU64::new(0),
            reading: AtomicU64::new(0),
            holds: words(),
            statistics: ReaderStatistics::default(),
        };
        let rig = Self {
            tail: AtomicU64::new(first),
            entries: words(),
            slots: array::from_fn(|_| AtomicU64::new(SlotWord::free(first as u32).0)),
            states: words(),
            pinners: AtomicU64::new(0),
            readers: array::from_fn(record),
            payloads: array::from_fn(|_| UnsafeCell::new([0; 2])),
            #[cfg(any(shuttle, seeded))]
            faults,
        };
        for sequence in first.saturating_sub(ENTRIES as u64)..first {
            let gone = Entry::new(sequence, super::super::word::MAX_SLOTS - 1);
            rig.ring().place(sequence).store(gone.0, Ordering::Release);
        }
        rig
    }

    fn ring(&self) -> Ring<'_> {
        Ring {
            tail: &self.tail,
            entries: &self.entries,
            slots: &self.slots,
            states: &self.states,
            readers: &self.readers,
            pinners: &self.pinners,
            #[cfg(any(shuttle, seeded))]
            faults: self.faults,
        }
    }

    fn send(&self, snapshot: &mut Snapshot, value: u64) {
        let taken = loop {
            match self.ring().loan(snapshot) {
                Some(taken) => break taken,
                None => thread::yield_now(),
            }
        };
        let payload = self.payloads[taken.slot].get();
        // SAFETY: LOANED (shm/mod.rs).
        unsafe { (*payload)[0] = value };
        pause();
        // SAFETY: LOANED.
        unsafe { (*payload)[1] = !value };
        let sequence = loop {
            match self.ring().commit(taken.slot) {
                Ok(sequence) => break sequence,
                Err(error) => assert_eq!(error, CommitError::Busy),
            }
        };
        self.ring().mark(&taken, sequence);
    }

    fn read(&self, found: Found) -> u64 {
        let payload = self.payloads[found.slot].get();
        // SAFETY: BORROWED (shm/mod.rs).
        let value = unsafe { (*payload)[0] };
        pause();
        // SAFETY: BORROWED.
        let check = unsafe { (*payload)[1] };
        assert_eq!(value, !check, "torn");
        value
    }

    fn publish(&self, participant: usize, messages: u64) {
        let mut snapshot = Snapshot::new(Owner::new(participant, 1), READERS * 8);
        (0..messages).for_each(|number| self.send(&mut snapshot, (participant as u64) << 32 | number));
    }

    /// Receives everything, each message of a publisher after the other, and keeps every third for a while.
    fn receive(&self, total: u64) {
        let (ring, mut next, mut kept) = (self.ring(), [0; 128], None);
        for count in 0..total {
            let found = loop {
                match ring.next(LOSSLESS).unwrap() {
                    Some(found) => break found,
                    None => thread::yield_now(),
                }
            };
            let value = self.read(found);
            let (publisher, number) = ((value >> 32) as usize, value & u64::from(u32::MAX));
            assert_eq!(number, next[publisher], "lost, twice or out of order");
            next[publisher] += 1;
            match kept.take() {
                None if count % 3 == 0 => {
                    ring.keep(LOSSLESS, 0, found);
                    kept = Some((found, value));
                }
                other => {
                    ring.release(LOSSLESS, found.sequence);
                    if let Some((found, value)) = other {
                        assert_eq!(self.read(found), value, "a kept message changed");
                        ring.drop_hold(LOSSLESS, 0);
                    }
                }
            }
        }
    }

    /// Reads the newest until the last, keeping some while copying others.
    fn watch(&self, first: u64, end: u64) {
        let (ring, mut next, mut kept) = (self.ring(), first, None);
        while next < end {
            let Some(found) = ring.latest(LATEST, next, 8) else {
                thread::yield_now();
                continue;
            };
            let value = self.read(found);
            next = found.sequence + 1;
            match kept.take() {
                None => {
                    ring.keep_latest(LATEST, 0, found);
                    kept = Some((found, value));
                }
                Some((old, was)) => {
                    ring.drop_reading(LATEST);
                    assert_eq!(self.read(old), was, "a kept message changed");
                    ring.drop_hold(LATEST, 0);
                }
            }
        }
    }

    /// Reads until it is evicted, which somebody does sooner or later.
    fn read_until_evicted(&self, state: State) {
        let ring = self.ring();
        loop {
            match ring.next_evictable(EVICTED, state) {
                Ok(Some(found)) => {
                    self.read(found);
                    ring.release(EVICTED, found.sequence);
                    ring.drop_reading(EVICTED);
                }
                Ok(None) => thread::yield_now(),
                Err(error) => return assert_eq!(error, NextError::Evicted),
            }
        }
    }
}

fn scenario(first: u64, messages: u64, faults: &'static [Fault]) {
    let rig = Arc::new(Rig::new(first, faults));
    rig.ring().join(LOSSLESS, Kind::Lossless).unwrap();
    rig.ring().join(LATEST, Kind::Latest).unwrap();
    let (_, state) = rig.ring().join(EVICTED, Kind::Lossless).unwrap();
    let total = messages * PUBLISHERS as u64;
    let mut threads = Vec::new();
    let mut start = |run: Box<dyn FnOnce(&Rig) + Send>| {
        let rig = Arc::clone(&rig);
        threads.push(thread::spawn(move || run(&rig)));
    };
    start(Box::new(move |rig| rig.receive(total)));
    start(Box::new(move |rig| rig.watch(first, first + total)));
    start(Box::new(move |rig| rig.read_until_evicted(state)));
    start(Box::new(move |rig| {
        // Not before something was published, so that it happens in the middle.
        while rig.tail.load(Ordering::Acquire) < first + total / 3 {
            thread::yield_now();
        }
        rig.ring().evict(EVICTED);
    }));
    (0..PUBLISHERS).for_each(|k| start(Box::new(move |rig| rig.publish(64 + k, messages))));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(rig.tail.load(Ordering::Acquire), first + total);
}

/// Where sequences start: at the beginning, before half words wrap, and before sequences end.
#[cfg(not(shuttle))]
const STARTS: [u64; 3] = [0, (1 << 32) - 1000, SEQUENCE_LIMIT - (1 << 20)];

#[cfg(not(shuttle))]
#[test]
fn stress_by_threads() {
    STARTS.into_iter().for_each(|first| scenario(first, 5_000, &[]));
}

/// Under ThreadSanitizer: runs in a process of its own, for the test below.
#[cfg(seeded)]
#[test]
#[ignore = "it is meant to fail"]
fn stress_with_a_seeded_fault() {
    let name = std::env::var("MSG_FAULT").unwrap();
    let fault = RELAXED.iter().find(|fault| format!("{fault:?}") == name).unwrap();
    scenario(0, 5_000, std::slice::from_ref(fault));
}

/// The orderings that make what one thread wrote visible to the other; x86 keeps them all, the sanitizer does not.
#[cfg(seeded)]
static RELAXED: [Fault; 3] = [Fault::RelaxedEntry, Fault::RelaxedCommit, Fault::RelaxedRelease];

#[cfg(seeded)]
#[test]
fn stress_reports_each_ordering_that_is_taken_away() {
    for fault in &RELAXED {
        let mut itself = std::process::Command::new(std::env::current_exe().unwrap());
        itself.args(["--ignored", "--exact", "shm::ring::stress::stress_with_a_seeded_fault", "--nocapture"]);
        let output = itself.env("MSG_FAULT", format!("{fault:?}")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{fault:?} is not noticed");
        assert!(
            said.contains("ThreadSanitizer: data race") || said.contains("panicked"),
            "{fault:?}: {said}"
        );
        assert!(said.contains("shm::ring"), "{fault:?}: {said}");
    }
}

#[cfg(shuttle)]
#[test]
fn stress_by_random_schedules() {
    shuttle::check_random(|| scenario((1 << 32) - 8, 12, &[]), 3000);
    shuttle::check_pct(|| scenario(SEQUENCE_LIMIT - 64, 12, &[]), 3000, 3);
}
