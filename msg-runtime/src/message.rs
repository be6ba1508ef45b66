//! What a topic carries: [`Message`], with [`Encode`] for what can be sent as one and [`FromView`] for what can be
//! made from a received one.

use crate::{
    buffer::{build::Encoder, root::MessageWire, wire::Wire},
    schema::CompiledSchema,
};

/// A type that a topic carries; `#[derive(Message)]` implements it.
///
/// For a struct that borrows, such as `Iq<'a>`, the message is `Iq<'static>`.
///
/// # Examples
///
/// ```
/// use msg_runtime::Message;
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Person {
///     name: String,
/// }
///
/// assert_eq!(Person::TYPE_NAME, "demo.Person");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message",
    label = "no topic carries this type",
    note = "put `#[derive(Message)]` and `#[message(namespace = \"..\")]` on a struct; numbers and enums travel as its fields"
)]
pub trait Message: 'static {
    /// Fully qualified name, as the schema spells it.
    const TYPE_NAME: &'static str;
    /// The topic, unless a publisher or subscriber is given another.
    const TOPIC: &'static str = Self::TYPE_NAME;
    /// Four characters that stand at byte 4 of each payload and are checked on receipt.
    const FILE_IDENTIFIER: Option<&'static str> = None;
    /// The extension of files that hold such a payload, without a dot, or empty.
    const FILE_EXTENSION: &'static str = "";
    /// Bytes of every payload, for a plain message.
    const PLAIN_BYTES: Option<usize> = None;

    /// What a receiver sees: accessors that borrow from the payload.
    type View<'a>: Copy;

    /// The binary FlatBuffers schema (`reflection.Schema`) of the type and everything in it, made on first use.
    fn schema() -> &'static [u8] {
        Self::__schema().bytes()
    }

    /// A hash of the schema without the type's own name: equal where two programs agree on the contents.
    fn fingerprint() -> u64 {
        Self::__schema().fingerprint()
    }

    #[doc(hidden)]
    type __Wire: MessageWire;

    #[doc(hidden)]
    fn __view<'view>(view: <Self::__Wire as Wire>::View<'view>) -> Self::View<'view>;

    #[doc(hidden)]
    fn __schema() -> &'static CompiledSchema;
}

/// A value that can be sent where its `Message` is expected: the type itself, or its borrowed form.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent as a message",
    label = "not a message",
    note = "put `#[derive(Message)]` and `#[message(namespace = \"..\")]` on the struct"
)]
pub trait Encode {
    /// What a receiver sees it as.
    type Message: Message;

    #[doc(hidden)]
    fn __encode(&self, out: &mut Encoder<'_>);
}

impl<E: Encode + ?Sized> Encode for &E {
    type Message = E::Message;

    fn __encode(&self, out: &mut Encoder<'_>) {
        (**self).__encode(out);
    }
}

/// A message that can be made from what was received. A struct that borrows cannot.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from a received message",
    label = "it borrows, or is not a message",
    note = "read the fields through the view"
)]
pub trait FromView: Message + Sized {
    /// The owned value of a view.
    ///
    /// Verification bounds what this allocates: 256 times the payload and 16 MiB, which only a payload made for it reaches.
    fn from_view(view: Self::View<'_>) -> Self;
}
