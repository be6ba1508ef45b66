//! The sockets: what they are set to, and datagrams in batches. The only file that names `socket2` and `nix` here.

use super::frame::Instruction;
use crate::{
    endpoint::UdpAddress,
    error::{Error, ErrorKind},
};
use nix::{
    cmsg_space,
    ifaddrs::getifaddrs,
    net::if_::{InterfaceFlags, if_nametoindex},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::socket::{
        ControlMessageOwned, MsgFlags, MultiHeaders, getsockopt, recvmmsg, sendmmsg, setsockopt, sockopt,
    },
};
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, SockAddr, SockFilter, Socket, Type};
use std::{
    collections::BTreeSet,
    io::{self, IoSlice, IoSliceMut},
    net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, SocketAddrV6},
    os::fd::{AsFd, AsRawFd},
    time::Duration,
};

/// Datagrams given to, or taken from, the kernel at once.
pub(super) const BATCH: usize = 16;
/// Most bytes of a datagram over IPv4, and our limit on IPv6.
const MOST_DATAGRAM_LEN: usize = 65_507;
/// Room for one datagram, more than it can have.
const PLACE_LEN: usize = 1 << 16;
/// IP and UDP headers.
const HEADERS_V4: usize = 28;
const HEADERS_V6: usize = 48;
/// A link that takes nothing for so long is full.
const SEND_PATIENCE: Duration = Duration::from_millis(100);

/// A socket that sends to the group.
#[derive(Debug)]
pub(super) struct SendSocket {
    socket: Socket,
    /// Most bytes of a datagram that goes in one piece.
    pub(super) datagram_len: usize,
    /// Bytes of a receive buffer as this host grants it; those of receivers are taken to be the same.
    pub(super) receive_bytes: usize,
}

impl SendSocket {
    pub(super) fn open(address: &UdpAddress) -> Result<Self, Error> {
        let interface = Interface::find(address)?;
        let open = || -> io::Result<Self> {
            let socket = socket(address)?;
            // With ttl 0 datagrams leave the host unless somebody on it is in the group; and before the route is looked
            // up, which keeps what it found.
            interface.join(&socket, address)?;
            match address.group {
                IpAddr::V4(_) => {
                    socket.set_multicast_if_v4(&interface.address)?;
                    socket.set_multicast_ttl_v4(address.ttl.into())?;
                }
                IpAddr::V6(_) => {
                    socket.set_multicast_if_v6(interface.index)?;
                    socket.set_multicast_hops_v6(address.ttl.into())?;
                }
            }
            socket.connect(&interface.place(address))?;
            socket.set_write_timeout(Some(SEND_PATIENCE))?;
            let mtu = match address.mtu_bytes {
                Some(mtu) => mtu,
                None => usize::try_from(getsockopt(&socket, sockopt::IpMtu)?).unwrap_or(0),
            };
            let headers = if address.group.is_ipv4() { HEADERS_V4 } else { HEADERS_V6 };
            let datagram_len = mtu.saturating_sub(headers).min(MOST_DATAGRAM_LEN);
            // Nothing is received here: it is for the answer.
            let receive_bytes = receive_buffer(&socket, address)?;
            Ok(Self { socket, datagram_len, receive_bytes })
        };
        open().map_err(|error| cannot("send to", address, error))
    }

    /// Sends one datagram of two parts.
    pub(super) fn send(&self, parts: [&[u8]; 2]) -> io::Result<()> {
        self.socket.send_vectored(&parts.map(IoSlice::new)).map(drop)
    }

