//! The address of a Redis server.

use super::{
    login::Login,
    mask::Masked,
    network::NetworkOptions,
    options,
    server::{Server, Url},
    text::{Complaint, Part},
};
use std::fmt;

const DEFAULT_PORT: u16 = 6379;

/// A Redis server, `redis://user:password@host:6379/0?...`, or its socket, `unix:/run/redis.sock?...`.
///
/// The scheme is `redis://` or, encrypted, `rediss://`, and may be left out; so may the port. `redis://:password@host`
/// logs in as the default user. `/1` is the number of the database (which has no influence on topics). User and password
/// are percent-decoded: `%40` is `@`.
///
/// | option | default | means |
/// | --- | --- | --- |
/// | `queue=64MiB` | 64 MiB | bytes of messages that wait: for the subscriber, and in a publisher for the server |
/// | `on_full=drop`, `on_full=block` | `drop` | when a subscriber's queue is full: drop the oldest message and count it, or stop reading |
/// | `max=64MiB` | 64 MiB | the largest payload, before compression |
/// | `timeout=1s` | 1 s | how long `send` waits for room |
/// | `connect_timeout=5s` | 5 s | how long opening waits for the server |
/// | `retry=true`, `retry=false` | `false` | open even without a server, and keep trying |
/// | `announce=on`, `announce=off` | `on` | tell others of this handle: program, process, host, and schema |
///
/// # Examples
///
/// ```
/// use msg_runtime::{Address, Endpoint, RedisServer};
///
/// let endpoint: Endpoint = "redis;rediss://:secret@cache.local/2?retry=true".parse()?;
/// assert_eq!(endpoint.to_string(), "redis;none;rediss://:***@cache.local:6379/2?retry=true");
/// let Address::Redis(address) = endpoint.address else { panic!("it begins with redis") };
/// assert!(matches!(address.server, RedisServer::Tcp { tls: true, database: 2, .. }));
/// assert!(address.options.retry);
/// # Ok::<(), msg_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedisAddress {
    /// Where it is.
    pub server: RedisServer,
    /// How this program says who it is; an empty user is the default one.
    pub login: Option<Login>,
    /// What network transports have in common.
    pub options: NetworkOptions,
}

/// Where a Redis server is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisServer {
    /// At a host and port.
    Tcp {
        /// The host and port.
        server: Server,
        /// `rediss://`: the link is encrypted, or there is none.
        tls: bool,
        /// The number of the database.
        database: u32,
    },
    /// At a socket of this host: its absolute path.
    Unix(String),
}

pub(super) const OPTIONS: &[&str] =
    &["queue", "on_full", "max", "timeout", "connect_timeout", "retry", "announce"];

impl RedisAddress {
    pub(super) fn parse(
        text: Part<'_>,
        options: Option<Part<'_>>,
        masked: &Masked,
    ) -> Result<Self, Complaint> {
        let (server, login) = match text.text.strip_prefix("unix:") {
            Some(_) => (socket(text)?, None),
            None => tcp(text, masked)?,
        };
        let mut common = NetworkOptions::new(false);
        options::each(options, "redis", OPTIONS, |name, value| common.set(name, value).map(drop))?;
        Ok(Self { server, login, options: common })
    }
}

fn socket(text: Part<'_>) -> Result<RedisServer, Complaint> {
    let path = text.split_at("unix:".len()).1;
    let good = path.text.starts_with('/') && !path.text.contains(['?', '\0']);
    match good && !path.text.starts_with("//") {
        true => Ok(RedisServer::Unix(path.text.to_owned())),
        false => Err(path.complain(format!(
            "socket `{}`, expected an absolute path without `?`, as in `unix:/run/redis.sock`",
            path.text.escape_debug()
        ))),
    }
}

fn tcp(text: Part<'_>, masked: &Masked) -> Result<(RedisServer, Option<Login>), Complaint> {
    if let Some((_, second)) = text.split_once('+') {
        return Err(second.complain("`redis` takes one server; remove what follows the `+`"));
    }
    let url = Url::split(text, &["redis", "rediss"])?;
    let login = match url.login.map(|login| (login, Login::parse(login, masked))) {
        None => None,
        Some((_, Ok((Some(user), password)))) => Some(Login { user, password }),
        Some((_, Err(complaint))) => return Err(complaint),
        Some((login, Ok((None, _)))) => {
            return Err(login.complain(
                "a user or a password alone; write `user:password@`, or `:password@` for the default user",
            ));
        }
    };
    let (server, database) = match url.server.split_once('/') {
        Some((server, database)) => (server, parse_database(database)?),
        None => (url.server, 0),
    };
    let server = Server::parse(server, Some(DEFAULT_PORT))?;
    let tls = url.scheme.is_some_and(|scheme| scheme.text == "rediss");
    Ok((RedisServer::Tcp { server, tls, database }, login))
}

fn parse_database(part: Part<'_>) -> Result<u32, Complaint> {
    let digits = part.text.bytes().all(|byte| byte.is_ascii_digit());
    let number = part.text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| part.complain(format!("database `{}`, expected a number, as in `/0`", part.text)))
}

impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            RedisServer::Unix(path) => write!(f, "unix:{path}")?,
            RedisServer::Tcp { server, tls, database } => {
                f.write_str(if *tls { "rediss://" } else { "redis://" })?;
                if let Some(login) = &self.login {
                    write!(f, "{login}@")?;
                }
                write!(f, "{server}")?;
                if *database != 0 {
                    write!(f, "/{database}")?;
                }
            }
        }
        f.write_str(&options::print(self.options.print(&NetworkOptions::new(false))))
    }
}
