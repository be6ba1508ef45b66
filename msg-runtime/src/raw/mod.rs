//! Publishers and subscribers of bytes, without a type: for payloads that others make and read, for recording and
//! forwarding. The typed and the JSON handles are these with a reading of the bytes on top.
//!
//! ```
//! use msg_runtime::raw::{RawPublisher, RawSubscriber};
//!
//! let subscriber = RawSubscriber::open("shm;doc-raw", "scope.trace")?;
//! let publisher = RawPublisher::open("shm;doc-raw", "scope.trace")?;
//! publisher.send(b"copied")?;
//! let mut loan = publisher.loan(8)?;
//! loan.copy_from_slice(b"in place");
//! loan.send()?;
//! assert_eq!(subscriber.recv()?.payload(), b"copied");
//! assert_eq!(subscriber.recv()?.payload(), b"in place");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Beside typed handles
//!
//! A raw handle goes with every topic: a raw subscriber gets the payloads of typed and JSON publishers, a raw publisher
//! sends what it says are such payloads, and each subscriber verifies them for itself. On shared memory a topic keeps the
//! type that its first typed publisher has, if nothing was sent before, and typed handles of another type are refused.
//! Where a raw publisher sent first, the topic stays without a type, as it is on networks: every typed subscriber may
//! come and verifies each message, and what cannot be of its type is dropped and counted. Verifying makes reading safe;
//! it cannot tell two types apart whose bytes look alike.

mod publisher;
mod subscriber;

pub(crate) use publisher::{Filled, Unfilled};
pub use publisher::{RawLoan, RawPublisher, RawPublisherBuilder};
pub(crate) use subscriber::is_last;
pub use subscriber::{RawSample, RawSubscriber, RawSubscriberBuilder};

use crate::{error::Error, topic::Topic, transport::Stream};

/// What a stream is of whose payloads no type is known, in this encoding.
pub(crate) fn untyped(topic: &str, encoding: &'static str) -> Result<Stream, Error> {
    let topic = Topic::new(topic)?;
    Ok(Stream {
        topic,
        type_name: "".into(),
        encoding: encoding.into(),
        fingerprint: 0,
        schema: [].as_slice().into(),
        plain_bytes: None,
    })
}
