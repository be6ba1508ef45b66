//! The writer: from the root down, each thing after the reference to it, so that a reference is filled in when its
//! target is written and nothing has to be kept on a stack.

use std::collections::HashMap;

use super::Number;

/// A reference that has its place in the buffer and waits for its target.
#[derive(Clone, Copy, Debug)]
#[must_use = "a reference without a target points to itself"]
pub(crate) struct Place(usize);

/// The fields of one table, in any order, before they are written.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    fields: Vec<DraftField>,
}

#[derive(Debug)]
struct DraftField {
    slot: u16,
    size: usize,
    /// `None` for a reference.
    number: Option<[u8; 8]>,
}

impl Draft {
    /// A table without fields.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a number; one that has the default's bits stays away.
    pub(crate) fn number<N: Number>(&mut self, slot: u16, value: N, default: N) {
        if value.to_array() != default.to_array() {
            self.fields.push(DraftField { slot, size: N::SIZE, number: Some(value.to_array()) });
        }
    }

    /// Adds a boolean whose default is false.
    pub(crate) fn flag(&mut self, slot: u16, value: bool) {
        self.number(slot, u8::from(value), 0);
    }

    /// Adds a reference; the target is written after the table.
    pub(crate) fn reference(&mut self, slot: u16) {
        self.fields.push(DraftField { slot, size: 4, number: None });
    }

    /// The vtable, and the fields with their offsets in the table: the largest first, so that no gaps arise.
    fn layout(mut self) -> (Vec<u8>, Vec<(u16, DraftField)>) {
        self.fields.sort_by_key(|field| (std::cmp::Reverse(field.size), field.slot));
        let slots = self.fields.iter().map(|field| usize::from(field.slot) + 1).max().unwrap_or(0);
        let mut vtable = vec![0; 4 + 2 * slots];
        let mut end: u16 = 4;
        let mut placed = Vec::with_capacity(self.fields.len());
        for field in self.fields {
            let entry = 4 + 2 * usize::from(field.slot);
            vtable[entry..entry + 2].copy_from_slice(&end.to_le_bytes());
            let size = field.size as u16;
            placed.push((end, field));
            end += size;
        }
        let vtable_size = vtable.len() as u16;
        vtable[..2].copy_from_slice(&vtable_size.to_le_bytes());
        vtable[2..4].copy_from_slice(&end.to_le_bytes());
        (vtable, placed)
    }
}

/// A table in the buffer: where it stands, and its references by slot.
#[derive(Debug)]
pub(crate) struct Written {
    start: usize,
    places: Vec<(u16, Place)>,
}

impl Written {
    /// The reference that the draft reserved for a slot.
    pub(crate) fn place(&self, slot: u16) -> Place {
        let found = self.places.iter().find(|(of, _)| *of == slot);
        found.expect("the draft reserved this slot").1
    }
}

/// A buffer that grows from its root down.
#[derive(Debug)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    /// Vtables that were written already: equal ones are shared.
    vtables: HashMap<Vec<u8>, usize>,
}

impl Writer {
    /// An empty buffer, and the reference to its root.
    pub(crate) fn new(identifier: &[u8; 4]) -> (Self, Place) {
        let mut bytes = vec![0; 4];
        bytes.extend_from_slice(identifier);
        (Self { bytes, vtables: HashMap::new() }, Place(0))
    }

    /// The finished buffer.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        // Readers in other languages expect whole words at the end.
        self.align(0, 4);
        self.bytes
    }

    /// Writes a table.
    pub(crate) fn table(&mut self, place: Place, draft: Draft) -> Written {
        let (vtable, fields) = draft.layout();
        let vtable_at = self.vtable(vtable);
        let widest = fields.first().map_or(4, |(_, field)| field.size.max(4));
        // The first field stands four bytes into the table, and is the widest.
        self.align(4, widest);
        let start = self.bytes.len();
        let back = (start - vtable_at) as u32;
        self.bytes.extend_from_slice(&back.to_le_bytes());
        let mut places = Vec::new();
        for (offset, field) in fields {
            debug_assert_eq!(self.bytes.len(), start + usize::from(offset));
            if field.number.is_none() {
                places.push((field.slot, Place(self.bytes.len())));
            }
            self.bytes.extend_from_slice(&field.number.unwrap_or_default()[..field.size]);
        }
        self.fill(place, start);
        Written { start, places }
    }

    /// Makes a second reference to a table; it must stand before the table.
    pub(crate) fn refer(&mut self, place: Place, table: &Written) {
        self.fill(place, table.start);
    }

    /// Writes a string.
    pub(crate) fn string(&mut self, place: Place, text: &str) {
        self.length(place, text.len());
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }

    /// Writes a vector of references, and gives the references.
    pub(crate) fn references(&mut self, place: Place, len: usize) -> Vec<Place> {
        self.length(place, len);
        let start = self.bytes.len();
        self.bytes.resize(start + 4 * len, 0);
        (0..len).map(|index| Place(start + 4 * index)).collect()
    }

    /// Starts a string or a vector with its length.
    fn length(&mut self, place: Place, len: usize) {
        self.align(0, 4);
        self.fill(place, self.bytes.len());
        self.bytes.extend_from_slice(&word(len).to_le_bytes());
    }

    fn vtable(&mut self, vtable: Vec<u8>) -> usize {
        if let Some(&at) = self.vtables.get(&vtable) {
            return at;
        }
        self.align(0, 2);
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&vtable);
        self.vtables.insert(vtable, at);
        at
    }

    fn fill(&mut self, place: Place, target: usize) {
        debug_assert!(target > place.0, "references point forward");
        let distance = word(target - place.0);
        self.bytes[place.0..place.0 + 4].copy_from_slice(&distance.to_le_bytes());
    }

    /// Pads until what comes `ahead` bytes later is aligned.
    fn align(&mut self, ahead: usize, alignment: usize) {
        let end = (self.bytes.len() + ahead).next_multiple_of(alignment);
        self.bytes.resize(end - ahead, 0);
    }
}

/// A distance or a length: FlatBuffers end below 2 GiB, and a schema is made from source text.
fn word(value: usize) -> u32 {
    u32::try_from(value).expect("a schema of 4 GiB cannot be held in memory as a model")
}
