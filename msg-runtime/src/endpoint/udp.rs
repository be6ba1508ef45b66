//! The address of a multicast group.

use super::{
    network::NetworkOptions,
    options::{self, unless_default},
    quantity::{self, Size},
    server::{self, Server, Url},
    text::{Complaint, Part},
};
use core::net::IpAddr; // a value; sockets are elsewhere
use std::fmt;

const DEFAULT_INTERFACE: &str = "lo";
const DEFAULT_RECEIVE_BYTES: usize = 4 << 20;
/// What every IPv4 host takes in one piece.
const MIN_MTU: usize = 576;
const MAX_MTU: usize = 65_535;

/// A multicast group, `<group>:<port>?iface=lo,ttl=0,...`; an IPv6 group stands in brackets, `[ff02::1]:7667`,
/// and needs another interface than `lo`.
///
/// | option | default | means |
/// | --- | --- | --- |
/// | `iface=eth0` | `lo` | the network interface |
/// | `ttl=1` | 0 | how many networks a datagram may cross; 0 stays on this host |
/// | `rcvbuf=4MiB` | 4 MiB | the socket's receive buffer, as far as the system grants it |
/// | `mtu=1500B` | the interface's | the largest packet that the network takes in one piece, 576 to 65535 bytes |
/// | `fragment=on`, `fragment=off` | `on` | send a message larger than a datagram in pieces |
/// | `queue=64MiB` | 64 MiB | bytes of messages that wait for a subscriber |
/// | `on_full=drop`, `on_full=block` | `drop` | when that queue is full: drop the oldest message and count it, or stop reading |
/// | `max=64MiB` | 64 MiB | the largest payload, before compression |
/// | `timeout=1s` | 1 s | how long `send` waits for room |
/// | `stamp=on`, `stamp=off` | `on` | publisher, sequence and time travel beside each message |
/// | `announce=on`, `announce=off` | `on` | tell others of this handle: program, process, host, and schema |
///
/// # Examples
///
/// ```
/// use msg_runtime::{Address, Endpoint};
///
/// let endpoint: Endpoint = "udp;lz4;239.255.0.1:7667?iface=eth0,ttl=1".parse()?;
/// let Address::Udp(address) = endpoint.address else { panic!("it begins with udp") };
/// assert_eq!((address.group.to_string().as_str(), address.port), ("239.255.0.1", 7667));
/// assert_eq!((address.interface.as_str(), address.ttl, address.mtu_bytes), ("eth0", 1, None));
///
/// let error = "udp;10.0.0.1:7667".parse::<Endpoint>().expect_err("one host is no group");
/// assert!(error.to_string().starts_with("`10.0.0.1` is no multicast group"));
/// # Ok::<(), msg_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UdpAddress {
    /// A multicast address.
    pub group: IpAddr,
    /// 1 to 65535.
    pub port: u16,
    /// `iface=`: the name of the network interface.
    pub interface: String,
    /// `ttl=`: how many networks a datagram may cross.
    pub ttl: u8,
    /// `rcvbuf=`: bytes of the socket's receive buffer.
    pub receive_bytes: usize,
    /// `mtu=`: bytes of the largest packet, headers included.
    pub mtu_bytes: Option<usize>,
    /// What network transports have in common.
    pub options: NetworkOptions,
}

pub(super) const OPTIONS: &[&str] =
    &["iface", "ttl", "rcvbuf", "mtu", "fragment", "queue", "on_full", "max", "timeout", "stamp", "announce"];

impl UdpAddress {
    pub(super) fn parse(text: Part<'_>, options: Option<Part<'_>>) -> Result<Self, Complaint> {
        let place = Url::split(text, &["udp"])?.without_login("udp")?;
        let Server { host, port } = Server::parse(place, None)?;
        let mut address = Self {
            group: group(&host).ok_or_else(|| {
                place.complain(format!(
                    "`{host}` is no multicast group, expected one from 224.0.0.0 to 239.255.255.255 or below ff00::/8"
                ))
            })?,
            port,
            interface: DEFAULT_INTERFACE.to_owned(),
            ttl: 0,
            receive_bytes: DEFAULT_RECEIVE_BYTES,
            mtu_bytes: None,
            options: NetworkOptions::new(true),
        };
        options::each(options, "udp", OPTIONS, |name, value| address.set(name, value))?;
        Ok(address)
    }

    fn set(&mut self, name: Part<'_>, value: Part<'_>) -> Result<(), Complaint> {
        match name.text {
            "iface" => self.interface = server::interface(value)?,
            "ttl" => self.ttl = ttl(value)?,
            "rcvbuf" => self.receive_bytes = quantity::bytes(name, value)?,
            "mtu" => self.mtu_bytes = Some(mtu(name, value)?),
            _ => drop(self.options.set(name, value)?),
        }
        Ok(())
    }
}

fn group(host: &str) -> Option<IpAddr> {
    host.parse().ok().filter(IpAddr::is_multicast)
}

fn ttl(value: Part<'_>) -> Result<u8, Complaint> {
    let digits = value.text.bytes().all(|byte| byte.is_ascii_digit());
    let number = value.text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| value.complain(format!("ttl `{}`, expected 0 to 255", value.text)))
}

fn mtu(name: Part<'_>, value: Part<'_>) -> Result<usize, Complaint> {
    match quantity::bytes(name, value)? {
        bytes @ MIN_MTU..=MAX_MTU => Ok(bytes),
        _ => Err(value.complain(format!("mtu `{}`, expected {MIN_MTU}B to {MAX_MTU}B", value.text))),
    }
}

impl fmt::Display for UdpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = Server { host: self.group.to_string(), port: self.port };
        let size = |bytes| Size(bytes as u64).to_string();
        let own = [
            unless_default("iface", self.interface.as_str(), DEFAULT_INTERFACE, str::to_owned),
            unless_default("ttl", self.ttl, 0, |ttl| ttl.to_string()),
            unless_default("rcvbuf", self.receive_bytes, DEFAULT_RECEIVE_BYTES, size),
            self.mtu_bytes.map(|bytes| format!("mtu={}", size(bytes))),
        ];
        let common = self.options.print(&NetworkOptions::new(true));
        write!(f, "{place}{}", options::print(own.into_iter().chain(common)))
    }
}
