//! A datagram: whose message it is a piece of, on which topic, and the piece.
//!
//! ```text
//!  0         4       5      6      7    8        16         24     32      36      40      44
//!  +---------+-------+------+------+----+--------+----------+------+-------+-------+-------+-------+--------+-------+
//!  | m s g u | 0x01  | flags| topic| 00 | sender | sequence | sent | index | count | total | topic | crc32c | piece |
//!  +---------+-------+------+------+----+--------+----------+------+-------+-------+-------+-------+--------+-------+
//!    magic    version        length       u64        u64      u64     u32     u32     u32            u32
//! ```
//!
//! Numbers are little-endian. `sender` is a random number of the publisher, `sequence` counts its messages from 0, `sent`
//! is nanoseconds since 1970. Bit 0 of `flags` says that these three are the message's stamp; without it (`stamp=off`) they
//! only keep its pieces together. The other bits are zero. `index` of `count` pieces of together `total` bytes: all but the
//! last are equally long. The checksum (Castagnoli) is over all that stands before it. The pieces themselves are
//! in the checksum of UDP, which the kernel makes and verifies.
//!
//! The message put together is a frame as on every network: one header byte, then the payload.

use crate::transport::{fragment::Piece, network::Stamp};

const MAGIC: [u8; 4] = *b"msgu";
const VERSION: u8 = 1;
const STAMPED: u8 = 1;
/// Bytes before the topic.
const FIXED_LEN: usize = 44;
const CHECKSUM_LEN: usize = 4;
/// Most bytes of a header.
pub(super) const MOST_HEADER_LEN: usize = header_len(255);

/// Bytes of a header with a topic of this length.
pub(super) const fn header_len(topic_len: usize) -> usize {
    FIXED_LEN + topic_len + CHECKSUM_LEN
}

/// What stands before a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header<'a> {
    pub(super) piece: Piece,
    /// The message's stamp, if its sender puts it there.
    pub(super) stamp: Option<Stamp>,
    /// At most 255 bytes.
    pub(super) topic: &'a [u8],
}

impl<'a> Header<'a> {
    /// Writes the header at the start of `out`, which has room for it; gives its length.
    pub(super) fn write(&self, out: &mut [u8]) -> usize {
        let len = header_len(self.topic.len());
        let Piece { sender, sequence, index, count, total } = self.piece;
        let sent = self.stamp.map_or(0, |stamp| stamp.sent);
        let flags = if self.stamp.is_some() { STAMPED } else { 0 };
        let topic_len = u8::try_from(self.topic.len()).expect("a topic has at most 255 bytes");
        out[..4].copy_from_slice(&MAGIC);
        out[4..8].copy_from_slice(&[VERSION, flags, topic_len, 0]);
        for (place, number) in out[8..32].chunks_exact_mut(8).zip([sender, sequence, sent]) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        for (place, number) in out[32..FIXED_LEN].chunks_exact_mut(4).zip([index, count, total]) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let end = len - CHECKSUM_LEN;
        out[FIXED_LEN..end].copy_from_slice(self.topic);
        let checksum = crc32c(&out[..end]);
        out[end..len].copy_from_slice(&checksum.to_le_bytes());
        len
    }

    /// Header and piece of a datagram; `None` if it is none of ours, of another version or damaged.
    pub(super) fn read(datagram: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (&[a, b, c, d, version, flags, topic_len, zero], _) = datagram.split_first_chunk()?;
        let known = [a, b, c, d] == MAGIC && version == VERSION && flags & !STAMPED == 0 && zero == 0;
        let (before, rest) = datagram.split_at_checked(FIXED_LEN + usize::from(topic_len))?;
        let (checksum, piece) = rest.split_first_chunk()?;
        if !known || crc32c(before) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let long = |at: usize| u64::from_le_bytes(before[at..at + 8].try_into().expect("eight bytes"));
        let short = |at: usize| u32::from_le_bytes(before[at..at + 4].try_into().expect("four bytes"));
        let (sender, sequence) = (long(8), long(16));
        let stamp = Stamp { publisher: sender, sequence, sent: long(24) };
        let header = Header {
            piece: Piece { sender, sequence, index: short(32), count: short(36), total: short(40) },
            stamp: (flags == STAMPED).then_some(stamp),
            topic: &before[FIXED_LEN..],
        };
        Some((header, piece))
    }
}

/// One instruction of a classic socket filter: code, jump if true, jump if false, number.
pub(super) type Instruction = (u16, u8, u8, u32);

/// What a [`filter`] leaves of a datagram of another topic: the header up to the topic's length.
const CUT_LEN: usize = 8;

/// Whether this is what a [`filter`] left of a datagram of another topic.
pub(super) fn was_cut(datagram: &[u8]) -> bool {
    datagram.len() == CUT_LEN && datagram.starts_with(&MAGIC)
}

