//! Unions: a number that says which member is there, and an offset to it.
//!
//! ```text
//! union           | number: u8 | ... | offset -> table, string or plain struct |
//! vector of them  | offset -> [number; n] | ... | offset -> [offset; n] |
//! ```
//!
//! The number 0 is NONE. A number that this program does not know stays a number: how far such a member extends nobody
//! here can tell, so it is received and not sent on.

use std::{any::TypeId, fmt, marker::PhantomData};

use super::{
    build::Encoder,
    describe::{About, MemberFacts, Shape, UnionFacts},
    field::Field,
    plain::{Plain, PlainOf, PlainStruct},
    table::{Table, TableOf},
    text::Text,
    vector::{Vector, VectorView},
    verified::Verified,
    verify::Verifier,
    wire::{ElementWire, Inline, Place, Wire, sealed::Sealed},
};
use crate::error::Invalid;

/// A derived enum with data.
///
/// A safe trait: verification and access read the same constant members.
pub trait Union: Sized + 'static {
    /// Fully qualified name.
    const NAME: &'static str;
    /// Its members.
    const MEMBERS: &'static [MemberSpec];
    /// Doc comment and attributes.
    const ABOUT: &'static About;
    /// What readers see of it.
    type View<'a>: Copy + fmt::Debug;

    /// The view of a verified union.
    fn from_cursor(cursor: UnionCursor<'_, Self>) -> Self::View<'_>;
}

/// What is known about a member of a union. Only [`MemberSpec::of`] makes one, so its facts belong together.
#[derive(Clone, Copy, Debug)]
pub struct MemberSpec {
    number: u8,
    wire: TypeId,
    inline: Inline,
    /// See [`Member`].
    behind_offset: bool,
    verify: fn(&mut Verifier<'_>, Place) -> Result<(), Invalid>,
    copy: fn(Verified<'_>, Place, &mut Encoder<'_>, Place),
    facts: MemberFacts,
}

impl MemberSpec {
    /// The facts about a member of this name, number and wire kind.
    pub const fn of<W: Member>(name: &'static str, number: u8, about: &'static About) -> Self {
        Self {
            number,
            wire: TypeId::of::<W>(),
            inline: W::INLINE,
            behind_offset: W::BEHIND_OFFSET,
            verify: verify_member::<W>,
            copy: W::copy,
            facts: MemberFacts { name, number, shape: W::shape, about },
        }
    }

    /// Where the member at `place` of a union stands.
    #[cfg(feature = "serde")]
    pub(super) fn value_place(&self, bytes: Verified<'_>, place: Place) -> Place {
        Place::at(if self.behind_offset { bytes.follow(place.at) } else { place.at })
    }

    pub(crate) fn facts(&self) -> &MemberFacts {
        &self.facts
    }
}

/// A wire kind that may be a member of a union.
#[diagnostic::on_unimplemented(
    message = "a union cannot hold this kind of value",
    label = "not a member type",
    note = "members are messages, plain structs and strings: wrap anything else in a message struct of its own"
)]
pub trait Member: Wire {
    /// The member does not lead to itself through an offset of its own.
    const BEHIND_OFFSET: bool = false;
}

impl Member for Text {}
impl<T: Table> Member for TableOf<T> {}

impl<T: Plain + PlainStruct> Member for PlainOf<T> {
    const BEHIND_OFFSET: bool = true;
}

fn verify_member<W: Member>(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
    let at = if W::BEHIND_OFFSET { verifier.follow(place.at)? } else { place.at };
    W::verify(verifier, Place::at(at))
}

fn member_of<U: Union>(number: u8) -> Option<&'static MemberSpec> {
    U::MEMBERS.iter().find(|member| member.number == number)
}

/// The value of a union that is there: a number that is no member's says nothing about the value.
fn verify_value<U: Union>(verifier: &mut Verifier<'_>, number: u8, place: Place) -> Result<(), Invalid> {
    match member_of::<U>(number) {
        Some(member) => (member.verify)(verifier, place),
        None => Ok(()),
    }
}

