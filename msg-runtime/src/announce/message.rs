//! What is announced. `schemas/announce.fbs` is the same for other languages.

use super::conflict;
use crate::{Message, Open, event::Event};

/// What an announcement is for.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
#[message(namespace = "msg")]
#[repr(u8)]
pub(crate) enum AnnounceKind {
    /// The handle is there: everything about it.
    Here = 0,
    /// The handle is still there: its counts.
    Counts = 1,
    /// The handle ends.
    Gone = 2,
    /// Everybody is asked to say that they are here.
    Who = 3,
}

/// What a handle does.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[message(namespace = "msg")]
#[repr(u8)]
pub(crate) enum AnnounceDirection {
    /// It publishes.
    Publisher = 0,
    /// It subscribes.
    Subscriber = 1,
}

/// One handle, as it tells of itself.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "msg")]
pub(crate) struct Announce {
    /// What this announcement is for.
    pub(crate) kind: Open<AnnounceKind>,
    /// Publishes or subscribes.
    pub(crate) direction: Open<AnnounceDirection>,
    /// A random number of the handle.
    pub(crate) handle: u64,
    /// The topic.
    pub(crate) topic: String,
    /// The fully qualified name of the messages' type; empty without a type.
    pub(crate) type_name: String,
    /// What payloads are: `flatbuffers`, `json` or `raw`.
    pub(crate) encoding: String,
    /// The fingerprint of the type.
    pub(crate) fingerprint: u64,
    /// The binary schema of the type; empty in an announcement of counts.
    pub(crate) schema: Vec<u8>,
    /// The name of the host.
    pub(crate) host: String,
    /// The process.
    pub(crate) pid: u32,
    /// The name of the program.
    pub(crate) program: String,
    /// Messages sent or received so far.
    pub(crate) messages: u64,
    /// Bytes of their payloads.
    pub(crate) bytes: u64,
    /// The other end of the bridge that the handle belongs to; empty if it belongs to none.
    pub(crate) bridge: String,
}

impl Announce {
    /// One that says nothing but what it is for.
    pub(crate) fn new(kind: AnnounceKind) -> Self {
        Self {
            kind: kind.into(),
            direction: AnnounceDirection::Publisher.into(),
            handle: 0,
            topic: String::new(),
            type_name: String::new(),
            encoding: String::new(),
            fingerprint: 0,
            schema: Vec::new(),
            host: String::new(),
            pid: std::process::id(),
            program: String::new(),
            messages: 0,
            bytes: 0,
            bridge: String::new(),
        }
    }

    /// What to tell whoever has these facts of a handle with the other ones, if one of both would misread the other.
    pub(crate) fn incompatible(&self, other: &Self) -> Option<Event> {
        if self.topic != other.topic || self.handle == other.handle {
            return None;
        }
        let conflict = conflict::between(self, other)?;
        Some(Event::Incompatible {
            program: other.program.clone(),
            pid: other.pid,
            host: other.host.clone(),
            type_name: other.type_name.clone(),
            conflict,
        })
    }
}
