//! Fields of types that are one's own: a conversion to something that is a field already.
//!
//! A struct around one field needs `#[derive(Message)]` only, and a type of another crate
//! [`#[message(with = "module")]`](derive@crate::Message#types-that-are-no-messages). What is left is a type of one's
//! own that looks different in memory: it implements [`Field`] by writing what it is on the wire, [`FromWire`] by
//! taking that back, and [`Element`] to stand in vectors. No unsafe code is needed, and none helps: how bytes are
//! read is a matter of the wire kinds of this crate.
//!
//! # Examples
//!
//! ```
//! use msg_runtime::field::{Element, Encoder, Field, FromWire, Place};
//!
//! /// Degrees in the program, radians in messages.
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! struct Angle {
//!     degrees: f64,
//! }
//!
//! impl Field for Angle {
//!     type Wire = <f64 as Field>::Wire;
//!
//!     fn encode(&self, out: &mut Encoder<'_>, place: Place) {
//!         self.degrees.to_radians().encode(out, place);
//!     }
//! }
//!
//! impl FromWire for Angle {
//!     fn from_wire(radians: f64) -> Self {
//!         Self { degrees: radians.to_degrees() }
//!     }
//! }
//!
//! impl Element for Angle {}
//!
//! #[derive(msg_runtime::Message)]
//! #[message(namespace = "demo")]
//! struct Joints {
//!     base: Angle,
//!     all: Vec<Angle>,
//! }
//!
//! let angle = |degrees| Angle { degrees };
//! let bytes = msg_runtime::encode(&Joints { base: angle(180.0), all: vec![angle(90.0), angle(0.0)] })?;
//! let view = msg_runtime::decode::<Joints>(&bytes)?;
//! assert_eq!(view.base(), std::f64::consts::PI);
//! assert_eq!(Joints::from(view).all, [angle(90.0), angle(0.0)]);
//! # Ok::<(), msg_runtime::error::Invalid>(())
//! ```

pub use crate::buffer::{
    build::Encoder,
    field::{Element, Field, FromWire},
    wire::{Place, Wire},
};
