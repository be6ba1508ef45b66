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

/// A walk through one payload, with what it may still spend.
#[derive(Debug)]
pub struct Verifier<'b> {
    bytes: &'b [u8],
    depth: u32,
    tables: u32,
    /// Offsets may be shared, so a short payload can stand for a huge owned value; this bounds it.
    budget: usize,
}

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
