//! The subscriber's moves.

use super::{Fault, Ring, free_record};
use crate::shm::sync::Ordering;
use crate::shm::word::{Cursor, Entry, Kind, SEQUENCE_LIMIT, SlotWord, State};

/// A message that a reader found, and that publishers leave alone until the reader lets go of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shm) struct Found {
    pub(in crate::shm) sequence: u64,
    pub(in crate::shm) slot: usize,
}

impl Found {
    fn entry(self) -> Entry {
        Entry::new(self.sequence, self.slot)
    }
}

/// Why a reader cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shm) enum NextError {
    /// The words make no sense, or the reader was lapped, which a lossless reader never is.
    Corrupted,
    /// The publishers' patience ended.
    Evicted,
}

impl Ring<'_> {
    /// Makes a record active for the caller, who owns it. Everything committed from the returned cursor on is kept for
    /// a lossless reader, and never does joining make a publisher find the ring full.
    ///
    /// `None`: the ring was sealed meanwhile, the record is free again.
    pub(in crate::shm) fn join(&self, index: usize, kind: Kind) -> Option<(u64, State)> {
        self.retire(index);
        let record = &self.readers[index];
        record.clear();
        if kind == Kind::Latest {
            self.mark_pinner(index);
        }
        let generation = self.state(index).next_generation();
        let joining = Cursor::joining(generation);
        let state = State::new(generation, kind);
        // The cursor first, with the generation: a scan that sees the state knows whose cursor it sees.
        record.cursor.store(joining.0, Ordering::Release);
        self.states[index].store(state.0, Ordering::Release);
        // Whoever scanned and sees the state in time may have taken the place for us.
        let cursor = self.finish_join(index, joining, Fault::NoJoinFence)?;
        // Behind the fence of `finish_join`: either this sees the seal, or the new ring's publishers see the state.
        if self.is_sealed() && !self.fault(Fault::NoSealCheck) {
            free_record(&self.states[index]);
            return None;
        }
        Some((cursor, state))
    }

    fn mark_pinner(&self, index: usize) {
        // Before the state that it announces; pairs with the load in `pinners`.
        self.pinners.fetch_or(1 << index, Ordering::AcqRel);
    }

    /// The next message of a lossless reader, protected by its cursor until `keep` or `release`.
    #[inline]
    pub(in crate::shm) fn next(&self, index: usize) -> Result<Option<Found>, NextError> {
        let cursor = self.readers[index].cursor.load(Ordering::Relaxed);
        if cursor >= SEQUENCE_LIMIT {
            return Err(NextError::Corrupted);
        }
        let entry = self.entry(cursor);
        if entry.carried() == cursor + 1 {
            let found = Found { sequence: cursor, slot: entry.slot() };
            return if found.slot < self.slots.len() { Ok(Some(found)) } else { Err(NextError::Corrupted) };
        }
        let behind = entry.carried() <= cursor || entry == Entry::SEALED;
        if behind { Ok(None) } else { Err(NextError::Corrupted) }
    }

    /// Whether `next` would find something. For a reader that looks again and again: one load, of a line that a publisher
    /// writes only when there is a message.
    #[inline]
    pub(in crate::shm) fn has_next(&self, index: usize) -> bool {
        let cursor = self.readers[index].cursor.load(Ordering::Relaxed);
        self.entry(cursor).carried() > cursor
    }

    /// Whether `latest` would find something.
    #[inline]
    pub(in crate::shm) fn has_latest(&self, next: u64) -> bool {
        self.tail.load(Ordering::Acquire) > next
    }

    /// As `next`, where publishers may evict: announces what it is about to borrow, then makes sure that it still counts.
    pub(in crate::shm) fn next_evictable(
        &self,
        index: usize,
        state: State,
    ) -> Result<Option<Found>, NextError> {
        let found = self.next(index);
        let reading = &self.readers[index].reading;
        if let Ok(Some(found)) = found {
            reading.store(found.entry().0, Ordering::Release);
            // Pairs with the fence of `pass`: either the taker sees the reading, or the eviction before it is seen here.
            self.fence_unless(Fault::NoEvictableFence);
        }
        if self.state(index) == state {
            return found;
        }
        // Whatever was found: an evicted reader may be lapped.
        reading.store(0, Ordering::Release);
        Err(NextError::Evicted)
    }

    /// Goes on to the next message while keeping this one: `drop_hold` lets go of it.
    #[inline]
    pub(in crate::shm) fn keep(&self, index: usize, hold: usize, found: Found) {
        // Before the cursor: a scan that sees the cursor past the message sees the hold. Pairs with `held` there.
        self.readers[index].holds[hold].store(found.entry().0, Ordering::Release);
        self.release(index, found.sequence);
    }

    /// Keeps what `latest` found: `drop_hold` lets go of it.
    #[inline]
    pub(in crate::shm) fn keep_latest(&self, index: usize, hold: usize, found: Found) {
        // Before the reading: `pinned` looks at the reading first, so that it sees one of the two.
        self.readers[index].holds[hold].store(found.entry().0, Ordering::Release);
        self.drop_reading(index);
    }

    /// Passes over all but the newest message of a lossless reader. Returns how many.
    pub(in crate::shm) fn skip_to_newest(&self, index: usize) -> u64 {
        let cursor = self.readers[index].cursor.load(Ordering::Relaxed);
        let tail = self.tail.load(Ordering::Acquire);
        let newest = if self.is_committed(tail) { tail } else { tail.wrapping_sub(1) };
        // A tail that is garbage has nothing in its place.
        if newest <= cursor || newest >= SEQUENCE_LIMIT || !self.is_committed(newest) {
            return 0;
        }
        self.readers[index].cursor.store(newest, Ordering::Release);
        newest - cursor
    }

    /// The slot of the first message that a lossless reader has not received, if there is one.
    pub(in crate::shm) fn oldest_unread(&self, index: usize) -> Option<usize> {
        let cursor = self.counted_cursor(index)?;
        let unread = self.is_committed(cursor).then(|| self.entry(cursor))?;
        Some(unread.slot()).filter(|slot| *slot < self.slots.len())
    }

    /// Goes on to the next message; publishers may take the slot of this one.
    #[inline]
    pub(in crate::shm) fn release(&self, index: usize, sequence: u64) {
        // Pairs with the load in `counted_cursor`: the reads of the message are over.
        let ordering = self.unless(Fault::RelaxedRelease, Ordering::Release);
        self.readers[index].cursor.store(sequence.wrapping_add(1), ordering);
    }

    /// Lets go of a kept message; in any order.
    #[inline]
    pub(in crate::shm) fn drop_hold(&self, index: usize, hold: usize) {
        // Pairs with `held` in `scan` and `pinned`: the reads of the message are over.
        let ordering = self.unless(Fault::RelaxedDropHold, Ordering::Release);
        self.readers[index].holds[hold].store(0, ordering);
    }

    /// From here on publishers do not wait for this reader, and leave alone what it holds or reads.
    pub(in crate::shm) fn evict(&self, index: usize) {
        let state = self.state(index);
        if state.kind() != Kind::Lossless {
            return;
        }
        self.mark_pinner(index);
        let evicted = State::new(state.generation(), Kind::Evicted);
        // Failing means that the reader left, or that somebody else evicted it.
        let _ = self.states[index].compare_exchange(state.0, evicted.0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The newest message not older than `next`, protected by the reader's `reading` word until `drop_reading`.
    /// `None`: nothing new, or publishers lapped the reader at every try.
    pub(in crate::shm) fn latest(&self, index: usize, next: u64, tries: usize) -> Option<Found> {
        let reading = &self.readers[index].reading;
        for _ in 0..tries {
            let mut tail = self.tail.load(Ordering::Acquire);
            if self.is_committed(tail) {
                tail += 1;
            }
            if tail <= next {
                return None;
            }
            let entry = self.entry(tail - 1);
            let found = Found { sequence: tail - 1, slot: entry.slot() };
            if entry.carried() != tail || found.slot >= self.slots.len() {
                continue;
            }
            reading.store(entry.0, Ordering::Release);
            // Pairs with the fence of `pass`: either the taker sees the reading, or its loan is seen here.
            self.fence_unless(Fault::NoReadingFence);
            if self.still_there(found) {
                return Some(found);
            }
            reading.store(0, Ordering::Release);
        }
        None
    }

    /// Whether the slot still has this message: it says so, or it is on the loan that committed the message.
    fn still_there(&self, found: Found) -> bool {
        let carried = found.sequence.wrapping_add(1);
        let word = SlotWord(self.slots[found.slot].load(Ordering::Acquire));
        if !word.is_loan() {
            return word.carried() == Some(carried);
        }
        // The loan that committed the message has an older base. The base is only half a number: a reader that was
        // stopped for 2^31 messages would mistake a later loan for it, were the entry not looked at again.
        (carried as u32).wrapping_sub(word.base()) as i32 > 0 && self.entry(found.sequence) == found.entry()
    }

    /// Lets go of what `latest` or `next_evictable` found.
    pub(in crate::shm) fn drop_reading(&self, index: usize) {
        let ordering = self.unless(Fault::RelaxedDropReading, Ordering::Release);
        self.readers[index].reading.store(0, ordering);
    }
}
