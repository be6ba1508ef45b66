//! An encrypted connection whose two directions two threads use.
//!
//! Certificates are checked against those that this host trusts (or the file that `SSL_CERT_FILE` names). The cryptography
//! is chosen here and not taken from the process, where another part of a program may have installed its own, or nobody.

use rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::ring, pki_types::ServerName};
use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

const BUFFER: usize = 16 << 10;

pub(super) struct TlsStream {
    socket: TcpStream,
    session: Mutex<ClientConnection>,
    /// The reader's alone. Held while the socket is waited for, which the session is not: others write meanwhile.
    arrived: Mutex<Arrived>,
}

/// Bytes from the socket that the session has not taken.
struct Arrived {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl TlsStream {
    /// Shakes hands, within the socket's timeouts.
    pub(super) fn connect(mut socket: TcpStream, host: &str) -> io::Result<Self> {
        let name = ServerName::try_from(host.to_owned()).map_err(invalid)?;
        let mut session = ClientConnection::new(config()?, name).map_err(invalid)?;
        while session.is_handshaking() {
            session.complete_io(&mut socket)?;
        }
        let arrived = Arrived { bytes: vec![0; BUFFER], start: 0, end: 0 };
        Ok(Self { socket, session: Mutex::new(session), arrived: Mutex::new(arrived) })
    }

    pub(super) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    pub(super) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut arrived = lock(&self.arrived);
        loop {
            let mut session = lock(&self.session);
            match session.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
            if arrived.start < arrived.end {
                let mut rest = &arrived.bytes[arrived.start..arrived.end];
                arrived.start += session.read_tls(&mut rest)?;
                session.process_new_packets().map_err(invalid)?;
                while session.wants_write() {
                    session.write_tls(&mut &self.socket)?;
                }
                continue;
            }
            drop(session);
            let count = (&self.socket).read(&mut arrived.bytes)?;
            if count == 0 {
                return Ok(0);
            }
            (arrived.start, arrived.end) = (0, count);
        }
    }

    /// Writes as much as fits a session's buffer.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut session = lock(&self.session);
        let count = session.writer().write(bytes)?;
        while session.wants_write() {
            session.write_tls(&mut &self.socket)?;
        }
        Ok(count)
    }
}

fn config() -> io::Result<Arc<ClientConfig>> {
    static CONFIG: Mutex<Option<Arc<ClientConfig>>> = Mutex::new(None);
    let mut known = lock(&CONFIG);
    if let Some(config) = &*known {
        return Ok(Arc::clone(config));
    }
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    if roots.add_parsable_certificates(found.certs).0 == 0 {
        let reason = found.errors.first().map_or(String::new(), |error| format!(": {error}"));
        let text = format!("this host trusts no certificate{reason}; install `ca-certificates`");
        return Err(io::Error::new(io::ErrorKind::NotFound, text));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(invalid)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::clone(known.insert(Arc::new(config))))
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic in between ends the thread that uses the link; what is left is checked by the other side.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
