//! What a field looks like on the wire.
//!
//! The set of wire kinds is closed: users add *fields* (conversions to a kind), never kinds, so everything that is
//! read from bytes is read by the code in this folder.

use std::fmt;

use super::{
    build::Encoder, describe::Shape, field::Field, spec::FieldSpec, verified::Verified, verify::Verifier,
};
use crate::error::Invalid;

pub(crate) mod sealed {
    /// Keeps [`Wire`](super::Wire) to the kinds of this crate.
    pub trait Sealed {}
}

/// Bytes and alignment of what stands in the table itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inline {
    pub(crate) size: usize,
    pub(crate) align: usize,
}

impl Inline {
    /// Not there.
    pub(crate) const NOTHING: Self = Self { size: 0, align: 0 };

    /// Four bytes that point to the value.
    pub(crate) const OFFSET: Self = Self { size: 4, align: 4 };

    pub(crate) const fn of<T>() -> Self {
        Self { size: size_of::<T>(), align: align_of::<T>() }
    }
}

/// Where a field's inline part stands. Position 0 holds the root's offset, so it means "absent" here.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(crate) at: usize,
    /// Where the type of a union stands.
    pub(crate) tag: usize,
}

impl Place {
    pub(crate) const ABSENT: Self = Self { at: 0, tag: 0 };

    #[inline]
    pub(crate) fn at(at: usize) -> Self {
        Self { at, tag: 0 }
    }

    #[inline]
    pub(crate) fn is_absent(self) -> bool {
        self.at == 0
    }
}

/// How the verifier's loop treats a field: the frequent kinds without a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number of which every bit pattern is one.
    Inline,
    /// A string.
    String,
    /// Anything else: through the function in the facts.
    Other,
}

/// A wire kind: how its bytes are verified and what an accessor returns.
pub trait Wire: sealed::Sealed + 'static {
    /// What an accessor returns.
    type View<'a>: Copy;
    /// What stands in the table.
    const INLINE: Inline;
    /// What stands in the table besides, with an entry of the vtable of its own: the number of a union's member.
    const TAG: Inline = Inline::NOTHING;
    /// Absence is a value of its own.
    const NULLABLE: bool = false;
    /// Absence has to be verified too: it stands for a value that may be invalid.
    const CHECKS_ABSENCE: bool = false;
    /// Vectors of tables may be sorted by it.
    const IS_KEY: bool = false;
    /// Bytes that it has in an owned value even when it is absent.
    const OWNED: usize = Self::INLINE.size;
    /// How the verifier's loop treats it.
    const KIND: Kind = Kind::Other;
    /// The numbers that a default may have; `None` allows all.
    const KNOWN: Option<&'static [u64]> = None;

    /// How the binary schema describes it.
    fn shape() -> Shape;

    /// Checks the value at `place`.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid>;

    /// Reads what verification has accepted at `place`; `default` holds the bits of the default.
    fn read<'a>(bytes: Verified<'a>, place: Place, default: u64) -> Self::View<'a>;

    /// Reads what verification has accepted as a field at `place`, which may have a default of another kind than bits.
    #[inline]
    fn read_field<'a>(bytes: Verified<'a>, place: Place, field: &FieldSpec) -> Self::View<'a> {
        Self::read(bytes, place, field.default)
    }

    /// True when there is no value at `place`.
    #[inline]
    fn is_absent(_: Verified<'_>, place: Place) -> bool {
        place.is_absent()
    }

    /// True when nothing of the value at `place` can be sent on.
    #[inline]
    fn is_left_out(_: Verified<'_>, place: Place) -> bool {
        place.is_absent()
    }

    /// Sends on the value at `from`.
    fn copy(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        if let Some(bytes) = bytes.get(from.at, Self::INLINE.size) {
            out.put(to.at, bytes);
        }
    }

    /// Shows a view, without asking the types inside for `Debug`.
    ///
    /// # Errors
    ///
    /// Those of the formatter.
    fn show(view: Self::View<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Shows what verification has accepted as a field at `place`.
    ///
    /// # Errors
    ///
    /// Those of the formatter.
    fn show_field(
        bytes: Verified<'_>,
        place: Place,
        field: &FieldSpec,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        Self::show(Self::read_field(bytes, place, field), f)
    }
}

