//! The binary schema: what a `.bfbs` file holds, as plain data that can be built from a type or a schema file,
//! written, read back, compared and fingerprinted; and payloads read with nothing else.
//!
//! The format is FlatBuffers' `reflection.fbs`; [`Schema`] is its model with names in place of indices. The crate
//! knows no files, no Rust code and no transport, and depends on nothing. Schemas and payloads may come from anybody:
//! damaged ones are errors, found in time and memory that their size bounds.
//!
//! ```
//! use msg_schema::{BaseType, Decoder, Field, Object, Schema, Type, Value};
//!
//! let id = Field { name: "id".into(), field_type: Type::plain(BaseType::Int), offset: 4, ..Field::default() };
//! let person = Object { name: "demo.Person".into(), fields: vec![id], min_align: 1, ..Object::default() };
//! let schema =
//!     Schema { objects: vec![person], root: Some("demo.Person".into()), ..Schema::default() };
//! assert_eq!(Schema::from_bytes(&schema.to_bytes())?, schema);
//!
//! // Root at byte 12; its vtable at byte 4: 6 bytes, table of 8 bytes, `id` at byte 4 of it.
//! let payload = [12, 0, 0, 0, 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0];
//! let decoder = Decoder::new(&schema)?;
//! let payload = decoder.payload(&payload)?;
//! let id = payload.root()?.get("id")?;
//! assert!(matches!(id, Some(Value::Integer(7))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Changes
//!
//! [`changes`] lists what changed between two schemas and who breaks; [`conflict`] says whether two programs that meet
//! would misread each other.
//!
//! # JSON
//!
//! [`Payload::to_json`] and [`Decoder::encode_json`] are each other's inverse.
//! The JSON is that of `flatc --strict-json --defaults-json --natural-utf8`, and each reads the other's. The rules:
//!
//! - *Absent scalars* show their default; optional ones show `null`. Other absent things are left out, and so is an absent
//!   deprecated field. Read, `null` means absent.
//! - *Integers* keep all their digits, 64-bit ones included. *Floating-point numbers* have the fewest digits that give the
//!   same number (flatc gives 6 or 12 decimals, which loses small ones); `"nan"`, `"inf"`, `"-inf"` are strings, since
//!   JSON has no numbers for them. Read, numbers may stand in quotes, and flatc's bare `nan`, `inf` and `-inf` are understood.
//! - *Enums* are names; a number that has none is a number. *Bit flags* are the names of all bits with blanks between
//!   (`"Red Blue"`); none or unknown bits make it a number. (flatc tells which enums are bit flags only in binary schemas
//!   made with `--bfbs-builtins`; without, several bits at once are a number.)
//! - *Unions* are two fields, `x_type` with the member's name and `x` with its value; *vectors of unions* are two lists. The
//!   value of a member that the schema does not know is left out (`null` in a list), and cannot be written.
//! - *Bytes* are lists of numbers. Those of a `flexbuffer` are the value in it, which is read as it is written, but for
//!   what JSON does not tell apart: blobs are lists of numbers, and bytes that are no sound FlexBuffer are too. A `nested_flatbuffer` is the object in it, if it is a sound one,
//!   otherwise its bytes; both can be written.
//! - *Hashes*: a string for an integer with the attribute `hash` is written as its hash, and read back as the number.
//! - *Structs* have all their fields, *arrays* all their elements. Names that the schema does not have, names given
//!   twice and absent required fields are mistakes.
//!
//! A text takes at most 1024 times the payload, a payload at most 64 times the text, each and a mebibyte.
#![forbid(unsafe_code)]

mod compatibility;
mod contract;
mod difference;
mod dynamic;
mod fingerprint;
mod flexbuffer;
mod format;
mod json;
mod layout;
mod model;
mod reachable;
mod read;
mod wire;
mod write;

pub use compatibility::{Breaks, Change, ChangeKind, Subject, changes, conflict, root_changes};
pub use difference::difference;
pub use dynamic::{DecodeError, Decoder, ObjectValue, Payload, Value, VectorValue};
pub use json::{JsonError, JsonLayout};
pub use model::{BaseType, Enum, EnumValue, Field, Object, ObjectKind, Schema, Type};
pub use read::ReadError;
