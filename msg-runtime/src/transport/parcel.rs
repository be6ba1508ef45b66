//! Messages on their way from one link to another: as they are, compressed or not, with what tells whose they are.

use super::Payload;
use crate::frame::Codec;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A message to pass on.
#[derive(Debug)]
pub(crate) struct Parcel {
    pub(crate) codec: Codec,
    /// What follows the header byte.
    pub(crate) body: Payload,
    /// `None` if it came without a stamp.
    pub(crate) origin: Option<Origin>,
}

/// Who sent a message first, as which of its messages, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// A publisher; or a ring, which numbers the messages of all its publishers without a gap.
    pub(crate) publisher: u64,
    pub(crate) sequence: u64,
    /// Nanoseconds since 1970.
    pub(crate) sent: u64,
}

/// Whether a parcel is compressed as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    AsItCame,
    Unpacked,
}

impl Parcel {
    /// Bytes of the payload without compression, as the frame says.
    pub(crate) fn payload_len(&self) -> usize {
        match (self.codec, self.body.first_chunk()) {
            (Codec::None, _) | (_, None) => self.body.len(),
            (_, Some(size)) => u32::from_le_bytes(*size) as usize,
        }
    }
}

/// So long ago by the wall clock, in nanoseconds since 1970.
pub(crate) fn wall_clock(age: Duration) -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.saturating_sub(age).as_nanos()).unwrap_or(u64::MAX)
}
