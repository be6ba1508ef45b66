//! Our UDP transport beside a raw socket with `sendmmsg` and `recvmmsg`.

use crate::{Each, MOMENT, Ours, Receive, Wire};
use nix::sys::socket::{MsgFlags, MultiHeaders, recvmmsg, sendmmsg};
use socket2::{Domain, Socket, Type};
use std::{
    io::{IoSlice, IoSliceMut},
    net::{Ipv4Addr, SocketAddrV4},
    os::fd::AsRawFd,
};

const BATCH: usize = 16;
const MOST_DATAGRAM_LEN: usize = 65_507;

/// Sockets in a group, with the receive buffer that ours has.
struct Raw {
    sender: Socket,
    receiver: Socket,
    /// Datagrams of a message.
    pieces: usize,
}

impl Raw {
    fn new(group: SocketAddrV4, len: usize) -> Self {
        let sender = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        sender.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
        sender.set_multicast_ttl_v4(0).unwrap();
        sender.join_multicast_v4(group.ip(), &Ipv4Addr::LOCALHOST).unwrap();
        sender.connect(&group.into()).unwrap();
        let receiver = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        receiver.set_recv_buffer_size(4 << 20).unwrap();
        receiver.bind(&group.into()).unwrap();
        receiver.join_multicast_v4(group.ip(), &Ipv4Addr::LOCALHOST).unwrap();
        receiver.set_read_timeout(Some(MOMENT)).unwrap();
        Self { sender, receiver, pieces: len.div_ceil(MOST_DATAGRAM_LEN) }
    }

    /// Hands out the first piece of each message.
    fn receive(&self) -> impl FnMut(Each<'_>) + '_ {
        let mut places = vec![0; BATCH << 16];
        let (mut at, mut first) = (0, Vec::new());
        move |each| {
            let mut lens = [0; BATCH];
            let mut slices: [_; BATCH] = {
                let mut places = places.chunks_exact_mut(1 << 16);
                std::array::from_fn(|_| [IoSliceMut::new(places.next().unwrap())])
            };
            let mut headers = MultiHeaders::<()>::preallocate(BATCH, None);
            let flags = MsgFlags::MSG_WAITFORONE;
            let socket = self.receiver.as_raw_fd();
            let Ok(received) = recvmmsg(socket, &mut headers, &mut slices, flags, None) else { return };
            let count = received.zip(&mut lens).map(|(message, len)| *len = message.bytes).count();
            for (place, len) in places.chunks_exact(1 << 16).zip(lens).take(count) {
                if self.pieces == 1 {
                    each(&place[..len]);
                    continue;
                }
                if at == 0 {
                    first = place[..8].to_vec();
                }
                at = (at + 1) % self.pieces;
                if at == 0 {
                    each(&first);
                }
            }
        }
    }
}

impl Wire for Raw {
    fn send(&self, message: &[u8], count: usize) {
        let buffer = message.to_vec();
        let pieces: Vec<[IoSlice<'_>; 1]> =
            buffer.chunks(MOST_DATAGRAM_LEN).map(|piece| [IoSlice::new(piece)]).collect();
        let mut headers = MultiHeaders::<()>::preallocate(BATCH, None);
        let mut left = pieces.len() * count;
        while left > 0 {
            let at = pieces.len() * count - left;
            let batch = (at..at + left.min(BATCH)).map(|at| &pieces[at % pieces.len()]);
            let socket = self.sender.as_raw_fd();
            left -= sendmmsg(socket, &mut headers, batch, [None::<()>; BATCH], [], MsgFlags::empty())
                .unwrap()
                .count();
        }
    }

    fn receiver(&self) -> Receive<'_> {
        Box::new(self.receive())
    }
}

pub(crate) fn compare(len: usize, full: bool) {
    let group = |number, port| SocketAddrV4::new(Ipv4Addr::new(239, 255, 77, number), port);
    let port = 20_000 + (std::process::id() % 20_000) as u16;
    let ours = Ours::new(&format!("udp;{}", group(1, port)));
    let raw = Raw::new(group(2, port), len);
    crate::compare("udp", len, &ours, &[("raw", &raw)], full);
}
