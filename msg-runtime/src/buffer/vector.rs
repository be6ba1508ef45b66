//! Vectors.

use std::{borrow::Cow, cell::Cell, fmt, iter::FusedIterator, marker::PhantomData, ops::Range};

use super::{
    build::Encoder,
    describe::Shape,
    field::{Element, Field, FieldView, FromWire, MakeOwned},
    memory::cast_slice_mut,
    plain::Plain,
    verified::Verified,
    verify::{MAX_BYTES, Verifier},
    wire::{ElementWire, Inline, Place, Shown, VectorWire, Wire, sealed::Sealed},
};
use crate::error::Invalid;

/// The wire kind of a vector; an absent one reads as empty.
#[derive(Debug)]
pub struct Vector<W>(PhantomData<W>);

impl<W> Sealed for Vector<W> {}

impl<W: ElementWire> Wire for Vector<W> {
    type View<'a> = W::Slice<'a>;
    const INLINE: Inline = Inline::OFFSET;
    const TAG: Inline = W::VECTOR_TAG;

    fn shape() -> Shape {
        Shape::Vector(W::shape)
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        W::verify_vector(verifier, place)
    }

    #[inline]
    fn read<'a>(bytes: Verified<'a>, place: Place, _: u64) -> W::Slice<'a> {
        W::read_vector(bytes, place)
    }

    fn copy(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        W::copy_vector(bytes, from, out, to);
    }

    fn show(view: W::Slice<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        W::show_slice(view, f)
    }
}

impl<W: ElementWire> VectorWire for Vector<W> {}

/// A received vector of strings, messages, unions or closed enums. Vectors of numbers and plain structs are slices.
///
/// # Examples
///
/// ```
/// # #[derive(msg_runtime::Message)] #[message(namespace = "demo")] struct Names { names: Vec<String> }
/// let bytes = msg_runtime::encode(&Names { names: vec!["a".into(), "b".into()] })?;
/// let view = msg_runtime::decode::<Names>(&bytes)?;
/// assert_eq!(view.names().get(1), Some("b"));
/// assert_eq!(view.names().iter().collect::<Vec<_>>(), ["a", "b"]);
/// # Ok::<(), msg_runtime::error::Invalid>(())
/// ```
pub struct VectorView<'a, W> {
    bytes: Verified<'a>,
    start: u32,
    /// Where the numbers of unions stand.
    tags: u32,
    len: u32,
    wire: PhantomData<fn() -> W>,
}

impl<W> Clone for VectorView<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for VectorView<'_, W> {}

impl<'a, W: ElementWire> VectorView<'a, W> {
    #[inline]
    pub(super) fn new(bytes: Verified<'a>, start: usize, len: usize) -> Self {
        Self::with_tags(bytes, start, 0, len)
    }

    #[inline]
    pub(super) fn with_tags(bytes: Verified<'a>, start: usize, tags: usize, len: usize) -> Self {
        Self { bytes, start: start as u32, tags: tags as u32, len: len as u32, wire: PhantomData }
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// True without elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<W::View<'a>> {
        (index < self.len()).then(|| self.read(index))
    }

    /// The elements in order.
    #[inline]
    pub fn iter(&self) -> VectorIter<'a, W> {
        VectorIter { vector: *self, indices: 0..self.len() }
    }

    #[inline]
    fn read(&self, index: usize) -> W::View<'a> {
        W::read(self.bytes, self.place(index), 0)
    }

    #[inline]
    pub(super) fn place(&self, index: usize) -> Place {
        let at = self.start as usize + index * W::INLINE.size;
        Place { at, tag: self.tags as usize + index }
    }

    #[cfg(feature = "serde")]
    pub(super) fn bytes(&self) -> Verified<'a> {
        self.bytes
    }
}

impl<W: ElementWire> fmt::Debug for VectorView<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(Shown::<W>)).finish()
    }
}

impl<'a, W: ElementWire> IntoIterator for VectorView<'a, W> {
    type Item = W::View<'a>;
    type IntoIter = VectorIter<'a, W>;

    fn into_iter(self) -> VectorIter<'a, W> {
        self.iter()
    }
}

impl<'a, W: ElementWire> IntoIterator for &VectorView<'a, W> {
    type Item = W::View<'a>;
    type IntoIter = VectorIter<'a, W>;

    fn into_iter(self) -> VectorIter<'a, W> {
        self.iter()
    }
}

