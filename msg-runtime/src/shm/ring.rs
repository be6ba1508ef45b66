//! The protocol of the ring over slices of atomics: no system calls, no clock, no payloads.
//!
//! A message is published by one compare-and-swap that puts its slot in the next place of the ring. Everything else
//! (the slot's word, the tail) only says more slowly what that place already says, so anybody can finish for a
//! participant that died. This file has the publisher's moves; `reader` has the subscriber's and `repair` what the
//! living do for the dead.
//!
//! ```text
//! entries   | .. | s-1 | s | (s+1) - n | ..        n places; the tail is at s+1, or at s while a commit is unfinished
//!                      |
//! slots     | free | published(s+1) | loan(owner, base) | published(..) | ..
//! ```
//!
//! # Orders
//!
//! Loads are `Acquire`, stores `Release` and exchanges `AcqRel` throughout: whoever reads a word sees all that its
//! writer saw. Words that only their owner writes are loaded `Relaxed` by the owner. Five pairs need more, because
//! each side writes one word and then reads the other's, and at least one of the two must notice:
//!
//! | one side | the other |
//! | --- | --- |
//! | [`Ring::scan`]: tail, then states | [`Ring::join`] and whoever finishes a join: state, then tail |
//! | [`Ring::loan`]: slot, then readings and holds | `latest`, `next_evictable`: reading, then slot or state |
//! | [`Ring::seal`]: first entry, then (by any later scan) states | [`Ring::join`]: state, then first entry |
//! | a sleeper: its word, then the ring | a waker: the ring, then the word (`wait`) |
//!
//! Each side has a `SeqCst` fence between the two, named at its place.

#[cfg(all(test, not(any(loom, shuttle, seeded))))]
mod crash;
#[cfg(all(test, not(any(loom, shuttle, seeded))))]
mod garbage;
#[cfg(all(test, loom))]
mod models;
mod reader;
mod repair;
#[cfg(all(test, not(loom)))]
mod stress;

pub(super) use reader::{Found, NextError};
pub(super) use repair::free_record;

use super::layout::ReaderRecord;
use super::sync::{AtomicU64, Ordering, fence, prefetch_for_write};
use super::word::{Cursor, Entry, Kind, Owner, SEQUENCE_LIMIT, SlotWord, State};

/// How often a scan looks at a record whose state and cursor belong to different incarnations.
const SCAN_TURNS: usize = 4;

/// The words of one ring, wherever they live.
#[derive(Debug)]
pub(super) struct Ring<'a> {
    /// The sequence that is published next; lags by one while a commit is unfinished. Written by publishers.
    pub(super) tail: &'a AtomicU64,
    /// [`Entry`] words; a power of two of them, at least twice as many as slots. Written by publishers.
    pub(super) entries: &'a [AtomicU64],
    /// [`SlotWord`]s. Written by publishers.
    pub(super) slots: &'a [AtomicU64],
    /// [`State`] words, those of the readers first.
    pub(super) states: &'a [AtomicU64],
    /// The subscribers' words, each written by its owner; the cursor of one that joins also by whoever scans.
    pub(super) readers: &'a [ReaderRecord],
    /// Bit k is set before reader k first becomes latest-only or evicted, and stays: a hint where to look.
    pub(super) pinners: &'a AtomicU64,
    /// Faults to commit on purpose, so that models and stress can show that they would be caught.
    #[cfg(any(loom, shuttle, seeded))]
    pub(super) faults: &'static [Fault],
}

/// Mistakes that a model seeds to show that it would catch them; outside of models and stress nobody makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    NoScanFence,
    NoJoinFence,
    NoHelperFence,
    NoTakeFence,
    NoReadingFence,
    NoEvictableFence,
    MinimumIsInfinite,
    HoldsBeforeCursor,
    PinHoldFirst,
    PinBySequence,
    TakeNewest,
    RepairWithoutBase,
    RepairWithoutHolds,
    NoSealCheck,
    RelaxedEntry,
    RelaxedCommit,
    RelaxedRelease,
    RelaxedDropHold,
    RelaxedDropReading,
    RelaxedExchange,
    BusyIsCorrupted,
    /// No mistake: a commit loses its patience so soon that a model sees it.
    Impatient,
}

