//! A participant killed after every single machine instruction of what it does.
//!
//! The victim is a child process that runs step by step under `ptrace`, over memory that it shares with the test. What
//! a kill leaves behind is the memory as it is between two instructions, so after each step that changed it the
//! survivors go on over a copy, and must lose nothing, see nothing torn or twice, and get every slot back. They fill
//! the ring *before* they drain it: draining first would hide a wrong repair.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::ptr;

use super::*;

const ENTRIES: usize = 8;
const SLOTS: usize = 4;
const READERS: usize = 3;
const WORDS: usize = 4;
/// The reader record of a victim that subscribes; the other two survive.
const VICTIM_READER: usize = 2;
const VICTIM: usize = 70;
const SURVIVOR: usize = 65;
/// What a victim publishes; survivors publish smaller numbers.
const VICTIMS_VALUE: u64 = 7777;

/// A ring with payloads, as one piece of memory.
#[repr(C)]
struct Memory {
    tail: AtomicU64,
    entries: [AtomicU64; ENTRIES],
    slots: [AtomicU64; SLOTS],
    states: [AtomicU64; READERS],
    pinners: AtomicU64,
    payloads: [[AtomicU64; WORDS]; SLOTS],
    done: AtomicU64,
    readers: [ReaderRecord; READERS],
}

/// Where sequences start: at the beginning, before half words wrap, and before sequences end.
const STARTS: [u64; 3] = [0, (1 << 32) - 6, SEQUENCE_LIMIT - 64];

/// Memory of its own, shared with children.
struct Shared(ptr::NonNull<Memory>);

impl Shared {
    fn new() -> Self {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping.
        let base = unsafe { libc::mmap(ptr::null_mut(), size_of::<Memory>(), protection, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        Self(ptr::NonNull::new(base.cast()).unwrap())
    }

    /// A ring in which all before `first` has been published long ago.
    fn starting_at(first: u64) -> Self {
        let shared = Self::new();
        let memory = shared.get();
        memory.tail.store(first, Ordering::Relaxed);
        for sequence in first.saturating_sub(ENTRIES as u64)..first {
            let gone = Entry::new(sequence, super::super::word::MAX_SLOTS - 1);
            memory.ring().place(sequence).store(gone.0, Ordering::Relaxed);
        }
        memory.slots.iter().for_each(|slot| slot.store(SlotWord::free(first as u32).0, Ordering::Relaxed));
        shared
    }

    fn get(&self) -> &Memory {
        // SAFETY: mapped, aligned to a page, and any bytes are atomics.
        unsafe { self.0.as_ref() }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped; the child, if there is one, is stopped while the bytes are borrowed.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), size_of::<Memory>()) }
    }

    fn overwrite(&self, bytes: &[u8]) {
        assert_eq!(bytes.len(), size_of::<Memory>());
        // SAFETY: as many bytes as are mapped, and nothing borrows them.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.as_ptr().cast(), bytes.len()) };
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: maps exactly these bytes, and nothing borrows them.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<Memory>()) };
    }
}

impl Memory {
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

    fn send(&self, snapshot: &mut Snapshot, value: u64) -> bool {
        let Some(taken) = self.ring().loan(snapshot) else { return false };
        for (k, word) in self.payloads[taken.slot].iter().enumerate() {
            word.store(value * (k as u64 + 1), Ordering::Relaxed);
        }
        let Ok(sequence) = self.ring().commit(taken.slot) else { return false };
        self.ring().mark(&taken, sequence);
        true
    }

    fn payload(&self, slot: usize) -> [u64; WORDS] {
        std::array::from_fn(|k| self.payloads[slot][k].load(Ordering::Relaxed))
    }

    fn value(&self, slot: usize) -> u64 {
        let value = self.payloads[slot][0].load(Ordering::Relaxed);
        for (k, word) in self.payloads[slot].iter().enumerate() {
            assert_eq!(word.load(Ordering::Relaxed), value * (k as u64 + 1), "torn message");
        }
        value
    }

    fn drain(&self, reader: usize, got: &mut Vec<u64>) {
        while let Some(found) = self.ring().next(reader).unwrap() {
            got.push(self.value(found.slot));
            self.ring().release(reader, found.sequence);
        }
    }
}

fn snapshot(participant: usize) -> Snapshot {
    Snapshot::new(Owner::new(participant, 1), READERS * 8)
}

