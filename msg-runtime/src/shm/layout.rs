//! Where everything lies in the two files of a segment. A second implementation needs this page and `word`, and if it is
//! in C, `include/msg_ring.h`, which a test below compares with this page.
//!
//! All numbers are in the machine's own byte order. The **data** file, which subscribers map read-only:
//!
//! | offset | bytes | what | written |
//! | --- | --- | --- | --- |
//! | 0 | 128 | [`DataHeader`] | once, before the file has a name |
//! | 128 | topic + type + schema | the three texts, one after the other | once |
//! | `header_bytes` | 8 (+120) | tail: the sequence that is published next | publishers |
//! | then | 8 · `entries` | the ring: entry words | publishers |
//! | then, at 128 | 8 · `slots` | slot words | publishers |
//! | then, at 128 | 64 · `slots` | [`SlotRecord`]s | the loan's owner, before it commits |
//! | then, at 128 | 128 · 64 | [`PublisherRecord`]s | their owner |
//! | then, at 4096 | `stride` · `slots` | payloads; `stride` is `slot_bytes` rounded up to 64 | the loan's owner |
//!
//! The **readers** file, which all map for writing ([`Readers`]):
//!
//! | offset | bytes | what | written |
//! | --- | --- | --- | --- |
//! | 0 | 8 | magic | once |
//! | 8 | 4 | layout version | once |
//! | 16 | 16 | segment id | once |
//! | 128 | 4 | `wake`: event count of messages | sleepers and wakers |
//! | 256 | 4 | `space`: event count of room | sleepers and wakers |
//! | 384 | 8 | `pinners`: bit k, reader k is or was latest-only or evicted | whoever joins or evicts |
//! | 392 | 4 | `named`: somebody asked for this geometry | whoever did |
//! | 396 | 4 | `closed`: the files have lost their names | whoever noticed |
//! | 512 | 8 · 128 | states: 64 subscribers, 64 publishers | their owner; repairers |
//! | 1536 | 8 | `looked`: when a publisher that waits last looked for the dead, by `CLOCK_MONOTONIC` | whoever did |
//! | 2048 | 256 · 64 | [`ReaderRecord`]s | their owner |
//! | 18432 | 16 · 128 | [`ProcessRecord`]s | their owner |
//!
//! Byte k of the readers file is locked (open file description lock) as long as participant k lives, byte 128 by
//! whoever is changing the files' names, byte 129 by whoever removes a segment in which only copies of locks are left.

use core::sync::atomic::AtomicU64 as PlainU64;
use std::mem::{offset_of, size_of};

use super::process::ProcessRecord;
use super::sync::{AtomicU32, AtomicU64, Ordering};
use super::word::Entry;

/// The most subscribers, and the most publishers, of a ring.
pub(super) const MAX_PER_KIND: usize = 64;
/// The most participants of a ring.
pub(super) const PARTICIPANTS: usize = 2 * MAX_PER_KIND;
/// The byte whose lock is the right to change the names of a segment's files.
pub(super) const NAMES_BYTE: usize = PARTICIPANTS;
/// The byte whose lock is the right to remove a segment whose owners of locks are all dead.
pub(super) const REMOVAL_BYTE: usize = NAMES_BYTE + 1;
/// All bytes that are ever locked.
pub(super) const LOCK_BYTES: usize = REMOVAL_BYTE + 1;
/// The most messages that a subscriber keeps at once.
pub(super) const HOLDS: usize = if cfg!(loom) { 2 } else { 8 };
/// Changes whenever anything on this page does.
pub(super) const VERSION: u32 = 3;
pub(super) const MAGIC: [u8; 8] = *b"msg.ring";
/// The longest header, texts included.
pub(super) const MAX_HEADER_BYTES: u64 = 1 << 20;

const PAGE: u64 = 4096;
/// Two cache lines: processors fetch them in pairs.
const LINES: u64 = 128;

/// The write-once head of the data file; the topic, the type's name and its schema follow it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DataHeader {
    pub(super) magic: [u8; 8],
    pub(super) version: u32,
    /// CRC-32 of everything behind it, texts included.
    pub(super) checksum: u32,
    /// The same in both files.
    pub(super) segment: [u8; 16],
    /// A multiple of 4096.
    pub(super) header_bytes: u64,
    pub(super) file_bytes: u64,
    /// 1 to 1024.
    pub(super) slots: u32,
    /// A power of two, at least `2 * slots`.
    pub(super) entries: u32,
    /// The largest payload.
    pub(super) slot_bytes: u64,
    /// Of the message type; 0 = unspecified.
    pub(super) fingerprint: u64,
    /// Nanoseconds since 1970.
    pub(super) created: u64,
    pub(super) creator_pid: u32,
    pub(super) topic_bytes: u32,
    pub(super) type_bytes: u32,
    pub(super) schema_bytes: u32,
    /// Nanoseconds that a subscriber may be behind when the ring is full; 0 = any.
    pub(super) evict: u64,
    pub(super) reserved: [u64; 3],
}

