//! What is costly to make and comes back after use.

use std::{
    fmt, ops,
    sync::{Arc, Mutex, PoisonError},
};

/// Things kept for later. More wait rarely: a handle has as many as it has messages under way.
const MOST_KEPT: usize = 16;

/// Things that come back when their user drops them.
pub(crate) struct Pool<T> {
    free: Mutex<Vec<T>>,
}

impl<T> Pool<T> {
    /// Holding this one.
    pub(crate) fn of(first: T) -> Arc<Self> {
        Arc::new(Self { free: Mutex::new(vec![first]) })
    }

    /// One that was used before, or a new one.
    pub(crate) fn take(self: &Arc<Self>, make: impl FnOnce() -> T) -> Pooled<T> {
        let used = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Pooled { thing: Some(used.unwrap_or_else(make)), pool: Arc::clone(self) }
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

/// A thing of a [`Pool`]; dropping it gives it back.
pub(crate) struct Pooled<T> {
    /// `None` once it went back.
    thing: Option<T>,
    pool: Arc<Pool<T>>,
}

const TAKEN: &str = "only dropping takes it, and ends with it";

impl<T> ops::Deref for Pooled<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing.as_ref().expect(TAKEN)
    }
}

impl<T> ops::DerefMut for Pooled<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing.as_mut().expect(TAKEN)
    }
}

impl<T> Drop for Pooled<T> {
    fn drop(&mut self) {
        let mut free = self.pool.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < MOST_KEPT {
            free.extend(self.thing.take());
        }
    }
}

impl<T> fmt::Debug for Pooled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pooled").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_is_used_again() {
        let pool = Pool::of(1);
        let (first, second) = (pool.take(|| 2), pool.take(|| 2));
        assert_eq!((*first, *second), (1, 2));
        drop(first);
        assert_eq!(*pool.take(|| 3), 1);
        drop(second);
        let many: Vec<_> = (0..2 * MOST_KEPT).map(|_| pool.take(|| 4)).collect();
        drop(many);
        assert_eq!(pool.free.lock().unwrap().len(), MOST_KEPT);
    }
}
