//! Who is woken when something happens, without a thread that sleeps meanwhile.

use std::{
    fmt, mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::Waker,
};

/// Where wakers wait.
pub(crate) trait WaitingPlace: Send + Sync {
    /// Forgets a waker, if it is still there.
    fn leave(&self, id: u64);
}

/// Keeps a waker waiting; dropping it ends that.
#[derive(Default)]
pub(crate) struct Registration(Option<(Arc<dyn WaitingPlace>, u64)>);

impl Registration {
    pub(crate) fn new(place: Arc<dyn WaitingPlace>, id: u64) -> Self {
        Self(Some((place, id)))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some((place, id)) = self.0.take() {
            place.leave(id);
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registration").field(&self.0.as_ref().map(|(_, id)| id)).finish()
    }
}

/// A number that no other registration of this process has.
pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Wakers that wait for one kind of event. Who is woken comes again, or has got what it waited for: so all are woken,
/// and none has to hand on a wake-up that it got for nothing.
///
/// An event happens under a lock, and whoever enters looks again under the same lock afterwards: either that look sees
/// the event, or `wake_all`, which follows the event, sees the waker.
#[derive(Debug, Default)]
pub(crate) struct WakerList {
    waiting: Mutex<Vec<(u64, Waker)>>,
    /// Whether there are any, so that an event nobody waits for costs a look.
    any: AtomicBool,
}

impl WakerList {
    pub(crate) fn enter(self: &Arc<Self>, waker: &Waker) -> Registration {
        let id = next_id();
        let mut waiting = self.lock();
        waiting.push((id, waker.clone()));
        // Relaxed: ordered by the lock under which the event happens.
        self.any.store(true, Ordering::Relaxed);
        Registration::new(Arc::clone(self) as _, id)
    }

    /// Wakes all. The caller holds no lock: a waker may run whatever waited.
    pub(crate) fn wake_all(&self) {
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
        let mut waiting = self.lock();
        self.any.store(false, Ordering::Relaxed);
        let woken = mem::take(&mut *waiting);
        drop(waiting);
        woken.into_iter().for_each(|(_, waker)| waker.wake());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Waker)>> {
        // The list is whole after every statement.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingPlace for WakerList {
    fn leave(&self, id: u64) {
        let mut waiting = self.lock();
        let left = waiting.iter().position(|(other, _)| *other == id).map(|at| waiting.swap_remove(at));
        drop(waiting);
        // Without the lock: dropping a waker may drop what waited, and its registrations.
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::atomic::AtomicUsize, task::Wake};

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn who_waits_is_woken_once_and_who_left_is_not() {
        let (count, list) = (Arc::new(Count::default()), Arc::new(WakerList::default()));
        let waker = Waker::from(Arc::clone(&count));
        let (stays, leaves) = (list.enter(&waker), list.enter(&waker));
        drop(leaves);
        list.wake_all();
        list.wake_all();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        drop((stays, waker));
        assert_eq!(Arc::strong_count(&count), 1, "nobody keeps a waker");
    }
}
