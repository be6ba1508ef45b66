//! Views for serde: one walk along the facts, for all types. The rules are in the documentation of the crate.
//!
//! The walk trusts nothing: the shape of a plain struct's field is what its implementation says it is, so positions
//! are checked, and strings too, before they are given away.

use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeStruct},
};

use msg_schema::BaseType;

use super::{
    describe::{EnumFacts, Members, ObjectFacts, PlainFieldSpec, Shape, UnionFacts},
    enumeration::{Enumeration, enum_shape},
    key::KeyWire,
    map::MapView,
    nested::{Nested, NestedView},
    open::{Flags, Open},
    scalar::Scalar,
    spec::FieldSpec,
    table::{Cursor, Table},
    union::number_at,
    vector::VectorView,
    verified::Verified,
    wire::{ElementWire, Inline, Place, Wire},
};
use crate::message::Message;

/// Serializes the view of a table.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize_view<T: Table, S: Serializer>(view: &Cursor<'_, T>, to: S) -> Result<S::Ok, S::Error> {
    table(T::NAME, T::FIELDS, view.untyped(), to)
}

/// A value in a payload.
#[derive(Clone, Copy)]
struct Item<'a> {
    bytes: Verified<'a>,
    place: Place,
    shape: Shape,
    default: u64,
    /// What an absent string reads as.
    text: &'static str,
}

impl<'a> Item<'a> {
    fn of_field(cursor: Cursor<'a, ()>, field: &FieldSpec) -> Self {
        let (bytes, place) = (cursor.bytes(), cursor.place(field));
        Self { bytes, place, shape: (field.shape)(), default: field.default, text: field.text }
    }

    fn of_element(bytes: Verified<'a>, place: Place, shape: Shape) -> Self {
        Self { bytes, place, shape, default: 0, text: "" }
    }

    fn is_absent(&self) -> bool {
        match self.shape {
            Shape::Union(_) => number_at(self.bytes, self.place) == 0,
            _ => self.place.is_absent(),
        }
    }

    /// The bits of a number, zero-extended.
    fn bits(&self, base: BaseType) -> u64 {
        if self.place.is_absent() {
            return self.default;
        }
        bits(self.bytes.get(self.place.at, base.size() as usize).unwrap_or_default())
    }

    fn text<E: Error>(&self) -> Result<&'a str, E> {
        if self.place.is_absent() {
            return Ok(self.text);
        }
        let at = self.bytes.follow(self.place.at);
        let bytes = self.bytes.get(at + 4, self.bytes.u32_at(at)).unwrap_or_default();
        std::str::from_utf8(bytes).map_err(E::custom)
    }

    /// The elements of a vector, of unions with the places of their numbers.
    fn elements(self, shape: Shape) -> impl ExactSizeIterator<Item = Item<'a>> {
        let Self { bytes, place, .. } = self;
        let first =
            |at: usize| if at == 0 { (0, 0) } else { (bytes.follow(at) + 4, bytes.u32_at(bytes.follow(at))) };
        let ((start, len), (tags, _)) = (first(place.at), first(place.tag));
        let size = size(shape);
        (0..len).map(move |index| {
            Self::of_element(bytes, Place { at: start + index * size, tag: tags + index }, shape)
        })
    }

    fn object<S: Serializer>(&self, facts: &ObjectFacts, to: S) -> Result<S::Ok, S::Error> {
        let Self { bytes, place, .. } = *self;
        match facts.members {
            Members::Table(fields) if place.is_absent() => table(facts.name, fields, Cursor::empty(), to),
            Members::Table(fields) => {
                table(facts.name, fields, Cursor::new(bytes, bytes.follow(place.at)), to)
            }
            Members::Struct { fields, .. } if place.is_absent() => plain(facts.name, fields, &[], to),
            Members::Struct { fields, size, .. } => {
                plain(facts.name, fields, bytes.get(place.at, size).unwrap_or_default(), to)
            }
        }
    }

    fn union<S: Serializer>(&self, facts: &UnionFacts, to: S) -> Result<S::Ok, S::Error> {
        let (number, union_name) = (number_at(self.bytes, self.place), last(facts.name));
        let known = facts.members.iter().zip(0..).find(|(member, _)| member.facts().number == number);
        match known {
            Some((member, index)) => {
                let (place, facts) = (member.value_place(self.bytes, self.place), member.facts());
                let value = Self::of_element(self.bytes, place, (facts.shape)());
                to.serialize_newtype_variant(union_name, index, facts.name, &value)
            }
            None if number == 0 => to.serialize_none(),
            None => to.serialize_u8(number),
        }
    }

    fn map<S: Serializer>(self, entry: &'static [FieldSpec], to: S) -> Result<S::Ok, S::Error> {
        let [key, value] = entry else { return to.serialize_none() };
        to.collect_map(self.elements(Shape::String).map(|item| {
            let cursor = Cursor::new(item.bytes, item.bytes.follow(item.place.at));
            (Item::of_field(cursor, key), Optional::of_field(cursor, value))
        }))
    }
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.shape {
            Shape::Scalar(base) => scalar(base, self.bits(base), to),
            Shape::Enum(facts) => {
                let facts = facts();
                enumerator(&facts, self.bits(facts.underlying), to)
            }
            Shape::String => to.serialize_str(self.text()?),
            Shape::Vector(element) | Shape::Nested(element, _) => to.collect_seq(self.elements(element())),
            Shape::Object(facts) => self.object(&facts(), to),
            Shape::Union(facts) => self.union(&facts(), to),
            Shape::Map(entry) => self.map(entry, to),
            // They stand in plain structs only.
            Shape::Array(..) | Shape::Padding => to.serialize_unit(),
        }
    }
}

