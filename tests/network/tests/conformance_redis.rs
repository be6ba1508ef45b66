//! Redis passes what every transport passes.
#![cfg(feature = "redis")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_tests::server::Server;
use std::sync::LazyLock;

/// One server for all tests of this file.
static SERVER: LazyLock<Server> = LazyLock::new(|| Server::redis(&[]));

msg_tests::conformance!(format!("redis;{}", SERVER.address()));
