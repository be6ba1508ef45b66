//! NATS passes what every transport passes.
#![cfg(feature = "nats")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_tests::server::Server;
use std::sync::LazyLock;

/// One server for all tests of this file.
static SERVER: LazyLock<Server> = LazyLock::new(|| Server::nats(&[]));

msg_tests::conformance!(format!("nats;{}", SERVER.address()));