    /// Sends at most [`BATCH`] datagrams of two parts each; gives how many the kernel has taken, at least one.
    pub(super) fn send_batch(&self, datagrams: &[[&[u8]; 2]]) -> io::Result<usize> {
        let mut headers = MultiHeaders::<()>::preallocate(datagrams.len(), None);
        let slices: Vec<[IoSlice<'_>; 2]> = datagrams.iter().map(|parts| parts.map(IoSlice::new)).collect();
        let nowhere = [None::<()>; BATCH];
        let socket = self.socket.as_raw_fd();
        let sent = sendmmsg(socket, &mut headers, &slices, nowhere, [], MsgFlags::empty())?.count();
        Ok(sent)
    }
}

/// A socket that receives what is sent to the group.
#[derive(Debug)]
pub(super) struct ReceiveSocket {
    socket: Socket,
    /// Bytes of the receive buffer that the system has granted.
    pub(super) granted: usize,
}

impl ReceiveSocket {
    /// The filter lets through what is worth receiving.
    pub(super) fn open(address: &UdpAddress, filter: &[Instruction]) -> Result<Self, Error> {
        let interface = Interface::find(address)?;
        let open = || -> io::Result<Self> {
            let socket = socket(address)?;
            // Several programs of a host, of one user or many, are in the group.
            socket.set_reuse_address(true)?;
            socket.set_reuse_port(true)?;
            // Only what comes in on the interface where we join.
            match address.group {
                IpAddr::V4(_) => socket.set_multicast_all_v4(false)?,
                IpAddr::V6(_) => {
                    socket.set_only_v6(true)?;
                    socket.set_multicast_all_v6(false)?;
                }
            }
            let granted = receive_buffer(&socket, address)?;
            let filter = filter.iter().map(|&(code, yes, no, number)| SockFilter::new(code, yes, no, number));
            // It only saves time: a system that refuses it delivers everything, which is looked at again.
            let _ = socket.attach_filter(&filter.collect::<Vec<_>>());
            setsockopt(&socket, sockopt::RxqOvfl, &1)?;
            // The group and not any address, which would get the port's datagrams of other groups.
            socket.bind(&interface.place(address))?;
            interface.join(&socket, address)?;
            Ok(Self { socket, granted })
        };
        open().map_err(|error| cannot("listen to", address, error))
    }

    /// Waits until there is something to receive, or the time is over; false then.
    pub(super) fn wait(&self, timeout: Duration) -> io::Result<bool> {
        let timeout = PollTimeout::try_from(timeout.as_millis() + 1).unwrap_or(PollTimeout::MAX);
        let mut sockets = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        Ok(poll(&mut sockets, timeout)? > 0)
    }