/// Runs `victim` in a child, and `survive` over a copy of the memory after each of its instructions that changed it.
/// Returns how many instructions and how many changes there were; nothing if the system refuses `ptrace`.
fn step(memory: &Shared, victim: impl FnOnce(&Memory), survive: impl Fn(&Memory)) -> Option<(u64, u64)> {
    const REFUSED: i32 = 77;
    // SAFETY: the child runs the ring's code alone, which neither allocates nor locks, and ends without cleaning up.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: asks to be traced by the parent.
        let traced = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) };
        if traced == -1 {
            // SAFETY: ends the child.
            unsafe { libc::_exit(REFUSED) };
        }
        // SAFETY: stops the child, for the parent to step it.
        unsafe { libc::raise(libc::SIGSTOP) };
        victim(memory.get());
        memory.get().done.store(1, Ordering::Release);
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    let wait = || {
        let mut status = 0;
        // SAFETY: `status` lives through the call.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        status
    };
    let status = wait();
    if libc::WIFEXITED(status) {
        assert_eq!(libc::WEXITSTATUS(status), REFUSED);
        return None;
    }
    let copy = Shared::new();
    let (mut instructions, mut changes, mut before) = (0, 0, Vec::new());
    while memory.get().done.load(Ordering::Acquire) == 0 {
        if memory.bytes() != before {
            before = memory.bytes().to_vec();
            copy.overwrite(&before);
            survive(copy.get());
            changes += 1;
        }
        // SAFETY: steps the child, which is stopped.
        unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, child, 0, 0) };
        assert!(libc::WIFSTOPPED(wait()), "the victim ended early");
        instructions += 1;
    }
    // SAFETY: ends our own child.
    unsafe { libc::kill(child, libc::SIGKILL) };
    wait();
    Some((instructions, changes))
}

fn report(name: &str, figures: Option<(u64, u64)>) {
    match figures {
        Some((instructions, changes)) => {
            println!("{name}: {instructions} instructions, {changes} changes of memory");
            assert!(changes > 50, "the victim did nothing");
        }
        None => {
            println!(
                "not run: the system refuses ptrace (allow it with --cap-add=SYS_PTRACE or yama's ptrace_scope)"
            );
            assert!(std::env::var_os("CI").is_none(), "must run where CI is set");
        }
    }
}

fn add(total: Option<(u64, u64)>, part: Option<(u64, u64)>) -> Option<(u64, u64)> {
    Some((total?.0 + part?.0, total?.1 + part?.1))
}

#[test]
fn a_publisher_killed_at_any_instruction_loses_nothing() {
    let mut total = Some((0, 0));
    for (before, start) in (0..12).flat_map(|before| STARTS.map(|start| (before, start))) {
        let memory = Shared::starting_at(start);
        let (ring, mut first) = (memory.get().ring(), snapshot(SURVIVOR));
        ring.join(0, Kind::Lossless).unwrap();
        ring.join(1, Kind::Lossless).unwrap();
        let (mut wanted, mut got) = (Vec::new(), [Vec::new(), Vec::new()]);
        for value in 1000..1000 + before {
            assert!(memory.get().send(&mut first, value));
            wanted.push(value);
            if value % 2 == 1 {
                memory.get().drain(0, &mut got[0]);
                memory.get().drain(1, &mut got[1]);
            }
        }
        memory.get().drain(0, &mut got[0]);
        // In a third of the runs one reader has not read the last message yet.
        if before % 3 != 2 {
            memory.get().drain(1, &mut got[1]);
        }
        let mut dying = snapshot(VICTIM);
        let victim = |memory: &Memory| assert!(memory.send(&mut dying, VICTIMS_VALUE));
        let survive = |memory: &Memory| survive_publisher(memory, wanted.clone(), got.clone());
        total = add(total, step(&memory, victim, survive));
    }
    report("publish", total);
}

fn survive_publisher(memory: &Memory, mut wanted: Vec<u64>, mut got: [Vec<u64>; 2]) {
    let ring = memory.ring();
    ring.repair(|owner| owner.participant == VICTIM);
    ring.repair(|owner| owner.participant == VICTIM);
    // A latest-only reader may come right now, and must not find what the victim had half overwritten.
    ring.join(VICTIM_READER, Kind::Latest).unwrap();
    if let Some(found) = ring.latest(VICTIM_READER, 0, 3) {
        memory.value(found.slot);
    }
    free_record(&ring.states[VICTIM_READER]);
    // Fills the ring first: what fits must not be in the place of what is unread.
    let mut third = snapshot(SURVIVOR + 1);
    let extra: Vec<u64> =
        (3000..3000 + SLOTS as u64).take_while(|value| memory.send(&mut third, *value)).collect();
    memory.drain(0, &mut got[0]);
    memory.drain(1, &mut got[1]);
    if got[0].contains(&VICTIMS_VALUE) {
        wanted.push(VICTIMS_VALUE);
    }
    wanted.extend(extra);
    let mut second = snapshot(SURVIVOR + 2);
    for value in 2000..2000 + 3 * SLOTS as u64 {
        assert!(memory.send(&mut second, value), "a slot is lost");
        wanted.push(value);
        if (value + 1) % SLOTS as u64 == 0 {
            memory.drain(0, &mut got[0]);
            memory.drain(1, &mut got[1]);
        }
    }
    assert_eq!(got[0], wanted);
    assert_eq!(got[1], wanted);
}

