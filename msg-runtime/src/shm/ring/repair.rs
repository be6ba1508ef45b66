//! What the living do for the dead. Any number may do it at once, and a repairer may itself die anywhere.

use super::{Fault, Ring};
use crate::shm::sync::{AtomicU64, Ordering};
use crate::shm::word::{Entry, Kind, Owner, SlotWord, State};

/// Frees the record of the caller, who has let go of every message.
pub(in crate::shm) fn free_record(state: &AtomicU64) {
    let own = State(state.load(Ordering::Relaxed));
    state.store(State::new(own.next_generation(), Kind::Free).0, Ordering::Release);
}

impl Ring<'_> {
    /// Makes a publisher's record active for the caller, who owns it.
    pub(in crate::shm) fn enlist(&self, participant: usize) -> State {
        self.retire(participant);
        let state = State::new(self.state(participant).next_generation(), Kind::Lossless);
        self.states[participant].store(state.0, Ordering::Release);
        state
    }

    /// Frees an active record whose owner is gone; the caller has proved that. Returns whether it was this call.
    ///
    /// Only the state is written: the cursor, the holds and the reading are the next owner's.
    pub(in crate::shm) fn retire(&self, participant: usize) -> bool {
        let state = self.state(participant);
        state.kind() != Kind::Free && self.retire_incarnation(participant, state)
    }

    /// As `retire`, if the record still has the state that it had before its owner was found dead.
    pub(in crate::shm) fn retire_incarnation(&self, participant: usize, state: State) -> bool {
        let free = State::new(state.next_generation(), Kind::Free);
        let word = &self.states[participant];
        word.compare_exchange(state.0, free.0, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Ends the loans of dead owners: what they committed is marked, what they did not is free. Returns whether a
    /// slot became available.
    pub(in crate::shm) fn repair(&self, dead: impl Fn(Owner) -> bool) -> bool {
        let mut repaired = false;
        for slot in 0..self.slots.len() {
            let word = SlotWord(self.slots[slot].load(Ordering::Acquire));
            if word.owner().is_some_and(&dead) {
                // Only if the word is still exactly this loan.
                repaired |= self.outcome(slot, word).is_some_and(|to| self.exchange_slot(slot, word, to));
            }
        }
        self.help_tail();
        repaired
    }

    /// What a dead owner's loan becomes; `None`: leave it for later.
    fn outcome(&self, slot: usize, loan: SlotWord) -> Option<SlotWord> {
        let best = self.entries.iter().map(|entry| Entry(entry.load(Ordering::Acquire)));
        let best = best.filter(|entry| *entry != Entry::SEALED && entry.names(slot));
        let best = best.max_by_key(|entry| entry.carried()).unwrap_or(Entry::NONE);
        if self.fault(Fault::RepairWithoutBase) {
            let committed = SlotWord::published(best.carried());
            return Some(if best == Entry::NONE { SlotWord::free(0) } else { committed });
        }
        // The ring names the slot with the base, as long as that entry is not lapped, and with what this loan
        // committed. Entries are lapped in their order, so if the best one is still in its place now, then no
        // younger one was overlooked, and it is either the base or the commit.
        if best != Entry::NONE && best.carried() as u32 != loan.base() {
            let unlapped = self.entry(best.carried().wrapping_sub(1)) == best;
            return unlapped.then_some(SlotWord::published(best.carried()));
        }
        // The entry of a commit may be lapped while a reader still holds the message.
        let kept = |index: usize| {
            self.state(index).kind() != Kind::Free
                && self.readers[index].held().any(|entry| entry.names(slot))
        };
        let kept = !self.fault(Fault::RepairWithoutHolds) && (0..self.readers.len()).any(kept);
        if kept { None } else { Some(SlotWord::free(loan.base())) }
    }
}
