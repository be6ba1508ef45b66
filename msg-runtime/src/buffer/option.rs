//! Fields whose absence is a value.

use std::{fmt, marker::PhantomData};

use super::{
    build::Encoder,
    describe::Shape,
    field::{Field, FieldView, FromWire, MakeOwned},
    verified::Verified,
    verify::Verifier,
    wire::{Inline, Kind, Place, Wire, sealed::Sealed},
};
use crate::error::Invalid;

/// The wire kind of an `Option`.
#[derive(Debug)]
pub struct Optional<W>(PhantomData<W>);

impl<W> Sealed for Optional<W> {}

impl<W: Wire> Wire for Optional<W> {
    type View<'a> = Option<W::View<'a>>;
    const INLINE: Inline = {
        assert!(
            !W::NULLABLE,
            "an `Option` of an `Option` has one absence for two meanings: remove one of them"
        );
        W::INLINE
    };
    const TAG: Inline = W::TAG;
    const NULLABLE: bool = true;
    const OWNED: usize = W::OWNED;
    const KIND: Kind = W::KIND;
    const KNOWN: Option<&'static [u64]> = W::KNOWN;

    fn shape() -> Shape {
        W::shape()
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        W::verify(verifier, place)
    }

    #[inline]
    fn read<'a>(bytes: Verified<'a>, place: Place, default: u64) -> Option<W::View<'a>> {
        if W::is_absent(bytes, place) { None } else { Some(W::read(bytes, place, default)) }
    }

    fn is_left_out(bytes: Verified<'_>, place: Place) -> bool {
        W::is_left_out(bytes, place)
    }

    fn copy(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        W::copy(bytes, from, out, to);
    }

    fn show(view: Option<W::View<'_>>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match view {
            Some(view) => f.debug_tuple("Some").field(&super::wire::Shown::<W>(view)).finish(),
            None => f.write_str("None"),
        }
    }
}

impl<T: Field> Field for Option<T> {
    type Wire = Optional<T::Wire>;

    #[inline]
    fn is_absent(&self) -> bool {
        self.as_ref().is_none_or(Field::is_absent)
    }

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        if let Some(value) = self {
            value.encode(out, place);
        }
    }
}

impl<T: Field> FromWire for Option<T>
where
    T::Wire: MakeOwned<T>,
{
    fn from_wire(view: Option<FieldView<'_, T>>) -> Self {
        view.map(T::Wire::make_owned)
    }
}
