//! The facts about a table's fields, and what follows from them at compile time: ids and the vtable.
//!
//! A derive sees tokens only: it cannot tell which field is a union and takes two ids. So the constants of the
//! expansion call these functions, and mistakes become errors of constant evaluation with a message.

use std::{any::TypeId, fmt};

use super::{
    build::Encoder,
    const_text::ConstText,
    describe::{About, Shape},
    memory::bits_of,
    plain::Plain,
    verified::Verified,
    verify::Verifier,
    wire::{Inline, Kind, Place, TextWire, VectorWire, Wire},
};
use crate::error::Invalid;

/// No id was written.
const NO_ID: u32 = u32::MAX;
/// The largest alignment that a payload can promise.
pub(crate) const MAX_ALIGN: usize = 64;
/// The largest alignment that FlatBuffers lets a schema ask for.
const MAX_FORCED: usize = 32;

/// What is known about a field of a table. Only [`FieldSpec::of`] makes one, so its facts belong together.
#[derive(Clone, Copy, Debug)]
pub struct FieldSpec {
    pub(crate) name: &'static str,
    /// Byte offset of the field's entry in the vtable.
    pub(crate) slot: u16,
    pub(crate) slots: u16,
    tag: Inline,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    pub(crate) nullable: bool,
    pub(crate) checks_absence: bool,
    is_key: bool,
    pub(crate) inline: Inline,
    /// Bits of the default, zero-extended from the number's width.
    pub(crate) default: u64,
    /// The alignment that a vector's elements have beyond their own; 1 is none.
    pub(crate) force_align: usize,
    /// What an absent string reads as.
    pub(crate) text: &'static str,
    /// A string or vector for which absence is no value of its own.
    pub(crate) reads_as_default: bool,
    pub(crate) verify: fn(&mut Verifier<'_>, Place) -> Result<(), Invalid>,
    pub(crate) is_left_out: fn(Verified<'_>, Place) -> bool,
    pub(crate) copy: fn(Verified<'_>, Place, &mut Encoder<'_>, Place),
    /// Compared before a field is read: accessor and facts may have been written apart.
    pub(crate) wire: TypeId,
    pub(crate) shape: fn() -> Shape,
    pub(crate) show: fn(Verified<'_>, Place, &Self, &mut fmt::Formatter<'_>) -> fmt::Result,
    pub(crate) deprecated: bool,
    pub(crate) key: bool,
    explicit_id: u32,
    known: Option<&'static [u64]>,
    pub(crate) about: &'static About,
}

impl FieldSpec {
    /// The facts about a field of this name and wire kind.
    pub const fn of<W: Wire>(name: &'static str) -> Self {
        Self {
            name,
            slot: 0,
            slots: if W::TAG.size == 0 { 1 } else { 2 },
            tag: W::TAG,
            kind: W::KIND,
            required: false,
            nullable: W::NULLABLE,
            checks_absence: W::CHECKS_ABSENCE,
            is_key: W::IS_KEY,
            inline: W::INLINE,
            default: 0,
            force_align: 1,
            text: "",
            reads_as_default: false,
            verify: W::verify,
            is_left_out: W::is_left_out,
            copy: W::copy,
            wire: TypeId::of::<W>(),
            shape: W::shape,
            show: W::show_field,
            deprecated: false,
            key: false,
            explicit_id: NO_ID,
            known: W::KNOWN,
            about: About::NONE,
        }
    }

    /// The finished facts about a field without attributes.
    #[track_caller]
    pub const fn bare<W: Wire>(name: &'static str) -> Self {
        Self::of::<W>(name).checked()
    }

    /// Its id, as written.
    pub const fn id(mut self, id: u16) -> Self {
        self.explicit_id = id as u32;
        self
    }

    /// The bits that an absent field reads as.
    pub const fn default_bits(mut self, bits: u64) -> Self {
        self.default = bits;
        self
    }

    /// The elements of the vector stand at multiples of so many bytes.
    #[track_caller]
    pub const fn align(mut self, align: ElementAlign) -> Self {
        if !align.0.is_power_of_two() || align.0 > MAX_FORCED {
            ConstText::new()
                .text("the alignment of `")
                .text(self.name)
                .text("` is ")
                .number(align.0 as u64)
                .text(", but it is a power of two, 32 at most")
                .fail()
        }
        if self.slots == 2 {
            ConstText::new()
                .text("`")
                .text(self.name)
                .text("` is a vector of unions, which stand elsewhere: remove `align`")
                .fail()
        }
        self.force_align = align.0;
        self
    }

    /// What an absent string reads as.
    pub const fn default_text(mut self, text: &'static str) -> Self {
        self.text = text;
        self.reads_as_default = true;
        self
    }

    /// An absent vector reads as the empty one, for the readers of other languages too.
    #[track_caller]
    pub const fn default_empty(mut self, _: EmptyVector) -> Self {
        if self.nullable {
            ConstText::new()
                .text("`")
                .text(self.name)
                .text("` is an `Option`, which is absent by default: remove `default`")
                .fail()
        }
        self.reads_as_default = true;
        self
    }

    /// A payload without it is invalid.
    #[track_caller]
    pub const fn required(mut self) -> Self {
        if matches!(self.kind, Kind::Inline) || self.known.is_some() {
            ConstText::new()
                .text("`")
                .text(self.name)
                .text("` is a number, which always has a value: remove `required`")
                .fail()
        }
        if self.nullable {
            ConstText::new()
                .text("`")
                .text(self.name)
                .text("` is an `Option` and `required` at once: remove one of the two")
                .fail()
        }
        self.required = true;
        self
    }

    /// Kept for its id only.
    pub const fn deprecated(mut self) -> Self {
        self.deprecated = true;
        self
    }

    /// The key of sorted vectors. A string key is always present.
    #[track_caller]
    pub const fn key(mut self) -> Self {
        if !self.is_key {
            ConstText::new()
                .text("`")
                .text(self.name)
                .text("` cannot be a key: a key is a bare number, enum, `String` or plain struct")
                .fail()
        }
        self.key = true;
        self.required |= matches!(self.kind, Kind::String);
        self
    }

    /// What the author wrote about it.
    pub const fn about(mut self, about: &'static About) -> Self {
        self.about = about;
        self
    }

    /// The finished facts: an absent enum must read as one of its values.
    #[track_caller]
    pub const fn checked(self) -> Self {
        check_default(&self);
        self
    }

    /// Its id: the position in the vtable.
    pub(crate) fn field_id(&self) -> u16 {
        self.slot / 2 - 2
    }
}

/// The alignment of a vector's elements.
#[derive(Clone, Copy, Debug)]
pub struct ElementAlign(usize);

/// The alignment of a vector's elements, for a field that is one.
pub const fn element_align<W: VectorWire>(align: usize) -> ElementAlign {
    ElementAlign(align)
}

/// Makes the vector that is written next stand where the field wants it.
#[inline]
pub(crate) fn align_elements(field: &FieldSpec, out: &mut Encoder<'_>) {
    if field.force_align > 1 {
        out.align_elements(field.force_align);
    }
}

/// The only default of a vector.
#[derive(Clone, Copy, Debug)]
pub struct EmptyVector;

/// The only default of a vector, for a field that is one.
pub const fn empty_vector<W: VectorWire>() -> EmptyVector {
    EmptyVector
}

/// The default of a string, for a field that is one.
pub const fn default_text<W: TextWire>(text: &'static str) -> &'static str {
    text
}

/// The bits of a default, zero-extended.
pub const fn default_bits<T: Plain>(default: T) -> u64 {
    bits_of(default)
}

/// Gives every field its place in the vtable: in order, or as written with `id`.
#[track_caller]
pub const fn assign_ids<const N: usize>(mut fields: [FieldSpec; N]) -> [FieldSpec; N] {
    let explicit = N > 0 && fields[0].explicit_id != NO_ID;
    let mut next = 0;
    let mut index = 0;
    while index < N {
        let id = if explicit { fields[index].explicit_id } else { next + fields[index].slots as u32 - 1 };
        if id > 32_765 {
            panic!("a table has room for ids up to 32765");
        }
        next += fields[index].slots as u32;
        fields[index].slot = 4 + 2 * id as u16;
        index += 1;
    }
    if explicit {
        check_ids(&fields, next);
    }
    fields
}

/// Every id from 0 up to the number of slots belongs to exactly one field.
#[track_caller]
const fn check_ids(fields: &[FieldSpec], slots: u32) {
    let mut id = 0;
    while id < slots {
        let mut owners = 0;
        let mut index = 0;
        while index < fields.len() {
            let last = fields[index].explicit_id;
            if id <= last && id + fields[index].slots as u32 > last {
                owners += 1;
            }
            index += 1;
        }
        if owners != 1 {
            let what = if owners == 0 { "no field has the id " } else { "more than one field takes the id " };
            ConstText::new()
                .text(what)
                .number(id as u64)
                .text(": ids count from 0 without gaps, and a union takes the id before its own too")
                .fail()
        }
        id += 1;
    }
}

#[track_caller]
const fn check_default(field: &FieldSpec) {
    let Some(known) = field.known else { return };
    if field.nullable {
        return;
    }
    let mut index = 0;
    while index < known.len() {
        if known[index] == field.default {
            return;
        }
        index += 1;
    }
    ConstText::new()
        .text("the enum of `")
        .text(field.name)
        .text("` has no value for its default: write `#[message(default = ..)]` with one of its values")
        .fail()
}

/// The facts about a message's fields, in the order in which its twin has them.
#[track_caller]
pub const fn twin_fields<const N: usize>(fields: &[FieldSpec], names: [&str; N]) -> [FieldSpec; N] {
    let mut index = 0;
    while index < fields.len() {
        if position(&names, fields[index].name).is_none() {
            ConstText::new()
                .text("`")
                .text(fields[index].name)
                .text("` of the message is missing: a twin has all of its fields")
                .fail()
        }
        index += 1;
    }
    let mut twin = [FieldSpec::of::<u8>(""); N];
    let mut index = 0;
    while index < N {
        let mut at = 0;
        while at < fields.len() && !same(fields[at].name, names[index]) {
            at += 1;
        }
        if at == fields.len() {
            ConstText::new()
                .text("the message has no field `")
                .text(names[index])
                .text("`: a twin has its fields and no others")
                .fail()
        }
        twin[index] = fields[at];
        index += 1;
    }
    twin
}

/// Each field of a twin is of the wire kind that its message's is. The comparison folds away.
///
/// # Panics
///
/// When it is not.
#[inline]
pub fn same_kinds<const N: usize>(fields: &[FieldSpec; N], kinds: [TypeId; N]) {
    for (field, kind) in fields.iter().zip(kinds) {
        assert!(field.wire == kind, "`{}` of a twin is of another kind than that of its message", field.name);
    }
}

const fn position(names: &[&str], name: &str) -> Option<usize> {
    let mut index = 0;
    while index < names.len() {
        if same(names[index], name) {
            return Some(index);
        }
        index += 1;
    }
    None
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// Entries of the vtable, with the two sizes in front.
pub const fn vtable_len(fields: &[FieldSpec]) -> usize {
    let mut len = 2;
    let mut index = 0;
    while index < fields.len() {
        len += fields[index].slots as usize;
        index += 1;
    }
    len
}

/// The vtable with every field present: wide fields first, after the four bytes that lead to the vtable.
///
/// The encoder puts a table four bytes before an address of its `max_align`, so no field needs padding.
#[track_caller]
pub const fn vtable<const LEN: usize>(fields: &[FieldSpec]) -> [u16; LEN] {
    let mut entries = [0u16; LEN];
    let mut at = 4;
    let mut align = MAX_ALIGN;
    while align > 0 {
        let mut index = 0;
        while index < fields.len() {
            let field = &fields[index];
            let entry = field.slot as usize / 2;
            if field.slots == 2 && field.tag.align == align {
                entries[entry - 1] = at as u16;
                at += field.tag.size;
            }
            if field.inline.align == align {
                entries[entry] = at as u16;
                at += field.inline.size;
            }
            index += 1;
        }
        align /= 2;
    }
    if at > u16::MAX as usize {
        panic!(
            "the fields that stand in a table itself have at most 65535 bytes: move a plain struct into a vector"
        );
    }
    entries[0] = (2 * LEN) as u16;
    entries[1] = at as u16;
    entries
}

/// The alignment of a table's widest field, at least that of an offset.
pub(crate) const fn max_align(fields: &[FieldSpec]) -> usize {
    let mut align = 4;
    let mut index = 0;
    while index < fields.len() {
        if fields[index].inline.align > align {
            align = fields[index].inline.align;
        }
        index += 1;
    }
    align
}

/// Takes an absent field out of the vtable; a union leaves with its type. Receivers refuse a message without a
/// required one, so it is not sent.
#[inline]
pub(crate) fn clear(vtable: &mut [u16], field: &FieldSpec, out: &mut Encoder<'_>) {
    if field.required {
        out.refuse(Invalid::MissingField);
    }
    let entry = usize::from(field.slot / 2);
    if let Some(offset) = vtable.get_mut(entry) {
        *offset = 0;
    }
    if field.slots == 2
        && let Some(offset) = vtable.get_mut(entry - 1)
    {
        *offset = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::text::Text;

    #[test]
    fn wide_fields_come_first() {
        const FIELDS: [FieldSpec; 4] = assign_ids([
            FieldSpec::of::<u8>("a"),
            FieldSpec::of::<Text>("b"),
            FieldSpec::of::<u64>("c"),
            FieldSpec::of::<u16>("d"),
        ]);
        const VTABLE: [u16; vtable_len(&FIELDS)] = vtable(&FIELDS);
        assert_eq!(VTABLE, [12, 19, 18, 12, 4, 16]);
        assert_eq!(max_align(&FIELDS), 8);
    }

    #[test]
    fn explicit_ids_move_fields() {
        let fields = assign_ids([FieldSpec::of::<u8>("a").id(1), FieldSpec::of::<u8>("b").id(0)]);
        assert_eq!(fields.map(|field| field.field_id()), [1, 0]);
    }

    #[test]
    #[should_panic(expected = "no field has the id 1")]
    fn gaps_are_refused() {
        assign_ids([FieldSpec::of::<u8>("a").id(0), FieldSpec::of::<u8>("b").id(2)]);
    }

    #[test]
    #[should_panic(expected = "more than one field takes the id 0")]
    fn duplicates_are_refused() {
        assign_ids([FieldSpec::of::<u8>("a").id(0), FieldSpec::of::<u8>("b").id(0)]);
    }
}
