//! The 64-bit words that participants agree by, and nothing that reads or writes them.
//!
//! ```text
//! entry    (sequence+1) << 10 | slot                0 = never used, all ones = sealed
//! slot     free       00 ........................ low half of base
//!          published  01 | sequence+1 (54 bits)
//!          loan       1 | participant (7) | generation (24) | low half of base (32)
//! state    generation << 2 | kind
//! cursor   sequence, or 1 << 63 | generation while joining
//! ```
//!
//! A *carried* number is a sequence + 1, so that 0 means "none". The *base* of a free or loaned slot is the last
//! number that the slot carried before.

/// Bits of a slot's index inside an entry.
const SLOT_BITS: u32 = 10;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
/// The most slots that a ring has.
pub(super) const MAX_SLOTS: usize = 1 << SLOT_BITS;
/// Sequences stay below this; at ten million a second that is fifty years.
pub(super) const SEQUENCE_LIMIT: u64 = (1 << 54) - (1 << 20);

/// What one place of the ring, a hold or a reading announces: a message and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry(pub(super) u64);

impl Entry {
    pub(super) const NONE: Self = Self(0);
    /// In the first place of a ring that gave way to one of another geometry before anything was published.
    pub(super) const SEALED: Self = Self(u64::MAX);

    pub(super) const fn new(sequence: u64, slot: usize) -> Self {
        Self((sequence + 1) << SLOT_BITS | slot as u64)
    }

    /// Sequence + 1, or 0.
    pub(super) const fn carried(self) -> u64 {
        self.0 >> SLOT_BITS
    }

    pub(super) const fn slot(self) -> usize {
        (self.0 & SLOT_MASK) as usize
    }

    pub(super) fn names(self, slot: usize) -> bool {
        self != Self::NONE && self.slot() == slot
    }
}

/// Who a loan belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// 0 to 127.
    pub(super) participant: usize,
    /// The low 24 bits of the participant's generation.
    pub(super) generation: u32,
}

impl Owner {
    const GENERATION_MASK: u32 = (1 << 24) - 1;

    pub(super) fn new(participant: usize, generation: u64) -> Self {
        Self { participant: participant & 127, generation: generation as u32 & Self::GENERATION_MASK }
    }
}

/// Who has a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotWord(pub(super) u64);

impl SlotWord {
    const LOAN: u64 = 1 << 63;
    const PUBLISHED: u64 = 1 << 62;

    pub(super) const fn free(base: u32) -> Self {
        Self(base as u64)
    }

    pub(super) const fn published(carried: u64) -> Self {
        Self(Self::PUBLISHED | carried)
    }

    pub(super) const fn loan(owner: Owner, base: u32) -> Self {
        Self(Self::LOAN | (owner.participant as u64) << 56 | (owner.generation as u64) << 32 | base as u64)
    }

    pub(super) const fn is_loan(self) -> bool {
        self.0 & Self::LOAN != 0
    }

    /// Sequence + 1 of the message that the slot holds, if it holds one.
    pub(super) const fn carried(self) -> Option<u64> {
        if !self.is_loan() && self.0 & Self::PUBLISHED != 0 { Some(self.0 & !Self::PUBLISHED) } else { None }
    }

    /// The low half of the last number that the slot carried.
    pub(super) const fn base(self) -> u32 {
        self.0 as u32
    }

    pub(super) fn owner(self) -> Option<Owner> {
        self.is_loan().then(|| Owner::new((self.0 >> 56) as usize, self.0 >> 32))
    }
}

/// What a participant's record is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nobody uses it.
    Free = 0,
    /// A publisher, or a subscriber that publishers wait for.
    Lossless = 1,
    /// A subscriber that publishers never wait for; what it reads right now is left alone.
    Latest = 2,
    /// Was lossless and no longer counts; what it has borrowed is left alone.
    Evicted = 3,
}

/// A participant's incarnation and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(pub(super) u64);

impl State {
    pub(super) const fn new(generation: u64, kind: Kind) -> Self {
        Self(generation << 2 | kind as u64)
    }

    pub(super) const fn generation(self) -> u64 {
        self.0 >> 2
    }

    /// The generation that follows; it wraps instead of overflowing when the word is garbage.
    pub(super) const fn next_generation(self) -> u64 {
        (self.generation() + 1) & (u64::MAX >> 2)
    }

    pub(super) const fn kind(self) -> Kind {
        match self.0 & 3 {
            0 => Kind::Free,
            1 => Kind::Lossless,
            2 => Kind::Latest,
            _ => Kind::Evicted,
        }
    }
}

/// The next sequence that a subscriber reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor(pub(super) u64);

impl Cursor {
    const JOINING: u64 = 1 << 63;

    /// The word of a subscriber that has not taken its place yet; whoever scans may take it for it.
    pub(super) const fn joining(generation: u64) -> Self {
        Self(Self::JOINING | generation)
    }

    pub(super) const fn is_joining(self) -> bool {
        self.0 & Self::JOINING != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_what_they_are_made_of() {
        for (sequence, slot) in [(0, 0), (u64::from(u32::MAX), 1023), (SEQUENCE_LIMIT - 1, 5)] {
            let entry = Entry::new(sequence, slot);
            assert_eq!((entry.carried(), entry.slot()), (sequence + 1, slot));
            assert_ne!(entry, Entry::SEALED);
            let word = SlotWord::published(sequence + 1);
            assert_eq!(
                (word.carried(), word.owner(), word.base()),
                (Some(sequence + 1), None, (sequence + 1) as u32)
            );
        }
        for (participant, generation) in [(0, 1), (127, (1 << 24) - 1), (64, 1 << 24)] {
            let owner = Owner::new(participant, generation);
            let word = SlotWord::loan(owner, u32::MAX);
            assert_eq!((word.owner(), word.carried(), word.base()), (Some(owner), None, u32::MAX));
        }
        assert_eq!(SlotWord::free(u32::MAX).carried(), None);
        assert!(!SlotWord::free(u32::MAX).is_loan());
        for kind in [Kind::Free, Kind::Lossless, Kind::Latest, Kind::Evicted] {
            let state = State::new(77, kind);
            assert_eq!((state.generation(), state.kind()), (77, kind));
        }
    }
}
