//! Tables, and the cursors through which their views read.

use std::{any::TypeId, fmt, marker::PhantomData};

use super::{
    build::Encoder,
    describe::{About, Members, ObjectFacts, Shape},
    spec::{FieldSpec, align_elements, clear, max_align},
    vector::{Vector, VectorView},
    verified::Verified,
    verify::Verifier,
    wire::{ElementWire, Inline, Place, Wire, sealed::Sealed},
};
use crate::error::Invalid;

/// A derived table.
///
/// A safe trait: whatever `FIELDS` an implementation gives, verification and access read the same constant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message with fields of its own",
    label = "not a table",
    note = "put `#[derive(Message)]` and `#[message(namespace = \"..\")]` on the struct, without `plain` and `like`"
)]
pub trait Table: Sized + 'static {
    /// Fully qualified name.
    const NAME: &'static str;
    /// Its fields in order of declaration.
    const FIELDS: &'static [FieldSpec];
    /// Its vtable with every field present.
    const VTABLE: &'static [u16];
    /// The alignment of its widest field.
    const ALIGN: usize = max_align(Self::FIELDS);
    /// Doc comment and attributes.
    const ABOUT: &'static About;
    /// Bytes of the owned value itself.
    const OWNED: usize = size_of::<Self>();
    /// What readers see of it.
    type View<'a>: Copy + fmt::Debug;

    /// The view of a verified table.
    fn from_cursor(cursor: Cursor<'_, Self>) -> Self::View<'_>;
}

/// The facts about a table.
pub(crate) fn table_facts<T: Table>() -> ObjectFacts {
    ObjectFacts {
        name: T::NAME,
        type_id: TypeId::of::<T>(),
        about: T::ABOUT,
        members: Members::Table(T::FIELDS),
    }
}

/// A verified table in a payload. Only this folder makes one.
pub struct Cursor<'a, T> {
    bytes: Verified<'a>,
    // Half as wide as `usize`: what is added to them cannot overflow, which spares each access a comparison.
    at: u32,
    vtable: u32,
    vtable_len: u32,
    table: PhantomData<fn() -> T>,
}

impl<T> Clone for Cursor<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Cursor<'_, T> {}

impl<T> fmt::Debug for Cursor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("at", &self.at).finish_non_exhaustive()
    }
}

/// A table without fields: a vtable of its two sizes, and the offset back to it.
const EMPTY: &[u8] = &[4, 0, 4, 0, 4, 0, 0, 0];

impl<'a, T> Cursor<'a, T> {
    #[inline]
    pub(super) fn new(bytes: Verified<'a>, at: usize) -> Self {
        let back = bytes.u32_at(at) as u32 as i32;
        let vtable = (at as i64 - i64::from(back)) as u32;
        let vtable_len = bytes.u16_at(vtable as usize) as u32;
        Self { bytes, at: at as u32, vtable, vtable_len, table: PhantomData }
    }

    pub(super) fn empty() -> Self {
        // SAFETY: a constant, and a table in which every field is absent reads nothing from it.
        let bytes = unsafe { Verified::assume(EMPTY) };
        Self::new(bytes, 4)
    }

    #[inline]
    fn entry(&self, slot: u16) -> usize {
        if u32::from(slot) + 2 > self.vtable_len {
            return 0;
        }
        match self.bytes.u16_at(self.vtable as usize + usize::from(slot)) {
            0 => 0,
            offset => self.at as usize + offset,
        }
    }

    #[inline]
    pub(super) fn place(&self, field: &FieldSpec) -> Place {
        let tag = if field.slots == 2 { self.entry(field.slot - 2) } else { 0 };
        Place { at: self.entry(field.slot), tag }
    }

    #[cfg(feature = "serde")]
    pub(super) fn bytes(&self) -> Verified<'a> {
        self.bytes
    }

    pub(super) fn untyped(&self) -> Cursor<'a, ()> {
        let Self { bytes, at, vtable, vtable_len, table: _ } = *self;
        Cursor { bytes, at, vtable, vtable_len, table: PhantomData }
    }
}

