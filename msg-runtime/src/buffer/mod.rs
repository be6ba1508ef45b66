//! FlatBuffers, read in place from verified payloads and encoded straight into a slot.
//!
//! Everything follows from one constant table of facts per type ([`spec`]): the verifier loops over it, the cursors
//! read through it, the schema is made from it. Rooms:
//!
//! - [`wire`]: what a kind of field is on the wire; [`field`]: which Rust types are of which kind;
//! - a file per family of kinds: [`scalar`], [`text`], [`vector`], [`option`], [`table`], [`plain`], [`array`],
//!   [`padding`], [`enumeration`], [`open`],
//!   [`union`], [`time`], [`map`], [`nested`]; [`key`] orders and finds; [`memory`] has the casts, [`in_place`] fills a plain
//!   message in lent bytes;
//! - [`verify`] and [`verified`]: checking bytes, and the token that says they were checked;
//! - `serialize` and `deserialize`: views and values for serde, with the feature of that name;
//! - [`build`]: the encoder; [`root`]: whole payloads; [`describe`]: what the binary schema is made from.
//!
//! # Safety
//!
//! References into a payload and unchecked strings are made from [`verified::Verified`] bytes only. Such a token comes
//! from a payload that the verifier accepted for the type it is read as; wire kinds are sealed; the facts of a field
//! are made in one place, and an accessor compares its kind with the facts before it reads. So an implementation of
//! the public traits that lies can make itself panic, and no more. Every access is bounds-checked all the same: bytes
//! that change after verification (which only a process that breaks the slot protocol can do) give wrong values,
//! never reads outside the payload.
#![allow(unsafe_code)]

pub(crate) mod aligned;
mod array;
pub(crate) mod build;
mod const_text;
pub(crate) mod describe;
#[cfg(feature = "serde")]
pub(crate) mod deserialize;
pub(crate) mod enumeration;
pub(crate) mod field;
mod in_place;
pub(crate) mod key;
mod map;
pub(crate) mod memory;
mod nested;
mod open;
pub(crate) mod option;
mod padding;
pub(crate) mod plain;
pub(crate) mod root;
pub(crate) mod scalar;
#[cfg(feature = "serde")]
pub(crate) mod serialize;
pub(crate) mod spec;
pub(crate) mod table;
pub(crate) mod text;
mod time;
pub(crate) mod union;
pub(crate) mod vector;
pub(crate) mod verified;
pub(crate) mod verify;
pub(crate) mod wire;

pub use aligned::AlignedBuffer;
pub use map::MapView;
pub use nested::{Nested, NestedView};
pub use open::{Flags, Open};
pub use padding::Padding;
pub use plain::Plain;
pub use root::{decode, encode};
pub use vector::{FillWith, VectorIter, VectorView};

pub(crate) use {
    build::Refused,
    in_place::{InPlace, Uninit},
    root::{Root, encode_into, verify, view},
};
