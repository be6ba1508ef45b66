//! What the tests of network transports share.

pub mod zenoh;