/// A verified union in a payload. Only this folder makes one.
pub struct UnionCursor<'a, U> {
    bytes: Verified<'a>,
    place: Place,
    number: u8,
    union: PhantomData<fn() -> U>,
}

impl<U> fmt::Debug for UnionCursor<'_, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnionCursor").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<'a, U: Union> UnionCursor<'a, U> {
    #[inline]
    fn new(bytes: Verified<'a>, place: Place) -> Self {
        Self { bytes, place, number: number_at(bytes, place), union: PhantomData }
    }

    /// The number of the member; 0 when there is none.
    #[inline]
    pub fn number(&self) -> u8 {
        self.number
    }

    /// The member `INDEX` of the union as the wire kind `W`, if it is the one that is there.
    ///
    /// # Panics
    ///
    /// When the facts say that the member is of another kind. Derived views never ask so, and the comparison folds
    /// away.
    #[inline]
    pub fn member<W: Wire, const INDEX: usize>(&self) -> Option<W::View<'a>> {
        let member = const { only_of_its_number(U::MEMBERS, INDEX) };
        if member.wire != TypeId::of::<W>() {
            wrong_kind(member.facts.name);
        }
        if member.number != self.number || self.place.is_absent() {
            return None;
        }
        let at = if member.behind_offset { self.bytes.follow(self.place.at) } else { self.place.at };
        Some(W::read(self.bytes, Place::at(at), 0))
    }
}

/// Verification takes the first member of a number, so another one must not be read by it.
const fn only_of_its_number(members: &'static [MemberSpec], index: usize) -> &'static MemberSpec {
    let mut before = 0;
    while before < index {
        assert!(members[before].number != members[index].number, "two members of a union have one number");
        before += 1;
    }
    &members[index]
}

#[cold]
fn wrong_kind(member: &str) -> ! {
    panic!("the accessor of `{member}` and the facts about it disagree")
}

#[inline]
pub(super) fn number_at(bytes: Verified<'_>, place: Place) -> u8 {
    if place.is_absent() || place.tag == 0 {
        return 0;
    }
    bytes.get(place.tag, 1).and_then(|bytes| bytes.first()).copied().unwrap_or(0)
}

/// Writes the number of a member; gives the place where its value goes.
#[inline]
pub fn start_member(member: &MemberSpec, out: &mut Encoder<'_>, place: Place) -> Place {
    out.put(place.tag, &[member.number]);
    Place::at(if member.behind_offset { out.start_value(place, member.inline) } else { place.at })
}

/// The facts about a union.
fn union_facts<U: Union>() -> UnionFacts {
    UnionFacts { name: U::NAME, type_id: TypeId::of::<U>(), members: U::MEMBERS, about: U::ABOUT }
}

/// The wire kind of a union; an absent one reads as the unknown member 0, which is NONE.
#[derive(Debug)]
pub struct UnionOf<U>(PhantomData<U>);

impl<U> Sealed for UnionOf<U> {}

impl<U: Union> Wire for UnionOf<U> {
    type View<'a> = U::View<'a>;
    const INLINE: Inline = Inline::OFFSET;
    const TAG: Inline = Inline::of::<u8>();
    const OWNED: usize = size_of::<U>();

    fn shape() -> Shape {
        Shape::Union(union_facts::<U>)
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        match (place.tag == 0, place.is_absent()) {
            (true, true) => Ok(()),
            (false, false) => {
                verifier.range(place.tag, Self::TAG)?;
                let number = verifier.bytes(place.tag, 1)?.first().copied().unwrap_or(0);
                verify_value::<U>(verifier, number, place)
            }
            _ => Err(Invalid::Union),
        }
    }

    #[inline]
    fn read<'a>(bytes: Verified<'a>, place: Place, _: u64) -> U::View<'a> {
        U::from_cursor(UnionCursor::new(bytes, place))
    }

    #[inline]
    fn is_absent(bytes: Verified<'_>, place: Place) -> bool {
        number_at(bytes, place) == 0
    }

    fn is_left_out(bytes: Verified<'_>, place: Place) -> bool {
        member_of::<U>(number_at(bytes, place)).is_none()
    }

    fn copy(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        let Some(member) = member_of::<U>(number_at(bytes, from)) else { return };
        let from = if member.behind_offset { bytes.follow(from.at) } else { from.at };
        let to = start_member(member, out, to);
        (member.copy)(bytes, Place::at(from), out, to);
    }

    fn show(view: U::View<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&view, f)
    }
}

