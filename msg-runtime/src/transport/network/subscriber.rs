//! A subscriber's link over a network: takes frames out of the queue and makes payloads of them.

use super::{
    super::{self as transport, Info, Registration, Sent, SubscriberLink, Wait},
    Inlet,
    inbox::{Arrival, Inbox, Nothing},
    monitor::Monitor,
    pool::{Pool, Pooled, SharedBytes},
};
use crate::{
    compression::Decompressor,
    error::{RecvError, TryRecvError},
    frame::{self, BadFrame, Codec},
    stats::Stats,
};
use std::{
    ops,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Waker,
    time::Instant,
};

#[derive(Debug)]
pub(crate) struct NetworkSubscriber {
    /// Keeps the client receiving. Dropped first: nothing fills the queue of nobody.
    _inlet: Box<dyn Inlet>,
    inbox: Arc<Inbox>,
    monitor: Arc<Monitor>,
    /// Largest payload.
    max_bytes: usize,
    decompressor: Mutex<Decompressor>,
    buffers: Arc<Pool>,
    messages: AtomicU64,
    bytes: AtomicU64,
    invalid: AtomicU64,
}

impl NetworkSubscriber {
    pub(crate) fn new(
        inlet: Box<dyn Inlet>,
        inbox: Arc<Inbox>,
        monitor: Arc<Monitor>,
        max_bytes: usize,
    ) -> Self {
        Self {
            _inlet: inlet,
            inbox,
            monitor,
            max_bytes,
            decompressor: Mutex::default(),
            buffers: Arc::default(),
            messages: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            invalid: AtomicU64::new(0),
        }
    }

    fn received(&self, arrival: Arrival) -> Result<(transport::Payload, Info), RecvError> {
        let payload = self.payload(arrival.frame).map_err(|bad| {
            self.invalid.fetch_add(1, Ordering::Relaxed);
            RecvError::Invalid(bad.into())
        })?;
        // Counts, read by themselves.
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(payload.len() as u64, Ordering::Relaxed);
        let info = Info {
            sequence: arrival.stamp.map(|stamp| stamp.sequence),
            publisher: arrival.stamp.map(|stamp| stamp.publisher),
            lost: arrival.stamp.is_some().then_some(arrival.lost),
            sent: arrival.stamp.map(Sent::Stamp),
        };
        Ok((transport::Payload::Buffer(payload), info))
    }

    fn payload(&self, frame: SharedBytes) -> Result<Payload, BadFrame> {
        let (codec, body) = frame::split(&frame)?;
        let len = Decompressor::decompressed_len(codec, body, self.max_bytes)?;
        if codec == Codec::None {
            return Ok(Payload::Shared(frame.skip(1)));
        }
        let mut buffer = self.buffers.take();
        buffer.reserve(len);
        buffer.truncate(len);
        let mut decompressor = self.decompressor.lock().unwrap_or_else(PoisonError::into_inner);
        decompressor.decompress(codec, body, buffer.as_mut_slice())?;
        Ok(Payload::Own(buffer))
    }
}

impl SubscriberLink for NetworkSubscriber {
    fn recv(&self, wait: Wait) -> Result<(transport::Payload, Info), RecvError> {
        let arrival = match wait {
            Wait::No | Wait::Again => self.inbox.try_pop(),
            Wait::AtMost(timeout) => self.inbox.pop(Instant::now().checked_add(timeout)),
            Wait::Default => self.inbox.pop(None),
        };
        self.received(arrival.map_err(nothing)?)
    }

    fn latest(&self) -> Result<(transport::Payload, Info), TryRecvError> {
        let newest = self.inbox.pop_newest().map_err(nothing).map_err(TryRecvError::from)?;
        self.received(newest).map_err(TryRecvError::from)
    }

    fn aligned(&self, payload: transport::Payload) -> transport::Payload {
        let mut buffer = self.buffers.take();
        buffer.set(&payload);
        transport::Payload::Buffer(Payload::Own(buffer))
    }

    fn watch(&self, waker: &Waker) -> Registration {
        self.inbox.watch(waker)
    }

    fn interrupt(&self) {
        self.inbox.interrupt();
    }

    fn stats(&self) -> Stats {
        let (lost, late, queued) = self.inbox.counts();
        let mut stats = Stats {
            messages: self.messages.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            invalid: self.invalid.load(Ordering::Relaxed),
            lost,
            late,
            queued,
            ..Stats::default()
        };
        self.monitor.add_to(&mut stats);
        stats
    }

    fn last_error(&self) -> Option<String> {
        self.monitor.last_error()
    }
}

impl Drop for NetworkSubscriber {
    /// A reader that waits for room in the queue goes on, and ends.
    fn drop(&mut self) {
        self.inbox.close();
    }
}

fn nothing(nothing: Nothing) -> RecvError {
    match nothing {
        Nothing::Empty => RecvError::Timeout,
        Nothing::Closed => RecvError::Disconnected,
    }
}

/// A payload where the client has put it, or in a buffer of ours.
#[derive(Debug)]
pub(crate) enum Payload {
    Shared(SharedBytes),
    Own(Pooled),
}

impl ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Own(buffer) => buffer,
        }
    }
}
