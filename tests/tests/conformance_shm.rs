//! Shared memory passes what every transport passes.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

msg_tests::conformance!(format!("shm;conformance-{}?slots=64,size=11MiB", std::process::id()));
