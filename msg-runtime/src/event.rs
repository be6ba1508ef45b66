//! What happens to a link while nobody looks at it.

use std::fmt;

/// Something that happened to the link of a publisher or subscriber; see the builders' `on_event`.
///
/// Shared memory has no link, and no events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The link is there for the first time.
    Connected,
    /// The link is gone, for this reason; the handle tries to get it back.
    Disconnected(String),
    /// The link is there again.
    Reconnected,
    /// Messages were dropped; [`Stats`](crate::Stats) counts them.
    Dropped {
        /// How many.
        count: u64,
        /// Why.
        cause: DropCause,
    },
    /// Another handle on the topic has a type that one of both would misread. Told once for each such handle, where
    /// handles announce themselves; messages that are not of our type are dropped and counted as
    /// [`invalid`](crate::Stats::invalid), as far as they can be told apart.
    Incompatible {
        /// The program that has the other handle.
        program: String,
        /// Its process.
        pid: u32,
        /// Its host.
        host: String,
        /// The other handle's type.
        type_name: String,
        /// What differs: the field, and both of its types.
        conflict: String,
    },
}

/// Why messages were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DropCause {
    /// Publisher: the link was down or too slow, and did not take them before the handle was dropped.
    Unsent,
    /// Subscriber: it was slower than the messages came, and its queue (`queue=`) was full.
    QueueFull,
    /// Subscriber: the client library or the server dropped them because we were too slow for it.
    TooSlow,
    /// Subscriber: not messages but datagrams, since the socket's receive buffer (`rcvbuf=`) was full.
    ReceiveBufferFull,
    /// Subscriber: pieces of them did not arrive in time.
    Incomplete,
    /// Subscriber: they are not what the transport's frames look like.
    Malformed,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected => f.write_str("connected"),
            Self::Disconnected(reason) => write!(f, "disconnected: {reason}"),
            Self::Reconnected => f.write_str("reconnected"),
            Self::Incompatible { program, pid, host, type_name, conflict } => write!(
                f,
                "`{program}` (process {pid} on {host}) uses the topic with type `{type_name}`, which does not go with \
                 ours: {conflict}; use one type everywhere, or another topic"
            ),
            Self::Dropped { count, cause } => write!(f, "{count} messages dropped: {cause}"),
        }
    }
}

impl fmt::Display for DropCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unsent => "the link did not take them in time",
            Self::QueueFull => "the subscriber is too slow, and its queue is full (`queue=`)",
            Self::TooSlow => "the client library or server dropped them, since the subscriber is too slow",
            Self::ReceiveBufferFull => "the receive buffer had no room for their datagrams (`rcvbuf=`)",
            Self::Incomplete => "pieces of them did not arrive",
            Self::Malformed => "they are no frames of ours",
        })
    }
}
