//! Messages larger than a transport's unit, in pieces: cut by the sender, put together again by the receiver.
//!
//! ```text
//!   message   |-------- chunk --------|-------- chunk --------|-- rest --|      total bytes, count = 3
//!   pieces            index 0                 index 1            index 2
//! ```
//!
//! All pieces of a message but the last have the same length, so a piece's place follows from its index, and no header can
//! name a place outside the message. Pieces come in any order, twice, or never. Memory is taken for what arrived and never
//! for what a header claims: at most four times the bytes of a message that are there. Nothing here does input or output; how
//! a [`Piece`] looks on the wire is the transport's matter.

use super::network::{Pool, Pooled, SharedBytes};
use crate::AlignedBuffer;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

/// Largest message, and most bytes of all unfinished messages of a sender: 64 MiB of payload and the header byte.
pub(crate) const MOST_BYTES: usize = (64 << 20) + 1;
/// Unfinished messages of a sender.
const MOST_OPEN: usize = 4;
/// Senders that are remembered.
const MOST_SENDERS: usize = 256;
/// A message of which no piece came for so long is given up.
const PATIENCE: Duration = Duration::from_millis(200);
/// Finished messages of a sender that are remembered, so that a piece that comes twice opens none anew.
const MOST_FINISHED: usize = 64;
/// Least bytes of a piece that is not the last. It bounds how many a message may have.
pub(crate) const LEAST_CHUNK: usize = 128;
/// Bytes before a message in its buffer, so that what follows its header byte is 64-byte aligned.
const HEADROOM: usize = 63;

/// What a piece says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// A number that no other sender has.
    pub(crate) sender: u64,
    /// Which message of the sender.
    pub(crate) sequence: u64,
    /// Which piece of the message, from 0.
    pub(crate) index: u32,
    /// Pieces of the message.
    pub(crate) count: u32,
    /// Bytes of the message.
    pub(crate) total: u32,
}

impl Piece {
    /// Bytes of each piece but the last, if a piece of `len` bytes can be what this says.
    fn chunk(&self, len: usize) -> Option<usize> {
        let (index, count, total) = (self.index as usize, self.count as usize, self.total as usize);
        if index >= count || total > MOST_BYTES {
            return None;
        }
        if count == 1 {
            return (len == total).then_some(len);
        }
        let is_last = index == count - 1;
        let chunk = if is_last { total.checked_sub(len)? / (count - 1) } else { len };
        let rest = total.checked_sub(chunk.checked_mul(count - 1)?)?;
        let fits = (1..=chunk).contains(&rest) && (!is_last || len == rest);
        (fits && chunk >= LEAST_CHUNK).then_some(chunk)
    }
}

/// The pieces of a message of `total` bytes where one has room for `room` of them.
pub(crate) fn split(total: usize, room: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let count = total.div_ceil(room).max(1);
    (0..count).map(move |index| index * room..total.min((index + 1) * room))
}

/// What became of a piece.
#[derive(Debug)]
pub(crate) enum Pushed {
    /// It was the last one that its message lacked.
    Whole(SharedBytes),
    /// Its message lacks others.
    Waiting,
    /// It was there before, or its message is finished or given up.
    Repeated,
    /// It contradicts itself, or the other pieces of its message.
    Malformed,
}

/// Messages that lack pieces.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    senders: HashMap<u64, Sender>,
    /// Of all senders.
    open: usize,
    buffers: Arc<Pool>,
    /// For messages in one piece: large buffers are not wasted on them.
    small_buffers: Arc<Pool>,
    given_up: u64,
}

impl Reassembly {
    /// Takes a message in one piece, whose number somebody else will look at.
    pub(crate) fn whole(&self, piece: Piece, bytes: &[u8]) -> Pushed {
        if piece.count != 1 || piece.chunk(bytes.len()).is_none() {
            return Pushed::Malformed;
        }
        let mut buffer = self.small_buffers.take();
        buffer.reserve(HEADROOM + bytes.len())[HEADROOM..][..bytes.len()].copy_from_slice(bytes);
        buffer.truncate(HEADROOM + bytes.len());
        Pushed::Whole(SharedBytes::new(buffer).skip(HEADROOM))
    }