/// A field whose absence may be a value.
struct Optional<'a> {
    item: Item<'a>,
    nullable: bool,
}

impl<'a> Optional<'a> {
    fn of_field(cursor: Cursor<'a, ()>, field: &FieldSpec) -> Self {
        Self { item: Item::of_field(cursor, field), nullable: field.nullable }
    }
}

impl Serialize for Optional<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match (self.nullable, self.item.is_absent()) {
            (true, true) => to.serialize_none(),
            (true, false) => to.serialize_some(&self.item),
            (false, _) => self.item.serialize(to),
        }
    }
}

fn table<S: Serializer>(
    name: &'static str,
    fields: &'static [FieldSpec],
    cursor: Cursor<'_, ()>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let shown = |field: &&FieldSpec| !field.deprecated || !cursor.place(field).is_absent();
    let mut to = to.serialize_struct(last(name), fields.iter().filter(shown).count())?;
    for field in fields {
        if shown(&field) {
            to.serialize_field(field.name, &Optional::of_field(cursor, field))?;
        } else {
            to.skip_field(field.name)?;
        }
    }
    to.end()
}

/// A value in a plain struct.
struct Part<'a> {
    bytes: &'a [u8],
    shape: Shape,
}

impl<'a> Part<'a> {
    /// Absent values and those past the end are zeros.
    fn new(bytes: &'a [u8], offset: usize, shape: Shape) -> Self {
        let bytes = bytes.get(offset..).unwrap_or_default();
        Self { bytes: bytes.get(..size(shape)).unwrap_or_default(), shape }
    }
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.shape {
            Shape::Scalar(base) => scalar(base, bits(self.bytes), to),
            Shape::Enum(facts) => enumerator(&facts(), bits(self.bytes), to),
            Shape::Array(element, len) => {
                let size = size(element());
                to.collect_seq(
                    (0..usize::from(len)).map(|index| Part::new(self.bytes, index * size, element())),
                )
            }
            Shape::Object(facts) => {
                let ObjectFacts { name, members: Members::Struct { fields, .. }, .. } = facts() else {
                    return to.serialize_unit();
                };
                plain(name, fields, self.bytes, to)
            }
            _ => to.serialize_unit(),
        }
    }
}

fn plain<S: Serializer>(
    name: &'static str,
    fields: &'static [PlainFieldSpec],
    bytes: &[u8],
    to: S,
) -> Result<S::Ok, S::Error> {
    let shown = |field: &&PlainFieldSpec| !matches!((field.shape)(), Shape::Padding);
    let mut to = to.serialize_struct(last(name), fields.iter().filter(shown).count())?;
    for field in fields.iter().filter(shown) {
        to.serialize_field(field.name, &Part::new(bytes, field.offset, (field.shape)()))?;
    }
    to.end()
}

