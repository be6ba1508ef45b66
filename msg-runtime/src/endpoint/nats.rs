//! The address of NATS servers.

use super::{
    login::Login,
    mask::Masked,
    network::NetworkOptions,
    options,
    secret::Secret,
    server::{self, Server, Url},
    text::{Complaint, Part},
};
use std::fmt;

const DEFAULT_PORT: u16 = 4222;

/// NATS servers, `nats://user:password@host:4222+otherhost?creds=FILE,...`.
///
/// The scheme is `nats://` or `tls://`, and may be left out; so may the port. Servers of one cluster are joined with
/// `+`, and the login is the same for all. `nats://token@host` is a token. User, password and token are percent-decoded:
/// `%40` is `@`.
///
/// | option | default | means |
/// | --- | --- | --- |
/// | `creds=FILE` | | a credentials file, which keeps the login out of the endpoint |
/// | `fragment=on`, `fragment=off` | `off` | send a message larger than the server takes in pieces, which only this library puts together; not there yet: opening refuses `on` |
/// | `queue=64MiB` | 64 MiB | bytes of messages that wait: for the subscriber, and in a publisher for the server |
/// | `on_full=drop`, `on_full=block` | `drop` | when a subscriber's queue is full: drop the oldest message and count it, or stop reading |
/// | `max=64MiB` | 64 MiB | the largest payload, before compression |
/// | `timeout=1s` | 1 s | how long `send` waits for room |
/// | `connect_timeout=5s` | 5 s | how long opening waits for the server |
/// | `retry=true`, `retry=false` | `false` | open even without a server, and keep trying |
/// | `stamp=on`, `stamp=off` | `on` | publisher, sequence and time travel beside each message |
/// | `announce=on`, `announce=off` | `on` | tell others of this handle: program, process, host, and schema |
///
/// # Examples
///
/// ```
/// use msg_runtime::{Address, Endpoint, NatsAuth};
///
/// let endpoint: Endpoint = "nats;zstd:10;nats://ada:love%40lace@one:4222+two?connect_timeout=2s".parse()?;
/// assert_eq!(
///     endpoint.to_string(),
///     "nats;zstd:10;nats://ada:***@one:4222+two:4222?connect_timeout=2s"
/// );
/// let Address::Nats(address) = endpoint.address else { panic!("it begins with nats") };
/// assert_eq!((address.servers.len(), address.tls), (2, false));
/// assert!(matches!(address.auth, Some(NatsAuth::Login(login)) if login.user == "ada"));
/// # Ok::<(), msg_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NatsAddress {
    /// At least one.
    pub servers: Vec<Server>,
    /// `tls://`: the link is encrypted, or there is none.
    pub tls: bool,
    /// How this program says who it is.
    pub auth: Option<NatsAuth>,
    /// What network transports have in common.
    pub options: NetworkOptions,
}

/// How a program says who it is to a NATS server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NatsAuth {
    /// `nats://user:password@host`.
    Login(Login),
    /// `nats://token@host`.
    Token(Secret),
    /// `creds=FILE`.
    Credentials(String),
}

pub(super) const OPTIONS: &[&str] = &[
    "creds",
    "fragment",
    "queue",
    "on_full",
    "max",
    "timeout",
    "connect_timeout",
    "retry",
    "stamp",
    "announce",
];

impl NatsAddress {
    pub(super) fn parse(
        text: Part<'_>,
        options: Option<Part<'_>>,
        masked: &Masked,
    ) -> Result<Self, Complaint> {
        let mut address =
            Self { servers: Vec::new(), tls: false, auth: None, options: NetworkOptions::new(false) };
        let mut tls = None;
        for part in text.split('+') {
            let url = Url::split(part, &["nats", "tls"])?;
            if let Some(scheme) = url.scheme {
                let this = scheme.text == "tls";
                if *tls.get_or_insert(this) != this {
                    return Err(scheme.complain("`tls://` and `nats://` in one endpoint; use one of them"));
                }
            }
            if let Some(login) = url.login {
                address.add_login(login, masked)?;
            }
            address.servers.push(Server::parse(url.server, Some(DEFAULT_PORT))?);
        }
        address.tls = tls == Some(true);
        options::each(options, "nats", OPTIONS, |name, value| address.set(name, value))?;
        Ok(address)
    }

    fn add_login(&mut self, part: Part<'_>, masked: &Masked) -> Result<(), Complaint> {
        let auth = match Login::parse(part, masked)? {
            (Some(user), _) if user.is_empty() => {
                return Err(part.complain("the user is empty; write `user:password@` or `token@`"));
            }
            (Some(user), password) => NatsAuth::Login(Login { user, password }),
            (None, token) => NatsAuth::Token(token),
        };
        if self.auth.as_ref().is_some_and(|other| *other != auth) {
            return Err(part.complain("another login than the one before; all servers take the same"));
        }
        self.auth = Some(auth);
        Ok(())
    }

    fn set(&mut self, name: Part<'_>, value: Part<'_>) -> Result<(), Complaint> {
        match name.text {
            "creds" if self.auth.is_some() => {
                Err(name.complain("`creds` beside a login before the `@`; keep one of them"))
            }
            "creds" => {
                self.auth = Some(NatsAuth::Credentials(value.text.to_owned()));
                Ok(())
            }
            _ => self.options.set(name, value).map(drop),
        }
    }
}

impl fmt::Display for NatsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.tls { "tls://" } else { "nats://" })?;
        let mut creds = None;
        match &self.auth {
            Some(NatsAuth::Login(login)) => write!(f, "{login}@")?,
            Some(NatsAuth::Token(token)) => write!(f, "{token}@")?,
            Some(NatsAuth::Credentials(file)) => creds = Some(format!("creds={file}")),
            None => {}
        }
        let common = self.options.print(&NetworkOptions::new(false));
        write!(f, "{}{}", server::join(&self.servers), options::print([creds].into_iter().chain(common)))
    }
}
