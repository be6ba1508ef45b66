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
#![forbid(unsafe_code)]

mod compatibility;
mod contract;
mod difference;
mod dynamic;
mod fingerprint;
mod format;
mod layout;
mod model;
mod reachable;
mod read;
mod wire;
mod write;

pub use compatibility::{Breaks, Change, ChangeKind, Subject, changes, conflict, root_changes};
pub use difference::difference;
pub use dynamic::{DecodeError, Decoder, ObjectValue, Payload, Value, VectorValue};
pub use model::{BaseType, Enum, EnumValue, Field, Object, ObjectKind, Schema, Type};
pub use read::ReadError;