#[test]
fn a_subscriber_killed_at_any_instruction_stops_nobody() {
    let mut total = Some((0, 0));
    for (before, start) in (0..12).flat_map(|before| STARTS.map(|start| (before, start))) {
        let memory = Shared::starting_at(start);
        let mut first = snapshot(SURVIVOR);
        memory.get().ring().join(0, Kind::Lossless).unwrap();
        let mut got = Vec::new();
        for value in 1000..1000 + before {
            assert!(memory.get().send(&mut first, value));
            memory.get().drain(0, &mut got);
        }
        let mut own = snapshot(VICTIM);
        // Joins, has three messages sent, keeps two, lets go of them in the other order, and leaves.
        let victim = |memory: &Memory| {
            let ring = memory.ring();
            ring.join(VICTIM_READER, Kind::Lossless).unwrap();
            for value in 0..3 {
                assert!(memory.send(&mut own, VICTIMS_VALUE + value));
            }
            for hold in 0..2 {
                let found = ring.next(VICTIM_READER).unwrap().unwrap();
                ring.keep(VICTIM_READER, hold, found);
            }
            ring.drop_hold(VICTIM_READER, 1);
            ring.drop_hold(VICTIM_READER, 0);
            let last = ring.next(VICTIM_READER).unwrap().unwrap();
            ring.release(VICTIM_READER, last.sequence);
            free_record(&ring.states[VICTIM_READER]);
        };
        let survive = |memory: &Memory| survive_subscriber(memory, got.clone());
        total = add(total, step(&memory, victim, survive));
    }
    report("subscribe", total);
}

fn survive_subscriber(memory: &Memory, mut got: Vec<u64>) {
    let mut wanted = got.clone();
    let ring = memory.ring();
    ring.retire(VICTIM_READER);
    ring.repair(|owner| owner.participant == VICTIM);
    let mut second = snapshot(SURVIVOR + 1);
    let sent: Vec<u64> =
        (2000..2000 + SLOTS as u64).take_while(|value| memory.send(&mut second, *value)).collect();
    memory.drain(0, &mut got);
    // What the victim sent is what it sent, in order; then all of ours.
    let of_victim = got.iter().filter(|value| **value >= VICTIMS_VALUE).count() as u64;
    wanted.extend((VICTIMS_VALUE..).take(of_victim as usize));
    wanted.extend(sent);
    for value in 3000..3000 + 3 * SLOTS as u64 {
        assert!(memory.send(&mut second, value), "a slot is lost");
        wanted.push(value);
        if (value + 1) % SLOTS as u64 == 0 {
            memory.drain(0, &mut got);
        }
    }
    assert_eq!(got, wanted);
    // The place can be taken again, and its new owner sees what comes.
    let (cursor, _) = ring.join(VICTIM_READER, Kind::Lossless).unwrap();
    assert!(memory.send(&mut second, 9));
    assert_eq!(ring.next(VICTIM_READER).unwrap().map(|found| found.sequence), Some(cursor));
}

/// A latest-only subscriber joins, reads the newest, keeps it, copies a newer one meanwhile, and leaves; the same steps
/// as the handles take. At whatever instruction it stops, nobody waits for it, and what it lets go of comes back.
#[test]
fn a_latest_only_subscriber_stopped_at_any_instruction_holds_nobody_back() {
    let mut total = Some((0, 0));
    for (before, start) in (0..12).flat_map(|before| STARTS.map(|start| (before, start))) {
        let memory = Shared::starting_at(start);
        let mut first = snapshot(SURVIVOR);
        for value in 1000..1000 + before {
            assert!(memory.get().send(&mut first, value));
        }
        let victim = |memory: &Memory| {
            let ring = memory.ring();
            let (mut next, _) = ring.join(VICTIM_READER, Kind::Latest).unwrap();
            let mut newest = |value| {
                assert!(memory.send(&mut first, value));
                let found = ring.latest(VICTIM_READER, next, 3).unwrap();
                next = found.sequence + 1;
                assert_eq!(memory.value(found.slot), value);
                found
            };
            let kept = newest(VICTIMS_VALUE);
            ring.keep_latest(VICTIM_READER, 0, kept);
            for value in 1..3 {
                newest(VICTIMS_VALUE + value);
                ring.drop_reading(VICTIM_READER);
            }
            assert_eq!(memory.value(kept.slot), VICTIMS_VALUE);
            ring.drop_hold(VICTIM_READER, 0);
            newest(VICTIMS_VALUE + 3);
            ring.drop_reading(VICTIM_READER);
            free_record(&ring.states[VICTIM_READER]);
        };
        total = add(total, step(&memory, victim, survive_latest));
    }
    report("latest", total);
}