/// A wire kind that may be a vector's element.
#[diagnostic::on_unimplemented(
    message = "a vector cannot hold this kind of value",
    note = "FlatBuffers has no vectors of vectors and no absent elements: wrap the element in a message struct of its own"
)]
pub trait ElementWire: Wire {
    /// What an accessor of a vector returns.
    type Slice<'a>: Copy;
    /// The wire kind of a vector of such elements. Asked of the element, so that what is none is one mistake: its vector
    /// has no kind then, rather than one that cannot be read.
    type Vector: Wire;
    /// What a vector has in the table besides: the offset to the numbers of unions.
    const VECTOR_TAG: Inline = Inline::NOTHING;

    /// Checks the vector whose offset stands at `place`.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn verify_vector(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        let at = verifier.follow(place.at)?;
        let len = verifier.vector(at, Self::INLINE)?;
        Self::verify_elements(verifier, at + 4, len)
    }

    /// Views the vector whose offset stands at `place`; an absent one is empty.
    #[inline]
    fn read_vector<'a>(bytes: Verified<'a>, place: Place) -> Self::Slice<'a> {
        if place.is_absent() {
            return Self::slice(bytes, 0, 0);
        }
        let at = bytes.follow(place.at);
        Self::slice(bytes, at + 4, bytes.u32_at(at))
    }

    /// Writes a vector whose offset stands at `place`.
    fn encode_vector<F: Field<Wire = Self>>(items: &[F], out: &mut Encoder<'_>, place: Place) {
        let start = out.start_vector(place, items.len(), Self::INLINE);
        for (index, item) in items.iter().enumerate() {
            item.encode(out, Place::at(start + index * Self::INLINE.size));
        }
    }

    /// Sends on the vector whose offset stands at `from`.
    fn copy_vector(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        let at = bytes.follow(from.at);
        let len = bytes.u32_at(at);
        let start = out.start_vector(to, len, Self::INLINE);
        for offset in (0..len).map(|index| index * Self::INLINE.size) {
            Self::copy(bytes, Place::at(at + 4 + offset), out, Place::at(start + offset));
        }
    }

    /// The elements of a view as owned values.
    fn to_vec<F>(slice: <Self::Vector as Wire>::View<'_>, make: impl Fn(Self::View<'_>) -> F) -> Vec<F>;

    /// Checks `len` elements from `start` on, of which the range is checked already.
    ///
    /// # Errors
    ///
    /// What is wrong with the first bad element.
    fn verify_elements(verifier: &mut Verifier<'_>, start: usize, len: usize) -> Result<(), Invalid>;

    /// Views `len` elements from `start` on.
    fn slice(bytes: Verified<'_>, start: usize, len: usize) -> Self::Slice<'_>;

    /// Shows a view.
    ///
    /// # Errors
    ///
    /// Those of the formatter.
    fn show_slice(slice: Self::Slice<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// [`ElementWire::copy_vector`] of elements that hold no offsets: in one piece.
pub(super) fn copy_flat<W: ElementWire>(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
    let at = bytes.follow(from.at);
    let len = bytes.u32_at(at);
    if let Some(elements) = bytes.get(at + 4, len * W::INLINE.size) {
        out.vector_header(to, len, W::INLINE.align);
        out.append(elements);
    }
}

/// A wire kind that has a default in the schema.
#[diagnostic::on_unimplemented(
    message = "a field of this type has no default",
    label = "numbers, `bool` and enums have such a default",
    note = "a string has a string as default, a vector `[]`; remove any other, an `Option` is absent by default"
)]
pub trait DefaultWire: Wire {
    /// The type of a literal default.
    type Number: super::plain::Plain;
    /// The type of a constant as default.
    type Constant: super::plain::Plain;
}

/// The wire kind of a string, which may have a text as its default.
#[diagnostic::on_unimplemented(
    message = "the default of a field of this type is no string",
    label = "a string is the default of a `String`, `&str` or `Cow<str>` only",
    note = "remove `default`, or write one of the field's own type; an `Option` is absent by default"
)]
pub trait TextWire: Wire {}

/// The wire kind of a vector, which may be empty by default, and aligned.
#[diagnostic::on_unimplemented(
    message = "a field of this type is no vector",
    label = "`default = []` and `align` are for a `Vec` or a slice only",
    note = "remove it; an `Option` is absent by default, and a struct is aligned by its own `#[repr(align(..))]`"
)]
pub trait VectorWire: Wire {}

impl<W: VectorWire> VectorWire for super::option::Optional<W> {}

/// Shows a view through its wire kind.
pub struct Shown<'a, W: Wire>(pub W::View<'a>);

impl<W: Wire> fmt::Debug for Shown<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        W::show(self.0, f)
    }
}