    /// Takes a piece that arrived now.
    pub(crate) fn push(&mut self, piece: Piece, bytes: &[u8], now: Instant) -> Pushed {
        let Some(chunk) = piece.chunk(bytes.len()) else { return Pushed::Malformed };
        self.make_room_for_sender(piece.sender);
        let sender = self.senders.entry(piece.sender).or_insert_with(|| Sender::new(now));
        sender.heard = now;
        if sender.finished.contains(&piece.sequence) {
            return Pushed::Repeated;
        }
        let shape = Shape { chunk, count: piece.count, total: piece.total };
        let at = match sender.open.iter().position(|open| open.sequence == piece.sequence) {
            Some(at) if sender.open[at].shape != shape => return Pushed::Malformed,
            Some(at) => at,
            None => {
                self.open += 1;
                sender.open.push(Open::new(piece.sequence, shape, self.buffers.take(), now));
                sender.open.len() - 1
            }
        };
        if !sender.open[at].take(piece.index, bytes, now) {
            return Pushed::Repeated;
        }
        if sender.open[at].is_whole() {
            self.open -= 1;
            return Pushed::Whole(sender.finish(at));
        }
        let given_up = sender.keep_bounds();
        self.open -= given_up;
        self.given_up += given_up as u64;
        Pushed::Waiting
    }

    /// Gives up the messages of which nothing came for too long.
    pub(crate) fn expire(&mut self, now: Instant) {
        if self.open == 0 {
            return;
        }
        for sender in self.senders.values_mut() {
            while let Some(at) = sender.open.iter().position(|open| open.due() <= now) {
                sender.finish(at);
                self.open -= 1;
                self.given_up += 1;
            }
        }
    }

    /// When [`expire`](Self::expire) has something to do, unless more pieces come; `None` if no message lacks any.
    pub(crate) fn due(&self) -> Option<Instant> {
        if self.open == 0 {
            return None;
        }
        self.senders.values().flat_map(|sender| &sender.open).map(Open::due).min()
    }

    /// Messages that were given up since this was asked last.
    pub(crate) fn take_given_up(&mut self) -> u64 {
        std::mem::take(&mut self.given_up)
    }

    /// Forgets the sender that was not heard of for the longest time, if a new one needs its place.
    fn make_room_for_sender(&mut self, id: u64) {
        if self.senders.len() < MOST_SENDERS || self.senders.contains_key(&id) {
            return;
        }
        let oldest = self.senders.iter().min_by_key(|(_, sender)| sender.heard).map(|(&id, _)| id);
        if let Some(sender) = oldest.and_then(|oldest| self.senders.remove(&oldest)) {
            self.open -= sender.open.len();
            self.given_up += sender.open.len() as u64;
        }
    }

    /// Bytes of pieces that wait for others.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.senders.values().flat_map(|sender| &sender.open).map(|open| open.held).sum()
    }
}

#[derive(Debug)]
struct Sender {
    /// In the order in which they began.
    open: Vec<Open>,
    /// Numbers of messages that are whole or given up, the newest at the end.
    finished: VecDeque<u64>,
    heard: Instant,
}

impl Sender {
    fn new(now: Instant) -> Self {
        Self { open: Vec::new(), finished: VecDeque::new(), heard: now }
    }

    /// Ends a message, whole or not.
    fn finish(&mut self, at: usize) -> SharedBytes {
        let open = self.open.remove(at);
        if self.finished.len() == MOST_FINISHED {
            self.finished.pop_front();
        }
        self.finished.push_back(open.sequence);
        SharedBytes::new(open.buffer).skip(HEADROOM)
    }

    /// Gives up the messages that began first while there are too many, or too many bytes of them; gives how many.
    fn keep_bounds(&mut self) -> usize {
        let mut given_up = 0;
        let held = |open: &[Open]| open.iter().map(|open| open.held).sum::<usize>();
        while self.open.len() > MOST_OPEN || self.open.len() > 1 && held(&self.open) > MOST_BYTES {
            self.finish(0);
            given_up += 1;
        }
        given_up
    }
}

/// What all pieces of a message must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    chunk: usize,
    count: u32,
    total: u32,
}

/// A message that lacks pieces.
#[derive(Debug)]
struct Open {
    sequence: u64,
    shape: Shape,
    /// [`HEADROOM`], then the pieces from the first to the first one that lacks.
    buffer: Pooled,
    /// Pieces in the buffer.
    next: u32,
    /// Pieces behind one that lacks.
    ahead: BTreeMap<u32, Box<[u8]>>,
    /// Bytes of all pieces that are there.
    held: usize,
    /// When the last new piece came.
    fed: Instant,
}

impl Open {
    fn new(sequence: u64, shape: Shape, mut buffer: Pooled, now: Instant) -> Self {
        buffer.reserve(HEADROOM);
        buffer.truncate(HEADROOM);
        Self { sequence, shape, buffer, next: 0, ahead: BTreeMap::new(), held: 0, fed: now }
    }

