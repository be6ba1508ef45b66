//! What a handle has done and seen so far.

/// Counts since the handle was opened. Whatever is dropped is in one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Messages sent, or received and valid.
    pub messages: u64,
    /// Bytes of their payloads.
    pub bytes: u64,
    /// Publisher: times that a message found no room at once, whether it waited, gave up or was refused.
    pub full: u64,
    /// Publisher: messages that were taken, and that the link did not take before it ended.
    pub unsent: u64,
    /// Subscriber: messages of its topic that passed by without being received, as far as they are known: those that
    /// a queue dropped, and gaps between the numbers of those that came.
    pub lost: u64,
    /// Subscriber: messages of [`lost`](Stats::lost) that its own queue dropped because it was full.
    pub overflowed: u64,
    /// Subscriber: datagrams of any topic of its group that the system dropped since the socket's receive buffer was
    /// full. Messages of its own topic among them are [`lost`](Stats::lost) or [`incomplete`](Stats::incomplete).
    pub overflowed_datagrams: u64,
    /// Subscriber: messages of which not every piece came in time.
    pub incomplete: u64,
    /// Subscriber: messages that were dropped because they came twice, or after a later one of their publisher.
    pub late: u64,
    /// Subscriber: messages that were dropped because they are not what their type or the frame says.
    pub invalid: u64,
    /// Times that the link was lost and came back.
    pub reconnects: u64,
    /// Messages that wait now: for the link, or to be received.
    pub queued: u64,
}
