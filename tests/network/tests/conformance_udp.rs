//! UDP multicast passes what every transport passes.
#![cfg(target_os = "linux")]
#![cfg(feature = "udp")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

// A group of its own for each test: every socket of a group gets everything that is sent there.
msg_tests::conformance!(msg_network_tests::udp::endpoint(""));
