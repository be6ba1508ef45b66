//! Encoding forward into a slot.
//!
//! ```text
//! | root offset | identifier? | vtable | table | strings and vectors in field order, nested tables with theirs ...
//! ```
//!
//! The root stands at the slot's start, and a table is written before what it points to, so nothing is moved
//! afterwards. Writes past the end are dropped and counted: the encoder never fails half way and knows in the end
//! how many bytes it would have needed.

use super::{
    memory::bytes_of,
    spec::FieldSpec,
    verify::{MAX_BYTES, MAX_DEPTH, MAX_TABLES},
    wire::{Inline, Place},
};
use crate::error::Invalid;

/// Vtables remembered for sharing.
const RECENT: usize = 4;

/// Bytes that are cleared without a call: a gap before aligned elements, or a small table.
const SMALL_GAP: usize = 32;

/// Why a value was not encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The slot is too small.
    TooLarge {
        /// Bytes that the value needs.
        len: usize,
    },
    /// Every receiver would refuse it.
    Invalid(Invalid),
}

/// A vtable written before.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    at: u32,
    entries: u32,
    /// Set while measuring only, when there are no bytes to compare.
    hash: u64,
}

/// Writes one value into a slot.
#[derive(Debug)]
pub struct Encoder<'s> {
    slot: &'s mut [u8],
    at: usize,
    depth: u32,
    tables: u32,
    invalid: Option<Invalid>,
    measuring: bool,
    recent: [Recent; RECENT],
    next_recent: usize,
}

impl<'s> Encoder<'s> {
    pub(crate) fn new(slot: &'s mut [u8]) -> Self {
        Self {
            slot,
            at: 0,
            depth: 0,
            tables: 0,
            invalid: None,
            measuring: false,
            recent: [Recent::default(); RECENT],
            next_recent: 0,
        }
    }