fn survive_latest(memory: &Memory) {
    let ring = memory.ring();
    // The victim publishes too, in the name of the first survivor, whose loan may be open.
    ring.repair(|owner| owner.participant == SURVIVOR);
    let pinned = |entry: Entry| (entry != Entry::NONE).then(|| (entry, memory.payload(entry.slot())));
    let record = &ring.readers[VICTIM_READER];
    let kept = if ring.state(VICTIM_READER).kind() == Kind::Latest {
        record.held().next().and_then(pinned)
    } else {
        None
    };
    let mut second = snapshot(SURVIVOR + 1);
    for value in 2000..2000 + 3 * SLOTS as u64 {
        assert!(memory.send(&mut second, value), "a stopped latest-only subscriber holds a publisher back");
    }
    // What it keeps stays what it was, for as long as it is stopped.
    if let Some((entry, payload)) = kept {
        assert_eq!(memory.payload(entry.slot()), payload);
    }
    // It dies: its place and its slots return.
    ring.retire(VICTIM_READER);
    let (cursor, _) = ring.join(VICTIM_READER, Kind::Latest).unwrap();
    assert!(ring.latest(VICTIM_READER, cursor, 3).is_none(), "nothing is replayed");
    assert!(memory.send(&mut second, 9));
    let found = ring.latest(VICTIM_READER, cursor, 3).unwrap();
    assert_eq!((found.sequence, memory.value(found.slot)), (cursor, 9));
    ring.drop_reading(VICTIM_READER);
    free_record(&ring.states[VICTIM_READER]);
    let mut third = snapshot(SURVIVOR + 2);
    let loans: Vec<_> = std::iter::from_fn(|| ring.loan(&mut third)).collect();
    assert_eq!(loans.len(), SLOTS, "a slot is lost");
}

/// A reader of a ring that evicts, evicted wherever it is just then: what it has borrowed stays what it was.
#[test]
fn a_subscriber_evicted_at_any_instruction_keeps_what_it_borrowed() {
    let mut total = Some((0, 0));
    for (before, start) in (0..6).flat_map(|before| STARTS.map(|start| (before, start))) {
        let memory = Shared::starting_at(start);
        let mut first = snapshot(SURVIVOR);
        let (_, state) = memory.get().ring().join(VICTIM_READER, Kind::Lossless).unwrap();
        for value in 1000..1000 + before.min(4) {
            assert!(memory.get().send(&mut first, value));
        }
        let victim = |memory: &Memory| {
            let ring = memory.ring();
            for hold in 0..4 {
                if let Some(found) = ring.next_evictable(VICTIM_READER, state).unwrap() {
                    memory.value(found.slot);
                    ring.keep(VICTIM_READER, hold % 2, found);
                    ring.drop_reading(VICTIM_READER);
                }
            }
            (0..2).for_each(|hold| ring.drop_hold(VICTIM_READER, hold));
        };
        total = add(total, step(&memory, victim, survive_evicted));
    }
    report("evict", total);
}

fn survive_evicted(memory: &Memory) {
    let ring = memory.ring();
    ring.evict(VICTIM_READER);
    let record = &ring.readers[VICTIM_READER];
    let reading = Entry(record.reading.load(Ordering::Acquire));
    let borrowed: Vec<Entry> = record.held().chain([reading]).filter(|entry| *entry != Entry::NONE).collect();
    let payloads = || borrowed.iter().map(|entry| memory.payload(entry.slot())).collect::<Vec<_>>();
    let before = payloads();
    let mut second = snapshot(SURVIVOR + 1);
    let sent = (2000..2000 + 3 * SLOTS as u64).take_while(|value| memory.send(&mut second, *value)).count();
    assert!(sent > 0, "an evicted subscriber holds a publisher back");
    assert_eq!(payloads(), before);
    ring.retire(VICTIM_READER);
    assert!((0..9).all(|value| memory.send(&mut second, value)), "a slot is lost");
}
