//! The address of Zenoh routers and peers.

use super::{
    network::NetworkOptions,
    options::{self, one_of},
    server::{self, Server, Url},
    text::{Complaint, Part},
};
use std::fmt;

const DEFAULT_PORT: u16 = 7447;
const PEER: &str = "peer";

/// Zenoh routers or peers to connect to, `tcp://host:7447+tcp://otherhost?...`, or `peer`, which finds others by multicast.
///
/// | option | default | means |
/// | --- | --- | --- |
/// | `listen=tcp://0.0.0.0:7447` | | others connect here; several with `+` |
/// | `iface=eth0` | Zenoh's choice | with `peer`: the network interface on which others are looked for |
/// | `congestion=block`, `congestion=drop` | `block` | when the link is slower than `send`: wait, or drop messages |
/// | `queue=64MiB` | 64 MiB | bytes of messages that wait for the subscriber |
/// | `on_full=drop`, `on_full=block` | `drop` | when that queue is full: drop the oldest message and count it, or stop reading |
/// | `max=64MiB` | 64 MiB | the largest payload, before compression |
/// | `timeout=1s` | 1 s | how long `send` waits for room |
/// | `connect_timeout=5s` | 5 s | how long opening waits for the link |
/// | `retry=true`, `retry=false` | `false` | open even without a link, and keep trying |
/// | `stamp=on`, `stamp=off` | `on` | publisher, sequence and time travel beside each message |
/// | `announce=on`, `announce=off` | `on` | tell others of this handle: program, process, host, and schema |
///
/// # Examples
///
/// ```
/// use msg_runtime::{Address, Endpoint};
///
/// let endpoint: Endpoint = "zenoh;lz4;tcp://127.0.0.1:7447+tcp://[::1]?congestion=drop".parse()?;
/// assert_eq!(endpoint.to_string(), "zenoh;lz4;tcp://127.0.0.1:7447+tcp://[::1]:7447?congestion=drop");
///
/// let endpoint: Endpoint = "zenoh;peer?listen=tcp://0.0.0.0:7447".parse()?;
/// let Address::Zenoh(address) = endpoint.address else { panic!("it begins with zenoh") };
/// assert_eq!((address.connect.len(), address.listen.len()), (0, 1));
/// # Ok::<(), msg_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZenohAddress {
    /// Whom to connect to, by TCP; none is `peer`.
    pub connect: Vec<Server>,
    /// `listen=`: where others connect, by TCP.
    pub listen: Vec<Server>,
    /// `iface=`: the name of the network interface on which others are looked for.
    pub interface: Option<String>,
    /// `congestion=drop`: messages that the link is too slow for are dropped, where `send` would wait.
    pub drops_on_congestion: bool,
    /// What network transports have in common.
    pub options: NetworkOptions,
}

pub(super) const OPTIONS: &[&str] = &[
    "listen",
    "iface",
    "congestion",
    "queue",
    "on_full",
    "max",
    "timeout",
    "connect_timeout",
    "retry",
    "stamp",
    "announce",
];

impl ZenohAddress {
    pub(super) fn parse(text: Part<'_>, options: Option<Part<'_>>) -> Result<Self, Complaint> {
        let mut address = Self {
            connect: if text.text == PEER { Vec::new() } else { servers(text)? },
            listen: Vec::new(),
            interface: None,
            drops_on_congestion: false,
            options: NetworkOptions::new(false),
        };
        options::each(options, "zenoh", OPTIONS, |name, value| address.set(name, value))?;
        Ok(address)
    }

    fn set(&mut self, name: Part<'_>, value: Part<'_>) -> Result<(), Complaint> {
        match name.text {
            "listen" => self.listen = servers(value)?,
            "iface" if !self.connect.is_empty() => {
                return Err(name.complain("`iface` is for `peer`; an address says by itself where it is"));
            }
            "iface" => self.interface = Some(server::interface(value)?),
            "congestion" => self.drops_on_congestion = one_of(name, value, ["block", "drop"])?,
            _ => drop(self.options.set(name, value)?),
        }
        Ok(())
    }
}

fn servers(text: Part<'_>) -> Result<Vec<Server>, Complaint> {
    text.split('+').map(server).collect()
}

fn server(text: Part<'_>) -> Result<Server, Complaint> {
    let url = Url::split(text, &["tcp"])?;
    if url.scheme.is_none() {
        return Err(text.complain(format!(
            "`{}`, expected `tcp://host:port`, several with `+` between them, or `peer`",
            text.text
        )));
    }
    Server::parse(url.without_login("zenoh")?, Some(DEFAULT_PORT))
}

fn print(servers: &[Server]) -> String {
    servers.iter().map(|server| format!("tcp://{server}")).collect::<Vec<_>>().join("+")
}

impl fmt::Display for ZenohAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = [
            (!self.listen.is_empty()).then(|| format!("listen={}", print(&self.listen))),
            self.interface.as_ref().map(|interface| format!("iface={interface}")),
            self.drops_on_congestion.then(|| "congestion=drop".to_owned()),
        ];
        let connect = if self.connect.is_empty() { PEER.to_owned() } else { print(&self.connect) };
        let common = self.options.print(&NetworkOptions::new(false));
        write!(f, "{connect}{}", options::print(own.into_iter().chain(common)))
    }
}