#[cfg(loom)]
impl Fault {
    /// Every one of them.
    const ALL: [Self; 21] = [
        Self::NoScanFence,
        Self::NoJoinFence,
        Self::NoHelperFence,
        Self::NoTakeFence,
        Self::NoReadingFence,
        Self::NoEvictableFence,
        Self::MinimumIsInfinite,
        Self::HoldsBeforeCursor,
        Self::PinHoldFirst,
        Self::PinBySequence,
        Self::TakeNewest,
        Self::RepairWithoutBase,
        Self::RepairWithoutHolds,
        Self::NoSealCheck,
        Self::RelaxedEntry,
        Self::RelaxedCommit,
        Self::RelaxedRelease,
        Self::RelaxedDropHold,
        Self::RelaxedDropReading,
        Self::RelaxedExchange,
        Self::BusyIsCorrupted,
    ];
}

#[cfg(loom)]
const _: () = assert!(Fault::ALL.len() == Fault::Impatient as usize, "the last mistake is another");

/// What a publisher remembers between its loans, so that the hot path reads no reader's memory.
#[derive(Debug)]
pub(super) struct Snapshot {
    owner: Owner,
    /// Every lossless reader that counted at the last scan had read all before this.
    minimum: u64,
    /// The messages that were held then.
    held: Vec<Entry>,
    /// Where the next pass starts.
    hint: usize,
    /// A pass took slots and gave them back; whoever waits for room must hear of it.
    gave_back: bool,
    /// The slots that were given back because a reader borrows them, until it does not any more. Taking them again only
    /// to give them back would wake everybody who waits for room, ourselves among them, at every try.
    pinned: Vec<usize>,
}

impl Snapshot {
    /// A snapshot that knows nothing: only slots that never held a message may be taken.
    pub(super) fn new(owner: Owner, most_held: usize) -> Self {
        let (held, pinned) = (Vec::with_capacity(most_held), Vec::with_capacity(most_held));
        Self { owner, minimum: 0, held, hint: 0, gave_back: false, pinned }
    }

    /// Whether slots were given back since the last call.
    pub(super) fn take_gave_back(&mut self) -> bool {
        std::mem::take(&mut self.gave_back)
    }
}

/// A slot on loan: its index, and its word before and during the loan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) slot: usize,
    before: SlotWord,
    loan: SlotWord,
}

/// Why a commit did not take place; the loan is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitError {
    /// Other publishers were faster every time.
    Busy,
    /// The ring gave way to one of another geometry before anything was published in it.
    Sealed,
    /// The words make no sense.
    Corrupted,
}

