//! Where a publisher or subscriber meets the others, as one string.
//!
//! ```text
//! <transport>;<compression>;<address>?<option>=<value>,...        shm;none;camera?slots=8,size=4MiB
//! <transport>;<address>?<option>=<value>,...                      shm;camera
//! ```
//!
//! Pure values: parsing opens nothing and touches no system. Options follow the last `?`.

mod inproc;
mod login;
mod mask;
mod nats;
mod network;
mod options;
mod quantity;
mod redis;
mod secret;
mod server;
mod shm;
#[cfg(test)]
mod tests;
mod text;
mod udp;
mod zenoh;

pub use inproc::InprocAddress;
pub use login::Login;
pub use nats::{NatsAddress, NatsAuth};
pub use network::{NetworkOptions, OnFull};
pub use redis::{RedisAddress, RedisServer};
pub use secret::Secret;
pub use server::Server;
pub use shm::ShmAddress;
pub use udp::UdpAddress;
pub use zenoh::ZenohAddress;

use crate::error::{Error, ErrorKind};
use mask::Masked;
use options::quoted;
use std::{fmt, str::FromStr};
use text::{Complaint, Part, suggestion};

/// A parsed endpoint.
///
/// # Examples
///
/// ```
/// use msg_runtime::Endpoint;
/// let endpoint: Endpoint = "shm;none;iq-stream?slots=8,size=4MiB,timeout=1s".parse()?;
/// assert_eq!(endpoint.to_string(), "shm;none;iq-stream?slots=8,size=4MiB,timeout=1s");
///
/// let error = "shm;camera?size=4MB".parse::<Endpoint>().expect_err("MB is no unit");
/// assert_eq!(
///     error.to_string(),
///     "unknown unit `MB`, expected `B`, `KiB`, `MiB` or `GiB`; did you mean `MiB`?\n  \
///      shm;camera?size=4MB\n  \
///      ---------------- ^^"
///         .replace('-', " ")
/// );
/// # Ok::<(), msg_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// How payloads are compressed by a publisher; a subscriber recognizes each message by itself.
    pub compression: Compression,
    /// The transport and its address.
    pub address: Address,
}

/// A transport with its address and options.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// Shared memory on this host.
    Shm(ShmAddress),
    /// Between threads of this process.
    Inproc(InprocAddress),
    /// UDP multicast.
    Udp(UdpAddress),
    /// A NATS server or cluster.
    Nats(NatsAddress),
    /// A Redis server.
    Redis(RedisAddress),
    /// Zenoh routers and peers.
    Zenoh(ZenohAddress),
}

/// How a publisher compresses payloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// One lz4 block.
    Lz4,
    /// One zstd frame.
    Zstd {
        /// 1 (fastest) to 22 (smallest); 3 unless given.
        level: u8,
    },
}

const TRANSPORTS: [&str; 6] = ["shm", "inproc", "udp", "nats", "redis", "zenoh"];
const COMPRESSIONS: [&str; 3] = ["none", "lz4", "zstd"];
const DEFAULT_ZSTD_LEVEL: u8 = 3;

impl FromStr for Endpoint {
    type Err = Error;

    /// # Errors
    ///
    /// [`ErrorKind::InvalidEndpoint`], with a caret under the part that is wrong, and `***` for passwords and tokens.
    fn from_str(text: &str) -> Result<Self, Error> {
        let masked = Masked::new(text);
        parse(&masked)
            .map_err(|complaint| Error::new(ErrorKind::InvalidEndpoint, complaint.render(&masked.text)))
    }
}

fn parse(masked: &Masked) -> Result<Endpoint, Complaint> {
    let whole = Part::whole(&masked.text);
    let Some((transport, rest)) = whole.split_once(';') else {
        return Err(whole.complain(
            "an endpoint is `<transport>;<address>` or `<transport>;<compression>;<address>`, as in `shm;camera`; \
             here is no `;`",
        ));
    };
    check_transport(transport)?;
    // Only a `;` before the options separates a compression: an option's value may hold one.
    let (before_options, options) = match rest.rsplit_once('?') {
        Some((before, options)) => (before, Some(options)),
        None => (rest, None),
    };
    let (compression, address) = match before_options.split_once(';') {
        Some((compression, address)) => (parse_compression(compression)?, address),
        None => (Compression::None, before_options),
    };
    let address = match transport.text {
        "shm" => Address::Shm(ShmAddress::parse(address, options)?),
        "inproc" => Address::Inproc(InprocAddress::parse(address, options)?),
        "udp" => Address::Udp(UdpAddress::parse(address, options)?),
        "nats" => Address::Nats(NatsAddress::parse(address, options, masked)?),
        "redis" => Address::Redis(RedisAddress::parse(address, options, masked)?),
        "zenoh" => Address::Zenoh(ZenohAddress::parse(address, options)?),
        _ => unreachable!("`check_transport` lets only these through"),
    };
    Ok(Endpoint { compression, address })
}

fn check_transport(part: Part<'_>) -> Result<(), Complaint> {
    if TRANSPORTS.contains(&part.text) {
        return Ok(());
    }
    Err(part.complain(format!(
        "unknown transport `{}`, expected one of {}{}",
        part.text.escape_debug(),
        quoted(&TRANSPORTS),
        suggestion(part.text, &TRANSPORTS)
    )))
}

/// Some transport has an option of this name.
fn is_option(name: &str) -> bool {
    [shm::OPTIONS, inproc::OPTIONS, udp::OPTIONS, nats::OPTIONS, redis::OPTIONS, zenoh::OPTIONS]
        .iter()
        .any(|options| options.contains(&name))
}

fn is_compression(text: &str) -> bool {
    parse_compression(Part::whole(text)).is_ok()
}

fn parse_compression(part: Part<'_>) -> Result<Compression, Complaint> {
    let (name, level) = match part.split_once(':') {
        Some((name, level)) => (name, Some(level)),
        None => (part, None),
    };
    match (name.text, level) {
        ("none", None) => Ok(Compression::None),
        ("lz4", None) => Ok(Compression::Lz4),
        ("zstd", None) => Ok(Compression::Zstd { level: DEFAULT_ZSTD_LEVEL }),
        ("zstd", Some(level)) => match level.text.parse() {
            Ok(number @ 1..=22) => Ok(Compression::Zstd { level: number }),
            _ => Err(level.complain(format!("zstd level `{}`, expected 1 to 22", level.text))),
        },
        ("none" | "lz4", Some(level)) => {
            Err(level.complain(format!("compression `{}` has no level; write `{0}` alone", name.text)))
        }
        _ => Err(name.complain(format!(
            "unknown compression `{}`, expected `none`, `lz4` or `zstd:<1 to 22>`{}",
            name.text,
            suggestion(name.text, &COMPRESSIONS)
        ))),
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{};{};", self.address.transport(), self.compression)?;
        match &self.address {
            Address::Shm(address) => address.fmt(f),
            Address::Inproc(address) => address.fmt(f),
            Address::Udp(address) => address.fmt(f),
            Address::Nats(address) => address.fmt(f),
            Address::Redis(address) => address.fmt(f),
            Address::Zenoh(address) => address.fmt(f),
        }
    }
}

impl Address {
    /// The transport's name, as the endpoint begins: `shm`.
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Shm(_) => "shm",
            Self::Inproc(_) => "inproc",
            Self::Udp(_) => "udp",
            Self::Nats(_) => "nats",
            Self::Redis(_) => "redis",
            Self::Zenoh(_) => "zenoh",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Lz4 => f.write_str("lz4"),
            Self::Zstd { level } => write!(f, "zstd:{level}"),
        }
    }
}
