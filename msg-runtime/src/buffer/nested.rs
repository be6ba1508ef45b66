//! A message that travels as bytes inside another.

use std::{fmt, marker::PhantomData};

use msg_schema::BaseType;

use super::{
    build::Encoder,
    describe::Shape,
    field::{Field, FromWire},
    root::{decode, encode},
    vector::Vector,
    verified::Verified,
    verify::Verifier,
    wire::{Inline, Place, VectorWire, Wire, sealed::Sealed},
};
use crate::{
    error::Invalid,
    message::{Encode, Message},
};

/// The alignment of the bytes in a payload: that of the widest number.
const ALIGN: usize = 8;

/// A message as bytes: whoever does not know its type passes it on, and who does reads it in place.
///
/// It is what `.fbs` calls `nested_flatbuffer`. The bytes are verified when they are looked at, and not before.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Message, Nested};
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Person {
///     name: String,
/// }
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Envelope {
///     person: Nested<Person>,
/// }
///
/// let person = Nested::new(&Person { name: "Alice".into() })?;
/// let bytes = msg_runtime::encode(&Envelope { person })?;
/// let envelope = msg_runtime::decode::<Envelope>(&bytes)?;
/// assert_eq!(envelope.person().view()?.name(), "Alice");
/// # Ok::<(), msg_runtime::error::Invalid>(())
/// ```
pub struct Nested<M> {
    bytes: Vec<u8>,
    message: PhantomData<fn() -> M>,
}

impl<M: Message> Nested<M> {
    /// Encodes a message.
    ///
    /// # Errors
    ///
    /// Those of [`encode`](crate::encode).
    pub fn new<E: Encode<Message = M> + ?Sized>(value: &E) -> Result<Self, Invalid> {
        Ok(Self::from_bytes(encode(value)?.to_vec()))
    }
}

impl<M> Nested<M> {
    /// Takes bytes as they are.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes, message: PhantomData }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl<M> Clone for Nested<M> {
    fn clone(&self) -> Self {
        Self::from_bytes(self.bytes.clone())
    }
}

impl<M> PartialEq for Nested<M> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<M> fmt::Debug for Nested<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Nested").field(&self.bytes).finish()
    }
}

/// A received [`Nested`] message.
pub struct NestedView<'a, M> {
    bytes: &'a [u8],
    message: PhantomData<fn() -> M>,
}

impl<M> Clone for NestedView<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for NestedView<'_, M> {}

impl<'a, M: Message> NestedView<'a, M> {
    /// Verifies the bytes and gives the view of the message in them.
    ///
    /// # Errors
    ///
    /// Why they are no such message. A plain struct that asks for more than 8-byte alignment may be
    /// [`Invalid::Unaligned`]; it can be read in an [`AlignedBuffer::copy_of`](crate::AlignedBuffer::copy_of) the
    /// [`bytes`](Self::bytes).
    pub fn view(&self) -> Result<M::View<'a>, Invalid> {
        decode::<M>(self.bytes)
    }

    /// The bytes, unverified.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<M> fmt::Debug for NestedView<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Nested").field(&self.bytes).finish()
    }
}

/// The wire kind of [`Nested`]: a vector of bytes; an absent one is empty and no message.
#[derive(Debug)]
pub struct NestedOf<M>(PhantomData<M>);

impl<M> Sealed for NestedOf<M> {}

impl<M: Message> Wire for NestedOf<M> {
    type View<'a> = NestedView<'a, M>;
    const INLINE: Inline = Inline::OFFSET;

    fn shape() -> Shape {
        Shape::Nested(|| Shape::Scalar(BaseType::UByte), M::TYPE_NAME)
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        Vector::<u8>::verify(verifier, place)
    }

    fn read<'a>(bytes: Verified<'a>, place: Place, default: u64) -> NestedView<'a, M> {
        NestedView { bytes: Vector::<u8>::read(bytes, place, default), message: PhantomData }
    }

    fn copy(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        encode_bytes(Vector::<u8>::read(bytes, from, 0), out, to);
    }

    fn show(view: NestedView<'_, M>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&view, f)
    }
}

impl<M: Message> VectorWire for NestedOf<M> {}

fn encode_bytes(bytes: &[u8], out: &mut Encoder<'_>, place: Place) {
    out.vector_header(place, bytes.len(), ALIGN);
    out.append(bytes);
}

impl<M: Message> Field for Nested<M> {
    type Wire = NestedOf<M>;

    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        encode_bytes(&self.bytes, out, place);
    }
}

impl<M: Message> FromWire for Nested<M> {
    fn from_wire(view: NestedView<'_, M>) -> Self {
        Self::from_bytes(view.bytes.to_vec())
    }
}
