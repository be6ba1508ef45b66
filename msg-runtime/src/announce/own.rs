//! A handle of this process, as it is told of.

use super::message::{Announce, AnnounceKind};
use crate::{event::Event, stats::Stats};
use std::{collections::HashSet, sync::Arc};

/// What a handle has done so far.
pub(super) type OwnStats = Box<dyn Fn() -> Stats + Send + Sync>;
/// Tells a handle's user.
pub(super) type Tell = Arc<dyn Fn(&Event) + Send + Sync>;

pub(super) struct Own {
    pub(super) facts: Announce,
    pub(super) stats: OwnStats,
    tell: Option<Tell>,
    /// Handles that it was told of. Those that are gone stay: a handle's number is never used again.
    told: HashSet<u64>,
}

/// Others that a handle is told of at most, so that who announces nonsense costs little.
const MOST_TOLD: usize = 256;

impl Own {
    pub(super) fn new(facts: Announce, stats: OwnStats) -> Self {
        Self { facts, stats, tell: None, told: HashSet::new() }
    }

    pub(super) fn announcement(&self, kind: AnnounceKind) -> Announce {
        let Stats { messages, bytes, .. } = (self.stats)();
        let schema = if kind == AnnounceKind::Counts { Vec::new() } else { self.facts.schema.clone() };
        Announce { kind: kind.into(), messages, bytes, schema, ..self.facts.clone() }
    }

    pub(super) fn set_tell(&mut self, tell: Tell) {
        self.tell = Some(tell);
    }

    /// What its user is to be told of another handle, once; and how. The call is made without a lock.
    pub(super) fn news(&mut self, other: &Announce) -> Option<(Tell, Event)> {
        let tell = self.tell.as_ref()?;
        if self.told.contains(&other.handle) || self.told.len() >= MOST_TOLD {
            return None;
        }
        let event = self.facts.incompatible(other)?;
        self.told.insert(other.handle);
        Some((Arc::clone(tell), event))
    }
}
