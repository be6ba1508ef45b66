//! Buffers that are used again, and bytes that several hold.

use crate::AlignedBuffer;
use std::{
    fmt, mem, ops,
    sync::{Arc, Mutex, PoisonError},
};

/// Buffers kept for later. More wait rarely: a handle has as many as it has messages under way.
const MOST_KEPT: usize = 16;
/// Bytes that may wait in all of them together.
const MOST_BYTES_KEPT: usize = 128 << 20;

/// Buffers that come back when their user drops them.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Mutex<Vec<AlignedBuffer>>,
}

impl Pool {
    /// A buffer that was used before, or an empty one.
    pub(crate) fn take(self: &Arc<Self>) -> Pooled {
        let buffer = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let buffer = buffer.unwrap_or_else(|| AlignedBuffer::zeroed(0));
        Pooled { buffer, pool: Arc::clone(self) }
    }

    fn put(&self, buffer: AlignedBuffer) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: usize = free.iter().map(AlignedBuffer::capacity).sum();
        if free.len() < MOST_KEPT && bytes + buffer.capacity() <= MOST_BYTES_KEPT {
            free.push(buffer);
        }
    }
}

/// A buffer of a [`Pool`]; dropping it gives it back.
pub(crate) struct Pooled {
    buffer: AlignedBuffer,
    pool: Arc<Pool>,
}

impl ops::Deref for Pooled {
    type Target = AlignedBuffer;

    fn deref(&self) -> &AlignedBuffer {
        &self.buffer
    }
}

impl ops::DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut AlignedBuffer {
        &mut self.buffer
    }
}

impl AsRef<[u8]> for Pooled {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.pool.put(mem::replace(&mut self.buffer, AlignedBuffer::zeroed(0)));
    }
}

impl fmt::Debug for Pooled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.buffer.fmt(f)
    }
}

/// Bytes that do not change, with whatever they lie in. Cloning shares them.
#[derive(Clone)]
pub(crate) struct SharedBytes {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    start: usize,
    end: usize,
}

impl SharedBytes {
    /// All bytes of an owner, whose `as_ref` gives the same bytes each time.
    pub(crate) fn new(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let end = owner.as_ref().len();
        Self { owner: Arc::new(owner), start: 0, end }
    }

    /// Without the first `count` bytes.
    pub(crate) fn skip(mut self, count: usize) -> Self {
        self.start = self.end.min(self.start + count);
        self
    }
}

impl ops::Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // An owner that breaks its word gives no bytes rather than a panic.
        (*self.owner).as_ref().get(self.start..self.end).unwrap_or_default()
    }
}

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBytes").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_comes_back() {
        let pool = Arc::new(Pool::default());
        let mut buffer = pool.take();
        buffer.set(&[7; 1000]);
        let address = buffer.as_ptr();
        let shared = SharedBytes::new(buffer).skip(1);
        let other = shared.clone();
        assert_eq!((shared.len(), other[998]), (999, 7));
        drop(shared);
        drop(other);
        assert_eq!(pool.take().reserve(1).as_ptr(), address);
    }

    #[test]
    fn skipping_more_than_there_is_leaves_nothing() {
        assert!(SharedBytes::new([1, 2, 3]).skip(4).is_empty());
    }
}
