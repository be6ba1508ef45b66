//! Redis over TLS, with a certificate of our own that the connecting process is told to trust.
#![cfg(feature = "redis")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_tests::{
    conformance::Place,
    server::Server,
    tools::{Folder, run},
};
use rustls::{ServerConfig, ServerConnection, StreamOwned, crypto::ring, pki_types::PrivatePkcs8KeyDer};
use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::PathBuf,
    process::Command,
    sync::Arc,
    thread,
    time::Duration,
};

/// A server behind a relay that speaks TLS, and the file with the relay's certificate.
struct Secured {
    server: Server,
    port: u16,
    certificate: PathBuf,
    _folder: Folder,
}

impl Secured {
    fn new() -> Self {
        let server = Server::redis(&["--requirepass", "secret"]);
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = Folder::new();
        let certificate = folder.write("certificate.pem", certified.cert.pem().as_bytes());
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key.into())
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (port, behind) = (listener.local_addr().unwrap().port(), server.port());
        thread::spawn(move || {
            for client in listener.incoming() {
                let session = ServerConnection::new(Arc::clone(&config)).unwrap();
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, behind)).unwrap();
                thread::spawn(move || relay(StreamOwned::new(session, client.unwrap()), server));
            }
        });
        Self { server, port, certificate, _folder: folder }
    }

    /// What a process says that trusts this certificate.
    fn exchange(&self, address: &str, trusts: &PathBuf) -> String {
        let place = Place::new(format!("redis;{address}"));
        let mut peer = Command::new(env!("CARGO_BIN_EXE_redis_peer"));
        peer.args(["exchange", &place.endpoint, &place.topic]).env("SSL_CERT_FILE", trusts);
        run(peer.env_remove("SSL_CERT_DIR"))
    }
}

/// Both directions in turn, until one side ends.
fn relay(mut client: StreamOwned<ServerConnection, TcpStream>, mut server: TcpStream) {
    let turn = Some(Duration::from_millis(1));
    client.sock.set_read_timeout(turn).unwrap();
    server.set_read_timeout(turn).unwrap();
    let mut bytes = vec![0; 64 << 10];
    let mut pass = |from: &mut dyn Read, to: &mut dyn Write| match from.read(&mut bytes) {
        Ok(0) => false,
        Ok(count) => to.write_all(&bytes[..count]).and_then(|()| to.flush()).is_ok(),
        Err(error) => matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
    };
    while pass(&mut client, &mut server) && pass(&mut server, &mut client) {}
}

#[test]
fn messages_go_through_tls_with_a_certificate_that_is_trusted() {
    let secured = Secured::new();
    let address = format!("rediss://:secret@localhost:{}", secured.port);
    assert_eq!(secured.exchange(&address, &secured.certificate), "exchanged\n");
}

#[test]
fn a_certificate_that_is_not_trusted_ends_opening() {
    let (secured, other) = (Secured::new(), Secured::new());
    let address = format!("rediss://:secret@localhost:{}", secured.port);
    let said = secured.exchange(&address, &other.certificate);
    assert!(said.starts_with("Unreachable: cannot connect to redis server localhost:"), "{said}");
    assert!(said.contains("certificate that this host trusts"), "{said}");
    assert!(!said.contains("secret"), "{said}");
    // The certificate is for another name.
    let address = format!("rediss://:secret@127.0.0.1:{}", secured.port);
    let said = secured.exchange(&address, &secured.certificate);
    assert!(said.contains("invalid peer certificate"), "{said}");
}

#[test]
fn tls_to_a_server_without_and_the_other_way_round_are_told() {
    let secured = Secured::new();
    let to_plain = format!("rediss://:secret@localhost:{}?connect_timeout=1s", secured.server.port());
    let said = secured.exchange(&to_plain, &secured.certificate);
    assert!(said.starts_with("Unreachable: "), "{said}");
    let to_secured = format!("redis://:secret@localhost:{}?connect_timeout=1s", secured.port);
    let said = secured.exchange(&to_secured, &secured.certificate);
    assert!(said.starts_with("Unreachable: ") && said.contains("`rediss://`"), "{said}");
}