/// Two vectors of one length. An element that is NONE may have the offset 0.
impl<U: Union> ElementWire for UnionOf<U> {
    type Vector = Vector<Self>;
    type Slice<'a> = VectorView<'a, Self>;
    const VECTOR_TAG: Inline = Inline::OFFSET;

    fn to_vec<F>(slice: VectorView<'_, Self>, make: impl Fn(Self::View<'_>) -> F) -> Vec<F> {
        slice.iter().map(make).collect()
    }

    fn copy_vector(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        let (numbers, values) = (bytes.follow(from.tag) + 4, bytes.follow(from.at) + 4);
        let len = bytes.u32_at(numbers - 4);
        let tags = out.start_vector(Place::at(to.tag), len, Self::TAG);
        let start = out.start_vector(to, len, Self::INLINE);
        for index in 0..len {
            let from = Place { at: values + 4 * index, tag: numbers + index };
            Self::copy(bytes, from, out, Place { at: start + 4 * index, tag: tags + index });
        }
    }

    fn verify_vector(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        match (place.tag == 0, place.is_absent()) {
            (true, true) => return Ok(()),
            (false, false) => {}
            _ => return Err(Invalid::Union),
        }
        let (numbers, values) = (verifier.follow(place.tag)?, verifier.follow(place.at)?);
        let len = verifier.vector(numbers, Self::TAG)?;
        if verifier.vector(values, Self::INLINE)? != len {
            return Err(Invalid::Union);
        }
        verifier.owned(len.saturating_mul(size_of::<U>()))?;
        let numbers = verifier.bytes(numbers + 4, len)?;
        numbers.iter().enumerate().filter(|(_, number)| **number != 0).try_for_each(|(index, number)| {
            verify_value::<U>(verifier, *number, Place::at(values + 4 + 4 * index))
        })
    }

    fn verify_elements(_: &mut Verifier<'_>, _: usize, len: usize) -> Result<(), Invalid> {
        // Elements without their numbers: `verify_vector` never asks.
        if len == 0 { Ok(()) } else { Err(Invalid::Union) }
    }

    #[inline]
    fn read_vector<'a>(bytes: Verified<'a>, place: Place) -> VectorView<'a, Self> {
        if place.is_absent() || place.tag == 0 {
            return VectorView::new(bytes, 0, 0);
        }
        let (numbers, values) = (bytes.follow(place.tag), bytes.follow(place.at));
        VectorView::with_tags(bytes, values + 4, numbers + 4, bytes.u32_at(numbers))
    }

    fn slice(bytes: Verified<'_>, _: usize, _: usize) -> VectorView<'_, Self> {
        VectorView::new(bytes, 0, 0)
    }

    fn encode_vector<F: Field<Wire = Self>>(items: &[F], out: &mut Encoder<'_>, place: Place) {
        let tags = out.start_vector(Place::at(place.tag), items.len(), Self::TAG);
        let values = out.start_vector(place, items.len(), Self::INLINE);
        for (index, item) in items.iter().enumerate().filter(|(_, item)| !item.is_absent()) {
            item.encode(out, Place { at: values + 4 * index, tag: tags + index });
        }
    }

    fn show_slice(slice: VectorView<'_, Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&slice, f)
    }
}