impl DataHeader {
    pub(super) const BYTES: usize = size_of::<Self>();
    /// Where the bytes begin that the checksum covers.
    pub(super) const CHECKED_FROM: usize = offset_of!(Self, segment);

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        // SAFETY: INTEGERS (shm/mod.rs): the struct has no padding, so that each of its bytes is initialized.
        unsafe { std::mem::transmute(self) }
    }

    pub(super) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        // SAFETY: INTEGERS (shm/mod.rs): every pattern of bytes is a value of every field.
        unsafe { std::mem::transmute(bytes) }
    }
}

/// The head of the readers file as it is written, before the file has a name.
pub(super) fn readers_head(segment: [u8; 16]) -> [u8; 32] {
    let mut head = [0; 32];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_ne_bytes());
    head[16..].copy_from_slice(&segment);
    head
}

/// One subscriber's words. Publishers read the first two cache lines when they scan; the statistics lie apart.
#[repr(C, align(128))]
#[derive(Debug)]
pub(super) struct ReaderRecord {
    /// A [`Cursor`](super::word::Cursor). Written by the owner; by anybody while joining.
    pub(super) cursor: AtomicU64,
    /// The [`Entry`] that a latest-only or evictable reader is about to borrow or borrows.
    pub(super) reading: AtomicU64,
    /// The [`Entry`] words of the samples that are kept.
    pub(super) holds: [AtomicU64; HOLDS],
    pub(super) statistics: ReaderStatistics,
}

/// For looking at, never for deciding.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(super) struct ReaderStatistics {
    pub(super) received: PlainU64,
    pub(super) bytes: PlainU64,
    pub(super) lost: PlainU64,
}

impl ReaderRecord {
    /// The entries that are held now.
    pub(super) fn held(&self) -> impl Iterator<Item = Entry> {
        self.holds.iter().map(|hold| Entry(hold.load(Ordering::Acquire))).filter(|hold| *hold != Entry::NONE)
    }

    /// Forgets what a former owner borrowed; `join` publishes it with the state.
    pub(super) fn clear(&self) {
        self.reading.store(0, Ordering::Relaxed);
        for hold in &self.holds {
            hold.store(0, Ordering::Relaxed);
        }
    }
}

/// The readers file.
#[repr(C, align(4096))]
#[derive(Debug)]
pub(super) struct Readers {
    _head: [PlainU64; 16],
    pub(super) wake: AlignedWord,
    pub(super) space: AlignedWord,
    pub(super) flags: Flags,
    pub(super) states: [AtomicU64; PARTICIPANTS],
    pub(super) looked: PlainU64,
    _unused: [PlainU64; 63],
    pub(super) records: [ReaderRecord; MAX_PER_KIND],
    pub(super) processes: [ProcessRecord; PARTICIPANTS],
}

/// An event count on cache lines of its own.
#[repr(C, align(128))]
#[derive(Debug)]
pub(super) struct AlignedWord(pub(super) AtomicU32);

/// Words that publishers look at for every message and that almost never change.
#[repr(C, align(128))]
#[derive(Debug)]
pub(super) struct Flags {
    pub(super) pinners: AtomicU64,
    pub(super) named: AtomicU32,
    pub(super) closed: AtomicU32,
}

/// What goes with the message in a slot; written before its commit, copied once by a reader, believed by nobody.
#[repr(C, align(64))]
#[derive(Debug)]
pub(super) struct SlotRecord {
    /// Where the payload begins in the slot; a multiple of 64.
    pub(super) offset: PlainU64,
    /// Bytes of the payload.
    pub(super) len: PlainU64,
    /// The publisher's id.
    pub(super) publisher: PlainU64,
    /// Nanoseconds by `CLOCK_MONOTONIC`.
    pub(super) sent: PlainU64,
    /// The frame's header byte.
    pub(super) header_byte: PlainU64,
    /// 0, or for a message that came from elsewhere its number there + 1; `publisher` is then who sent it there.
    pub(super) origin: PlainU64,
}

/// For looking at, never for deciding.
#[repr(C, align(128))]
#[derive(Debug)]
pub(super) struct PublisherRecord {
    pub(super) id: PlainU64,
    pub(super) sent: PlainU64,
    pub(super) bytes: PlainU64,
    pub(super) full: PlainU64,
}

