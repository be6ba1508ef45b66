//! Logins, certificates, and that no secret is ever printed: not in errors, not by `Debug`, not in a log line of any level.
#![cfg(feature = "nats")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_network_tests::{Note, PATIENCE, eventually, next, note, publisher, subscriber};
use msg_runtime::{Endpoint, ErrorKind, Publisher};
use msg_tests::{
    server::Server,
    tools::{self, Folder},
};
use std::{
    fmt::Write as _,
    process::Command,
    sync::{Mutex, Once},
};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

const PASSWORD: &str = "pass@word-4711";
const ENCODED: &str = "pass%40word-4711";

static LINES: Mutex<String> = Mutex::new(String::new());

/// Writes down every event and span of every level.
struct Everything;

struct Text<'a>(&'a mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        attributes.record(&mut Text(&mut LINES.lock().unwrap()));
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut Text(&mut LINES.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut lines = LINES.lock().unwrap();
        event.record(&mut Text(&mut lines));
        lines.push('\n');
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

fn log_everything() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Everything).unwrap());
}

fn hides_secrets(text: &str) {
    for secret in [PASSWORD, ENCODED, "4711"] {
        assert!(!text.contains(secret), "`{secret}` in: {text}");
    }
}

#[test]
fn no_password_is_ever_printed() {
    log_everything();
    let mut server = Server::nats(&["--user", "ada", "--pass", PASSWORD]);
    let address = server.address();
    let right = format!("nats;nats://ada:{ENCODED}@{address}");
    let (subscriber, publisher) = (subscriber(&right, "secret"), publisher(&right, "secret"));
    publisher.send(&note(1)).unwrap();
    assert_eq!(next(&subscriber), 1);
    // Again, when the client logs in by itself.
    server.restart();
    eventually("the login is repeated", || publisher.stats().reconnects == 1);
    publisher.flush(PATIENCE).unwrap();
    for text in [format!("{publisher:?} {subscriber:?}"), format!("{:?}", right.parse::<Endpoint>().unwrap())]
    {
        hides_secrets(&text);
    }
    let wrong = [
        (format!("nats;nats://ada:wrong-4711@{address}"), ErrorKind::PermissionDenied),
        (format!("nats;nats://pass-4711@{address}"), ErrorKind::PermissionDenied),
        (format!("nats;{address}"), ErrorKind::PermissionDenied),
        (format!("nats;nats://ada:{ENCODED}@127.0.0.1:1"), ErrorKind::Unreachable),
        (format!("nats;nats://ada:{ENCODED}@no-such-host.invalid"), ErrorKind::Unreachable),
        (format!("nats;nats://ada:{ENCODED}@{address}?creds=file"), ErrorKind::InvalidEndpoint),
        (format!("nats;nats://ada:{ENCODED}@host:port:x"), ErrorKind::InvalidEndpoint),
        (format!("nats;tls://ada:{ENCODED}@{address}?connect_timeout=2s"), ErrorKind::Unreachable),
    ];
    for (endpoint, kind) in wrong {
        let error = Publisher::<Note>::open(&endpoint).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        hides_secrets(&format!("{error} {error:?} {:?}", std::error::Error::source(&error)));
    }
    hides_secrets(&publisher.last_error().unwrap_or_default());
    let lines = LINES.lock().unwrap();
    assert!(lines.contains("CONNECT"), "the client's own log lines are there: {lines}");
    assert!(lines.contains("reconnected"), "ours are too");
    hides_secrets(&lines);
}

#[test]
fn tokens_open_and_wrong_ones_are_refused() {
    let server = Server::nats(&["--auth", PASSWORD]);
    let right = format!("nats;nats://{ENCODED}@{}", server.address());
    let (subscriber, publisher) = (subscriber(&right, "token"), publisher(&right, "token"));
    publisher.send(&note(1)).unwrap();
    assert_eq!(next(&subscriber), 1);
    let error = Publisher::<Note>::open(&format!("nats;nats://other@{}", server.address())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(
        error.to_string().contains(&server.address()) && !error.to_string().contains("other@"),
        "{error}"
    );
}

/// In a process of its own, since it reads its certificates from where the environment says.
fn opens(endpoint: &str, authorities: Option<&str>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nats_peer"));
    command.args(["open", endpoint, "tls"]).env_remove("SSL_CERT_DIR").env_remove("SSL_CERT_FILE");
    authorities.map(|file| command.env("SSL_CERT_FILE", file));
    tools::run(&mut command)
}

#[test]
fn certificates_are_checked_and_a_trusted_one_opens() {
    let folder = Folder::new();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = folder.write("cert.pem", own.cert.pem());
    let key = folder.write("key.pem", own.signing_key.serialize_pem());
    let stranger = folder.write("other.pem", other.cert.pem());
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let arguments = ["--tls", "--tlscert", &path(&certificate), "--tlskey", &path(&key)];
    let server = Server::nats(&arguments);
    for host in ["localhost", "127.0.0.1"] {
        let endpoint = format!("nats;tls://{host}:{}", server.port());
        assert_eq!(opens(&endpoint, Some(&path(&certificate))).trim(), "open Ok(())");
        for authorities in [Some(path(&stranger)), None] {
            let printed = opens(&endpoint, authorities.as_deref());
            assert!(printed.starts_with("Unreachable") && printed.contains("certificate"), "{printed}");
            assert!(printed.contains(host), "{printed}");
        }
    }
    let printed = opens(&format!("nats;127.0.0.1:{}", server.port()), Some(&path(&stranger)));
    assert!(printed.starts_with("Unreachable"), "a server that wants TLS gets TLS: {printed}");
}
