//! Verification: one loop over the facts, the same for every type.
//!
//! The accessors read the same constant facts, so a payload that passed here has at every place what an accessor
//! expects there. Alignment is checked against the address, not against the start of the payload: views hand out
//! references into it.

use super::{
    spec::FieldSpec,
    verified::{u16_at, u32_at},
    wire::{Inline, Kind, Place},
};
use crate::error::Invalid;

/// Tables that may be nested in each other, the root included.
pub(crate) const MAX_DEPTH: u32 = 64;
/// Tables in one payload.
pub(crate) const MAX_TABLES: u32 = 1_000_000;

/// Bytes of a payload: offsets are 32 bits wide, some of them signed.
pub(crate) const MAX_BYTES: usize = i32::MAX as usize;

/// A walk through one payload, with what it may still spend.
#[derive(Debug)]
pub struct Verifier<'b> {
    bytes: &'b [u8],
    depth: u32,
    tables: u32,
    /// Offsets may be shared, so a short payload can stand for a huge owned value; this bounds it.
    budget: usize,
}

/// Bytes of an owned value for which the budget pays one.
///
/// A value in Rust has all its fields, a table those that are there: eight bytes may rightly stand for a struct of many
/// numbers and absent strings. They may not for one with an array of thousands.
const OWNED_PER_BYTE: usize = 16;