#[cfg(not(any(loom, shuttle)))]
const _: () = {
    assert!(DataHeader::BYTES == 128);
    assert!(offset_of!(DataHeader, checksum) == 12);
    assert!(offset_of!(DataHeader, segment) == 16);
    assert!(offset_of!(DataHeader, slot_bytes) == 56);
    assert!(offset_of!(DataHeader, schema_bytes) == 92);
    assert!(offset_of!(DataHeader, evict) == 96);
    assert!(size_of::<ReaderRecord>() == 256);
    assert!(offset_of!(ReaderRecord, reading) == 8);
    assert!(offset_of!(ReaderRecord, holds) == 16);
    assert!(offset_of!(ReaderRecord, statistics) == 128);
    assert!(offset_of!(Readers, wake) == 128);
    assert!(offset_of!(Readers, space) == 256);
    assert!(offset_of!(Readers, flags) == 384);
    assert!(offset_of!(Readers, states) == 512);
    assert!(offset_of!(Readers, records) == 2048);
    assert!(offset_of!(Readers, processes) == 18432);
    assert!(size_of::<ProcessRecord>() == 16);
    assert!(size_of::<Readers>() == 20480);
    assert!(size_of::<SlotRecord>() == 64);
    assert!(size_of::<PublisherRecord>() == 128);
};

/// How many messages a ring has room for, and how long they may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) slots: usize,
    pub(super) slot_bytes: usize,
}

/// The offsets of a data file, computed from its geometry and never read from the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataLayout {
    pub(super) geometry: Geometry,
    pub(super) entries: usize,
    pub(super) header_bytes: usize,
    pub(super) ring: usize,
    pub(super) slot_words: usize,
    pub(super) slot_records: usize,
    pub(super) publishers: usize,
    pub(super) payloads: usize,
    pub(super) stride: usize,
    pub(super) file_bytes: usize,
}

impl DataLayout {
    /// `texts` is the length of topic, type name and schema together. `None`: no address space has room for it.
    pub(super) fn new(geometry: Geometry, texts: usize) -> Option<Self> {
        let (slots, slot_bytes) = (geometry.slots as u64, geometry.slot_bytes as u64);
        let entries = (2 * slots).next_power_of_two();
        let up = |offset: u64, to: u64| offset.checked_next_multiple_of(to);
        let header_bytes = up((DataHeader::BYTES as u64).checked_add(texts as u64)?, PAGE)?;
        let ring = header_bytes + LINES;
        let slot_words = up(ring + 8 * entries, LINES)?;
        let slot_records = up(slot_words + 8 * slots, LINES)?;
        let publishers = up(slot_records + size_of::<SlotRecord>() as u64 * slots, LINES)?;
        let payloads = up(publishers + (size_of::<PublisherRecord>() * MAX_PER_KIND) as u64, PAGE)?;
        let stride = up(slot_bytes, 64)?;
        let end = payloads.checked_add(stride.checked_mul(slots)?)?;
        let file_bytes = up(end, PAGE).filter(|bytes| *bytes <= isize::MAX as u64)?;
        Some(Self {
            geometry,
            entries: entries as usize,
            header_bytes: header_bytes as usize,
            ring: ring as usize,
            slot_words: slot_words as usize,
            slot_records: slot_records as usize,
            publishers: publishers as usize,
            payloads: payloads as usize,
            stride: stride as usize,
            file_bytes: file_bytes as usize,
        })
    }
}

