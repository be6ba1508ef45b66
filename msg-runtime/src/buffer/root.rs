//! Whole payloads: verified once on receipt, viewed as often as wanted, encoded into a slot.

use std::marker::PhantomData;

use super::{
    aligned::AlignedBuffer,
    build::{Encoder, Refused},
    field::Field,
    memory::cast,
    plain::{Plain, PlainOf, PlainStruct, verify_plain},
    table::{Cursor, Table, TableOf, encode_view},
    verified::Verified,
    verify::{MAX_BYTES, Verifier},
    wire::{Inline, Place, Wire},
};
use crate::{
    error::Invalid,
    message::{Encode, Message},
};

/// A wire kind that a whole payload may have.
pub trait MessageWire: Wire {
    /// Checks the whole payload; gives the position of the root.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn verify_root(
        verifier: &mut Verifier<'_>,
        len: usize,
        identifier: Option<[u8; 4]>,
    ) -> Result<usize, Invalid>;

    /// Views the payload that was accepted with its root at `at`.
    fn read_root<'a>(bytes: Verified<'a>, at: usize) -> Self::View<'a>;
}

/// The wire kind of a message that has twins.
#[diagnostic::on_unimplemented(
    message = "a plain message cannot have a twin",
    label = "its bytes are its memory",
    note = "`like` needs a struct with `#[derive(Message)]` and without `plain`"
)]
pub trait TwinWire {
    /// The message itself.
    type Message: Message<__Wire = Self> + Table;
}

impl<T: Message<__Wire = Self> + Table> TwinWire for TableOf<T> {
    type Message = T;
}

impl<T: Table> MessageWire for TableOf<T> {
    fn verify_root(
        verifier: &mut Verifier<'_>,
        _: usize,
        identifier: Option<[u8; 4]>,
    ) -> Result<usize, Invalid> {
        verifier.root(identifier, T::FIELDS)
    }

    #[inline]
    fn read_root<'a>(bytes: Verified<'a>, at: usize) -> T::View<'a> {
        T::from_cursor(Cursor::new(bytes, at))
    }
}

impl<T: Plain + PlainStruct> MessageWire for PlainOf<T> {
    fn verify_root(verifier: &mut Verifier<'_>, len: usize, _: Option<[u8; 4]>) -> Result<usize, Invalid> {
        if len != size_of::<T>() {
            return Err(Invalid::WrongSize { len, expected: size_of::<T>() });
        }
        verifier.range(0, Inline::of::<T>())?;
        verify_plain::<T>(verifier, 0, 1)?;
        Ok(0)
    }

    #[inline]
    fn read_root<'a>(bytes: Verified<'a>, at: usize) -> &'a T {
        cast(bytes, at)
    }
}

/// That a payload was verified as an `M`, and where its root is. Kept beside the payload, for [`view`].
pub(crate) struct Root<M> {
    at: usize,
    address: usize,
    len: usize,
    message: PhantomData<fn() -> M>,
}

impl<M> Clone for Root<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Root<M> {}

impl<M> std::fmt::Debug for Root<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Root").field("at", &self.at).finish_non_exhaustive()
    }
}

fn identifier<M: Message>() -> Option<[u8; 4]> {
    M::FILE_IDENTIFIER.and_then(|text| text.as_bytes().first_chunk()).copied()
}

/// Encodes a table as a whole payload.
pub fn encode_root<M: Message, F: Field<Wire = M::__Wire>>(value: &F, out: &mut Encoder<'_>) {
    out.start_root(identifier::<M>());
    value.encode(out, Place::at(0));
}

/// Encodes a received view as a whole payload.
pub fn encode_view_root<M: Message + Table>(view: &Cursor<'_, M>, out: &mut Encoder<'_>) {
    out.start_root(identifier::<M>());
    encode_view(view, out, Place::at(0));
}

/// Verifies a payload once, on receipt.
pub(crate) fn verify<M: Message>(payload: &[u8]) -> Result<Root<M>, Invalid> {
    let mut verifier = Verifier::new(payload);
    let at = M::__Wire::verify_root(&mut verifier, payload.len(), identifier::<M>())?;
    Ok(Root { at, address: payload.as_ptr().addr(), len: payload.len(), message: PhantomData })
}

