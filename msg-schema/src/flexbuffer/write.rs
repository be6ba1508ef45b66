//! A tree to bytes: what is referred to before what refers to it, each vector in the least width that holds its values.

use super::{Flex, kind};

/// The bytes of a value.
pub(crate) fn write(value: &Flex<'_>) -> Vec<u8> {
    let mut writer = Writer { bytes: Vec::new() };
    let root = writer.value(value);
    let width = writer.width(&root, 0);
    writer.align(width);
    writer.put(&root, width);
    writer.bytes.extend([root.packed(width), width as u8]);
    writer.bytes
}

/// A value that is ready to be written into a vector, or as the root.
#[derive(Clone, Copy)]
struct Stored {
    kind: u8,
    content: Content,
    /// Bytes of each value in what it refers to.
    inner_width: usize,
}

#[derive(Clone, Copy)]
enum Content {
    Signed(i64),
    Unsigned(u64),
    Real(f64),
    /// It stands there.
    At(usize),
}

impl Stored {
    fn inline(kind: u8, content: Content) -> Self {
        Self { kind, content, inner_width: 1 }
    }

    /// The byte of its type, in a vector of that width.
    fn packed(&self, width: usize) -> u8 {
        let width = if matches!(self.content, Content::At(_)) { self.inner_width } else { width };
        self.kind << 2 | width.trailing_zeros() as u8
    }
}

struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn value(&mut self, value: &Flex<'_>) -> Stored {
        match value {
            Flex::Null => Stored::inline(kind::NULL, Content::Unsigned(0)),
            Flex::Bool(value) => Stored::inline(kind::BOOL, Content::Unsigned((*value).into())),
            Flex::Integer(number) => Stored::inline(kind::INT, Content::Signed(*number)),
            Flex::Unsigned(number) => Stored::inline(kind::UINT, Content::Unsigned(*number)),
            Flex::Real(number) => Stored::inline(kind::FLOAT, Content::Real(*number)),
            Flex::Text(text) => {
                let stored = self.counted(kind::STRING, text.as_bytes());
                self.bytes.push(0);
                stored
            }
            Flex::Blob(bytes) => self.counted(kind::BLOB, bytes),
            Flex::List(values) => {
                let stored: Vec<Stored> = values.iter().map(|value| self.value(value)).collect();
                self.vector(kind::VECTOR, &stored, None)
            }
            Flex::Map(entries) => self.map(entries),
        }
    }

    fn map(&mut self, entries: &[(&str, Flex<'_>)]) -> Stored {
        // Readers search by halves.
        let mut entries: Vec<_> = entries.iter().collect();
        entries.sort_by_key(|(key, _)| key.as_bytes());
        let keys: Vec<Stored> = entries.iter().map(|(key, _)| self.key(key)).collect();
        let values: Vec<Stored> = entries.iter().map(|(_, value)| self.value(value)).collect();
        let keys = self.vector(kind::VECTOR_KEY, &keys, None);
        self.vector(kind::MAP, &values, Some(keys))
    }

    fn key(&mut self, key: &str) -> Stored {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.push(0);
        Stored { kind: kind::KEY, content: Content::At(at), inner_width: 1 }
    }

    fn counted(&mut self, kind: u8, bytes: &[u8]) -> Stored {
        let width = unsigned_width(bytes.len() as u64);
        self.align(width);
        self.number(bytes.len() as u64, width);
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        Stored { kind, content: Content::At(at), inner_width: width }
    }

    /// `| keys, and their width | length | elements | types |`; the keys of maps only, the types if they may differ.
    fn vector(&mut self, kind: u8, elements: &[Stored], keys: Option<Stored>) -> Stored {
        let before = if keys.is_some() { 3 } else { 1 };
        let widths = elements.iter().enumerate().map(|(index, element)| self.width(element, index + before));
        let keys_width = keys.as_ref().map_or(1, |keys| self.width(keys, 0));
        let width = widths.max().unwrap_or(1).max(unsigned_width(elements.len() as u64)).max(keys_width);
        self.align(width);
        if let Some(keys) = keys {
            self.put(&keys, width);
            self.number(keys.inner_width as u64, width);
        }
        self.number(elements.len() as u64, width);
        let at = self.bytes.len();
        elements.iter().for_each(|element| self.put(element, width));
        if kind != kind::VECTOR_KEY {
            self.bytes.extend(elements.iter().map(|element| element.packed(width)));
        }
        Stored { kind, content: Content::At(at), inner_width: width }
    }

    /// The least width in which a value can stand at a place of the vector that is written next.
    fn width(&self, stored: &Stored, index: usize) -> usize {
        match stored.content {
            Content::Signed(number) => signed_width(number),
            Content::Unsigned(number) => unsigned_width(number),
            Content::Real(number) if f64::from(number as f32).to_bits() == number.to_bits() => 4,
            Content::Real(_) => 8,
            Content::At(at) => {
                let fits = |width: &usize| {
                    let place = self.bytes.len().next_multiple_of(*width) + index * width;
                    unsigned_width((place - at) as u64) <= *width
                };
                [1, 2, 4].into_iter().find(fits).unwrap_or(8)
            }
        }
    }

    fn put(&mut self, stored: &Stored, width: usize) {
        match stored.content {
            Content::Signed(number) => self.number(number as u64, width),
            Content::Unsigned(number) => self.number(number, width),
            Content::Real(number) if width == 4 => self.number((number as f32).to_bits().into(), width),
            Content::Real(number) => self.number(number.to_bits(), width),
            Content::At(at) => self.number((self.bytes.len() - at) as u64, width),
        }
    }

    fn number(&mut self, number: u64, width: usize) {
        self.bytes.extend_from_slice(&number.to_le_bytes()[..width]);
    }

    fn align(&mut self, width: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(width), 0);
    }
}

fn unsigned_width(number: u64) -> usize {
    match number {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

fn signed_width(number: i64) -> usize {
    match number {
        -0x80..=0x7f => 1,
        -0x8000..=0x7fff => 2,
        -0x8000_0000..=0x7fff_ffff => 4,
        _ => 8,
    }
}
