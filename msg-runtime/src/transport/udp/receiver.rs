//! The receiving side: a thread that takes datagrams out of the kernel and puts messages of its topic into the queue.

use super::{
    frame::{self, Header},
    socket::{Datagrams, ReceiveSocket},
};
use crate::{
    endpoint::UdpAddress,
    error::Error,
    event::DropCause,
    topic::Topic,
    transport::{
        fragment::{Pushed, Reassembly},
        network::{self, Inbox, Inlet, Monitor},
    },
};
use std::{
    io, process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// What a socket that fails for no known reason is given before the next try.
const AFTER_FAILURE: Duration = Duration::from_millis(10);

/// Keeps the thread going.
#[derive(Debug)]
pub(super) struct Receiver {
    shared: Arc<Shared>,
    /// The process whose thread it is.
    process: u32,
}

#[derive(Debug)]
struct Shared {
    socket: ReceiveSocket,
    stop: AtomicBool,
}

impl Receiver {
    pub(super) fn start(
        address: &UdpAddress,
        topic: &Topic,
        inbox: &Arc<Inbox>,
        monitor: Arc<Monitor>,
    ) -> Result<Self, Error> {
        let socket = ReceiveSocket::open(address, &frame::filter(topic.as_str().as_bytes()))?;
        let (granted, asked) = (socket.granted, address.receive_bytes);
        if granted < asked {
            warn(&monitor, topic, granted, asked);
        }
        monitor.connected();
        let shared = Arc::new(Shared { socket, stop: AtomicBool::new(false) });
        let reader = Reader {
            shared: Arc::clone(&shared),
            topic: topic.clone(),
            inbox: Arc::clone(inbox),
            monitor,
            reassembly: Reassembly::default(),
        };
        thread::Builder::new()
            .name("msg udp".to_owned())
            .spawn(|| reader.run())
            .map_err(network::no_thread)?;
        Ok(Self { shared, process: process::id() })
    }
}

impl Inlet for Receiver {}

impl Drop for Receiver {
    /// The thread ends by itself, and is not waited for: it may be in the user's closure, which may wait for us.
    fn drop(&mut self) {
        // A forked child shares the socket, and has no thread that waits for it.
        if self.process == process::id() {
            // Pairs with the load in `run`, which comes after what `shutdown` ends.
            self.shared.stop.store(true, Ordering::Release);
            self.shared.socket.shutdown();
        }
    }
}

struct Reader {
    shared: Arc<Shared>,
    topic: Topic,
    inbox: Arc<Inbox>,
    monitor: Arc<Monitor>,
    reassembly: Reassembly,
}

impl Reader {
    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut datagrams = Datagrams::new();
        loop {
            let received = self.receive(&mut datagrams);
            // Pairs with the store of `Receiver::drop`.
            if shared.stop.load(Ordering::Acquire) {
                return;
            }
            match received {
                Ok(()) => self.take_all(&mut datagrams),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.monitor.failed(format!("cannot receive: {error}"));
                    thread::sleep(AFTER_FAILURE);
                }
            }
        }
    }

    /// Waits for datagrams, or until a message has to be given up.
    fn receive(&mut self, datagrams: &mut Datagrams) -> io::Result<()> {
        while let Some(due) = self.reassembly.due() {
            let left = due.saturating_duration_since(Instant::now());
            if self.shared.socket.wait(left)? {
                break;
            }
            self.reassembly.expire(Instant::now());
            self.tell();
        }
        self.shared.socket.receive(datagrams)
    }

    fn take_all(&mut self, datagrams: &mut Datagrams) {
        let now = Instant::now();
        for datagram in datagrams.iter() {
            self.take(datagram, now);
        }
        self.reassembly.expire(now);
        self.tell();
        self.monitor.dropped(DropCause::ReceiveBufferFull, datagrams.take_overflowed());
    }

    fn take(&mut self, datagram: &[u8], now: Instant) {
        if frame::was_cut(datagram) {
            return;
        }
        let Some((header, bytes)) = Header::read(datagram) else {
            return self.monitor.dropped(DropCause::Malformed, 1);
        };
        if header.topic != self.topic.as_str().as_bytes() {
            return;
        }
        // The queue knows the numbers of stamped messages, and counts those that come twice.
        let pushed = match header.stamp {
            Some(_) if header.piece.count == 1 => self.reassembly.whole(header.piece, bytes),
            _ => self.reassembly.push(header.piece, bytes, now),
        };
        match pushed {
            Pushed::Whole(frame) => self.inbox.push(frame, header.stamp, &self.monitor),
            Pushed::Malformed => self.monitor.dropped(DropCause::Malformed, 1),
            Pushed::Waiting | Pushed::Repeated => {}
        }
    }

    fn tell(&mut self) {
        self.monitor.dropped(DropCause::Incomplete, self.reassembly.take_given_up());
    }
}

/// The system grants a smaller buffer than was asked for.
fn warn(monitor: &Monitor, topic: &Topic, granted: usize, asked: usize) {
    let text = format!(
        "the receive buffer has {} KiB and not the {} KiB asked for (`rcvbuf=`), so long messages may be lost; \
         `sysctl -w net.core.rmem_max={asked}` allows it",
        granted >> 10,
        asked >> 10
    );
    tracing::warn!(topic = %topic, "{text}");
    monitor.failed(text);
}
