//! Who is connected to a session, and who wants to know.

use super::{super::network::Monitor, lock};
use std::{
    collections::HashSet,
    sync::{Arc, Condvar, Mutex, PoisonError, Weak},
    time::Instant,
};
use zenoh::{sample::SampleKind, session::ZenohId};

/// Those who are connected, and the handles that hear of it.
#[derive(Default)]
pub(super) struct Link {
    state: Mutex<LinkState>,
    changed: Condvar,
}

#[derive(Default)]
struct LinkState {
    there: HashSet<ZenohId>,
    monitors: Vec<Weak<Monitor>>,
}

impl Link {
    pub(super) fn is_up(&self) -> bool {
        !lock(&self.state).there.is_empty()
    }

    /// Waits until somebody is there; false if the time is over first.
    pub(super) fn wait(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let nobody = |state: &mut LinkState| state.there.is_empty();
        let waited = self.changed.wait_timeout_while(lock(&self.state), left, nobody);
        !waited.unwrap_or_else(PoisonError::into_inner).0.there.is_empty()
    }

    pub(super) fn watch(&self, monitor: &Arc<Monitor>) {
        let mut state = lock(&self.state);
        state.monitors.push(Arc::downgrade(monitor));
        let up = !state.there.is_empty();
        drop(state);
        if up {
            monitor.connected();
        }
    }

    /// Somebody came or left; the handles hear of the first and the last.
    pub(super) fn changes(&self, who: ZenohId, kind: SampleKind, lost: &str) {
        let mut state = lock(&self.state);
        let before = !state.there.is_empty();
        match kind {
            SampleKind::Put => state.there.insert(who),
            SampleKind::Delete => state.there.remove(&who),
        };
        let now = !state.there.is_empty();
        state.monitors.retain(|monitor| monitor.strong_count() > 0);
        let monitors: Vec<Arc<Monitor>> = state.monitors.iter().filter_map(Weak::upgrade).collect();
        // The users' closures run without the lock.
        drop(state);
        self.changed.notify_all();
        for monitor in monitors {
            match (before, now) {
                (false, true) => monitor.connected(),
                (true, false) => monitor.disconnected(lost),
                _ => {}
            }
        }
    }
}
