//! The checked reader: every offset is followed within the buffer, or the buffer is refused.

use std::fmt;

use super::Number;

/// Where and how a buffer breaks the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// The buffer ends before the `needed` bytes at `position`.
    PastEnd { position: usize, needed: usize, len: usize },
    /// The file identifier is another one.
    Identifier { found: [u8; 4], expected: [u8; 4] },
    /// A vtable of an odd size or of less than four bytes.
    Vtable { position: usize, size: usize },
    /// A field that reaches past the end of its table.
    FieldOutside { table: usize, slot: u16 },
    /// A string without the zero byte behind it.
    Unterminated { position: usize },
    /// A string that is no UTF-8.
    Utf8 { position: usize },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PastEnd { position, needed, len } => {
                write!(f, "{needed} bytes are needed at byte {position}, but there are {len} bytes in all")
            }
            Self::Identifier { found, expected } => write!(
                f,
                "the file identifier is `{}`, expected `{}`",
                found.escape_ascii(),
                expected.escape_ascii()
            ),
            Self::Vtable { position, size } => {
                write!(
                    f,
                    "the vtable at byte {position} has the size {size}, expected an even size from 4 on"
                )
            }
            Self::FieldOutside { table, slot } => {
                write!(f, "field {slot} of the table at byte {table} lies outside its table")
            }
            Self::Unterminated { position } => {
                write!(f, "the string at byte {position} does not end with a zero byte")
            }
            Self::Utf8 { position } => write!(f, "the string that byte {position} refers to is not UTF-8"),
        }
    }
}

/// Everything that is read starts from here: the root table, after a look at the file identifier.
pub(crate) fn root<'a>(bytes: &'a [u8], identifier: &[u8; 4]) -> Result<Table<'a>, Damage> {
    let found: [u8; 4] = slice(bytes, 4, 4)?.try_into().expect("four bytes were asked for");
    if found != *identifier {
        return Err(Damage::Identifier { found, expected: *identifier });
    }
    table_at(bytes, 0)
}

/// The table that the reference at `position` leads to; the root's stands at 0.
pub(crate) fn table_at(bytes: &[u8], position: usize) -> Result<Table<'_>, Damage> {
    Table::at(bytes, follow(bytes, position)?)
}

/// The text of the string that the reference at `position` leads to.
pub(crate) fn text_at(bytes: &[u8], position: usize) -> Result<&str, Damage> {
    std::str::from_utf8(string_at(bytes, position)?).map_err(|_| Damage::Utf8 { position })
}

/// Where the elements of the vector stand that the reference at `position` leads to, and how many there are.
pub(crate) fn elements_at(bytes: &[u8], position: usize, element: usize) -> Result<(usize, usize), Damage> {
    let start = follow(bytes, position)?;
    let len = number::<u32>(bytes, start)? as usize;
    slice(bytes, start + 4, len.saturating_mul(element))?;
    Ok((start + 4, len))
}

/// A table whose vtable and extent lie within the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a> {
    bytes: &'a [u8],
    start: usize,
    /// The vtable's entries, without the two sizes.
    entries: &'a [u8],
    /// Bytes of the table, its first four included.
    size: usize,
}

impl<'a> Table<'a> {
    fn at(bytes: &'a [u8], start: usize) -> Result<Self, Damage> {
        let back: i32 = number(bytes, start)?;
        let outside = Damage::PastEnd { position: start, needed: 4, len: bytes.len() };
        let vtable = i64::try_from(start).ok().map(|start| start - i64::from(back));
        let vtable = vtable.and_then(|vtable| usize::try_from(vtable).ok()).ok_or(outside)?;
        let vtable_size = usize::from(number::<u16>(bytes, vtable)?);
        if vtable_size < 4 || vtable_size % 2 != 0 {
            return Err(Damage::Vtable { position: vtable, size: vtable_size });
        }
        let size = usize::from(number::<u16>(bytes, vtable + 2)?);
        let entries = &slice(bytes, vtable, vtable_size)?[4..];
        slice(bytes, start, size)?;
        Ok(Self { bytes, start, entries, size })
    }