    /// Takes a piece; false if it was there before.
    fn take(&mut self, index: u32, bytes: &[u8], now: Instant) -> bool {
        if index < self.next || self.ahead.contains_key(&index) {
            return false;
        }
        self.fed = now;
        self.held += bytes.len();
        if index > self.next {
            self.ahead.insert(index, bytes.into());
            return true;
        }
        self.append(bytes);
        while let Some(bytes) = self.ahead.remove(&self.next) {
            self.append(&bytes);
        }
        true
    }

    fn append(&mut self, bytes: &[u8]) {
        let (len, needed) = (self.buffer.len(), self.buffer.len() + bytes.len());
        if self.buffer.capacity() < needed {
            // The smaller one does not go back, so that those that are kept become large enough.
            let mut larger = AlignedBuffer::zeroed((4 * needed).min(HEADROOM + self.shape.total as usize));
            larger.as_mut_slice()[..len].copy_from_slice(&self.buffer);
            *self.buffer = larger;
        }
        self.buffer.reserve(needed)[len..needed].copy_from_slice(bytes);
        self.buffer.truncate(needed);
        self.next += 1;
    }

    fn is_whole(&self) -> bool {
        self.next == self.shape.count
    }

    fn due(&self) -> Instant {
        self.fed + PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: usize = 200;

    /// The pieces of a message of these bytes.
    fn pieces(sender: u64, sequence: u64, bytes: &[u8]) -> Vec<(Piece, Vec<u8>)> {
        let ranges = split(bytes.len(), CHUNK);
        let count = ranges.len() as u32;
        let piece = |index| Piece { sender, sequence, index, count, total: bytes.len() as u32 };
        (0..).zip(ranges).map(|(index, range)| (piece(index), bytes[range].to_vec())).collect()
    }

    fn message(seed: u8, len: usize) -> Vec<u8> {
        (0..len).map(|at| (at as u8).wrapping_mul(31).wrapping_add(seed)).collect()
    }

    fn whole(pushed: Pushed) -> Option<Vec<u8>> {
        match pushed {
            Pushed::Whole(bytes) => Some(bytes.to_vec()),
            _ => None,
        }
    }

    #[test]
    fn a_message_is_cut_into_equal_pieces_and_a_rest() {
        let check = |total: usize, expected: &[Range<usize>]| {
            assert_eq!(split(total, 100).collect::<Vec<_>>(), expected);
        };
        check(0, std::slice::from_ref(&(0..0)));
        check(100, std::slice::from_ref(&(0..100)));
        check(101, &[0..100, 100..101]);
        check(300, &[0..100, 100..200, 200..300]);
    }

    #[test]
    fn three_pieces_make_the_message_in_every_order() {
        let bytes = message(1, 2 * CHUNK + 7);
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut reassembly = Reassembly::default();
            let pieces = pieces(1, 0, &bytes);
            let now = Instant::now();
            let mut got = order.map(|at| whole(reassembly.push(pieces[at].0, &pieces[at].1, now)));
            assert_eq!(got[2].take(), Some(bytes.clone()), "{order:?}");
            assert_eq!(got, [None, None, None]);
            assert_eq!((reassembly.due(), reassembly.take_given_up()), (None, 0));
        }
    }

    #[test]
    fn what_follows_the_header_byte_is_aligned() {
        let mut reassembly = Reassembly::default();
        for len in [1, CHUNK, 5 * CHUNK + 1] {
            for (piece, bytes) in pieces(1, len as u64, &message(0, len)) {
                if let Pushed::Whole(bytes) = reassembly.push(piece, &bytes, Instant::now()) {
                    assert_eq!(bytes.len(), len);
                    assert!((bytes.as_ptr().addr() + 1).is_multiple_of(64));
                }
            }
        }
    }

    #[test]
    fn every_piece_twice_is_the_message_once() {
        let mut reassembly = Reassembly::default();
        let bytes = message(2, 3 * CHUNK);
        let now = Instant::now();
        let mut got = Vec::new();
        let mut repeated = 0;
        for _ in 0..2 {
            for (piece, bytes) in pieces(1, 0, &bytes) {
                for _ in 0..2 {
                    match reassembly.push(piece, &bytes, now) {
                        Pushed::Whole(bytes) => got.push(bytes.to_vec()),
                        Pushed::Repeated => repeated += 1,
                        Pushed::Waiting => {}
                        Pushed::Malformed => panic!("{piece:?}"),
                    }
                }
            }
        }
        assert_eq!((got, repeated), (vec![bytes], 9));
        assert_eq!((reassembly.due(), reassembly.take_given_up()), (None, 0));
    }