/// Bytes of a value where it stands in a vector or a plain struct.
fn size(shape: Shape) -> usize {
    match shape {
        Shape::Scalar(base) => base.size() as usize,
        Shape::Enum(facts) => facts().underlying.size() as usize,
        Shape::Array(element, len) => size(element()) * usize::from(len),
        Shape::Object(facts) => match facts().members {
            Members::Struct { size, .. } => size,
            Members::Table(_) => Inline::OFFSET.size,
        },
        _ => Inline::OFFSET.size,
    }
}

/// A little-endian number of at most eight bytes, zero-extended.
fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

fn scalar<S: Serializer>(base: BaseType, bits: u64, to: S) -> Result<S::Ok, S::Error> {
    match base {
        BaseType::Bool => to.serialize_bool(bits != 0),
        BaseType::Byte => to.serialize_i8(bits as i8),
        BaseType::UByte | BaseType::UType => to.serialize_u8(bits as u8),
        BaseType::Short => to.serialize_i16(bits as i16),
        BaseType::UShort => to.serialize_u16(bits as u16),
        BaseType::Int => to.serialize_i32(bits as i32),
        BaseType::UInt => to.serialize_u32(bits as u32),
        BaseType::Long => to.serialize_i64(bits as i64),
        BaseType::Float => to.serialize_f32(f32::from_bits(bits as u32)),
        BaseType::Double => to.serialize_f64(f64::from_bits(bits)),
        _ => to.serialize_u64(bits),
    }
}

/// An enum's number as the facts have it: sign-extended.
fn number(base: BaseType, bits: u64) -> i64 {
    match base {
        BaseType::Byte => i64::from(bits as i8),
        BaseType::Short => i64::from(bits as i16),
        BaseType::Int => i64::from(bits as i32),
        _ => bits as i64,
    }
}

fn enumerator<S: Serializer>(facts: &EnumFacts, bits: u64, to: S) -> Result<S::Ok, S::Error> {
    let number = number(facts.underlying, bits);
    if let Some((value, index)) = facts.values.iter().zip(0..).find(|(value, _)| value.value == number) {
        return to.serialize_unit_variant(last(facts.name), index, value.name);
    }
    match flag_names(facts, bits) {
        Some(names) => to.serialize_str(&names),
        None => scalar(facts.underlying, bits, to),
    }
}

/// The names of bit flags, if every bit has one.
fn flag_names(facts: &EnumFacts, bits: u64) -> Option<String> {
    let is_flags = facts.about.attributes.iter().any(|(name, _)| *name == "bit_flags");
    if !is_flags || bits == 0 {
        return None;
    }
    let width = u64::MAX >> (64 - 8 * facts.underlying.size().clamp(1, 8));
    let set = facts.values.iter().map(|value| (value.value as u64 & width, value.name));
    let set = set.filter(|(flag, _)| flag & bits == *flag);
    let (all, names) = set.fold((0, Vec::new()), |(all, mut names), (flag, name)| {
        names.push(name);
        (all | flag, names)
    });
    (all == bits).then(|| names.join(" "))
}

/// The name without its namespace, as serde has names of types.
fn last(name: &'static str) -> &'static str {
    name.rsplit('.').next().unwrap_or(name)
}

impl<W: ElementWire> Serialize for VectorView<'_, W> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let elements = (0..self.len()).map(|index| self.place(index));
        to.collect_seq(elements.map(|place| Item::of_element(self.bytes(), place, W::shape())))
    }
}

impl<K: KeyWire, V: Wire> Serialize for MapView<'_, K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(
            self.entries().map(|(cursor, [key, value])| {
                (Item::of_field(cursor, key), Optional::of_field(cursor, value))
            }),
        )
    }
}

impl<M> Serialize for Nested<M> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.bytes().serialize(to)
    }
}

impl<M: Message> Serialize for NestedView<'_, M> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.bytes().serialize(to)
    }
}

/// A number with the shape of its enum.
fn enum_number<E: Enumeration, S: Serializer>(number: E::Repr, to: S) -> Result<S::Ok, S::Error> {
    match enum_shape::<E>() {
        Shape::Enum(facts) => enumerator(&facts(), number.bits64(), to),
        _ => to.serialize_unit(),
    }
}

impl<E: Enumeration> Serialize for Open<E> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        enum_number::<E, S>(self.number(), to)
    }
}

impl<E: Enumeration> Serialize for Flags<E> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        enum_number::<E, S>(self.bits(), to)
    }
}