/// CRC-32 as in Ethernet and zip.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            let (mut value, mut bit) = (index as u32, 0);
            while bit < 8 {
                value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[index] = value;
            index += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |sum: u32, byte| sum >> 8 ^ TABLE[usize::from(sum as u8 ^ byte)])
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_offset_table_of_the_readers_file_holds() {
        let table: Vec<(usize, usize)> = include_str!("layout.rs")
            .lines()
            .skip_while(|line| !line.contains("**readers** file"))
            .take_while(|line| line.starts_with("//!"))
            .filter_map(|line| {
                let mut cells = line.split('|').map(str::trim).skip(1);
                let offset = cells.next()?.parse().ok()?;
                let bytes = cells.next()?.split(" · ").map(|n| n.parse::<usize>().unwrap()).product();
                Some((offset, bytes))
            })
            .collect();
        let flags = offset_of!(Readers, flags);
        let expected = [
            (0, 8),
            (8, 4),
            (16, 16),
            (offset_of!(Readers, wake), size_of::<AtomicU32>()),
            (offset_of!(Readers, space), size_of::<AtomicU32>()),
            (flags + offset_of!(Flags, pinners), size_of::<AtomicU64>()),
            (flags + offset_of!(Flags, named), size_of::<AtomicU32>()),
            (flags + offset_of!(Flags, closed), size_of::<AtomicU32>()),
            (offset_of!(Readers, states), size_of::<[AtomicU64; PARTICIPANTS]>()),
            (offset_of!(Readers, looked), size_of::<PlainU64>()),
            (offset_of!(Readers, records), size_of::<[ReaderRecord; MAX_PER_KIND]>()),
            (offset_of!(Readers, processes), size_of::<[ProcessRecord; PARTICIPANTS]>()),
        ];
        assert_eq!(table, expected);
    }

    #[test]
    fn the_data_file_is_laid_out_as_drawn() {
        let check = |slots, slot_bytes, texts, expected: [usize; 8]| {
            let layout = DataLayout::new(Geometry { slots, slot_bytes }, texts).unwrap();
            let got = [
                layout.entries,
                layout.ring,
                layout.slot_words,
                layout.slot_records,
                layout.publishers,
                layout.payloads,
                layout.stride,
                layout.file_bytes,
            ];
            assert_eq!(got, expected, "{slots} slots of {slot_bytes} bytes");
        };
        check(1, 1, 0, [2, 4224, 4352, 4480, 4608, 16384, 64, 20480]);
        check(16, 65536, 100, [32, 4224, 4480, 4608, 5632, 16384, 65536, 16384 + (1 << 20)]);
        check(8, 65, 3969, [16, 8320, 8448, 8576, 9088, 20480, 128, 24576]);
        assert_eq!(DataLayout::new(Geometry { slots: 1024, slot_bytes: usize::MAX >> 4 }, 0), None);
        assert_eq!(DataLayout::new(Geometry { slots: 1, slot_bytes: usize::MAX }, 0), None);
    }

    /// A C expression, and what it has to be.
    macro_rules! same {
        ($figures:ident, $name:literal, $type:ty, $($field:ident)*) => {
            $figures.push((format!("sizeof(struct {})", $name), size_of::<$type>()));
            $($figures.push((format!("offsetof(struct {}, {})", $name, stringify!($field)), offset_of!($type, $field)));)*
        };
    }

    #[test]
    fn the_c_header_says_the_same() {
        let mut figures = vec![
            ("MSG_RING_VERSION".to_owned(), VERSION as usize),
            ("MSG_RING_MAX_PER_KIND".to_owned(), MAX_PER_KIND),
            ("MSG_RING_PARTICIPANTS".to_owned(), PARTICIPANTS),
            ("MSG_RING_HOLDS".to_owned(), HOLDS),
            ("1 << MSG_RING_SLOT_BITS".to_owned(), crate::shm::word::MAX_SLOTS),
        ];
        same!(figures, "msg_ring_data_header", DataHeader, magic version checksum segment header_bytes file_bytes slots
            entries slot_bytes fingerprint created creator_pid topic_bytes type_bytes schema_bytes evict reserved);
        same!(figures, "msg_ring_slot_record", SlotRecord, offset len publisher sent header_byte origin);
        same!(figures, "msg_ring_publisher_record", PublisherRecord, id sent bytes full);
        same!(figures, "msg_ring_reader_record", ReaderRecord, cursor reading holds);
        same!(figures, "msg_ring_process_record", ProcessRecord, pid namespaces started);
        same!(figures, "msg_ring_readers", Readers, wake space states looked records processes);
        let inside = |outer: &str, field: &str| format!("offsetof(struct msg_ring_{outer}, {field})");
        let (flags, statistics) = (offset_of!(Readers, flags), offset_of!(ReaderRecord, statistics));
        figures.extend([
            (inside("readers", "version"), 8),
            (inside("readers", "segment"), 16),
            (inside("readers", "pinners"), flags + offset_of!(Flags, pinners)),
            (inside("readers", "named"), flags + offset_of!(Flags, named)),
            (inside("readers", "closed"), flags + offset_of!(Flags, closed)),
            (inside("reader_record", "received"), statistics + offset_of!(ReaderStatistics, received)),
            (inside("reader_record", "bytes"), statistics + offset_of!(ReaderStatistics, bytes)),
            (inside("reader_record", "lost"), statistics + offset_of!(ReaderStatistics, lost)),
        ]);
        let header = concat!(env!("CARGO_MANIFEST_DIR"), "/include/msg_ring.h");
        let mut source = format!("#include <stddef.h>\n#include \"{header}\"\n");
        for (expression, value) in figures {
            source += &format!("_Static_assert(({expression}) == {value}, \"{value} expected\");\n");
        }
        compile(&source);
    }

    /// Fails with the C compiler's words unless the source compiles.
    fn compile(source: &str) {
        use std::io::Write;
        use std::process::{Command, Stdio};
        let options = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c", "-"];
        let mut command = Command::new("cc");
        command.args(options).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut compiler = command.spawn().expect("a C compiler, which Rust links with");
        let mut stdin = compiler.stdin.take().expect("it is piped");
        stdin.write_all(source.as_bytes()).expect("the compiler reads to the end");
        drop(stdin);
        let output = compiler.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_header_survives_its_bytes() {
        let header = DataHeader { magic: MAGIC, slots: 3, schema_bytes: 9, ..Default::default() };
        assert_eq!(DataHeader::from_bytes(header.to_bytes()), header);
    }
}