    /// Writes nothing and counts what would be written.
    pub(crate) fn measure() -> Encoder<'static> {
        Encoder { measuring: true, ..Encoder::new(&mut []) }
    }

    /// Bytes written, or why they are no message.
    #[inline]
    pub(crate) fn finish(&self) -> Result<usize, Refused> {
        if let Some(invalid) = self.invalid {
            return Err(Refused::Invalid(invalid));
        }
        if self.at > self.slot.len().min(MAX_BYTES) {
            return Err(Refused::TooLarge { len: self.at });
        }
        Ok(self.at)
    }

    /// Bytes counted so far.
    pub(crate) fn len(&self) -> usize {
        self.at
    }

    /// Writes at a position that was counted before.
    #[inline]
    pub(super) fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(to) = self.slot.get_mut(at..at + bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }

    /// Writes at the end.
    #[inline]
    pub(super) fn append(&mut self, bytes: &[u8]) {
        if let Some(room) = self.room(bytes.len()) {
            copy(room, bytes);
        }
    }

    /// Room for `len` bytes at the end, to be filled by the caller; `None` when the slot is too small.
    #[inline]
    pub(super) fn room(&mut self, len: usize) -> Option<&mut [u8]> {
        let at = self.at;
        self.at += len;
        self.slot.get_mut(at..at + len)
    }

    /// Fills with zeros up to `to`.
    ///
    /// Most gaps have a few bytes, for which a call to clear them would cost more than all else. They are cleared by
    /// a fixed number of bytes: what stands behind `to` has not been written yet.
    #[inline]
    fn zero_up_to(&mut self, to: usize) {
        let at = self.at;
        self.at = to;
        if to - at <= SMALL_GAP
            && let Some(gap) = self.slot.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<SMALL_GAP>)
        {
            *gap = [0; SMALL_GAP];
        } else {
            self.zero(at, to);
        }
    }

    #[inline(never)]
    fn zero(&mut self, at: usize, to: usize) {
        if let Some(gap) = self.slot.get_mut(at..to) {
            gap.fill(0);
        }
    }

    /// Makes the offset at `place` point to the end.
    #[inline]
    fn point_here(&mut self, place: Place) {
        let offset = (self.at - place.at) as u32;
        self.put(place.at, &offset.to_le_bytes());
    }

    /// Writes a vector's length so that its elements stand aligned.
    #[inline]
    pub(super) fn vector_header(&mut self, place: Place, len: usize, align: usize) {
        let at = self.at;
        let elements = (at + 4).next_multiple_of(align.max(4));
        let header = elements - 4;
        if header - at < 4
            && let Some(room) = self.slot.get_mut(at..).and_then(<[u8]>::first_chunk_mut)
        {
            // A short gap and the length in one go, with zeros where the first elements will be written.
            *room = (u64::from(len as u32) << (8 * (header - at))).to_le_bytes();
        } else {
            self.zero_up_to(header);
            self.put(header, &(len as u32).to_le_bytes());
        }
        self.at = header;
        self.point_here(place);
        self.at = elements;
    }

    /// Fills up to where a vector would start whose elements stand at a multiple of `align`.
    pub(super) fn align_elements(&mut self, align: usize) {
        self.zero_up_to((self.at + 4).next_multiple_of(align.max(4)) - 4);
    }

    /// A vector of zeroed elements; gives the position of the first.
    pub(super) fn start_vector(&mut self, place: Place, len: usize, element: Inline) -> usize {
        self.vector_header(place, len, element.align);
        let start = self.at;
        self.zero_up_to(start + len * element.size);
        start
    }

    /// A zeroed value to which the offset at `place` points; gives its position.
    pub(super) fn start_value(&mut self, place: Place, value: Inline) -> usize {
        self.zero_up_to(self.at.next_multiple_of(value.align));
        self.point_here(place);
        let start = self.at;
        self.zero_up_to(start + value.size);
        start
    }

    #[inline]
    pub(super) fn string(&mut self, place: Place, text: &str) {
        self.vector_header(place, text.len(), 1);
        if let Some((end, room)) = self.room(text.len() + 1).and_then(<[u8]>::split_last_mut) {
            copy(room, text.as_bytes());
            *end = 0;
        }
    }

    /// What is written is no message.
    #[cold]
    pub(super) fn refuse(&mut self, invalid: Invalid) {
        self.invalid = Some(invalid);
    }

    /// Reserves the root's offset and writes the identifier behind it.
    #[inline]
    pub(super) fn start_root(&mut self, identifier: Option<[u8; 4]>) {
        self.append(&[0; 4]);
        if let Some(identifier) = identifier {
            self.append(&identifier);
        }
    }

    /// Starts a table of zeros to which the offset at `place` points; `None` when receivers would refuse it.
    ///
    /// Every table that is opened is closed with [`close_table`](Self::close_table).
    pub fn open_table(&mut self, place: Place, vtable: &[u16], align: usize) -> Option<TableWriter> {
        if self.depth == MAX_DEPTH {
            self.invalid = Some(Invalid::TooDeep);
        }
        if self.tables == MAX_TABLES {
            self.invalid = Some(Invalid::TooManyTables);
        }
        if self.invalid.is_some() {
            return None;
        }
        self.depth += 1;
        self.tables += 1;
        let vtable_at = self.vtable(vtable);
        // Four bytes before an aligned position: the widest fields follow the offset to the vtable.
        let at = (self.at + 4).next_multiple_of(align) - 4;
        let size = vtable.get(1).map_or(4, |size| usize::from(*size));
        self.zero_up_to(at + size);
        let (offset, back) = ((at - place.at) as u32, (at as i64 - vtable_at as i64) as i32);
        self.put(place.at, &offset.to_le_bytes());
        self.put(at, &back.to_le_bytes());
        Some(TableWriter { at })
    }

    /// Ends the table opened last.
    #[inline]
    pub fn close_table(&mut self) {
        self.depth -= 1;
    }

    /// The position of such a vtable: an earlier one, or a new one at the end.
    fn vtable(&mut self, vtable: &[u16]) -> usize {
        let hash = if self.measuring { hash(vtable) } else { 0 };
        let same = |recent: &&Recent| {
            recent.entries as usize == vtable.len()
                && if self.measuring {
                    recent.hash == hash
                } else {
                    self.has_vtable(recent.at as usize, vtable)
                }
        };
        if let Some(recent) = self.recent.iter().take(self.next_recent).find(same) {
            return recent.at as usize;
        }
        if !self.at.is_multiple_of(2) {
            self.zero_up_to(self.at + 1);
        }
        let at = self.at;
        self.append(bytes_of(vtable));
        self.recent[self.next_recent % RECENT] = Recent { at: at as u32, entries: vtable.len() as u32, hash };
        self.next_recent += 1;
        at
    }

    fn has_vtable(&self, at: usize, vtable: &[u16]) -> bool {
        self.slot.get(at..at + vtable.len() * 2).is_some_and(|bytes| {
            bytes.chunks_exact(2).zip(vtable).all(|(bytes, entry)| bytes == entry.to_le_bytes())
        })
    }
}

/// Copies between slices of one length. Most texts are short, and a call to copy one costs more than the copy: its two
/// halves overlap instead.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    match from.len() {
        8..=16 => copy_ends::<8>(to, from),
        17..=32 => copy_ends::<16>(to, from),
        _ => to.copy_from_slice(from),
    }
}

#[inline]
fn copy_ends<const HALF: usize>(to: &mut [u8], from: &[u8]) {
    if let Some((to, from)) = to.first_chunk_mut::<HALF>().zip(from.first_chunk()) {
        *to = *from;
    }
    if let Some((to, from)) = to.last_chunk_mut::<HALF>().zip(from.last_chunk()) {
        *to = *from;
    }
}

/// FNV-1a over the entries.
#[cold]
fn hash(vtable: &[u16]) -> u64 {
    vtable
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, entry| (hash ^ u64::from(*entry)).wrapping_mul(0x100_0000_01b3))
}

/// A table whose fields are being written.
#[derive(Clone, Copy, Debug)]
pub struct TableWriter {
    at: usize,
}

impl TableWriter {
    /// Where a field goes; `None` when the vtable leaves it out.
    #[inline]
    pub fn place(&self, vtable: &[u16], field: &FieldSpec) -> Option<Place> {
        let entry = usize::from(field.slot / 2);
        let offset = |entry: usize| vtable.get(entry).map_or(0, |offset| usize::from(*offset));
        match offset(entry) {
            0 => None,
            value => {
                let tag = if field.slots == 2 { self.at + offset(entry - 1) } else { 0 };
                Some(Place { at: self.at + value, tag })
            }
        }
    }
}
