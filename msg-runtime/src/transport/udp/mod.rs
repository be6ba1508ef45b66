//! UDP multicast: every handle has a socket of its own in the group; topics of a group are told apart by their name.
//!
//! ```text
//! Sender -> split -> Header::write -> sendmmsg      a message longer than a datagram goes in pieces, paced
//! Inbox <- push <- Reassembly <- Header::read <- recvmmsg             on the subscriber's own thread
//! ```
//!
//! `send` says Ok when the kernel has all pieces. Nobody answers: what is lost on the way, or in a full receive buffer, is
//! noticed by the gap in the numbers and counted.

mod frame;
mod receiver;
mod sender;
mod socket;

use super::{
    Delivery, OnEvent, PublisherLink, Stream, SubscriberLink,
    network::{self, Monitor},
};
use crate::{
    endpoint::{Compression, UdpAddress},
    error::Error,
};
use receiver::Receiver;
use sender::Sender;
use std::sync::Arc;

pub(super) fn open_publisher(
    address: &UdpAddress,
    compression: Compression,
    stream: &Stream,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn PublisherLink>, Error> {
    let monitor = Arc::new(Monitor::new(&stream.topic, on_event));
    network::publisher(&address.options, compression, Arc::clone(&monitor), || {
        Ok(Box::new(Sender::open(address, &stream.topic, monitor)?))
    })
}

pub(super) fn open_subscriber(
    address: &UdpAddress,
    stream: &Stream,
    delivery: Delivery,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn SubscriberLink>, Error> {
    let monitor = Arc::new(Monitor::new(&stream.topic, on_event));
    network::subscriber(&address.options, delivery, Arc::clone(&monitor), |inbox| {
        Ok(Box::new(Receiver::start(address, &stream.topic, inbox, monitor)?))
    })
}

/// Takes bytes as a datagram, and as a row of pieces (sender, sequence, index, count, total, length, and a time in
/// milliseconds, a byte each, the middle two in units of 32), for a fuzz target.
#[cfg(fuzzing)]
pub fn fuzz(input: &[u8]) {
    use super::fragment::{Piece, Pushed, Reassembly};
    use std::time::{Duration, Instant};

    if let Some((header, piece)) = frame::Header::read(input) {
        let mut out = [0; frame::MOST_HEADER_LEN];
        let len = header.write(&mut out);
        assert_eq!([&out[..len], piece].concat(), input);
    }
    let (mut reassembly, mut now, mut arrived) = (Reassembly::default(), Instant::now(), 0);
    for &[sender, sequence, index, count, total, len, wait] in input.as_chunks::<7>().0 {
        now += Duration::from_millis(wait.into());
        reassembly.expire(now);
        let (total, len) = (u32::from(total) * 32, usize::from(len) * 32);
        let (index, count) = (index.into(), count.into());
        let piece = Piece { sender: sender.into(), sequence: sequence.into(), index, count, total };
        arrived += len;
        if let Pushed::Whole(message) = reassembly.push(piece, &[sender; 255 * 32][..len], now) {
            assert_eq!(message.len(), total as usize);
            assert!(message.iter().all(|byte| *byte == sender));
            assert!(message.len() <= arrived, "no more comes out than went in");
        }
    }
}
