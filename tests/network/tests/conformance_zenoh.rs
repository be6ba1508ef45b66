//! Zenoh passes what every transport passes: inside a session, and over a link.
#![cfg(feature = "zenoh")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::Subscriber;
use msg_tests::{conformance::Note, server::free_port};
use std::sync::OnceLock;

/// A port at which this process listens until its end.
fn port() -> u16 {
    static LISTENS: OnceLock<(u16, Subscriber<Note>)> = OnceLock::new();
    let (port, _) = LISTENS.get_or_init(|| {
        // Somebody else may take a free port before we have it.
        let open = || {
            let port = free_port();
            Some((port, Subscriber::builder(&listens(port)).topic("conformance").open().ok()?))
        };
        (0..10).find_map(|_| open()).unwrap()
    });
    *port
}

fn listens(port: u16) -> String {
    format!("zenoh;peer?listen=tcp://127.0.0.1:{port},iface=lo")
}

mod in_a_session {
    msg_tests::conformance!(super::listens(super::port()));
}

mod over_a_link {
    msg_tests::conformance!({
        let port = super::port();
        (format!("zenoh;tcp://127.0.0.1:{port}"), super::listens(port))
    });
}

mod and_back {
    msg_tests::conformance!({
        let port = super::port();
        (super::listens(port), format!("zenoh;tcp://127.0.0.1:{port}"))
    });
}
