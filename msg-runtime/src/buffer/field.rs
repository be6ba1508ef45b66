//! What may stand in a field of a message.

use super::{
    build::{Encoder, TableWriter},
    spec::{FieldSpec, align_elements, clear},
    table::{Cursor, Table},
    wire::{ElementWire, Place, Wire},
};

/// A type that can be a field: it names its wire kind and writes itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a message",
    label = "not a message type",
    note = "fields are numbers, `bool`, `String`, `&str`, `Vec`, slices, `Option`, `Box`, and types with `#[derive(Message)]`"
)]
pub trait Field {
    /// What it is on the wire.
    type Wire: Wire;

    /// True when nothing is written.
    #[inline]
    fn is_absent(&self) -> bool {
        false
    }

    /// Writes it: the inline part at `place`, the rest behind what is written already.
    fn encode(&self, out: &mut Encoder<'_>, place: Place);

    /// Takes it out of its table's vtable where it is absent.
    #[doc(hidden)]
    #[inline(always)]
    fn __clear_absent(&self, vtable: &mut [u16], spec: &FieldSpec, out: &mut Encoder<'_>) {
        if self.is_absent() {
            clear(vtable, spec, out);
        }
    }

    /// Writes it as a field of a table that is being written.
    #[doc(hidden)]
    #[inline(always)]
    fn __encode_in(&self, table: TableWriter, vtable: &[u16], spec: &FieldSpec, out: &mut Encoder<'_>) {
        if let Some(place) = table.place(vtable, spec) {
            align_elements(spec, out);
            self.encode(out, place);
        }
    }
}

/// A field that can be made from what was received. `&[T]` is a [`Field`] but not this.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from a received message",
    label = "borrowed, or not a message type",
    note = "use an owned type such as `String` or `Vec`, or give the struct a lifetime parameter"
)]
pub trait FromWire: Field + Sized {
    /// The owned value of a view.
    fn from_wire(view: FieldView<'_, Self>) -> Self;
}

/// [`FromWire`], asked of the wire kind: a type that is no field has no wire kind, and is one mistake and not two. So
/// what holds another field asks this of it.
pub trait MakeOwned<F>: Wire + Sized {
    /// The owned value of a view.
    fn make_owned(view: Self::View<'_>) -> F;

    /// The owned value of the field `INDEX` of a table.
    #[inline]
    fn take<T: Table, const INDEX: usize>(cursor: &Cursor<'_, T>) -> F {
        Self::make_owned(cursor.get::<Self, INDEX>())
    }
}

impl<W: Wire, F: FromWire<Wire = W>> MakeOwned<F> for W {
    #[inline]
    fn make_owned(view: Self::View<'_>) -> F {
        F::from_wire(view)
    }
}

/// An owned type that views of the wire kind `W` are compared with.
pub trait Comparable<W: Wire> {
    /// True when the owned value of a view is this one.
    fn equals(&self, view: W::View<'_>) -> bool;
}

impl<W: Wire, F: FromWire<Wire = W> + PartialEq> Comparable<W> for F {
    #[inline]
    fn equals(&self, view: W::View<'_>) -> bool {
        F::from_wire(view) == *self
    }
}

/// A field that can be an element of a vector.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a vector",
    label = "not an element type",
    note = "elements are numbers, `bool`, `String`, `&str`, enums, and structs with `#[derive(Message)]`; wrap anything else in such a struct"
)]
pub trait Element: Field<Wire: ElementWire> + Sized {
    /// Writes all of them as a vector whose offset stands at `place`.
    fn encode_all(items: &[Self], out: &mut Encoder<'_>, place: Place) {
        <Self::Wire as ElementWire>::encode_vector(items, out, place);
    }
}

/// What the accessor of a field of type `F` returns.
pub(crate) type FieldView<'a, F> = <<F as Field>::Wire as Wire>::View<'a>;

impl<T: Field> Field for Box<T> {
    type Wire = T::Wire;

    #[inline]
    fn is_absent(&self) -> bool {
        (**self).is_absent()
    }

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        (**self).encode(out, place);
    }
}

impl<T: Field> FromWire for Box<T>
where
    T::Wire: MakeOwned<T>,
{
    fn from_wire(view: FieldView<'_, Self>) -> Self {
        Self::new(T::Wire::make_owned(view))
    }
}

impl<T: Element> Element for Box<T> {}
