//! What the tests of network transports share.

pub mod hosts;
pub mod udp;
