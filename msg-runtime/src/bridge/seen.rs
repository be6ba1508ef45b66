//! What a bridge has carried before.

use crate::transport::Origin;
use std::collections::HashMap;

/// Publishers whose numbers are remembered; beyond, all are forgotten.
const MOST_PUBLISHERS: usize = 4096;

/// The next number of each publisher.
#[derive(Debug, Default)]
pub(super) struct Seen {
    next: HashMap<u64, u64>,
}

impl Seen {
    /// Whether a message was not here before, and remembers it. One that came by no number is always new.
    pub(super) fn is_new(&mut self, origin: Option<Origin>) -> bool {
        let Some(Origin { publisher, sequence, .. }) = origin else { return true };
        if self.next.len() >= MOST_PUBLISHERS && !self.next.contains_key(&publisher) {
            self.next.clear();
        }
        let next = self.next.entry(publisher).or_insert(sequence);
        let new = sequence >= *next;
        if new {
            *next = sequence.saturating_add(1);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_new_once() {
        let mut seen = Seen::default();
        let mut check = |publisher, sequence, expected| {
            let origin = Some(Origin { publisher, sequence, sent: 0 });
            assert_eq!(seen.is_new(origin), expected, "{publisher} {sequence}");
        };
        check(1, 5, true);
        check(1, 5, false);
        check(1, 7, true);
        check(1, 6, false);
        check(2, 0, true);
        check(2, u64::MAX, true);
        assert!(seen.is_new(None));
    }
}
