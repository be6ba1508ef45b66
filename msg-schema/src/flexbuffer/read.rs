//! Bytes to a tree. Every step checks the bytes that it touches, and takes from a budget: a small buffer may refer to one
//! value from many places.

use super::{Flex, MAX_DEPTH, kind};

/// Values that may be read, beside one for each byte.
const BUDGET: usize = 1024;

/// The value in a buffer; `None` if it is no sound one.
pub(crate) fn read(bytes: &[u8]) -> Option<Flex<'_>> {
    let (width, packed) = (usize::from(*bytes.last()?), *bytes.get(bytes.len().checked_sub(2)?)?);
    let at = (bytes.len() - 2).checked_sub(width)?;
    let mut reader = Reader { bytes, left: bytes.len() + BUDGET };
    reader.value(Item { at, width, packed }, MAX_DEPTH)
}

/// Where a value stands, in how many bytes, and what its type's byte says.
#[derive(Clone, Copy)]
struct Item {
    at: usize,
    width: usize,
    packed: u8,
}

impl Item {
    fn kind(self) -> u8 {
        self.packed >> 2
    }

    /// Bytes of each value in what is referred to.
    fn inner_width(self) -> usize {
        1 << (self.packed & 3)
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    left: usize,
}

impl<'b> Reader<'b> {
    fn value(&mut self, item: Item, depth: u32) -> Option<Flex<'b>> {
        self.left = self.left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        Some(match item.kind() {
            kind::NULL => Flex::Null,
            kind::BOOL => Flex::Bool(self.unsigned(item.at, item.width)? != 0),
            kind::INT => Flex::Integer(self.signed(item.at, item.width)?),
            kind::UINT => Flex::Unsigned(self.unsigned(item.at, item.width)?),
            kind::FLOAT => Flex::Real(self.real(item.at, item.width)?),
            kind::INDIRECT_INT => Flex::Integer(self.signed(self.target(item)?, item.inner_width())?),
            kind::INDIRECT_UINT => Flex::Unsigned(self.unsigned(self.target(item)?, item.inner_width())?),
            kind::INDIRECT_FLOAT => Flex::Real(self.real(self.target(item)?, item.inner_width())?),
            kind::KEY => Flex::Text(self.key(self.target(item)?)?),
            kind::STRING => Flex::Text(std::str::from_utf8(self.counted(item)?).ok()?),
            kind::BLOB => Flex::Blob(self.counted(item)?),
            kind::MAP => self.map(item, depth)?,
            _ => Flex::List(self.list(item, depth)?),
        })
    }

    fn list(&mut self, item: Item, depth: u32) -> Option<Vec<Flex<'b>>> {
        let (at, width) = (self.target(item)?, item.inner_width());
        let (len, element) = match item.kind() {
            number @ kind::TUPLE_FIRST..=kind::TUPLE_LAST => {
                let place = number - kind::TUPLE_FIRST;
                (2 + usize::from(place / 3), Some(kind::INT + place % 3))
            }
            number @ kind::VECTOR_INT..=kind::VECTOR_KEY => {
                (self.len(at, width)?, Some(kind::INT + number - kind::VECTOR_INT))
            }
            kind::VECTOR_STRING => (self.len(at, width)?, Some(kind::KEY)),
            kind::VECTOR_BOOL => (self.len(at, width)?, Some(kind::BOOL)),
            kind::VECTOR => (self.len(at, width)?, None),
            _ => return None,
        };
        let mut values = Vec::new();
        for index in 0..len {
            let packed = match element {
                Some(kind) => kind << 2,
                None => self.element_type(at, width, (len, index))?,
            };
            let at = index.checked_mul(width)?.checked_add(at)?;
            values.push(self.value(Item { at, width, packed }, depth)?);
        }
        Some(values)
    }

    fn map(&mut self, item: Item, depth: u32) -> Option<Flex<'b>> {
        let (at, width) = (self.target(item)?, item.inner_width());
        let len = self.len(at, width)?;
        let keys_width = usize::try_from(self.unsigned(at.checked_sub(2 * width)?, width)?).ok()?;
        let keys = Item { at: at.checked_sub(3 * width)?, width, packed: 0 };
        let keys_at = self.target(keys)?;
        let mut entries = Vec::new();
        for index in 0..len {
            let key = Item {
                at: index.checked_mul(keys_width)?.checked_add(keys_at)?,
                width: keys_width,
                packed: 0,
            };
            let key = self.key(self.target(key)?)?;
            let packed = self.element_type(at, width, (len, index))?;
            let at = index.checked_mul(width)?.checked_add(at)?;
            entries.push((key, self.value(Item { at, width, packed }, depth)?));
        }
        Some(Flex::Map(entries))
    }

    /// The types of elements stand behind all of them.
    fn element_type(&self, at: usize, width: usize, (len, index): (usize, usize)) -> Option<u8> {
        let types = len.checked_mul(width)?.checked_add(at)?;
        self.bytes.get(types.checked_add(index)?).copied()
    }

    /// The number of elements stands before them.
    fn len(&self, at: usize, width: usize) -> Option<usize> {
        usize::try_from(self.unsigned(at.checked_sub(width)?, width)?).ok()
    }

    /// The bytes of a string or a blob.
    fn counted(&self, item: Item) -> Option<&'b [u8]> {
        let at = self.target(item)?;
        let len = self.len(at, item.inner_width())?;
        self.bytes.get(at..at.checked_add(len)?)
    }

    /// Text up to a zero.
    fn key(&self, at: usize) -> Option<&'b str> {
        let rest = self.bytes.get(at..)?;
        let len = rest.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(&rest[..len]).ok()
    }

    /// References lead back.
    fn target(&self, item: Item) -> Option<usize> {
        let back = usize::try_from(self.unsigned(item.at, item.width)?).ok()?;
        item.at.checked_sub(back)
    }

    fn number<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    fn unsigned(&self, at: usize, width: usize) -> Option<u64> {
        Some(match width {
            1 => u8::from_le_bytes(self.number(at)?).into(),
            2 => u16::from_le_bytes(self.number(at)?).into(),
            4 => u32::from_le_bytes(self.number(at)?).into(),
            8 => u64::from_le_bytes(self.number(at)?),
            _ => return None,
        })
    }

    fn signed(&self, at: usize, width: usize) -> Option<i64> {
        Some(match width {
            1 => i8::from_le_bytes(self.number(at)?).into(),
            2 => i16::from_le_bytes(self.number(at)?).into(),
            4 => i32::from_le_bytes(self.number(at)?).into(),
            8 => i64::from_le_bytes(self.number(at)?),
            _ => return None,
        })
    }

    fn real(&self, at: usize, width: usize) -> Option<f64> {
        Some(match width {
            4 => f32::from_le_bytes(self.number(at)?).into(),
            8 => f64::from_le_bytes(self.number(at)?),
            _ => return None,
        })
    }
}
