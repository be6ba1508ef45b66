//! A publisher's link over a network: encodes nothing itself, lends a buffer, compresses, numbers, and hands frames to
//! the client.

use super::{
    super::{self as transport, Origin, Parcel, PublisherLink, Registration, Wait},
    Outlet,
    monitor::Monitor,
    pool::{Pool, Pooled, SharedBytes},
    stamp::{self, Stamp},
};
use crate::{
    compression::Compressor,
    endpoint::NetworkOptions,
    error::{FlushError, SendError, TrySendError},
    event::{DropCause, Event},
    frame::Codec,
    stats::Stats,
};
use std::{
    fmt, ops, process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Waker,
    time::{Duration, Instant},
};

/// Bytes before the payload in a lent buffer. The header byte is the last of them, so that a frame lies in one piece and
/// its payload is 64-byte aligned.
const HEADROOM: usize = 64;
/// A dropped publisher waits this long for a link that takes nothing of what it was given.
const LAST_FLUSH: Duration = Duration::from_secs(1);
/// And this long for one that still takes some.
const LONGEST_FLUSH: Duration = Duration::from_secs(10);

pub(crate) struct NetworkPublisher {
    outlet: Box<dyn Outlet>,
    monitor: Arc<Monitor>,
    options: NetworkOptions,
    buffers: Arc<Pool>,
    compressor: Mutex<Compressor>,
    compresses: bool,
    /// Who sends; `None` if messages go without stamps.
    id: Option<u64>,
    /// Held while the client takes a message, so that they go in this order.
    next: Mutex<Numbers>,
    bytes: AtomicU64,
    full: AtomicU64,
    /// Who has the client: a forked child's copy has none that works.
    process: u32,
}

#[derive(Debug, Default)]
struct Numbers {
    /// Of the next message of our own.
    sequence: u64,
    /// Taken by the client so far, those of others too.
    messages: u64,
}

impl NetworkPublisher {
    pub(crate) fn new(
        outlet: Box<dyn Outlet>,
        monitor: Arc<Monitor>,
        options: NetworkOptions,
        compressor: Compressor,
    ) -> Self {
        Self {
            outlet,
            monitor,
            buffers: Arc::default(),
            compresses: compressor.bound(1) > 0,
            compressor: Mutex::new(compressor),
            id: options.stamp.then(stamp::random),
            options,
            next: Mutex::default(),
            bytes: AtomicU64::new(0),
            full: AtomicU64::new(0),
            process: process::id(),
        }
    }

    fn is_copy(&self) -> bool {
        self.process != process::id()
    }

    /// Sends the frame in the buffer's bytes from `HEADROOM - 1` on.
    fn send(&self, mut buffer: Pooled, len: usize, wait: Wait) -> Result<(), SendError> {
        buffer.truncate(HEADROOM + len);
        self.send_frame(&self.frame(buffer), len, None, wait)
    }

    /// Sends a frame, which is of somebody else if its origin is given.
    fn send_frame(
        &self,
        frame: &SharedBytes,
        len: usize,
        origin: Option<Origin>,
        wait: Wait,
    ) -> Result<(), SendError> {
        let max = self.outlet.max_len();
        if frame.len() > max {
            return Err(SendError::TooLarge { len: frame.len() - 1, max: max - 1 });
        }
        let deadline = match wait {
            Wait::No | Wait::Again => None,
            Wait::AtMost(timeout) => Some(Instant::now() + timeout),
            Wait::Default => Some(Instant::now() + self.options.timeout),
        };
        let mut first = wait != Wait::Again;
        loop {
            match self.try_send(frame, origin) {
                Err(TrySendError::Full) => {}
                Err(error) => return Err(error.into()),
                Ok(()) => {
                    // Counts, read by themselves.
                    self.bytes.fetch_add(len as u64, Ordering::Relaxed);
                    return Ok(());
                }
            }
            if std::mem::take(&mut first) {
                self.full.fetch_add(1, Ordering::Relaxed);
            }
            match deadline {
                Some(deadline) if Instant::now() < deadline => {
                    self.outlet.wait_for_room(frame.len(), deadline)
                }
                _ => return Err(SendError::Timeout),
            }
        }
    }

    /// Numbers a frame and hands it to the client.
    fn try_send(&self, frame: &SharedBytes, origin: Option<Origin>) -> Result<(), TrySendError> {
        let mut next = lock(&self.next);
        let stamp = self.id.map(|publisher| match origin {
            Some(Origin { publisher, sequence, sent }) => Stamp { publisher, sequence, sent },
            None => Stamp { publisher, sequence: next.sequence, sent: stamp::now() },
        });
        self.outlet.try_send(frame, stamp)?;
        next.messages += 1;
        next.sequence += u64::from(origin.is_none());
        Ok(())
    }

    /// Header and payload, compressed if that makes it smaller.
    fn frame(&self, mut buffer: Pooled) -> SharedBytes {
        if let Some(compressed) = self.compressed(&buffer[HEADROOM..]) {
            return compressed;
        }
        buffer.as_mut_slice()[HEADROOM - 1] = Codec::None.header();
        SharedBytes::new(buffer).skip(HEADROOM - 1)
    }