impl<'b> Verifier<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        let budget = bytes.len().saturating_mul(16).saturating_add(1 << 20);
        Self { bytes, depth: MAX_DEPTH, tables: MAX_TABLES, budget }
    }

    /// `size` bytes at `at` are inside and aligned; they are paid for.
    #[inline]
    pub(super) fn range(&mut self, at: usize, inline: Inline) -> Result<(), Invalid> {
        self.inside(at, inline)?;
        self.budget = self.budget.checked_sub(inline.size).ok_or(Invalid::TooMuch)?;
        Ok(())
    }

    /// Pays for `size` bytes that stand in the owned value itself, whether or not they are in the payload. So what an
    /// owned conversion allocates is at most 16 times the budget.
    #[inline]
    pub(super) fn owned(&mut self, size: usize) -> Result<(), Invalid> {
        self.budget = self.budget.checked_sub(size / OWNED_PER_BYTE).ok_or(Invalid::TooMuch)?;
        Ok(())
    }

    #[inline]
    fn inside(&self, at: usize, inline: Inline) -> Result<(), Invalid> {
        if at > self.bytes.len() || inline.size > self.bytes.len() - at {
            return Err(Invalid::OutOfRange);
        }
        if (self.bytes.as_ptr().addr() + at) & (inline.align - 1) != 0 {
            return Err(Invalid::Unaligned);
        }
        Ok(())
    }

    /// Bytes whose range was checked before.
    #[inline]
    pub(super) fn bytes(&self, at: usize, len: usize) -> Result<&'b [u8], Invalid> {
        let end = at.checked_add(len).ok_or(Invalid::OutOfRange)?;
        self.bytes.get(at..end).ok_or(Invalid::OutOfRange)
    }

    #[inline]
    fn u32(&mut self, at: usize) -> Result<usize, Invalid> {
        self.range(at, Inline::OFFSET)?;
        Ok(u32_at(self.bytes, at))
    }

    /// Where the offset at `at` points; whoever reads there checks the range.
    #[inline]
    pub(super) fn follow(&mut self, at: usize) -> Result<usize, Invalid> {
        Ok(at.saturating_add(self.u32(at)?))
    }

    /// The length of the vector at `at`, whose elements are inside, aligned and paid for.
    #[inline]
    pub(super) fn vector(&mut self, at: usize, element: Inline) -> Result<usize, Invalid> {
        let len = self.u32(at)?;
        let size = len.checked_mul(element.size).ok_or(Invalid::OutOfRange)?;
        // flatc aligns the elements of a vector, but not the place where an empty one would have them.
        let align = if len == 0 { 1 } else { element.align };
        self.range(at + 4, Inline { size, align })?;
        Ok(len)
    }

    #[inline]
    pub(super) fn string(&mut self, at: usize) -> Result<(), Invalid> {
        let len = self.vector(at, Inline { size: 1, align: 1 })?;
        let text = self.bytes(at + 4, len)?;
        std::str::from_utf8(text).map_err(|_| Invalid::Utf8)?;
        if self.bytes.get(at + 4 + len) != Some(&0) {
            return Err(Invalid::MissingTerminator);
        }
        Ok(())
    }

    /// The table at `at` and everything below it.
    #[inline(never)]
    pub(super) fn table(&mut self, at: usize, fields: &'static [FieldSpec]) -> Result<(), Invalid> {
        let vtable = self.vtable(at)?;
        self.enter()?;
        let place_of = |slot: u16| match u16_at(vtable, usize::from(slot)) {
            0 => 0,
            offset => at + offset,
        };
        for field in fields {
            let tag = if field.slots == 2 { place_of(field.slot - 2) } else { 0 };
            self.field(field, Place { at: place_of(field.slot), tag })?;
        }
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn field(&mut self, field: &FieldSpec, place: Place) -> Result<(), Invalid> {
        if place.is_absent() {
            if field.required {
                return Err(Invalid::MissingField);
            }
            if !field.checks_absence && place.tag == 0 {
                return Ok(());
            }
            return (field.verify)(self, place);
        }
        match field.kind {
            Kind::Inline => self.range(place.at, field.inline),
            Kind::String => {
                let at = self.follow(place.at)?;
                self.string(at)
            }
            Kind::Other => (field.verify)(self, place),
        }
    }

    /// The vtable of the table at `at`. It is not paid for: thousands of small tables rightly share a long one.
    #[inline]
    fn vtable(&mut self, at: usize) -> Result<&'b [u8], Invalid> {
        let back = self.u32(at)? as u32 as i32;
        let vtable = (at as i64).checked_sub(i64::from(back)).ok_or(Invalid::OutOfRange)?;
        let vtable = usize::try_from(vtable).map_err(|_| Invalid::OutOfRange)?;
        self.inside(vtable, Inline { size: 2, align: 2 })?;
        let len = u16_at(self.bytes, vtable);
        if len & 1 != 0 {
            return Err(Invalid::Unaligned);
        }
        self.bytes(vtable, len)
    }

    #[inline]
    fn enter(&mut self) -> Result<(), Invalid> {
        self.tables = self.tables.checked_sub(1).ok_or(Invalid::TooManyTables)?;
        self.depth = self.depth.checked_sub(1).ok_or(Invalid::TooDeep)?;
        Ok(())
    }

    /// The table that an absent field stands for: every field in it is absent too.
    pub(super) fn empty_table(&mut self, fields: &'static [FieldSpec]) -> Result<(), Invalid> {
        self.enter()?;
        for field in fields {
            self.field(field, Place::ABSENT)?;
        }
        self.depth += 1;
        Ok(())
    }

    /// The offset at the start, the identifier if the type has one, and the root table; gives its position.
    pub(super) fn root(
        &mut self,
        identifier: Option<[u8; 4]>,
        fields: &'static [FieldSpec],
    ) -> Result<usize, Invalid> {
        // Positions fit 32 bits in all that follows.
        if self.bytes.len() > MAX_BYTES {
            return Err(Invalid::OutOfRange);
        }
        let root = self.follow(0)?;
        if let Some(identifier) = identifier
            && self.bytes(4, 4)? != identifier
        {
            return Err(Invalid::WrongIdentifier);
        }
        self.table(root, fields)?;
        Ok(root)
    }
}

