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
