//! The binary schema: what a `.bfbs` file holds, as plain data that can be built from a type or a schema file,
//! written, read back, compared and fingerprinted.
//!
//! The format is FlatBuffers' `reflection.fbs`; [`Schema`] is its model with names in place of indices. The crate
//! knows no files, no Rust code and no transport, and depends on nothing.
#![forbid(unsafe_code)]

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

pub use difference::difference;
pub use dynamic::{DecodeError, Decoder, ObjectValue, Payload, Value, VectorValue};
pub use model::{BaseType, Enum, EnumValue, Field, Object, ObjectKind, Schema, Type};
pub use read::ReadError;