    /// Waits for datagrams and takes what is there, at most [`BATCH`].
    pub(super) fn receive(&self, into: &mut Datagrams) -> io::Result<()> {
        into.count = 0;
        let mut places = into.bytes.chunks_exact_mut(PLACE_LEN);
        let mut slices: [[IoSliceMut<'_>; 1]; BATCH] =
            std::array::from_fn(|_| [IoSliceMut::new(places.next().expect("a place for each"))]);
        // Made anew each time: the kernel leaves in it how much it used, and the next call would have no more room.
        let mut headers = MultiHeaders::<()>::preallocate(BATCH, Some(cmsg_space!(u32)));
        let socket = self.socket.as_raw_fd();
        let messages = recvmmsg(socket, &mut headers, &mut slices, MsgFlags::MSG_WAITFORONE, None)?;
        for message in messages {
            into.lens[into.count] = message.bytes;
            into.count += 1;
            for control in message.cmsgs()? {
                if let ControlMessageOwned::RxqOvfl(overflowed) = control {
                    into.overflowed = overflowed;
                }
            }
        }
        Ok(())
    }

    /// Ends all waiting, now and from here on.
    pub(super) fn shutdown(&self) {
        // It says "not connected", and does it.
        let _ = self.socket.shutdown(Shutdown::Read);
    }
}

/// Places for a batch of datagrams.
#[derive(Debug)]
pub(super) struct Datagrams {
    bytes: Vec<u8>,
    lens: [usize; BATCH],
    count: usize,
    /// Datagrams that the socket's buffer had no room for, since it was opened, as last told; wraps around.
    overflowed: u32,
    overflowed_before: u32,
}

impl Datagrams {
    pub(super) fn new() -> Self {
        // Pages are taken when something is written there.
        let bytes = vec![0; BATCH * PLACE_LEN];
        Self { bytes, lens: [0; BATCH], count: 0, overflowed: 0, overflowed_before: 0 }
    }

    /// What was received last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let places = self.bytes.chunks_exact(PLACE_LEN);
        places.zip(self.lens).take(self.count).map(|(place, len)| &place[..len])
    }

    /// Datagrams that the socket's buffer had no room for since this was asked last.
    pub(super) fn take_overflowed(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.overflowed_before, self.overflowed);
        self.overflowed.wrapping_sub(before).into()
    }
}

/// The interface that an address names.
struct Interface {
    index: u32,
    /// Over IPv4.
    address: Ipv4Addr,
}

impl Interface {
    fn find(wanted: &UdpAddress) -> Result<Self, Error> {
        let name = wanted.interface.as_str();
        let unreachable = |text| Error::new(ErrorKind::Unreachable, text);
        let all = getifaddrs().map_err(|error| {
            Error::new(ErrorKind::Io, "cannot list the network interfaces").with_source(error.into())
        })?;
        let all: Vec<_> = all.collect();
        let mut ours = all.iter().filter(|entry| entry.interface_name == name).peekable();
        let Some(first) = ours.peek() else {
            let names: BTreeSet<&str> = all.iter().map(|entry| entry.interface_name.as_str()).collect();
            let names = names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(unreachable(format!(
                "there is no network interface `{name}` (`iface=`), but {names}"
            )));
        };
        if !first.flags.contains(InterfaceFlags::IFF_UP) {
            return Err(unreachable(format!(
                "the network interface `{name}` is down; `ip link set {name} up` brings it up"
            )));
        }
        if wanted.group.is_ipv6() && first.flags.contains(InterfaceFlags::IFF_LOOPBACK) {
            return Err(unreachable(format!(
                "the network interface `{name}` carries no IPv6 multicast; name another (`iface=`), or a group of IPv4"
            )));
        }
        let index = if_nametoindex(name).map_err(|error| {
            unreachable(format!("there is no network interface `{name}`")).with_source(error.into())
        })?;
        let address = ours.find_map(|entry| Some(entry.address.as_ref()?.as_sockaddr_in()?.ip()));
        match address {
            None if wanted.group.is_ipv4() => Err(unreachable(format!(
                "the network interface `{name}` has no IPv4 address, which {} needs; `ip address add ADDRESS/24 dev \
                 {name}` gives it one",
                wanted.group
            ))),
            address => Ok(Self { index, address: address.unwrap_or(Ipv4Addr::UNSPECIFIED) }),
        }
    }

    fn join(&self, socket: &Socket, address: &UdpAddress) -> io::Result<()> {
        match address.group {
            IpAddr::V4(group) => {
                socket.join_multicast_v4_n(&group, &InterfaceIndexOrAddress::Index(self.index))
            }
            IpAddr::V6(group) => socket.join_multicast_v6(&group, self.index),
        }
    }

    /// Group and port, on this interface.
    fn place(&self, address: &UdpAddress) -> SockAddr {
        match address.group {
            IpAddr::V4(group) => SocketAddr::V4(SocketAddrV4::new(group, address.port)).into(),
            IpAddr::V6(group) => SocketAddr::V6(SocketAddrV6::new(group, address.port, 0, self.index)).into(),
        }
    }
}

fn socket(address: &UdpAddress) -> io::Result<Socket> {
    let domain = if address.group.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
    Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))
}

/// Asks for the receive buffer; gives what the system grants.
fn receive_buffer(socket: &Socket, address: &UdpAddress) -> io::Result<usize> {
    socket.set_recv_buffer_size(address.receive_bytes)?;
    // The kernel doubles it, for its own use.
    Ok(socket.recv_buffer_size()? / 2)
}

fn cannot(what: &str, address: &UdpAddress, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        _ => ErrorKind::Unreachable,
    };
    let UdpAddress { group, port, interface, .. } = address;
    let text =
        format!("cannot {what} the group {group}, port {port}, on the network interface `{interface}`");
    Error::new(kind, text).with_source(error)
}