    /// Header and compressed payload, unless that makes it no smaller.
    fn compressed(&self, payload: &[u8]) -> Option<SharedBytes> {
        if !self.compresses {
            return None;
        }
        let mut compressor = lock(&self.compressor);
        let mut compressed = self.buffers.take();
        let room = compressed.reserve(1 + compressor.bound(payload.len()));
        let (codec, len) = compressor.compress(payload, &mut room[1..])?;
        room[0] = codec.header();
        compressed.truncate(1 + len);
        Some(SharedBytes::new(compressed))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while a number was held changed nothing.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PublisherLink for NetworkPublisher {
    fn max_len(&self) -> usize {
        // How large a compressed payload is shows when it is compressed.
        if self.compresses {
            self.options.max_bytes
        } else {
            self.options.max_bytes.min(self.outlet.max_len() - 1)
        }
    }

    fn loan(&self, len: Option<usize>, wait: Wait) -> Result<transport::Loan<'_>, SendError> {
        if self.is_copy() {
            return Err(SendError::Forked);
        }
        let mut loan = Loan { link: self, buffer: self.buffers.take(), wait };
        let max = self.max_len();
        match len {
            Some(len) if len > max => return Err(SendError::TooLarge { len, max }),
            Some(len) => loan.resize(len),
            None => _ = loan.buffer.reserve(HEADROOM),
        }
        Ok(transport::Loan::Buffer(loan))
    }

    fn pass_on(&self, parcel: &Parcel, wait: Wait) -> Result<(), SendError> {
        let (len, max) = (parcel.payload_len(), self.options.max_bytes);
        if len > max {
            return Err(SendError::TooLarge { len, max });
        }
        let end = HEADROOM + parcel.body.len();
        let mut buffer = self.buffers.take();
        buffer.reserve(end)[HEADROOM..end].copy_from_slice(&parcel.body);
        buffer.truncate(end);
        let frame = match parcel.codec {
            Codec::None => self.frame(buffer),
            packed => {
                buffer.as_mut_slice()[HEADROOM - 1] = packed.header();
                SharedBytes::new(buffer).skip(HEADROOM - 1)
            }
        };
        self.send_frame(&frame, len, parcel.origin, wait)
    }

    fn watch(&self, waker: &Waker) -> Registration {
        self.outlet.watch(waker)
    }

    fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> Option<bool> {
        self.outlet.wait_for_subscribers(count, timeout)
    }

    fn flush(&self, timeout: Duration) -> Result<(), FlushError> {
        if self.is_copy() {
            return Err(FlushError::Timeout { unsent: 0 });
        }
        self.outlet.flush(Instant::now() + timeout)
    }

    fn tell(&self, event: &Event) {
        self.monitor.found(event);
    }

    fn stats(&self) -> Stats {
        let mut stats = Stats {
            messages: lock(&self.next).messages,
            bytes: self.bytes.load(Ordering::Relaxed),
            full: self.full.load(Ordering::Relaxed),
            queued: self.outlet.queued(),
            ..Stats::default()
        };
        self.monitor.add_to(&mut stats);
        stats
    }

    fn last_error(&self) -> Option<String> {
        self.monitor.last_error()
    }
}

impl Drop for NetworkPublisher {
    /// What the link does not take is dropped, counted and told.
    fn drop(&mut self) {
        if self.is_copy() {
            return;
        }
        let end = Instant::now() + LONGEST_FLUSH;
        let mut left = u64::MAX;
        while let Err(FlushError::Timeout { unsent }) =
            self.outlet.flush(end.min(Instant::now() + LAST_FLUSH))
        {
            if unsent >= left || Instant::now() >= end {
                return self.monitor.dropped(DropCause::Unsent, unsent);
            }
            left = unsent;
        }
    }
}

impl fmt::Debug for NetworkPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetworkPublisher")
            .field("outlet", &self.outlet)
            .field("monitor", &self.monitor)
            .finish_non_exhaustive()
    }
}

/// A lent buffer.
#[derive(Debug)]
pub(crate) struct Loan<'a> {
    link: &'a NetworkPublisher,
    buffer: Pooled,
    /// How long sending may wait.
    wait: Wait,
}

impl Loan<'_> {
    /// Makes room for `len` bytes, all zero.
    fn resize(&mut self, len: usize) {
        self.buffer.reserve(HEADROOM + len).fill(0);
        self.buffer.truncate(HEADROOM + len);
    }

    /// Makes room for a payload that turned out to have `len` bytes; false if no such payload can be sent.
    pub(crate) fn grow(&mut self, len: usize) -> bool {
        let fits = len <= self.link.max_len();
        if fits {
            self.buffer.reserve(HEADROOM + len);
        }
        fits
    }

    pub(crate) fn send(self, len: usize) -> Result<(), SendError> {
        self.link.send(self.buffer, len, self.wait)
    }
}

impl ops::Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[HEADROOM..]
    }
}

impl ops::DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut_slice()[HEADROOM..]
    }
}
