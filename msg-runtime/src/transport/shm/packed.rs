//! Compressed payloads in slots: encoded beside the slot and compressed into it; decompressed into a buffer of our own.
//!
//! The ring carries the header byte beside the payload and knows nothing of this.

use super::{Payload, Wait, send, take};
use crate::{
    AlignedBuffer,
    compression::{Compressor, Decompressor},
    endpoint::Compression,
    error::{BadFrame, Error, SendError},
    frame::Codec,
    shm::{self, Options, ShmPublisher, ShmSample, ShmSubscriber},
    transport::{
        Origin,
        pool::{Pool, Pooled},
    },
};
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// A publisher that compresses.
#[derive(Debug)]
pub(super) struct PackedPublisher {
    pub(super) ring: ShmPublisher,
    compression: Compression,
    packers: Arc<Pool<Packer>>,
    /// Bytes that the payloads had more than what was sent.
    saved: AtomicU64,
}

/// What a loan needs for itself, so that threads compress at the same time.
struct Packer {
    compressor: Compressor,
    payload: AlignedBuffer,
}

impl Packer {
    fn new(compression: Compression) -> Result<Self, Error> {
        Ok(Self { compressor: Compressor::new(compression)?, payload: AlignedBuffer::zeroed(0) })
    }
}

impl PackedPublisher {
    /// # Errors
    ///
    /// As [`ShmPublisher::open`], and `Unsupported` if this build lacks the codec.
    pub(super) fn open(options: &Options, compression: Compression) -> Result<Self, Error> {
        let packers = Pool::of(Packer::new(compression)?);
        Ok(Self { ring: ShmPublisher::open(options)?, compression, packers, saved: AtomicU64::new(0) })
    }

    /// Lends a buffer, and has a slot for what becomes of it.
    pub(super) fn lend(&self, len: usize, wait: Wait) -> Result<PackedLoan<'_>, SendError> {
        // All of the slot: compressing is faster where even what does not shrink would fit.
        let slot = take(&self.ring, self.ring.slot_bytes().max(len), wait)?;
        let make =
            || Packer::new(self.compression).expect("this build had the codec when the first was made");
        let mut packer = self.packers.take(make);
        packer.payload.reserve(len);
        packer.payload.truncate(len);
        Ok(PackedLoan { slot, packer, saved: &self.saved })
    }

    pub(super) fn saved(&self) -> u64 {
        self.saved.load(Relaxed)
    }
}

/// A buffer lent for a payload, and the slot that it is compressed into.
#[derive(Debug)]
pub(crate) struct PackedLoan<'a> {
    slot: shm::Loan<'a>,
    packer: Pooled<Packer>,
    saved: &'a AtomicU64,
}

impl PackedLoan<'_> {
    pub(super) fn payload(&self) -> &[u8] {
        &self.packer.payload
    }

    pub(super) fn payload_mut(&mut self) -> &mut [u8] {
        self.packer.payload.as_mut_slice()
    }

    pub(super) fn origin(&mut self, origin: Option<Origin>) {
        if let Some(origin) = origin {
            self.slot.origin(origin.publisher, origin.sequence);
        }
    }

    pub(super) fn wake_nobody(&mut self) {
        self.slot.wake_nobody();
    }

    pub(super) fn send(mut self, len: usize, wait: Wait) -> Result<(), SendError> {
        let Packer { compressor, payload } = &mut *self.packer;
        payload.truncate(len);
        let (codec, packed) = compressor.compress(payload, &mut self.slot).unwrap_or_else(|| {
            self.slot[..payload.len()].copy_from_slice(payload);
            (Codec::None, payload.len())
        });
        self.slot.header_byte(codec.header());
        self.slot.truncate(packed);
        let saved = (payload.len() - packed) as u64;
        send(self.slot, wait)?;
        self.saved.fetch_add(saved, Relaxed);
        Ok(())
    }
}

/// What a slot held compressed, in a buffer that goes back when it is dropped.
pub(crate) type Unpacked = Pooled<AlignedBuffer>;

/// A subscriber that looks at each message for itself.
#[derive(Debug)]
pub(super) struct Unpacker {
    pub(super) ring: ShmSubscriber,
    decompressor: Mutex<Decompressor>,
    buffers: Arc<Pool<AlignedBuffer>>,
    /// Bytes that the payloads had more than what was received.
    gained: AtomicU64,
    /// Messages that were no frames.
    invalid: AtomicU64,
}

impl Unpacker {
    pub(super) fn new(ring: ShmSubscriber) -> Self {
        Self {
            ring,
            decompressor: Mutex::default(),
            buffers: Pool::of(AlignedBuffer::zeroed(0)),
            gained: AtomicU64::new(0),
            invalid: AtomicU64::new(0),
        }
    }

    /// The payload of a message: where it lies, or decompressed, with the slot let go.
    #[inline]
    pub(super) fn unpack(&self, sample: ShmSample) -> Result<Payload, BadFrame> {
        let unpacked = match Codec::from_header(sample.info().header_byte) {
            Ok(Codec::None) => return Ok(Payload::Slot(sample)),
            Ok(codec) => self.decompress(codec, &sample).map(Payload::Unpacked),
            Err(bad) => Err(bad),
        };
        unpacked.inspect_err(|_| {
            self.invalid.fetch_add(1, Relaxed);
        })
    }

    /// A message as it lies, and how it is compressed.
    pub(super) fn packed(&self, sample: ShmSample) -> Result<(Codec, Payload), BadFrame> {
        let codec = Codec::from_header(sample.info().header_byte).inspect_err(|_| {
            self.invalid.fetch_add(1, Relaxed);
        })?;
        Ok((codec, Payload::Slot(sample)))
    }

    fn decompress(&self, codec: Codec, body: &[u8]) -> Result<Unpacked, BadFrame> {
        // No publisher of this ring takes longer payloads.
        let len = Decompressor::decompressed_len(codec, body, self.ring.slot_bytes())?;
        let mut buffer = self.buffers.take(|| AlignedBuffer::zeroed(0));
        buffer.reserve(len);
        buffer.truncate(len);
        let mut decompressor = self.decompressor.lock().unwrap_or_else(PoisonError::into_inner);
        decompressor.decompress(codec, body, buffer.as_mut_slice())?;
        self.gained.fetch_add(len.saturating_sub(body.len()) as u64, Relaxed);
        Ok(buffer)
    }

    pub(super) fn invalid(&self) -> u64 {
        self.invalid.load(Relaxed)
    }

    pub(super) fn gained(&self) -> u64 {
        self.gained.load(Relaxed)
    }
}
