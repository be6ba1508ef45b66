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
    align: usize,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Reference,
    Number([u8; 8], usize),
    Structure(Vec<u8>),
}

impl Content {
    fn size(&self) -> usize {
        match self {
            Self::Reference => 4,
            Self::Number(_, size) => *size,
            Self::Structure(bytes) => bytes.len(),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Reference => &[0; 4],
            Self::Number(bytes, size) => &bytes[..*size],
            Self::Structure(bytes) => bytes,
        }
    }
}

impl Draft {
    /// A table without fields.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a number; one that has the default's bits stays away.
    pub(crate) fn number<N: Number>(&mut self, slot: u16, value: N, default: N) {
        if value.to_array() != default.to_array() {
            self.scalar(slot, value.to_array(), N::SIZE);
        }
    }

    /// Adds a number by its bytes, the first `size` of eight.
    pub(crate) fn scalar(&mut self, slot: u16, bytes: [u8; 8], size: usize) {
        self.fields.push(DraftField { slot, align: size, content: Content::Number(bytes, size) });
    }

    /// Adds a boolean whose default is false.
    pub(crate) fn flag(&mut self, slot: u16, value: bool) {
        self.number(slot, u8::from(value), 0);
    }

    /// Adds a struct, whose size is a multiple of its alignment.
    pub(crate) fn structure(&mut self, slot: u16, bytes: Vec<u8>, align: usize) {
        self.fields.push(DraftField { slot, align, content: Content::Structure(bytes) });
    }

    /// Adds a reference; the target is written after the table.
    pub(crate) fn reference(&mut self, slot: u16) {
        self.fields.push(DraftField { slot, align: 4, content: Content::Reference });
    }

    /// Whether table and vtable are small enough for the format's 16-bit sizes.
    pub(crate) fn fits(&self) -> bool {
        let bytes: usize = self.fields.iter().map(|field| field.content.size()).sum();
        let slots = self.fields.iter().map(|field| usize::from(field.slot) + 1).max().unwrap_or(0);
        4 + bytes <= usize::from(u16::MAX) && 4 + 2 * slots <= usize::from(u16::MAX)
    }

    /// The vtable, and the fields with their offsets in the table: the most aligned first, so that no gaps arise.
    fn layout(mut self) -> (Vec<u8>, Vec<(u16, DraftField)>) {
        self.fields.sort_by_key(|field| (std::cmp::Reverse(field.align), field.slot));
        let slots = self.fields.iter().map(|field| usize::from(field.slot) + 1).max().unwrap_or(0);
        let mut vtable = vec![0; 4 + 2 * slots];
        let mut end: u16 = 4;
        let mut placed = Vec::with_capacity(self.fields.len());
        for field in self.fields {
            let entry = 4 + 2 * usize::from(field.slot);
            vtable[entry..entry + 2].copy_from_slice(&end.to_le_bytes());
            let size = field.content.size() as u16;
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
    /// The greatest alignment that anything in it has.
    align: usize,
}

impl Writer {
    /// An empty buffer, and the reference to its root.
    pub(crate) fn new(identifier: Option<&[u8; 4]>) -> (Self, Place) {
        let mut bytes = vec![0; 4];
        bytes.extend_from_slice(identifier.map_or(&[], |identifier| identifier));
        (Self { bytes, vtables: HashMap::new(), align: 4 }, Place(0))
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What the buffer has to be aligned to where it lies.
    pub(crate) fn alignment(&self) -> usize {
        self.align
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
        let widest = fields.first().map_or(4, |(_, field)| field.align.max(4));
        // The first field stands four bytes into the table, and is the most aligned.
        self.align(4, widest);
        let start = self.bytes.len();
        let back = (start - vtable_at) as u32;
        self.bytes.extend_from_slice(&back.to_le_bytes());
        let mut places = Vec::new();
        for (offset, field) in fields {
            debug_assert_eq!(self.bytes.len(), start + usize::from(offset));
            if let Content::Reference = field.content {
                places.push((field.slot, Place(self.bytes.len())));
            }
            self.bytes.extend_from_slice(field.content.bytes());
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

    /// Makes the elements of the vector that is written next stand at a multiple of `align`.
    pub(crate) fn align_elements(&mut self, align: usize) {
        self.align(4, align.max(4));
    }

    /// Writes a vector whose elements stand in place, so many in these bytes.
    pub(crate) fn elements(&mut self, place: Place, len: usize, bytes: &[u8], align: usize) {
        self.align(4, align.max(4));
        self.fill(place, self.bytes.len());
        self.bytes.extend_from_slice(&word(len).to_le_bytes());
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes a struct that a reference leads to: a member of a union.
    pub(crate) fn structure(&mut self, place: Place, bytes: &[u8], align: usize) {
        self.align(0, align);
        self.fill(place, self.bytes.len());
        self.bytes.extend_from_slice(bytes);
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
        self.align = self.align.max(alignment);
        let end = (self.bytes.len() + ahead).next_multiple_of(alignment);
        self.bytes.resize(end - ahead, 0);
    }
}

/// A distance or a length: FlatBuffers end below 2 GiB. A schema is made from source text; what comes from JSON is counted.
fn word(value: usize) -> u32 {
    u32::try_from(value).expect("what is written comes from text or a model, both far below 4 GiB")
}
