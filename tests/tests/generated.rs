//! The code generated from `schemas/` by `build.rs`: it compiles without a warning wherever it stands, and each type
//! has the schema that it was generated from.
#![deny(warnings)]
#![forbid(unsafe_code)]

/// Not at the root of the crate, so that no path can lead through it.
pub mod inside {
    include!(concat!(env!("OUT_DIR"), "/msg_schemas.rs"));
}
