//! A connection to a server: opened, secured, logged in and greeted within a deadline, and watched afterwards.
//!
//! The socket sends at once (no Nagle). A heartbeat of ours, a `PING` after two seconds without a byte, finds a link that
//! is half open, wherever keepalive probes of the kernel would have taken hours.

use super::resp::{Answer, Reader, Source, command};
#[cfg(feature = "tls")]
use super::tls::TlsStream;
use crate::{
    endpoint::{Login, RedisAddress, RedisServer, Server},
    error::{Error, ErrorKind},
};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::{
    fmt,
    io::{self, IoSlice, Read, Write},
    net::{Shutdown, TcpStream, ToSocketAddrs},
    sync::Arc,
    time::{Duration, Instant},
};

/// So long without a byte, and the server is asked; so long again without an answer, and the link is lost.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// So long without taking a byte, and the link is lost.
const WRITE_LIMIT: Duration = Duration::from_secs(4);

/// A connection's bytes. Reading and writing are two threads' work: both take it shared.
pub(super) enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    #[cfg(feature = "tls")]
    Tls(Box<TlsStream>),
}

impl Stream {
    fn open(server: &RedisServer, deadline: Instant) -> io::Result<Self> {
        match server {
            RedisServer::Tcp { server, tls: false, .. } => Ok(Self::Tcp(dial(server, deadline)?)),
            #[cfg(feature = "tls")]
            RedisServer::Tcp { server, .. } => {
                let socket = dial(server, deadline)?;
                let left = left(deadline)?;
                socket.set_read_timeout(Some(left))?;
                socket.set_write_timeout(Some(left))?;
                Ok(Self::Tls(Box::new(TlsStream::connect(socket, &server.host)?)))
            }
            #[cfg(unix)]
            RedisServer::Unix(path) => Ok(Self::Unix(UnixStream::connect(path)?)),
            #[allow(unreachable_patterns, reason = "a build may have all of them")]
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(socket) => Read::read(&mut &*socket, into),
            #[cfg(unix)]
            Self::Unix(socket) => Read::read(&mut &*socket, into),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.read(into),
        }
    }

