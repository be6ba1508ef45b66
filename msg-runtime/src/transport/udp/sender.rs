//! The sending side: numbers pieces, writes their headers, and gives them to the kernel at a pace that receivers keep.

use super::{
    frame::{Header, MOST_HEADER_LEN, header_len},
    socket::{BATCH, SendSocket},
};
use crate::{
    endpoint::UdpAddress,
    error::{Error, FlushError, TrySendError},
    topic::Topic,
    transport::{
        fragment::{self, Piece},
        network::{self, Monitor, Outlet, SharedBytes, Stamp},
    },
};
use std::{
    fmt, io,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// A long message goes in bursts of so many bytes, two of the largest datagrams.
const BURST_BYTES: usize = 128 << 10;
/// Between two bursts, once the receivers' buffers may be filling.
const PAUSE: Duration = Duration::from_micros(100);
/// Between two bursts, once the message is longer than their buffers, and they have to keep up.
const LONG_PAUSE: Duration = Duration::from_micros(400);
/// What a full link is given before the next try.
const FULL_LINK: Duration = Duration::from_millis(1);

pub(super) struct Sender {
    socket: SendSocket,
    topic: Topic,
    /// Bytes of a frame that fit in a datagram.
    room: usize,
    /// Whether longer ones go in pieces.
    fragment: bool,
    /// Who sends messages without stamps, and the number of the next of them.
    id: u64,
    next: AtomicU64,
    monitor: Arc<Monitor>,
    /// The last datagram was refused.
    down: AtomicBool,
}

impl Sender {
    pub(super) fn open(address: &UdpAddress, topic: &Topic, monitor: Arc<Monitor>) -> Result<Self, Error> {
        let socket = SendSocket::open(address)?;
        let room = socket.datagram_len.saturating_sub(header_len(topic.as_str().len()));
        monitor.connected();
        Ok(Self {
            socket,
            topic: topic.clone(),
            // What `mtu=` may be leaves so much; a network of less fragments by itself.
            room: room.max(fragment::LEAST_CHUNK),
            fragment: address.options.fragment,
            id: network::random(),
            next: AtomicU64::new(0),
            monitor,
            down: AtomicBool::new(false),
        })
    }

    fn header(&self, piece: Piece, stamp: Option<Stamp>) -> ([u8; MOST_HEADER_LEN], usize) {
        let mut header = [0; MOST_HEADER_LEN];
        let len = Header { piece, stamp, topic: self.topic.as_str().as_bytes() }.write(&mut header);
        (header, len)
    }

    /// Sends a frame that does not fit in a datagram.
    fn send_pieces(&self, frame: &[u8], first: Piece, stamp: Option<Stamp>) -> io::Result<()> {
        let ranges: Vec<Range<usize>> = fragment::split(frame.len(), self.room).collect();
        let burst = (BURST_BYTES / self.socket.datagram_len).max(1);
        for (at, ranges) in (0..).step_by(burst).zip(ranges.chunks(burst)) {
            let pause = self.pause(ranges[0].start);
            if !pause.is_zero() {
                thread::sleep(pause);
            }
            for (at, ranges) in (at..).step_by(BATCH).zip(ranges.chunks(BATCH)) {
                self.send_batch(frame, ranges, Piece { index: at, ..first }, stamp)?;
            }
        }
        Ok(())
    }

    /// What receivers are given before they get more than so many bytes of a message. A quarter of their buffer takes
    /// a burst of any speed, and leaves room for other messages.
    fn pause(&self, sent: usize) -> Duration {
        match self.socket.receive_bytes {
            receive_bytes if sent < receive_bytes / 4 => Duration::ZERO,
            receive_bytes if sent < receive_bytes => PAUSE,
            _ => LONG_PAUSE,
        }
    }

    fn send_batch(
        &self,
        frame: &[u8],
        ranges: &[Range<usize>],
        first: Piece,
        stamp: Option<Stamp>,
    ) -> io::Result<()> {
        let headers = (first.index..).take(ranges.len());
        let headers: Vec<_> = headers.map(|index| self.header(Piece { index, ..first }, stamp)).collect();
        let datagrams = headers.iter().zip(ranges);
        let datagrams: Vec<[&[u8]; 2]> =
            datagrams.map(|((header, len), range)| [&header[..*len], &frame[range.clone()]]).collect();
        let mut left = datagrams.as_slice();
        while !left.is_empty() {
            let sent = uninterrupted(|| self.socket.send_batch(left))?;
            left = &left[sent.clamp(1, left.len())..];
        }
        Ok(())
    }

    /// What an error of the kernel means; told once, until a datagram is taken again.
    fn refused(&self, error: &io::Error) -> TrySendError {
        // No buffer, or none in time.
        const ENOBUFS: i32 = 105;
        if error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(ENOBUFS) {
            return TrySendError::Full;
        }
        // Nobody but this thread's caller sends, so nothing else is ordered by this.
        if !self.down.swap(true, Ordering::Relaxed) {
            self.monitor.disconnected(format!("the kernel takes no datagrams: {error}"));
        }
        TrySendError::Disconnected
    }
}

impl Outlet for Sender {
    fn max_len(&self) -> usize {
        if self.fragment { fragment::MOST_BYTES } else { self.room }
    }

    fn try_send(&self, frame: &SharedBytes, stamp: Option<Stamp>) -> Result<(), TrySendError> {
        let (sender, sequence) = match stamp {
            Some(stamp) => (stamp.publisher, stamp.sequence),
            // Calls come one after the other.
            None => (self.id, self.next.load(Ordering::Relaxed)),
        };
        let pieces = fragment::split(frame.len(), self.room).len();
        let short = |number| u32::try_from(number).expect("no frame is longer than `max_len`");
        let first = Piece { sender, sequence, index: 0, count: short(pieces), total: short(frame.len()) };
        let sent = if pieces == 1 {
            let (header, len) = self.header(first, stamp);
            uninterrupted(|| self.socket.send([&header[..len], frame]))
        } else {
            self.send_pieces(frame, first, stamp)
        };
        sent.map_err(|error| self.refused(&error))?;
        self.next.store(sequence.wrapping_add(1), Ordering::Relaxed);
        if self.down.load(Ordering::Relaxed) {
            self.down.store(false, Ordering::Relaxed);
            self.monitor.connected();
        }
        Ok(())
    }

    fn wait_for_room(&self, _: usize, deadline: Instant) {
        thread::sleep(FULL_LINK.min(deadline.saturating_duration_since(Instant::now())));
    }

    /// The kernel has a frame when it was taken.
    fn flush(&self, _: Instant) -> Result<(), FlushError> {
        Ok(())
    }

    fn queued(&self) -> u64 {
        0
    }
}

/// The call's result, once no signal interrupts it.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("socket", &self.socket)
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}