impl Ring<'_> {
    #[cfg(any(loom, shuttle, seeded))]
    fn fault(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    #[cfg(not(any(loom, shuttle, seeded)))]
    #[inline(always)]
    const fn fault(&self, _fault: Fault) -> bool {
        false
    }

    /// One side of a pair listed under "Orders".
    #[inline(always)]
    fn fence_unless(&self, fault: Fault) {
        if !self.fault(fault) {
            fence(Ordering::SeqCst);
        }
    }

    /// The ordering of an access, weakened by a fault.
    #[inline(always)]
    fn unless(&self, fault: Fault, ordering: Ordering) -> Ordering {
        if self.fault(fault) { Ordering::Relaxed } else { ordering }
    }

    #[inline]
    fn place(&self, sequence: u64) -> &AtomicU64 {
        &self.entries[sequence as usize & (self.entries.len() - 1)]
    }

    /// The entry in a sequence's place. Pairs with the exchange in `commit`: the message's bytes and record are seen.
    #[inline]
    fn entry(&self, sequence: u64) -> Entry {
        Entry(self.place(sequence).load(self.unless(Fault::RelaxedEntry, Ordering::Acquire)))
    }

    #[inline]
    fn state(&self, participant: usize) -> State {
        State(self.states[participant].load(Ordering::Acquire))
    }

    /// Finishes a commit whose publisher has not moved the tail yet, and says where the tail is.
    #[inline]
    fn help_tail(&self) -> u64 {
        let tail = self.tail.load(Ordering::Acquire);
        if !self.is_committed(tail) {
            return tail;
        }
        self.advance_tail(tail);
        tail + 1
    }

    /// Whether a sequence's place carries it now; a tail that is garbage carries nothing.
    #[inline]
    fn is_committed(&self, sequence: u64) -> bool {
        sequence < SEQUENCE_LIMIT && self.entry(sequence).carried() == sequence + 1
    }

    #[inline]
    fn advance_tail(&self, from: u64) {
        // Failing means that somebody else did it.
        let _ = self.tail.compare_exchange(from, from + 1, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Takes a slot that no reader can still need; looks at the readers only if the snapshot shows no such slot.
    #[inline]
    pub(super) fn loan(&self, snapshot: &mut Snapshot) -> Option<Taken> {
        self.pass(snapshot).or_else(|| {
            self.scan(snapshot);
            self.pass(snapshot)
        })
    }

    /// Refreshes the snapshot: how far every lossless reader has read, and what is held.
    fn scan(&self, snapshot: &mut Snapshot) {
        snapshot.minimum = if self.fault(Fault::MinimumIsInfinite) { u64::MAX } else { self.help_tail() };
        snapshot.held.clear();
        // Pairs with the fence of `join`: either the joiner's state is seen below, or it sees this tail or a later one.
        self.fence_unless(Fault::NoScanFence);
        for (index, record) in self.readers.iter().enumerate() {
            if self.fault(Fault::HoldsBeforeCursor) {
                snapshot.held.extend(record.held());
            }
            let Some(cursor) = self.counted_cursor(index) else { continue };
            snapshot.minimum = snapshot.minimum.min(cursor);
            // After the cursor: a reader writes a hold before the cursor that passes it.
            if !self.fault(Fault::HoldsBeforeCursor) {
                snapshot.held.extend(record.held());
            }
        }
    }

    /// The cursor of a reader that publishers wait for; one that is joining is helped to finish.
    fn counted_cursor(&self, index: usize) -> Option<u64> {
        let cursor = &self.readers[index].cursor;
        for _ in 0..SCAN_TURNS {
            let state = self.state(index);
            if state.kind() != Kind::Lossless {
                return None;
            }
            let seen = Cursor(cursor.load(Ordering::Acquire));
            if !seen.is_joining() {
                return Some(seen.0);
            }
            // Another incarnation's cursor, whose state is not written yet: look again.
            if seen != Cursor::joining(state.generation()) {
                continue;
            }
            if let Some(cursor) = self.finish_join(index, seen, Fault::NoHelperFence) {
                return Some(cursor);
            }
        }
        None
    }

    /// Gives a joining reader its place at the tail, unless somebody else was faster. Returns the place.
    fn finish_join(&self, index: usize, joining: Cursor, fence: Fault) -> Option<u64> {
        // Pairs with the fence of `scan`: the tail read here is not before that of any scan that missed the state.
        self.fence_unless(fence);
        let tail = self.tail.load(Ordering::Acquire);
        let cursor = &self.readers[index].cursor;
        match cursor.compare_exchange(joining.0, tail, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(tail),
            Err(found) => Some(Cursor(found)).filter(|found| !found.is_joining()).map(|found| found.0),
        }
    }

    /// Tries every slot once, by what the snapshot says.
    #[inline]
    fn pass(&self, snapshot: &mut Snapshot) -> Option<Taken> {
        for step in 0..self.slots.len() {
            let slot = (snapshot.hint + step) % self.slots.len();
            let before = SlotWord(self.slots[slot].load(Ordering::Acquire));
            if before.is_loan()
                || !self.reusable(snapshot, slot, before)
                || self.still_pinned(snapshot, slot, before)
            {
                continue;
            }
            let loan = SlotWord::loan(snapshot.owner, before.base());
            if !self.exchange_slot(slot, before, loan) {
                continue;
            }
            // Pairs with the fence of `latest` and `next_evictable`: either their reading is seen below, or they see
            // that the slot is on loan.
            self.fence_unless(Fault::NoTakeFence);
            if self.pinned(slot, before) {
                // Nothing was written yet: back as it was.
                self.slots[slot].store(before.0, Ordering::Release);
                snapshot.gave_back = true;
                snapshot.pinned.push(slot);
                continue;
            }
            snapshot.hint = slot + 1;
            prefetch_for_write(self.place(self.tail.load(Ordering::Relaxed)));
            return Some(Taken { slot, before, loan });
        }
        None
    }

    #[inline]
    fn exchange_slot(&self, slot: usize, from: SlotWord, to: SlotWord) -> bool {
        let success = self.unless(Fault::RelaxedExchange, Ordering::AcqRel);
        self.slots[slot].compare_exchange(from.0, to.0, success, Ordering::Acquire).is_ok()
    }

    /// Whether no lossless reader can need the message in this slot, by the snapshot.
    #[inline]
    fn reusable(&self, snapshot: &Snapshot, slot: usize, word: SlotWord) -> bool {
        let Some(carried) = word.carried() else { return true };
        // A carried 0 is garbage, and wraps to a sequence that nobody has read.
        let sequence = carried.wrapping_sub(1);
        if sequence >= snapshot.minimum || snapshot.held.contains(&Entry::new(sequence, slot)) {
            return false;
        }
        // The newest message stays, so that a latest-only reader always finds one.
        self.fault(Fault::TakeNewest)
            || carried < self.tail.load(Ordering::Acquire)
            || !self.pinners().any(|index| self.state(index).kind() == Kind::Latest)
    }

    /// The readers that are, or once were, latest-only or evicted.
    #[inline]
    fn pinners(&self) -> impl Iterator<Item = usize> + use<> {
        let mut bits = self.pinners.load(Ordering::Acquire);
        let readers = self.readers.len();
        std::iter::from_fn(move || {
            let index = bits.trailing_zeros() as usize;
            bits &= bits.wrapping_sub(1);
            (index < readers).then_some(index)
        })
    }

    /// Whether a latest-only or evicted reader borrows this slot, whatever the slot holds.
    #[inline]
    fn pinned(&self, slot: usize, before: SlotWord) -> bool {
        let names = |entry: Entry| {
            entry.names(slot)
                && (!self.fault(Fault::PinBySequence) || before.carried() == Some(entry.carried()))
        };
        self.pinners().any(|index| {
            if !matches!(self.state(index).kind(), Kind::Latest | Kind::Evicted) {
                return false;
            }
            let record = &self.readers[index];
            if self.fault(Fault::PinHoldFirst) && record.held().any(names) {
                return true;
            }
            // Reading first: a sample moves from there to a hold.
            names(Entry(record.reading.load(Ordering::Acquire)))
                || (!self.fault(Fault::PinHoldFirst) && record.held().any(names))
        })
    }

    /// Whether a slot that was given back before is still borrowed. Only a hint: whoever takes the slot looks again.
    #[inline]
    fn still_pinned(&self, snapshot: &mut Snapshot, slot: usize, word: SlotWord) -> bool {
        let Some(at) = snapshot.pinned.iter().position(|pinned| *pinned == slot) else { return false };
        let pinned = self.pinned(slot, word);
        if !pinned {
            snapshot.pinned.swap_remove(at);
        }
        pinned
    }

    /// Publishes what is in the slot. Returns its sequence; `mark` comes next.
    #[inline]
    pub(super) fn commit(&self, slot: usize) -> Result<u64, CommitError> {
        let places = self.entries.len() as u64;
        let started_at = self.tail.load(Ordering::Acquire);
        for _ in 0..if self.fault(Fault::Impatient) { 2 } else { 4 * places + 64 } {
            let tail = self.tail.load(Ordering::Acquire);
            if tail >= SEQUENCE_LIMIT {
                return Err(CommitError::Corrupted);
            }
            let found = self.entry(tail);
            if found == Entry::SEALED {
                return Err(CommitError::Sealed);
            }
            if found.carried() == tail + 1 {
                self.advance_tail(tail);
                continue;
            }
            if found.carried() != (tail + 1).saturating_sub(places) {
                continue;
            }
            // The commit point. Pairs with `entry`: the reader sees the slot's bytes and record.
            let committed = Entry::new(tail, slot).0;
            let place = self.place(tail);
            let success = self.unless(Fault::RelaxedCommit, Ordering::AcqRel);
            if place.compare_exchange(found.0, committed, success, Ordering::Acquire).is_ok() {
                return Ok(tail);
            }
        }
        let moved = self.tail.load(Ordering::Acquire) != started_at && !self.fault(Fault::BusyIsCorrupted);
        Err(if moved { CommitError::Busy } else { CommitError::Corrupted })
    }

    /// Says what `commit` did in the slot's word and the tail. Whoever repairs may have done it already.
    #[inline]
    pub(super) fn mark(&self, taken: &Taken, sequence: u64) {
        self.exchange_slot(taken.slot, taken.loan, SlotWord::published(sequence + 1));
        self.advance_tail(sequence);
    }

    /// Ends a loan without publishing. The slot is free and not what it was: its old bytes may be gone.
    pub(super) fn abort(&self, taken: &Taken) {
        self.exchange_slot(taken.slot, taken.loan, SlotWord::free(taken.before.base()));
    }

    /// Closes a ring in which nothing was published, for good. Returns whether it is closed.
    pub(super) fn seal(&self) -> bool {
        let sealed = Entry::SEALED.0;
        // Competes with the first commit for the same word, so that exactly one of them happens.
        let first = self.place(0).compare_exchange(0, sealed, Ordering::AcqRel, Ordering::Acquire);
        first.is_ok() || first == Err(sealed)
    }

    /// Whether nothing was published in the ring, and nothing will be if it is sealed.
    pub(super) fn is_untouched(&self) -> bool {
        [0, Entry::SEALED.0].contains(&self.place(0).load(Ordering::Acquire))
    }

    /// Whether the ring gave way to another one, and subscribers must move there.
    #[inline]
    pub(super) fn is_sealed(&self) -> bool {
        self.place(0).load(Ordering::Acquire) == Entry::SEALED.0
    }
}