impl<'a, T: Table> Cursor<'a, T> {
    /// The field `INDEX` of the table, as the wire kind `W`.
    ///
    /// # Panics
    ///
    /// When the facts say that the field is of another kind. Derived views never ask so, and the comparison folds
    /// away.
    #[inline]
    pub fn get<W: Wire, const INDEX: usize>(&self) -> W::View<'a> {
        let field = const { &T::FIELDS[INDEX] };
        if field.wire != TypeId::of::<W>() {
            wrong_kind(field.name);
        }
        W::read_field(self.bytes, self.place(field), field)
    }
}

#[cold]
fn wrong_kind(field: &str) -> ! {
    panic!("the accessor of `{field}` and the facts about it disagree")
}

/// Vtables up to this length are copied without an allocation.
const SHORT: usize = 64;

/// Sends on a table: the fields of it that this program knows.
fn copy_table(
    from: Cursor<'_, ()>,
    fields: &'static [FieldSpec],
    (full, align): (&'static [u16], usize),
    out: &mut Encoder<'_>,
    to: Place,
) {
    let (mut short, mut long) = ([0; SHORT], Vec::new());
    let vtable = match short.get_mut(..full.len()) {
        Some(vtable) => vtable,
        None => {
            long.resize(full.len(), 0);
            &mut long
        }
    };
    vtable.copy_from_slice(full);
    for field in fields {
        if (field.is_left_out)(from.bytes, from.place(field)) {
            clear(vtable, field, out);
        }
    }
    let Some(table) = out.open_table(to, vtable, align) else { return };
    for field in fields {
        if let Some(to) = table.place(vtable, field) {
            align_elements(field, out);
            (field.copy)(from.bytes, from.place(field), out, to);
        }
    }
    out.close_table();
}

/// Writes a view of a table as a field.
pub fn encode_view<T: Table>(view: &Cursor<'_, T>, out: &mut Encoder<'_>, place: Place) {
    copy_table(view.untyped(), T::FIELDS, (T::VTABLE, T::ALIGN), out, place);
}

/// Shows a view of a table with its fields, which are called `names` in the program.
///
/// # Errors
///
/// Those of the formatter.
pub fn show_table<T: Table>(
    view: &Cursor<'_, T>,
    name: &str,
    names: &[&str],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    show_fields(view.untyped(), T::FIELDS, name, names, f)
}

fn show_fields(
    table: Cursor<'_, ()>,
    fields: &'static [FieldSpec],
    name: &str,
    names: &[&str],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut shown = f.debug_struct(name);
    for (field, name) in fields.iter().zip(names) {
        shown.field(name, &ShownField { table, field });
    }
    shown.finish()
}

/// A field, shown through its facts.
struct ShownField<'a> {
    table: Cursor<'a, ()>,
    field: &'static FieldSpec,
}

impl fmt::Debug for ShownField<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.field.show)(self.table.bytes, self.table.place(self.field), self.field, f)
    }
}

/// The wire kind of a nested table; an absent one reads as a table without fields.
#[derive(Debug)]
pub struct TableOf<T>(PhantomData<T>);

impl<T> Sealed for TableOf<T> {}

impl<T: Table> Wire for TableOf<T> {
    type View<'a> = T::View<'a>;
    const INLINE: Inline = Inline::OFFSET;
    const OWNED: usize = T::OWNED;
    const CHECKS_ABSENCE: bool = true;

    fn shape() -> Shape {
        Shape::Object(table_facts::<T>)
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        if place.is_absent() {
            return verifier.empty_table(T::FIELDS);
        }
        verifier.owned(T::OWNED)?;
        let at = verifier.follow(place.at)?;
        verifier.table(at, T::FIELDS)
    }

    #[inline]
    fn read<'a>(bytes: Verified<'a>, place: Place, _: u64) -> T::View<'a> {
        T::from_cursor(if place.is_absent() {
            Cursor::empty()
        } else {
            Cursor::new(bytes, bytes.follow(place.at))
        })
    }

    fn copy(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        copy_table(Cursor::new(bytes, bytes.follow(from.at)), T::FIELDS, (T::VTABLE, T::ALIGN), out, to);
    }

    fn show(view: T::View<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&view, f)
    }
}

impl<T: Table> ElementWire for TableOf<T> {
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
