//! A subscriber's link over a network: takes frames out of the queue and makes payloads of them.

use super::{
    super::{self as transport, Info, Origin, Packing, Parcel, Registration, Sent, SubscriberLink, Wait},
    Inlet,
    inbox::{Arrival, Inbox, Nothing},
    monitor::Monitor,
    pool::{Pool, Pooled, SharedBytes},
};
use crate::{
    compression::Decompressor,
    error::{RecvError, TryRecvError},
    event::Event,
    frame::{self, BadFrame, Codec},
    stats::Stats,
};
use std::{
    ops, process,
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
    /// Who has the client: a forked child's copy has none that works.
    process: u32,
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
            process: process::id(),
        }
    }

    fn is_copy(&self) -> bool {
        self.process != process::id()
    }

    fn received(&self, arrival: Arrival) -> Result<(transport::Payload, Info), RecvError> {
        let payload = self.payload(arrival.frame).map_err(|bad| self.invalid(bad))?;
        self.count(payload.len());
        let info = Info {
            sequence: arrival.stamp.map(|stamp| stamp.sequence),
            publisher: arrival.stamp.map(|stamp| stamp.publisher),
            lost: arrival.stamp.is_some().then_some(arrival.lost),
            sent: arrival.stamp.map(Sent::Stamp),
        };
        Ok((transport::Payload::Buffer(payload), info))
    }

    fn arrival(&self, wait: Wait) -> Result<Arrival, RecvError> {
        if self.is_copy() {
            return Err(RecvError::Forked);
        }
        let arrival = match wait {
            Wait::No | Wait::Again => self.inbox.try_pop(),
            Wait::AtMost(timeout) => self.inbox.pop(Instant::now().checked_add(timeout)),
            Wait::Default => self.inbox.pop(None),
        };
        arrival.map_err(nothing)
    }

    fn count(&self, len: usize) {
        // Counts, read by themselves.
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(len as u64, Ordering::Relaxed);
    }

    fn invalid(&self, bad: BadFrame) -> RecvError {
        self.invalid.fetch_add(1, Ordering::Relaxed);
        RecvError::Invalid(bad.into())
    }

    /// How a frame is compressed, if its head makes sense.
    fn packed(&self, frame: &[u8]) -> Result<Codec, BadFrame> {
        let (codec, body) = frame::split(frame)?;
        Decompressor::decompressed_len(codec, body, self.max_bytes)?;
        Ok(codec)
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
        self.received(self.arrival(wait)?)
    }

    fn recv_parcel(&self, wait: Wait, packing: Packing) -> Result<Parcel, RecvError> {
        let arrival = self.arrival(wait)?;
        let origin = arrival.stamp.map(|stamp| Origin {
            publisher: stamp.publisher,
            sequence: stamp.sequence,
            sent: stamp.sent,
        });
        if packing == Packing::Unpacked {
            let (body, _) = self.received(arrival)?;
            return Ok(Parcel { codec: Codec::None, body, origin });
        }
        let codec = self.packed(&arrival.frame).map_err(|bad| self.invalid(bad))?;
        let body = arrival.frame.skip(1);
        self.count(body.len());
        Ok(Parcel { codec, body: transport::Payload::Buffer(Payload::Shared(body)), origin })
    }

    fn latest(&self) -> Result<(transport::Payload, Info), TryRecvError> {
        if self.is_copy() {
            return Err(TryRecvError::Forked);
        }
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

    fn tell(&self, event: &Event) {
        self.monitor.found(event);
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
        if !self.is_copy() {
            self.inbox.close();
        }
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
