//! A ring that is mapped: the words of its two files, for as long as somebody uses them.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use super::file::{self, Mapping};
use super::layout::{DataLayout, PublisherRecord, Readers, SlotRecord};
use super::options::Description;
use super::participant::Membership;
use super::ring::Ring;
use super::segment::{Header, SegmentId};
use super::sync::{AtomicU64, Ordering};
use crate::error::{Error, ErrorKind};

/// A mapped ring and the place that its user has in it.
#[derive(Debug)]
pub(super) struct Attachment {
    /// First: it borrows from the two mappings, which `data` and `membership` own.
    ring: Ring<'static>,
    records: &'static [SlotRecord],
    publishers: &'static [PublisherRecord],
    pub(super) layout: DataLayout,
    /// How old what a subscriber has not received may be when the ring is full.
    pub(super) evict: Option<Duration>,
    pub(super) description: Description,
    pub(super) segment: SegmentId,
    /// Which file `data` maps.
    pub(super) identity: (u64, u64),
    data: Mapping,
    pub(super) membership: Arc<Membership>,
}

/// Gives words of a mapping the lifetime of the attachment that owns the mapping.
///
/// # Safety
/// The result must not be used after the mapping is gone.
unsafe fn detach<T>(words: &[T]) -> &'static [T] {
    // SAFETY: the same slice; the caller sees to its life.
    unsafe { &*std::ptr::from_ref(words) }
}

impl Attachment {
    pub(super) fn new(membership: Arc<Membership>, file: &File, header: Header) -> Result<Self, Error> {
        let (names, layout) = (&membership.names, header.layout);
        let access = membership.role.access();
        let failed = |error| names.io_error("map", &names.data, error);
        let identity = file::identity(&file.metadata().map_err(failed)?);
        let data = Mapping::new(file, layout.file_bytes, access).map_err(failed)?;
        let slots = layout.geometry.slots;
        // SAFETY: MAPPED (shm/mod.rs): kept beside both mappings, dropped before them, lent only with `self`'s life.
        let readers = &unsafe { detach(std::slice::from_ref(membership.readers())) }[0];
        // SAFETY: MAPPED.
        let tail = &unsafe { detach(data.words::<AtomicU64>(layout.header_bytes, 1)) }[0];
        let ring = Ring {
            tail,
            // SAFETY: MAPPED.
            entries: unsafe { detach(data.words(layout.ring, layout.entries)) },
            // SAFETY: MAPPED.
            slots: unsafe { detach(data.words(layout.slot_words, slots)) },
            states: &readers.states,
            readers: &readers.records,
            pinners: &readers.flags.pinners,
            #[cfg(any(loom, shuttle, seeded))]
            faults: &[],
        };
        // SAFETY: MAPPED.
        let records = unsafe { detach(data.words(layout.slot_records, slots)) };
        // SAFETY: MAPPED.
        let publishers = unsafe { detach(data.words(layout.publishers, super::layout::MAX_PER_KIND)) };
        let Header { segment, evict, description, .. } = header;
        Ok(Self {
            ring,
            records,
            publishers,
            layout,
            evict,
            description,
            segment,
            identity,
            data,
            membership,
        })
    }

    #[inline]
    pub(super) fn ring(&self) -> &Ring<'_> {
        &self.ring
    }

    /// A number that no other ring has.
    pub(super) fn id(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.segment;
        u64::from_ne_bytes([a, b, c, d, e, f, g, h])
    }

    #[inline]
    pub(super) fn record(&self, slot: usize) -> &SlotRecord {
        &self.records[slot]
    }

    pub(super) fn publishers(&self) -> &[PublisherRecord] {
        self.publishers
    }

    /// Where some bytes of a slot's payload lie; the caller has checked that they are inside the slot.
    #[inline]
    pub(super) fn payload(&self, slot: usize, offset: usize, len: usize) -> std::ptr::NonNull<u8> {
        self.data.bytes(self.layout.payloads + slot * self.layout.stride + offset, len)
    }

    /// As `payload`, as words that others may be writing; the last one may go on behind the payload.
    pub(super) fn payload_words(&self, slot: usize, offset: usize, len: usize) -> &[AtomicU64] {
        self.data.words(self.layout.payloads + slot * self.layout.stride + offset, len.div_ceil(8))
    }

    pub(super) fn lock_memory(&self) -> Result<(), Error> {
        let bytes = self.layout.file_bytes + size_of::<Readers>();
        self.data.lock().and_then(|()| self.membership.lock_memory()).map_err(|error| {
            let text = format!(
                "{}: cannot lock {bytes} bytes of memory: raise the limit (`ulimit -l`, RLIMIT_MEMLOCK), allow \
                 CAP_IPC_LOCK, or leave out `lock=on`",
                self.membership.names.label
            );
            Error::new(ErrorKind::PermissionDenied, text).with_source(error)
        })
    }

    /// Whether the files have lost their names to something else than another data file that replaces ours, so that
    /// whoever comes now misses us.
    pub(super) fn is_cut_off(&self) -> bool {
        // In this order: a ring that gives way is sealed before it loses the name.
        self.membership.is_cut_off(self.identity) && !self.ring.is_sealed()
    }

    /// Tells the others, who may be looking elsewhere, that the files lost their names.
    pub(super) fn close(&self) {
        self.membership.readers().flags.closed.store(1, Ordering::Release);
        self.membership.wake_everybody();
    }

    /// Whether somebody found that the files have lost their names.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.membership.readers().flags.closed.load(Ordering::Relaxed) != 0
    }
}
