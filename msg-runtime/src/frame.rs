//! What stands before a payload on every network, and beside it in shared memory: one header byte.

use std::{error, fmt};

/// How a payload is compressed, as each frame says for itself.
///
/// The header byte, which a compressed payload follows as its original size and one block:
///
/// ```text
///   bit   7   6   5   4   3   2   1   0          0      1                   5
///       +---+---+---+---+---+---+---+---+       +------+-------------------+----------------------+
///       |     reserved, zero    | codec |       | 0x01 | original size:    | one raw lz4 block    |
///       +---+---+---+---+---+---+---+---+       +------+ u32 little-endian +----------------------+
///                                 0 0  none     | 0x02 |                   | one zstd frame       |
///                                 0 1  lz4      +------+-------------------+----------------------+
///                                 1 0  zstd     | 0x00 | the payload                              |
///                                 1 1  reserved +------+------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// The payload as it is.
    None,
    /// Original size, then one lz4 block.
    Lz4,
    /// Original size, then one zstd frame.
    Zstd,
}

const CODEC_BITS: u8 = 0b11;

impl Codec {
    /// The header byte.
    pub(crate) fn header(self) -> u8 {
        match self {
            Self::None => 0b00,
            Self::Lz4 => 0b01,
            Self::Zstd => 0b10,
        }
    }

    /// What a header byte says.
    pub(crate) fn from_header(header: u8) -> Result<Self, BadFrame> {
        match (header & !CODEC_BITS, header & CODEC_BITS) {
            (0, 0b00) => Ok(Self::None),
            (0, 0b01) => Ok(Self::Lz4),
            (0, 0b10) => Ok(Self::Zstd),
            (0, _) => Err(BadFrame::ReservedCodec),
            _ => Err(BadFrame::ReservedBits { header }),
        }
    }
}

/// A frame's codec, and what follows its header byte.
#[allow(dead_code, reason = "for networks; slots have the header byte beside the payload")]
pub(crate) fn split(frame: &[u8]) -> Result<(Codec, &[u8]), BadFrame> {
    let (header, body) = frame.split_first().ok_or(BadFrame::Empty)?;
    Ok((Codec::from_header(*header)?, body))
}

/// Why a frame, that is, a header byte and a perhaps compressed payload, cannot be read.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadFrame {
    /// There is not even a header byte.
    Empty,
    /// One of the six upper bits of the header byte is set.
    ReservedBits {
        /// The header byte.
        header: u8,
    },
    /// The codec is number 3, which has no meaning yet.
    ReservedCodec,
    /// A compressed payload lacks its original size.
    MissingSize {
        /// Bytes that follow the header byte.
        len: usize,
    },
    /// The payload's size, as the frame says, is above the subscriber's limit.
    TooLarge {
        /// Bytes that the payload would have.
        len: usize,
        /// Bytes that it may have.
        max: usize,
    },
    /// The block decodes to another size than the frame says.
    WrongSize {
        /// Bytes that the frame says.
        claimed: usize,
    },
    /// The block cannot be decoded.
    Corrupt,
    /// This build cannot decode lz4.
    NoLz4,
    /// This build cannot decode zstd.
    NoZstd,
}

impl fmt::Display for BadFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => f.write_str("the frame is empty, expected a header byte; is the sender one of ours?"),
            Self::ReservedBits { header } => write!(
                f,
                "the header byte is {header:#04x}, expected 0x00 (none), 0x01 (lz4) or 0x02 (zstd); is the sender one \
                 of ours?"
            ),
            Self::ReservedCodec => f.write_str(
                "the header byte is 0x03, whose codec is reserved, expected 0x00 (none), 0x01 (lz4) or 0x02 (zstd); \
                 the sender may be newer",
            ),
            Self::MissingSize { len } => write!(
                f,
                "a compressed payload has {len} bytes, expected four of its original size and a block; is the sender \
                 one of ours?"
            ),
            Self::TooLarge { len, max } => {
                write!(f, "the payload would have {len} bytes and at most {max} are taken; raise the limit")
            }
            Self::WrongSize { claimed } => write!(
                f,
                "the compressed payload decodes to another size than the {claimed} bytes that its frame says"
            ),
            Self::Corrupt => f.write_str("the compressed payload is damaged: it cannot be decoded"),
            Self::NoLz4 => f.write_str(
                "the payload is compressed with lz4, which this build lacks; turn on the feature `lz4` of msg-runtime",
            ),
            Self::NoZstd => f.write_str(
                "the payload is compressed with zstd, which this build lacks; turn on the feature `zstd` of msg-runtime",
            ),
        }
    }
}

impl fmt::Debug for BadFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl error::Error for BadFrame {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_256_header_bytes_mean_something() {
        for codec in [Codec::None, Codec::Lz4, Codec::Zstd] {
            assert_eq!(Codec::from_header(codec.header()), Ok(codec));
        }
        assert_eq!([Codec::None, Codec::Lz4, Codec::Zstd].map(Codec::header), [0, 1, 2]);
        assert_eq!(Codec::from_header(3), Err(BadFrame::ReservedCodec));
        for header in 4..=255 {
            assert_eq!(Codec::from_header(header), Err(BadFrame::ReservedBits { header }));
        }
    }

    #[test]
    fn a_frame_is_header_and_body() {
        assert_eq!(split(&[2, 7, 8]), Ok((Codec::Zstd, &[7, 8][..])));
        assert_eq!(split(&[0]), Ok((Codec::None, &[][..])));
        assert_eq!(split(&[]), Err(BadFrame::Empty));
        assert_eq!(split(&[0x81, 7]), Err(BadFrame::ReservedBits { header: 0x81 }));
    }

    #[test]
    fn texts_say_what_was_found() {
        let check = |bad: BadFrame, part: &str| assert!(bad.to_string().contains(part), "{bad}");
        check(BadFrame::ReservedBits { header: 0x41 }, "is 0x41, expected 0x00 (none)");
        check(BadFrame::TooLarge { len: 9, max: 8 }, "9 bytes and at most 8");
        check(BadFrame::MissingSize { len: 3 }, "has 3 bytes");
        check(BadFrame::NoZstd, "feature `zstd`");
    }
}