    /// Where the `size` bytes of a field stand; `None` if it is absent.
    pub(crate) fn field(&self, slot: u16, size: usize) -> Result<Option<usize>, Damage> {
        let Some(entry) = self.entries.chunks_exact(2).nth(usize::from(slot)) else { return Ok(None) };
        match usize::from(u16::from_slice(entry)) {
            0 => Ok(None),
            offset if offset < 4 || offset + size > self.size => {
                Err(Damage::FieldOutside { table: self.start, slot })
            }
            offset => Ok(Some(self.start + offset)),
        }
    }

    /// A number, or its default if it is absent.
    pub(crate) fn number<N: Number>(&self, slot: u16, default: N) -> Result<N, Damage> {
        match self.field(slot, N::SIZE)? {
            Some(position) => number(self.bytes, position),
            None => Ok(default),
        }
    }

    /// A table that a field refers to.
    pub(crate) fn table(&self, slot: u16) -> Result<Option<Table<'a>>, Damage> {
        let Some(position) = self.field(slot, 4)? else { return Ok(None) };
        table_at(self.bytes, position).map(Some)
    }

    /// A string.
    pub(crate) fn string(&self, slot: u16) -> Result<Option<&'a str>, Damage> {
        let Some(position) = self.field(slot, 4)? else { return Ok(None) };
        text_at(self.bytes, position).map(Some)
    }

    /// A vector of references; an absent one is empty.
    pub(crate) fn vector(&self, slot: u16) -> Result<Vector<'a>, Damage> {
        let Some(position) = self.field(slot, 4)? else {
            return Ok(Vector { bytes: self.bytes, start: 0, len: 0 });
        };
        let (start, len) = elements_at(self.bytes, position, 4)?;
        Ok(Vector { bytes: self.bytes, start, len })
    }
}

/// A vector of references whose elements lie within the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector<'a> {
    bytes: &'a [u8],
    start: usize,
    len: usize,
}

impl<'a> Vector<'a> {
    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn positions(self) -> impl Iterator<Item = usize> {
        (0..self.len).map(move |index| self.start + index * 4)
    }

    /// Its elements as tables.
    pub(crate) fn tables(self) -> impl Iterator<Item = Result<Table<'a>, Damage>> {
        self.positions().map(move |position| table_at(self.bytes, position))
    }

    /// Its elements as the bytes of strings.
    pub(crate) fn strings(self) -> impl Iterator<Item = Result<&'a [u8], Damage>> {
        self.positions().map(move |position| string_at(self.bytes, position))
    }
}

/// Where the `size` bytes of a struct stand that the reference at `position` leads to.
pub(crate) fn structure_at(bytes: &[u8], position: usize, size: usize) -> Result<usize, Damage> {
    let start = follow(bytes, position)?;
    slice(bytes, start, size).map(|_| start)
}

/// The target of the reference at `position`.
fn follow(bytes: &[u8], position: usize) -> Result<usize, Damage> {
    let distance = number::<u32>(bytes, position)? as usize;
    let past_end = Damage::PastEnd { position, needed: distance, len: bytes.len() };
    position.checked_add(distance).ok_or(past_end)
}

fn string_at(bytes: &[u8], position: usize) -> Result<&[u8], Damage> {
    let start = follow(bytes, position)?;
    let len = number::<u32>(bytes, start)? as usize;
    let (text, end) = slice(bytes, start + 4, len.saturating_add(1))?.split_at(len);
    // Readers in C and C++ run to the zero byte: what lacks it is not passed on as sound.
    if end != [0] {
        return Err(Damage::Unterminated { position: start });
    }
    Ok(text)
}

/// The number at `position`.
pub(crate) fn number<N: Number>(bytes: &[u8], position: usize) -> Result<N, Damage> {
    slice(bytes, position, N::SIZE).map(N::from_slice)
}

fn slice(bytes: &[u8], position: usize, needed: usize) -> Result<&[u8], Damage> {
    let past_end = Damage::PastEnd { position, needed, len: bytes.len() };
    let end = position.checked_add(needed);
    end.and_then(|end| bytes.get(position..end)).ok_or(past_end)
}