    #[test]
    fn senders_and_messages_do_not_mix() {
        let mut reassembly = Reassembly::default();
        let sent: Vec<(u64, u64, Vec<u8>)> = [(7, 0), (8, 0), (7, 1), (8, 1)]
            .map(|(sender, sequence)| {
                (sender, sequence, message((sender * 2 + sequence) as u8, 3 * CHUNK - 1))
            })
            .into();
        let all: Vec<_> =
            sent.iter().map(|(sender, sequence, bytes)| pieces(*sender, *sequence, bytes)).collect();
        let mut got = Vec::new();
        for index in [2, 0, 1] {
            for pieces in &all {
                let (piece, bytes) = &pieces[index];
                if let Pushed::Whole(bytes) = reassembly.push(*piece, bytes, Instant::now()) {
                    got.push((piece.sender, piece.sequence, bytes.to_vec()));
                }
            }
        }
        assert_eq!(got, sent);
    }

    #[test]
    fn a_message_that_lacks_a_piece_is_given_up_after_its_time_and_counted() {
        let mut reassembly = Reassembly::default();
        let start = Instant::now();
        let all = pieces(1, 0, &message(3, 3 * CHUNK));
        reassembly.push(all[0].0, &all[0].1, start);
        let later = start + PATIENCE / 2;
        reassembly.push(all[2].0, &all[2].1, later);
        assert_eq!(reassembly.due(), Some(later + PATIENCE));
        reassembly.expire(start + PATIENCE);
        assert_eq!(reassembly.take_given_up(), 0, "a piece came meanwhile");
        reassembly.expire(later + PATIENCE);
        assert_eq!((reassembly.take_given_up(), reassembly.held(), reassembly.due()), (1, 0, None));
        let late = reassembly.push(all[1].0, &all[1].1, later + PATIENCE);
        assert!(matches!(late, Pushed::Repeated), "it is not begun again");
        assert_eq!(reassembly.take_given_up(), 0);
    }

    #[test]
    fn a_sender_has_four_unfinished_messages() {
        let mut reassembly = Reassembly::default();
        let now = Instant::now();
        let all: Vec<_> = (0..6).map(|sequence| pieces(1, sequence, &message(4, 2 * CHUNK))).collect();
        for pieces in &all {
            reassembly.push(pieces[0].0, &pieces[0].1, now);
        }
        assert_eq!((reassembly.take_given_up(), reassembly.held()), (2, 4 * CHUNK));
        let finished =
            all.iter().map(|pieces| whole(reassembly.push(pieces[1].0, &pieces[1].1, now)).is_some());
        assert_eq!(finished.collect::<Vec<_>>(), [false, false, true, true, true, true]);
    }

    #[test]
    fn there_are_256_senders_and_the_most_silent_one_goes() {
        let mut reassembly = Reassembly::default();
        let start = Instant::now();
        for sender in 0..300 {
            let (piece, bytes) = pieces(sender, 0, &message(5, 2 * CHUNK)).remove(0);
            reassembly.push(piece, &bytes, start + Duration::from_nanos(sender));
        }
        assert_eq!((reassembly.senders.len(), reassembly.take_given_up()), (MOST_SENDERS, 44));
        assert_eq!(reassembly.held(), MOST_SENDERS * CHUNK);
        assert!(!reassembly.senders.contains_key(&43) && reassembly.senders.contains_key(&44));
    }

    #[test]
    fn a_sender_holds_64_mib_at_most() {
        let mut reassembly = Reassembly::default();
        let piece = vec![0; 60_000];
        let count = MOST_BYTES.div_ceil(piece.len()) as u32;
        for sequence in 0..2 {
            for index in 1..count - 1 {
                let piece_at = Piece { sender: 1, sequence, index, count, total: MOST_BYTES as u32 };
                let pushed = reassembly.push(piece_at, &piece, Instant::now());
                assert!(matches!(pushed, Pushed::Waiting));
                assert!(reassembly.held() <= MOST_BYTES);
            }
        }
        assert_eq!(reassembly.take_given_up(), 1);
    }

