//! `#[derive(Message)]`: a Rust struct becomes a message.
//!
//! The derive is a pipeline: `attr` and `ast` turn tokens into a typed input, `check` applies the rules that
//! span several fields, `expand` writes the code and cannot fail. Mistakes are collected in a `context::Context`
//! and reported all at once, on the user's own tokens; `fallback` then keeps further code from failing too.
#![forbid(unsafe_code)]

mod ast;
mod attr;
mod check;
mod context;
mod expand;
#[cfg(test)]
mod expected;
mod fallback;
mod symbol;

use proc_macro2::TokenStream;

/// Makes a message, a plain message, an enum or a union of messages.
///
/// # On the type
///
/// | `#[message(..)]` | meaning |
/// | --- | --- |
/// | `namespace = "a.b"` | required: with the type's name it is the topic; `""` is the root namespace |
/// | `name = "Wire"` | the name in the schema, if it is not the Rust name |
/// | `topic = "a.b.left"` | the topic, if it is not the fully qualified name |
/// | `plain` | a `#[repr(C)]` struct whose bytes are its memory |
/// | `view = "Name"` | the name of the view, if it is not `<Type>View` |
/// | `identifier = "ABCD"` | four characters at byte 4 of the payload, checked on receipt |
/// | `extension = "ext"` | the file extension in the schema |
/// | `bit_flags` | an enum whose values are bits, used as `Flags<E>` |
/// | `attribute(name = "value")` | an attribute for the schema; without a value it is a flag |
/// | `like = Scan` | another form of the message `Scan`, which encodes as it: its fields and no others, borrowed, say |
/// | `crate = "path"` | where the runtime is, if it was renamed |
///
/// # On a field, an enumerator or a member of a union
///
/// | `#[message(..)]` | meaning |
/// | --- | --- |
/// | `id = 3` | its place in the vtable; all fields have one, or none. Of a member: its number |
/// | `default = 7` | what an absent number, `bool` or enum reads as: a literal, or a constant such as `Color::Red`; a string has a string, and a vector `[]`, which readers in other languages see too |
/// | `required` | a payload without it is invalid |
/// | `rename = "wire_name"` | the name in the schema (enumerators and members too) |
/// | `deprecated` | marked so in the schema |
/// | `key` | the key of sorted vectors of the type |
/// | `align = 16` | the elements of the vector stand at multiples of so many bytes, 32 at most (`force_align`) |
/// | `skip` | no part of the message: `Default` when it is made from a received one |
/// | `with = "module"` | converted by a module, as below |
/// | `attribute(name = "value")` | as on the type (enumerators and members too) |
/// | `unknown` | the variant of a union for members that only newer senders know |
///
/// # Fields
///
/// Numbers, `bool`, `String`, `&str`, `Cow`, `Vec<T>`, `&[T]`, `[T; N]` of plain values, `Box<T>`, `Option<T>`, other
/// messages and enums, their views, `HashMap` and `BTreeMap` with string or integer keys (in the schema a vector of
/// tables with a key and a value), `Duration` and `SystemTime` (nanoseconds), and of the runtime `Open`, `Flags`,
/// `FillWith`, `Padding` and `Nested`.
///
/// # Unions
///
/// An enum with data is a union. Each variant holds one message, plain struct or string, boxed or not; members have the
/// numbers 1, 2 and so on, and `id = N` says another one, from which those after it go on. One more variant holds the
/// number of a member that this program does not know:
///
/// ```ignore
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// enum Thing {
///     Node(Box<Node>),
///     Text(String),
///     #[message(id = 7)]
///     Pose(Pose),
///     #[message(unknown)]
///     Unknown(u8),
/// }
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Envelope {
///     thing: Option<Thing>,
///     things: Vec<Thing>,
/// }
/// ```
///
/// The view is an enum with the same variants, `ThingView<'_>`. An unknown member is received and not sent on, since
/// nobody here can tell where it ends: `Unknown(n)` is encoded as an absent union, in a vector as NONE, which reads as
/// `Unknown(0)`. Whoever forwards messages sends the payload as it came. A field `thing: Thing` without `Option` reads
/// as `Unknown(0)` when it is absent. In a table a union takes two ids, of which `id = N` is the second.
///
/// # Types that are no messages
///
/// A struct of one unnamed field is that field on the wire, with no namespace and no name of its own; with
/// `#[message(plain)]` and `#[repr(transparent)]` it fits plain structs too. Types of other crates go through a module
/// with two functions:
///
/// ```ignore
/// mod uuid_bytes {
///     pub type Field = [u8; 16];
///     pub fn to_field(id: &Uuid) -> Field { *id.as_bytes() }
///     pub fn from_field(bytes: Field) -> Uuid { Uuid::from_bytes(bytes) }
/// }
///
/// #[derive(Message)]
/// struct Celsius(f32);
///
/// #[derive(Message)]
/// #[message(namespace = "demo")]
/// struct Reading {
///     #[message(with = "uuid_bytes")]
///     sensor: Uuid,
///     value: Celsius,
/// }
/// ```
///
/// The view shows what is on the wire: `view.sensor()` is a `&[u8; 16]`, `view.value()` an `f32`.
///
/// Doc comments become the schema's documentation.
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(input.into()).into()
}

fn derive(input: TokenStream) -> TokenStream {
    let input = match syn::parse2::<syn::DeriveInput>(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let context = context::Context::new();
    let parsed = ast::Input::parse(&context, &input);
    if let Some(parsed) = &parsed {
        check::check(&context, parsed);
    }
    match (context.finish(), parsed) {
        (Ok(()), Some(parsed)) => expand::expand(&parsed),
        (Ok(()), None) => TokenStream::new(),
        (Err(errors), parsed) => {
            let errors = errors.iter().map(syn::Error::to_compile_error);
            errors.chain([fallback::expand(&input, parsed.as_ref())]).collect()
        }
    }
}
