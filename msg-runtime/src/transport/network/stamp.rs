//! What travels beside a message: who sent it, as which of its messages, and when.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A message's stamp, 24 bytes, each number little-endian:
///
/// ```text
///  0      8         16        24
///  +------+---------+---------+
///  | publisher | sequence | sent |
///  +------+---------+---------+
/// ```
///
/// `publisher` is a random number of the handle, `sequence` counts its messages from 0, `sent` is nanoseconds since
/// 1970 by the sender's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) publisher: u64,
    pub(crate) sequence: u64,
    pub(crate) sent: u64,
}

impl Stamp {
    pub(crate) const LEN: usize = 24;

    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        for (place, number) in bytes.chunks_exact_mut(8).zip([self.publisher, self.sequence, self.sent]) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// `None` for another number of bytes: what a foreign program put there is no stamp.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LEN] = bytes.try_into().ok()?;
        let number = |at: usize| {
            let bytes = bytes[at..at + 8].try_into().expect("eight of the 24 bytes");
            u64::from_le_bytes(bytes)
        };
        Some(Self { publisher: number(0), sequence: number(8), sent: number(16) })
    }
}

impl Stamp {
    /// Time since the message was sent, nothing if the sender's clock is ahead of ours.
    pub(crate) fn age(self) -> Duration {
        Duration::from_nanos(now().saturating_sub(self.sent))
    }
}

/// Nanoseconds since 1970 by this host's clock.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A number that nobody else has, from the system's randomness that seeds hash maps.
pub(crate) fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_u64(now());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_as_drawn() {
        let stamp = Stamp { publisher: 0x0807_0605_0403_0201, sequence: 9, sent: 0xff00 };
        let bytes = stamp.to_bytes();
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0],);
        assert_eq!(Stamp::from_bytes(&bytes), Some(stamp));
        assert_eq!(Stamp::from_bytes(&bytes[1..]), None);
    }
}
