//! What all network transports share: frames with a header byte, stamps, buffers, the queue of a subscriber, counts.
//!
//! ```text
//! Publisher -> loan -> compress -> number -> Outlet::try_send          a client library, or std's sockets
//! Subscriber <- verify <- decompress <- Inbox <- push                  its reader, on a thread of the transport
//! ```
//!
//! A transport implements [`Outlet`] and fills an [`Inbox`]; it knows one client and no handle.

mod backlog;
mod inbox;
mod monitor;
mod pool;
mod publisher;
mod stamp;
mod subscriber;

pub(crate) use self::{
    backlog::{Backlog, Waiting},
    inbox::Inbox,
    monitor::{Monitor, no_thread},
    pool::{Pool, SharedBytes},
    publisher::Loan,
    stamp::{Stamp, random},
    subscriber::Payload,
};

use super::{Delivery, PublisherLink, SubscriberLink};
use crate::{
    compression::Compressor,
    endpoint::{self, Compression, NetworkOptions},
    error::{Error, FlushError, TrySendError},
};
use inbox::OnFull;
use publisher::NetworkPublisher;
use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};
use subscriber::NetworkSubscriber;

/// The sending side of a network client, for one topic.
pub(crate) trait Outlet: Send + Sync + fmt::Debug {
    /// Most bytes of a frame, at least one.
    fn max_len(&self) -> usize;
    /// Takes a frame if it can be taken at once. Calls come one after the other.
    fn try_send(&self, frame: &SharedBytes, stamp: Option<Stamp>) -> Result<(), TrySendError>;
    /// Waits until a frame of this many bytes may be taken, or the time is over; may return early.
    fn wait_for_room(&self, len: usize, deadline: Instant);
    /// Waits until everything taken is with the other side, as far as the transport can tell.
    fn flush(&self, deadline: Instant) -> Result<(), FlushError>;
    /// Frames taken that still wait for the link.
    fn queued(&self) -> u64;
    /// Waits until there are `count` subscribers; false if there are fewer when the time is over. `None` where the
    /// client does not know.
    fn wait_for_subscribers(&self, _count: usize, _timeout: Duration) -> Option<bool> {
        None
    }
}

/// Keeps a network client receiving one topic into an [`Inbox`]; dropping it ends that, and waits for no message.
pub(crate) trait Inlet: Send + Sync + fmt::Debug {}

/// Makes a publisher's link of a client's sending side.
pub(crate) fn publisher(
    options: &NetworkOptions,
    compression: Compression,
    monitor: Arc<Monitor>,
    outlet: impl FnOnce() -> Result<Box<dyn Outlet>, Error>,
) -> Result<Box<dyn PublisherLink>, Error> {
    // Before the client is opened: what this build lacks is no reason to connect.
    let compressor = Compressor::new(compression)?;
    Ok(Box::new(NetworkPublisher::new(outlet()?, monitor, options.clone(), compressor)))
}

/// Makes a subscriber's link of a client's receiving side, which is given the queue to fill.
pub(crate) fn subscriber(
    options: &NetworkOptions,
    delivery: Delivery,
    monitor: Arc<Monitor>,
    inlet: impl FnOnce(&Arc<Inbox>) -> Result<Box<dyn Inlet>, Error>,
) -> Result<Box<dyn SubscriberLink>, Error> {
    let on_full = match delivery {
        Delivery::Newest => OnFull::KeepNewest,
        Delivery::Everything => match options.on_full {
            endpoint::OnFull::Block => OnFull::Block,
            endpoint::OnFull::DropOldest => OnFull::DropOldest,
        },
    };
    let inbox = Arc::new(Inbox::new(options.queue_bytes, on_full));
    let inlet = inlet(&inbox)?;
    Ok(Box::new(NetworkSubscriber::new(inlet, inbox, monitor, options.max_bytes)))
}