    #[test]
    fn hostile_headers_are_refused_and_take_no_memory() {
        let good = Piece { sender: 1, sequence: 1, index: 0, count: 3, total: 2 * CHUNK as u32 + 1 };
        let refused = |piece: Piece, len: usize| {
            let mut reassembly = Reassembly::default();
            let pushed = reassembly.push(piece, &vec![0; len], Instant::now());
            assert!(matches!(pushed, Pushed::Malformed), "{piece:?} with {len} bytes: {pushed:?}");
            assert_eq!((reassembly.senders.len(), reassembly.held()), (0, 0));
        };
        assert!(matches!(Reassembly::default().push(good, &[0; CHUNK], Instant::now()), Pushed::Waiting));
        // 4 GiB, no pieces, past the end, nothing in it, more or less than its place has.
        refused(Piece { total: u32::MAX, ..good }, CHUNK);
        refused(Piece { total: u32::MAX, count: u32::MAX, ..good }, CHUNK);
        refused(Piece { total: MOST_BYTES as u32 + 1, count: 1, ..good }, CHUNK);
        refused(Piece { count: 0, ..good }, CHUNK);
        refused(Piece { index: 3, ..good }, CHUNK);
        refused(Piece { index: u32::MAX, count: u32::MAX, ..good }, CHUNK);
        refused(good, 0);
        refused(good, CHUNK / 2);
        refused(good, 2 * CHUNK + 2);
        refused(Piece { index: 2, ..good }, 0);
        refused(Piece { index: 2, ..good }, 2);
        refused(Piece { index: 2, ..good }, 2 * CHUNK + 2);
        refused(Piece { count: 1, ..good }, CHUNK);
        // So many pieces that remembering them would be the attack.
        refused(Piece { count: 2000, total: 2000, ..good }, 1);
    }

    #[test]
    fn a_claim_takes_no_memory() {
        let mut reassembly = Reassembly::default();
        let count = MOST_BYTES.div_ceil(CHUNK) as u32;
        for index in [0, count - 2] {
            let piece = Piece { sender: 1, sequence: 1, index, count, total: MOST_BYTES as u32 };
            assert!(matches!(reassembly.push(piece, &[0; CHUNK], Instant::now()), Pushed::Waiting));
        }
        let open = &reassembly.senders[&1].open[0];
        assert!(open.buffer.capacity() <= 4 * (HEADROOM + 2 * CHUNK), "{}", open.buffer.capacity());
        assert_eq!(open.held, 2 * CHUNK);
    }

    #[test]
    fn pieces_that_contradict_each_other_are_refused() {
        let mut reassembly = Reassembly::default();
        let (piece, bytes) = pieces(1, 1, &message(6, 3 * CHUNK)).remove(0);
        reassembly.push(piece, &bytes, Instant::now());
        for other in [Piece { total: piece.total - 1, ..piece }, Piece { count: 4, total: 700, ..piece }] {
            let pushed = reassembly.push(Piece { index: 1, ..other }, &bytes, Instant::now());
            assert!(matches!(pushed, Pushed::Malformed), "{other:?}");
        }
        assert_eq!(reassembly.held(), CHUNK);
    }

    /// Random messages of random senders, shuffled, repeated and lost, in between with random headers: what comes out is
    /// what went in, each once at most, and every message is accounted for.
    #[test]
    fn whatever_comes_what_goes_out_was_sent() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % end
        };
        let mut reassembly = Reassembly::default();
        let mut now = Instant::now();
        let (mut whole, mut begun, mut given_up) = (HashMap::new(), HashMap::new(), 0);
        for round in 0..500 {
            let mut all: Vec<(Piece, Vec<u8>)> = Vec::new();
            for sender in 0..1 + random(3) as u64 {
                all.extend(pieces(sender, round, &message(round as u8, 1 + random(9 * CHUNK))));
            }
            for _ in 0..random(2 * all.len()) {
                let (from, to) = (random(all.len()), random(all.len()));
                all.swap(from, to);
            }
            for (piece, bytes) in &all {
                for _ in 0..random(10).min(2) {
                    begun.insert((piece.sender, round), ());
                    if let Pushed::Whole(got) = reassembly.push(*piece, bytes, now) {
                        assert_eq!(got.len(), piece.total as usize);
                        assert_eq!(&got[..], message(round as u8, got.len()));
                        assert_eq!(whole.insert((piece.sender, round), ()), None, "{piece:?} twice");
                    }
                }
                let mut wild = || [0, 1, 2, 200, 1 << 16, u32::MAX][random(6)];
                let piece = Piece { sender: 9, sequence: 0, index: wild(), count: wild(), total: wild() };
                reassembly.push(piece, &bytes[..random(bytes.len() + 1)], now);
            }
            now += PATIENCE / 4;
            reassembly.expire(now);
            given_up += reassembly.take_given_up();
            assert!(reassembly.held() <= 4 * MOST_BYTES);
        }
        reassembly.expire(now + PATIENCE);
        given_up += reassembly.take_given_up();
        let hostile = given_up as usize - (begun.len() - whole.len());
        assert!(hostile <= 1 && whole.len() > 100 && begun.len() - whole.len() > 100, "{hostile}");
        assert_eq!((reassembly.open, reassembly.held()), (0, 0));
    }
}