/// The elements of a [`VectorView`].
pub struct VectorIter<'a, W> {
    vector: VectorView<'a, W>,
    indices: Range<usize>,
}

impl<W> fmt::Debug for VectorIter<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VectorIter").field(&self.indices).finish()
    }
}

impl<'a, W: ElementWire> Iterator for VectorIter<'a, W> {
    type Item = W::View<'a>;

    #[inline]
    fn next(&mut self) -> Option<W::View<'a>> {
        self.indices.next().map(|index| self.vector.read(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }
}

impl<'a, W: ElementWire> DoubleEndedIterator for VectorIter<'a, W> {
    #[inline]
    fn next_back(&mut self) -> Option<W::View<'a>> {
        self.indices.next_back().map(|index| self.vector.read(index))
    }
}

impl<W: ElementWire> ExactSizeIterator for VectorIter<'_, W> {}
impl<W: ElementWire> FusedIterator for VectorIter<'_, W> {}

impl<T: Element> Field for Vec<T> {
    type Wire = <T::Wire as ElementWire>::Vector;

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        T::encode_all(self, out, place);
    }
}

impl<T: Element> Field for &[T] {
    type Wire = <T::Wire as ElementWire>::Vector;

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        T::encode_all(self, out, place);
    }
}

impl<T: Element + Clone> Field for Cow<'_, [T]> {
    type Wire = <T::Wire as ElementWire>::Vector;

    #[inline]
    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        T::encode_all(self, out, place);
    }
}

impl<T: Element> FromWire for Vec<T>
where
    T::Wire: MakeOwned<T>,
{
    fn from_wire(view: FieldView<'_, Self>) -> Self {
        <T::Wire as ElementWire>::to_vec(view, T::Wire::make_owned)
    }
}

/// Writes the elements.
type Fill<'a, T> = &'a mut dyn FnMut(&mut [T]);

/// A vector that is reserved in the slot and filled there, without a copy: a field of a borrowed message.
///
/// The closure sees whatever the slot held before and is called once for each time the message is encoded into a
/// slot that is large enough.
///
/// # Examples
///
/// ```
/// use msg_runtime::FillWith;
///
/// #[derive(msg_runtime::Message)]
/// #[message(namespace = "demo")]
/// struct Scan<'a> {
///     ranges: FillWith<'a, f32>,
/// }
///
/// let mut fill = |ranges: &mut [f32]| ranges.fill(1.5);
/// let bytes = msg_runtime::encode(&Scan { ranges: FillWith::new(4, &mut fill) })?;
/// assert_eq!(msg_runtime::decode::<Scan<'static>>(&bytes)?.ranges(), [1.5; 4]);
/// # Ok::<(), msg_runtime::error::Invalid>(())
/// ```
pub struct FillWith<'a, T> {
    len: usize,
    fill: Cell<Option<Fill<'a, T>>>,
}

impl<'a, T> FillWith<'a, T> {
    /// A vector of `len` elements that `fill` writes.
    pub fn new(len: usize, fill: &'a mut dyn FnMut(&mut [T])) -> Self {
        Self { len, fill: Cell::new(Some(fill)) }
    }
}

impl<T> fmt::Debug for FillWith<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FillWith").field("len", &self.len).finish_non_exhaustive()
    }
}

impl<T: Element + Plain> Field for FillWith<'_, T> {
    type Wire = <T::Wire as ElementWire>::Vector;

    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        // The closure is out of its cell while it runs: one that sends the same message finds it gone, and the
        // inner vector is zeros.
        let Some(fill) = self.fill.take() else {
            out.start_vector(place, self.len, Inline::of::<T>());
            return;
        };
        let Some(bytes) = self.len.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= MAX_BYTES) else {
            self.fill.set(Some(fill));
            return out.refuse(Invalid::OutOfRange);
        };
        out.vector_header(place, self.len, align_of::<T>());
        if let Some(room) = out.room(bytes) {
            match cast_slice_mut(room) {
                Some(elements) => fill(elements),
                None => fill_unaligned(room, fill),
            }
        }
        self.fill.set(Some(fill));
    }
}

/// The slot itself is not aligned for the elements: they are filled elsewhere and copied.
#[cold]
fn fill_unaligned<T: Plain>(room: &mut [u8], fill: &mut dyn FnMut(&mut [T])) {
    let mut elements = vec![*super::memory::zero::<T>(); room.len() / size_of::<T>()];
    fill(&mut elements);
    room.copy_from_slice(super::memory::bytes_of(&elements));
}