/// The view of a payload that [`verify`] has accepted, without verifying it again.
///
/// It is for the payload that `root` came from, whose bytes have not changed and not moved since: whoever keeps the
/// two keeps them together and hands out no way to write.
///
/// # Panics
///
/// When the payload is another one, by address or length.
#[inline]
pub(crate) fn view<M: Message>(payload: &[u8], root: Root<M>) -> M::View<'_> {
    assert!(
        payload.as_ptr().addr() == root.address && payload.len() == root.len,
        "a root belongs to the payload it was verified in"
    );
    // SAFETY: `verify` made the root, so it has accepted the bytes at this address and of this length as an `M`; the
    // callers inside this crate keep them unchanged, as this function's contract asks.
    let bytes = unsafe { Verified::assume(payload) };
    M::__view(M::__Wire::read_root(bytes, root.at))
}

/// Encodes into a slot; gives the bytes written, or the exact number that would be needed.
pub(crate) fn encode_into<E: Encode + ?Sized>(value: &E, slot: &mut [u8]) -> Result<usize, Refused> {
    let mut out = Encoder::new(slot);
    value.__encode(&mut out);
    match out.finish() {
        Err(Refused::TooLarge { .. }) => Err(measure(value)),
        result => result,
    }
}

/// Vtables are shared by comparing bytes, which a slot that is too small does not hold: count again without a slot.
#[cold]
fn measure<E: Encode + ?Sized>(value: &E) -> Refused {
    let mut out = Encoder::measure();
    value.__encode(&mut out);
    let len = out.len();
    match out.finish() {
        Err(refused @ Refused::Invalid(_)) => refused,
        _ => Refused::TooLarge { len },
    }
}

/// Verifies a payload and gives its view.
///
/// What a subscriber does with each message that arrives, for tests, files and other ways of one's own. The payload
/// is read in place: where its address is less aligned than the message asks for it is refused as
/// [`Invalid::Unaligned`], and [`AlignedBuffer::copy_of`] it can be read.
///
/// # Errors
///
/// Why the payload is no such message.
///
/// # Examples
///
/// ```
/// #[derive(msg_runtime::Message)]
/// #[message(namespace = "demo")]
/// struct Person {
///     id: i32,
///     name: String,
/// }
///
/// let bytes = msg_runtime::encode(&Person { id: 7, name: "Alice".into() })?;
/// let person = msg_runtime::decode::<Person>(&bytes)?;
/// assert_eq!((person.id(), person.name()), (7, "Alice"));
/// # Ok::<(), msg_runtime::error::Invalid>(())
/// ```
pub fn decode<M: Message>(payload: &[u8]) -> Result<M::View<'_>, Invalid> {
    Ok(view(payload, verify::<M>(payload)?))
}

/// Encodes a message into a buffer of its own, as a publisher does into a slot.
///
/// Copied elsewhere, the bytes can be read where the address is 64-byte aligned, or as aligned as the message's widest
/// part.
///
/// # Errors
///
/// [`Invalid::TooDeep`], [`Invalid::TooManyTables`], [`Invalid::MissingField`] for a required union that is unknown, or, from 2 GiB on, [`Invalid::OutOfRange`]: every receiver would
/// refuse it.
///
/// # Examples
///
/// See [`decode`].
pub fn encode<E: Encode + ?Sized>(value: &E) -> Result<AlignedBuffer, Invalid> {
    let mut buffer = AlignedBuffer::zeroed(0);
    buffer.encode(value)?;
    Ok(buffer)
}

