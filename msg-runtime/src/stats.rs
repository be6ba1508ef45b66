//! What a handle has done and seen so far.

/// Counts since the handle was opened. Whatever is dropped is in one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Messages sent, or received and valid.
    pub messages: u64,
    /// Bytes of their payloads.
    pub bytes: u64,
    /// Publisher: times that a message found no slot free at once, whether it waited, gave up or was refused.
    pub full: u64,
    /// Subscriber: messages of its topic that passed by without being received.
    pub lost: u64,
    /// Subscriber: messages that were dropped because they are not what their type says.
    pub invalid: u64,
}