#[cfg(all(test, feature = "derive"))]
mod tests {
    use super::*;
    use crate::buffer::{AlignedBuffer, decode, encode, spec::assign_ids, text::Text, vector::Vector};

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct List {
        next: Option<Box<List>>,
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Names {
        names: Vec<String>,
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Lists {
        lists: Vec<List>,
    }

    /// A payload of 32-bit words.
    fn payload(words: &[u32]) -> AlignedBuffer {
        AlignedBuffer::copy_of(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())
    }

    /// A root table whose one field is the vector that follows.
    fn with_vector(elements: &[u32]) -> Vec<u32> {
        let mut words = vec![12, 0x0008_0006, 0x0000_0004, 8, 4, elements.len() as u32];
        words.extend(elements);
        words
    }

    fn list(tables: u32) -> List {
        (1..tables).fold(List { next: None }, |list, _| List { next: Some(Box::new(list)) })
    }

    #[test]
    fn sixty_four_tables_may_be_nested() {
        assert!(decode::<List>(&encode(&list(64)).unwrap()).is_ok());
        assert_eq!(encode(&list(65)).unwrap_err(), Invalid::TooDeep);
    }

    /// The encoder makes no 65 tables in each other, so they are made by hand: each table points to the next.
    #[test]
    fn sixty_five_nested_tables_are_refused() {
        let check = |tables: u32| {
            let mut words = vec![12, 0x0008_0006, 0x0000_0004];
            for table in 0..tables {
                // The offset back to the one vtable, and the offset to the next table.
                words.extend([8 + 8 * table, 4]);
            }
            // The last one has a vtable without fields, behind it.
            let at = words.len() as u32 * 4;
            words.extend([0xffff_fffc, 0x0004_0004]);
            assert_eq!(at, 12 + 8 * tables);
            decode::<List>(&payload(&words)).err()
        };
        assert_eq!(check(63), None);
        assert_eq!(check(64), Some(Invalid::TooDeep));
    }

    #[test]
    fn shared_strings_are_bounded() {
        let check = |strings: u32, bytes: u32| {
            let mut words = with_vector(&vec![0; strings as usize]);
            for index in 0..strings {
                words[6 + index as usize] = 4 * (strings - index);
            }
            words.push(bytes);
            words.extend(vec![0x7878_7878; bytes as usize / 4]);
            words.push(0);
            decode::<Names>(&payload(&words)).map(|view| view.names().len())
        };
        // 64 Ki offsets to one string of 16 KiB: 278 KB that stand for a gigabyte.
        assert_eq!(check(65_536, 16_384), Err(Invalid::TooMuch));
        assert_eq!(check(1_000, 40), Ok(1_000));
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Grid {
        cells: [f32; 4096],
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Grids {
        grids: Vec<Grid>,
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Maybe {
        grid: Option<Grid>,
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Maybes {
        maybes: Vec<Maybe>,
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Named {
        grids: std::collections::HashMap<u32, [f32; 4096]>,
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Sparse {
        text_1: Option<String>,
        number_1: Option<f64>,
        text_2: Option<String>,
        number_2: Option<f64>,
        text_3: Option<String>,
        number_3: Option<f64>,
        text_4: Option<String>,
        number_4: Option<f64>,
        text_5: Option<String>,
        number_5: Option<f64>,
        text_6: Option<String>,
        number_6: Option<f64>,
        text_7: Option<String>,
        number_7: Option<f64>,
        text_8: Option<String>,
        number_8: Option<f64>,
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Sparses {
        sparses: Vec<Sparse>,
    }

    /// A root table with a vector of `tables` offsets to one table without fields.
    fn empty_tables(tables: u32) -> AlignedBuffer {
        let mut words = with_vector(&vec![0; tables as usize]);
        for index in 0..tables {
            words[6 + index as usize] = 4 * (tables - index) + 4;
        }
        // A vtable without fields, and the table to which all offsets point.
        words.extend([0x0004_0004, 4]);
        payload(&words)
    }

    /// Of a megabyte, 262,144 empty tables would be 4 GiB of arrays that nobody sent.
    #[test]
    fn absent_arrays_are_bounded() {
        let megabyte = empty_tables(262_144);
        assert_eq!(decode::<Grids>(&megabyte).unwrap_err(), Invalid::TooMuch);
        assert_eq!(decode::<Maybes>(&megabyte).unwrap_err(), Invalid::TooMuch);
        assert_eq!(decode::<Named>(&megabyte).unwrap_err(), Invalid::TooMuch);
        // A thousand of them are 16 MiB, which the mebibyte that every payload has pays for.
        let few = empty_tables(1_000);
        assert_eq!(Grids::from(decode::<Grids>(&few).unwrap()).grids.len(), 1_000);
    }

    #[test]
    fn tables_with_many_absent_fields_are_no_mistake() {
        let tables = empty_tables(262_144);
        assert_eq!(decode::<Sparses>(&tables).unwrap().sparses().len(), 262_144);
    }

    #[test]
    fn more_than_a_million_tables_are_refused() {
        let check = |tables: u32| decode::<Lists>(&empty_tables(tables)).map(|view| view.lists().len());
        assert_eq!(check(MAX_TABLES - 1), Ok(999_999));
        assert_eq!(check(MAX_TABLES), Err(Invalid::TooManyTables));
    }

    #[test]
    fn a_vector_that_claims_more_than_there_is_is_refused() {
        for len in [1, 0x2000_0000, 0x4000_0000, 0x8000_0000, u32::MAX] {
            let mut words = with_vector(&[]);
            words[5] = len;
            assert_eq!(decode::<Names>(&payload(&words)).unwrap_err(), Invalid::OutOfRange, "{len}");
        }
    }

    #[derive(crate::Message)]
    #[message(namespace = "test")]
    struct Wide {
        numbers: Vec<u64>,
    }

    #[test]
    fn only_a_vector_with_elements_is_aligned() {
        let check = |elements: &[u32]| {
            // The length at byte 28, the elements at 32; with a word more in front they stand at 36.
            let mut words = vec![12, 0x0008_0006, 0x0000_0004, 8, 12, 0, 0, elements.len() as u32 / 2];
            words.extend(elements);
            let aligned = decode::<Wide>(&payload(&words)).map(|view| view.numbers().len());
            words[4] += 4;
            words.insert(5, 0);
            (aligned, decode::<Wide>(&payload(&words)).map(|view| view.numbers().len()))
        };
        assert_eq!(check(&[]), (Ok(0), Ok(0)));
        assert_eq!(check(&[1, 0]), (Ok(1), Err(Invalid::Unaligned)));
    }

    #[test]
    fn strings_are_utf8_with_a_final_zero() {
        let check = |text: &[u8; 4]| {
            let mut words = with_vector(&[4]);
            words.extend([3, u32::from_le_bytes(*text)]);
            decode::<Names>(&payload(&words)).map(|view| view.names().len())
        };
        assert_eq!(check(b"abc\0"), Ok(1));
        assert_eq!(check(b"abcd"), Err(Invalid::MissingTerminator));
        assert_eq!(check(b"ab\xff\0"), Err(Invalid::Utf8));
    }

    #[test]
    fn a_newer_field_may_be_missing() {
        const FIELDS: [FieldSpec; 2] =
            assign_ids([FieldSpec::of::<Vector<Text>>("names").id(0), FieldSpec::of::<u8>("more").id(1)]);
        let bytes = payload(&with_vector(&[]));
        assert_eq!(Verifier::new(&bytes).root(None, &FIELDS), Ok(12));
        assert_eq!(Verifier::new(&bytes[..20]).root(None, &FIELDS), Err(Invalid::OutOfRange));
        assert_eq!(Verifier::new(&[]).root(None, &FIELDS), Err(Invalid::OutOfRange));
    }
}