/// A socket filter that cuts datagrams of other topics short, so that what is sent to a group is not copied for every
/// handle in it. Refused altogether, they would be among the datagrams that the receive buffer had no room for, which the
/// kernel counts together. What is none of ours passes: it is counted later.
pub(super) fn filter(topic: &[u8]) -> Vec<Instruction> {
    const LOAD_LEN: u16 = 0x80;
    const LOAD_WORD: u16 = 0x20;
    const LOAD_BYTE: u16 = 0x30;
    const IF_EQUAL: u16 = 0x15;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    /// The filter sees the UDP header too.
    const START: usize = 8;
    // What is loaded, what it is compared with, and whether the datagram passes at once if that fails.
    let mut steps = vec![
        (LOAD_LEN, 0, IF_AT_LEAST, START + header_len(0), true),
        (LOAD_WORD, START, IF_EQUAL, u32::from_be_bytes(MAGIC) as usize, true),
        (LOAD_BYTE, START + 4, IF_EQUAL, VERSION.into(), true),
        (LOAD_BYTE, START + 6, IF_EQUAL, topic.len(), false),
        (LOAD_LEN, 0, IF_AT_LEAST, START + header_len(topic.len()), true),
    ];
    let (words, bytes) = topic.as_chunks::<4>();
    for (at, word) in words.iter().enumerate() {
        let place = START + FIXED_LEN + 4 * at;
        steps.push((LOAD_WORD, place, IF_EQUAL, u32::from_be_bytes(*word) as usize, false));
    }
    for (at, byte) in bytes.iter().enumerate() {
        let place = START + FIXED_LEN + 4 * words.len() + at;
        steps.push((LOAD_BYTE, place, IF_EQUAL, (*byte).into(), false));
    }
    let mut program = Vec::new();
    for (at, (load, place, compare, number, passes)) in steps.iter().enumerate() {
        // Behind the last step stand first "it passes", then "it does not".
        let after = 2 * (steps.len() - at - 1);
        let otherwise = u8::try_from(after + usize::from(!passes)).expect("a topic has at most 255 bytes");
        program.push((*load, 0, 0, *place as u32));
        program.push((*compare, 0, otherwise, *number as u32));
    }
    program.extend([(RETURN, 0, 0, u32::MAX), (RETURN, 0, 0, (START + CUT_LEN) as u32)]);
    program
}

/// CRC-32C, eight bytes at a time: `TABLES[n]` is of a byte that `n` bytes follow.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = !0_u32;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut folded = [0; 8];
        folded.copy_from_slice(chunk);
        for (byte, old) in folded.iter_mut().zip(crc.to_le_bytes()) {
            *byte ^= old;
        }
        crc = 0;
        for (byte, table) in folded.iter().zip(TABLES.iter().rev()) {
            crc ^= table[usize::from(*byte)];
        }
    }
    for byte in chunks.remainder() {
        crc = (crc >> 8) ^ TABLES[0][usize::from(crc as u8 ^ byte)];
    }
    !crc
}

static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    /// The polynomial 0x1edc6f41, bits reversed.
    const CASTAGNOLI: u32 = 0x82f6_3b78;
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (if crc & 1 == 1 { CASTAGNOLI } else { 0 });
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let crc = tables[table - 1][byte];
            tables[table][byte] = (crc >> 8) ^ tables[0][(crc & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: Piece =
        Piece { sender: 0x0807_0605_0403_0201, sequence: 0x2a, index: 1, count: 3, total: 0x0102 };

    /// The drawing above, by hand; the checksum by another program.
    const HEX: &str = "6d736775 01 01 03 00 0102030405060708 2a00000000000000 00ff000000000000 \
        01000000 03000000 02010000 612e62 26341393 0068656c6c6f";

    fn datagram() -> Vec<u8> {
        let digits: Vec<u8> = HEX.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
        digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
    }

    fn header() -> Header<'static> {
        let stamp = Stamp { publisher: PIECE.sender, sequence: PIECE.sequence, sent: 0xff00 };
        Header { piece: PIECE, stamp: Some(stamp), topic: b"a.b" }
    }

    #[test]
    fn a_datagram_is_as_drawn() {
        let mut out = [0xaa; MOST_HEADER_LEN];
        let len = header().write(&mut out);
        assert_eq!(len, header_len(3));
        let datagram = datagram();
        assert_eq!(out[..len], datagram[..len]);
        assert_eq!(Header::read(&datagram), Some((header(), &b"\0hello"[..])));
    }

    #[test]
    fn without_a_stamp_sender_and_sequence_stay() {
        let mut out = [0; MOST_HEADER_LEN];
        let unstamped = Header { stamp: None, ..header() };
        let len = unstamped.write(&mut out);
        assert_eq!((out[5], Header::read(&out[..len])), (0, Some((unstamped, &[][..]))));
    }

    #[test]
    fn the_checksum_is_castagnolis() {
        let check = |text: &[u8], expected: u32| assert_eq!(crc32c(text), expected);
        check(b"", 0);
        check(b"123456789", 0xe306_9283);
        check(&[0; 32], 0x8a91_36aa);
        check(&[0xff; 32], 0x62a8_ab43);
    }

    #[test]
    fn a_flipped_bit_of_the_header_and_a_missing_byte_are_noticed() {
        let good = datagram();
        for bit in 0..8 * header_len(3) {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::read(&bad), None, "bit {bit}");
        }
        for len in 0..header_len(3) {
            assert_eq!(Header::read(&good[..len]), None, "{len} bytes");
        }
    }

    #[test]
    fn other_versions_and_flags_are_refused() {
        for (at, byte) in [(0, b'M'), (4, 2), (4, 0), (5, 2), (5, 0x81), (7, 1)] {
            let mut other = datagram();
            other[at] = byte;
            let end = header_len(3) - CHECKSUM_LEN;
            let checksum = crc32c(&other[..end]);
            other[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
            assert_eq!(Header::read(&other), None, "byte {at} is {byte}");
        }
    }
}
