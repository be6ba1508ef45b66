//! Threads of one process pass what every transport passes.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

msg_tests::conformance!("inproc;conformance");