    /// Writes all of these pieces, or fails when none of it is taken for too long.
    pub(super) fn write(&self, mut pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
        IoSlice::advance_slices(&mut pieces, 0);
        while !pieces.is_empty() {
            let count = match self {
                Self::Tcp(socket) => Write::write_vectored(&mut &*socket, pieces),
                #[cfg(unix)]
                Self::Unix(socket) => Write::write_vectored(&mut &*socket, pieces),
                #[cfg(feature = "tls")]
                Self::Tls(stream) => stream.write(&pieces[0]),
            };
            match count {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => IoSlice::advance_slices(&mut pieces, count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Ends reading and writing, on whatever thread.
    pub(super) fn shut_down(&self) {
        let _ = match self {
            Self::Tcp(socket) => socket.shutdown(Shutdown::Both),
            #[cfg(unix)]
            Self::Unix(socket) => socket.shutdown(Shutdown::Both),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.socket().shutdown(Shutdown::Both),
        };
    }

    fn set_timeouts(&self, read: Duration, write: Duration) -> io::Result<()> {
        let tcp = |socket: &TcpStream| {
            socket.set_read_timeout(Some(read))?;
            socket.set_write_timeout(Some(write))
        };
        match self {
            Self::Tcp(socket) => tcp(socket),
            #[cfg(unix)]
            Self::Unix(socket) => {
                socket.set_read_timeout(Some(read))?;
                socket.set_write_timeout(Some(write))
            }
            #[cfg(feature = "tls")]
            Self::Tls(stream) => tcp(stream.socket()),
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

/// Every address of the host is tried: `localhost` may be `::1` first.
fn dial(server: &Server, deadline: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (server.host.as_str(), server.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left(deadline)?) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Asks the server whether it is there.
type Ping = Box<dyn Fn() -> io::Result<()> + Send>;

/// The bytes of a connection, and how long to wait for them.
pub(super) struct Input {
    stream: Arc<Stream>,
    wait: Wait,
}

enum Wait {
    /// Everything is due by then.
    Until(Instant),
    /// A silent server is asked once.
    Ask { ping: Ping, asked: bool },
}

impl Input {
    /// From here on the server may be silent, and is asked then.
    pub(super) fn watch(&mut self, ping: Ping) -> io::Result<()> {
        self.wait = Wait::Ask { ping, asked: false };
        self.stream.set_timeouts(HEARTBEAT, WRITE_LIMIT)
    }
}

impl Source for Input {
    fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Wait::Until(deadline) = self.wait {
                let left = left(deadline)?;
                self.stream.set_timeouts(left, left)?;
            }
            let error = match self.stream.read(into) {
                Ok(0) => {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server has closed it"));
                }
                Ok(count) => {
                    if let Wait::Ask { asked, .. } = &mut self.wait {
                        *asked = false;
                    }
                    return Ok(count);
                }
                Err(error) => error,
            };
            match (error.kind(), &mut self.wait) {
                (io::ErrorKind::Interrupted, _) => {}
                (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut, Wait::Until(_)) => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut, Wait::Ask { ping, asked }) => {
                    if std::mem::replace(asked, true) {
                        return Err(io::Error::new(io::ErrorKind::TimedOut, "the server is silent"));
                    }
                    ping()?;
                }
                _ => return Err(error),
            }
        }
    }
}

/// Opens a connection and logs in. A server that wants a password and was not given one says so now.
pub(super) fn connect(
    address: &RedisAddress,
    deadline: Instant,
) -> Result<(Arc<Stream>, Reader<Input>), Error> {
    let stream =
        Arc::new(Stream::open(&address.server, deadline).map_err(|error| unreachable(address, &error))?);
    let input = Input { stream: Arc::clone(&stream), wait: Wait::Until(deadline) };
    let mut reader = Reader::new(input);
    for command in greeting(address) {
        ask(address, &stream, &command)?;
        match reader.answer().map_err(|error| unreachable(address, &error))? {
            Answer::Done => {}
            Answer::Refused(reason) => return Err(refused(address, &reason)),
        }
    }
    Ok((stream, reader))
}

/// Sends a command of the greeting.
pub(super) fn ask(address: &RedisAddress, stream: &Stream, command: &[u8]) -> Result<(), Error> {
    stream.write(&mut [IoSlice::new(command)]).map_err(|error| unreachable(address, &error))
}

fn greeting(address: &RedisAddress) -> Vec<Vec<u8>> {
    let mut commands = Vec::new();
    if let Some(Login { user, password }) = &address.login {
        let password = password.reveal().as_bytes();
        commands.push(match user.is_empty() {
            true => command(&[b"AUTH", password]),
            false => command(&[b"AUTH", user.as_bytes(), password]),
        });
    }
    if let RedisServer::Tcp { database, .. } = address.server
        && database != 0
    {
        commands.push(command(&[b"SELECT", database.to_string().as_bytes()]));
    }
    commands.push(command(&[b"PING"]));
    commands
}

/// There is no link.
pub(super) fn unreachable(address: &RedisAddress, error: &io::Error) -> Error {
    let tls = matches!(address.server, RedisServer::Tcp { tls: true, .. });
    let advice = match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => return silent(address),
        io::ErrorKind::InvalidData if tls => "; is it a TLS server with a certificate that this host trusts?",
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            "; is it a Redis server, without TLS? (with TLS: `rediss://`)"
        }
        io::ErrorKind::PermissionDenied => "; may this user open its socket?",
        _ => "; is the server there? (`retry=true` opens anyway)",
    };
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        _ => ErrorKind::Unreachable,
    };
    Error::new(kind, format!("cannot connect to {}: {error}{advice}", place(address)))
}

/// There is no answer in time.
pub(super) fn silent(address: &RedisAddress) -> Error {
    let limit = address.options.connect_timeout;
    Error::new(ErrorKind::Unreachable, format!("{} does not answer within {limit:?}", place(address)))
}

/// The server does not want us, for a reason that it gave.
pub(super) fn refused(address: &RedisAddress, reason: &str) -> Error {
    let login = ["NOAUTH", "WRONGPASS", "NOPERM"].iter().any(|code| reason.starts_with(code))
        || reason.starts_with("ERR AUTH")
        || reason.starts_with("ERR invalid password");
    let (kind, advice) = match login {
        true => (ErrorKind::PermissionDenied, "; write `user:password@` or `:password@` before the host"),
        false => (ErrorKind::Unreachable, ""),
    };
    Error::new(kind, format!("{} refuses: {reason}{advice}", place(address)))
}

/// The server as people write it, without a login.
pub(super) fn place(address: &RedisAddress) -> String {
    match &address.server {
        RedisServer::Tcp { server, .. } => format!("redis server {server}"),
        RedisServer::Unix(path) => format!("redis server unix:{path}"),
    }
}