impl AlignedBuffer {
    /// Replaces the contents by a message, keeping the allocation where it is large enough.
    ///
    /// # Errors
    ///
    /// Those of [`encode`]; the buffer is empty then.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[derive(msg_runtime::Message)] #[message(namespace = "demo")] struct Person { id: i32 }
    /// let mut buffer = msg_runtime::AlignedBuffer::zeroed(0);
    /// for id in 1..4 {
    ///     buffer.encode(&Person { id })?;
    ///     assert_eq!(msg_runtime::decode::<Person>(&buffer)?.id(), id);
    /// }
    /// # Ok::<(), msg_runtime::error::Invalid>(())
    /// ```
    pub fn encode<E: Encode + ?Sized>(&mut self, value: &E) -> Result<(), Invalid> {
        let result = match encode_into(value, self.reserve(0)) {
            Err(Refused::TooLarge { len }) if len <= MAX_BYTES => encode_into(value, self.reserve(len)),
            result => result,
        };
        self.truncate(result.unwrap_or(0));
        match result {
            Ok(_) => Ok(()),
            Err(Refused::Invalid(invalid)) => Err(invalid),
            Err(Refused::TooLarge { .. }) => Err(Invalid::OutOfRange),
        }
    }
}

#[cfg(all(test, feature = "derive"))]
mod tests {
    use super::*;

    #[derive(crate::Message, Clone)]
    #[message(namespace = "test")]
    struct Item {
        name: Option<String>,
        next: Option<Box<Item>>,
        items: Vec<Item>,
    }

    fn item(name: Option<&str>) -> Item {
        Item { name: name.map(Into::into), next: None, items: vec![] }
    }

    fn items() -> Item {
        let names = [Some("a"), None, Some("bcd"), None, Some("")];
        Item { items: names.into_iter().cycle().take(20).map(item).collect(), ..item(Some("root")) }
    }

    #[test]
    fn every_slot_that_is_too_small_learns_the_exact_length() {
        let value = items();
        let len = encode(&value).unwrap().len();
        for size in 0..len {
            let mut slot = AlignedBuffer::zeroed(size);
            assert_eq!(encode_into(&value, slot.as_mut_slice()), Err(Refused::TooLarge { len }), "{size}");
        }
        let mut slot = AlignedBuffer::zeroed(len + 9);
        assert_eq!(encode_into(&value, slot.as_mut_slice()), Ok(len));
        assert_eq!(slot[len..], [0; 9]);
    }

    #[test]
    fn equal_vtables_are_written_once() {
        let (one, two) = (item(Some("a")), item(Some("a")));
        let with = |items: Vec<Item>| encode(&Item { items, ..item(None) }).unwrap().len();
        let first = with(vec![one.clone()]) - with(vec![]);
        let second = with(vec![one, two]) - with(vec![item(Some("a"))]);
        // The vtable of a table with three fields has ten bytes, twelve with its padding.
        assert!(first >= second + 8, "{first} {second}");
    }

    #[test]
    fn a_buffer_is_filled_again_and_again() {
        let mut buffer = AlignedBuffer::zeroed(0);
        for value in [items(), item(None), item(Some("a")), items()] {
            buffer.encode(&value).unwrap();
            assert_eq!(buffer[..], encode(&value).unwrap()[..]);
        }
        let deep = (0..100).fold(item(None), |next, _| Item { next: Some(Box::new(next)), ..item(None) });
        assert_eq!(buffer.encode(&deep), Err(Invalid::TooDeep));
        assert!(buffer.is_empty());
    }

    #[test]
    fn a_slot_with_old_bytes_gives_the_same_message() {
        let value = items();
        let clean = encode(&value).unwrap();
        let mut slot = AlignedBuffer::copy_of(&vec![0xff; clean.len()]);
        assert_eq!(encode_into(&value, slot.as_mut_slice()), Ok(clean.len()));
        assert_eq!(slot[..], clean[..]);
    }

    #[test]
    fn a_verified_payload_is_viewed_without_verifying_again() {
        let bytes = encode(&items()).unwrap();
        let root = verify::<Item>(&bytes).unwrap();
        assert_eq!(view(&bytes, root).items().len(), 20);
    }

    #[test]
    #[should_panic(expected = "belongs to the payload it was verified in")]
    fn a_root_is_of_no_use_with_another_payload() {
        let (one, two) = (encode(&items()).unwrap(), encode(&items()).unwrap());
        let root = verify::<Item>(&one).unwrap();
        let _ = view(&two, root);
    }
}
