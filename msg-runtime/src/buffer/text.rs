//! Strings.

use std::{borrow::Cow, fmt};

use super::{
    build::Encoder,
    describe::Shape,
    field::{Element, Field, FromWire},
    spec::FieldSpec,
    vector::{Vector, VectorView},
    verified::Verified,
    verify::Verifier,
    wire::{ElementWire, Inline, Kind, Place, TextWire, Wire, sealed::Sealed},
};
use crate::error::Invalid;

/// The wire kind of a string; an absent one reads as empty.
#[derive(Debug)]
pub struct Text;

impl Sealed for Text {}

impl Wire for Text {
    type View<'a> = &'a str;
    const INLINE: Inline = Inline::OFFSET;
    const IS_KEY: bool = true;
    const KIND: Kind = Kind::String;

    fn shape() -> Shape {
        Shape::String
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        let at = verifier.follow(place.at)?;
        verifier.string(at)
    }

    #[inline]
    fn read<'a>(bytes: Verified<'a>, place: Place, _: u64) -> &'a str {
        if place.is_absent() {
            return "";
        }
        let at = bytes.follow(place.at);
        match bytes.get(at + 4, bytes.u32_at(at)) {
            // SAFETY: verification has found UTF-8 here, and the bytes of a `Verified` do not change.
            Some(text) => unsafe { std::str::from_utf8_unchecked(text) },
            None => "",
        }
    }

    #[inline]
    fn read_field<'a>(bytes: Verified<'a>, place: Place, field: &FieldSpec) -> &'a str {
        if place.is_absent() { field.text } else { Self::read(bytes, place, 0) }
    }

    fn copy(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        out.string(to, Self::read(bytes, from, 0));
    }

    fn show(view: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(view, f)
    }
}

impl TextWire for Text {}

impl ElementWire for Text {
    type Vector = Vector<Self>;
    type Slice<'a> = VectorView<'a, Self>;

    fn to_vec<F>(slice: VectorView<'_, Self>, make: impl Fn(Self::View<'_>) -> F) -> Vec<F> {
        slice.iter().map(make).collect()
    }

    fn verify_elements(verifier: &mut Verifier<'_>, start: usize, len: usize) -> Result<(), Invalid> {
        (0..len).try_for_each(|index| Self::verify(verifier, Place::at(start + 4 * index)))
    }

    fn slice(bytes: Verified<'_>, start: usize, len: usize) -> VectorView<'_, Self> {
        VectorView::new(bytes, start, len)
    }

    fn show_slice(slice: VectorView<'_, Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&slice, f)
    }
}

impl Field for String {
    type Wire = Text;

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        out.string(place, self);
    }
}

impl FromWire for String {
    fn from_wire(view: &str) -> Self {
        view.into()
    }
}

impl Element for String {}

impl Field for &str {
    type Wire = Text;

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        out.string(place, self);
    }
}

impl Element for &str {}

impl Field for Cow<'_, str> {
    type Wire = Text;

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        out.string(place, self);
    }
}

impl FromWire for Cow<'static, str> {
    fn from_wire(view: &str) -> Self {
        Cow::Owned(view.into())
    }
}

impl Element for Cow<'_, str> {}
