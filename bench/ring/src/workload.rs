//! What is measured: two processes, each on a processor of its own, and one message after the other.
//!
//! A workload has two halves. The sending half runs in a process of its own too, so that each run starts afresh; it
//! prints its figures on one line.

use std::hint::black_box;
use std::process::{Child, Command};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU64, fence};

use crate::calls;
use crate::link::{self, Peer, Receiver, Sender, Setting, Waits};
use crate::machine::{self, RECEIVER, SENDER, now, percentile, wait_until};

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    pub kind: Kind,
    pub bytes: usize,
    pub depth: usize,
    pub waits: Waits,
    pub messages: u64,
    pub receivers: usize,
    /// Nanoseconds between two messages, if they do not come flat out.
    pub pause: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Now and then a message: how long it takes, and how long the sender is busy.
    Paced,
    /// One right after the other, written and read in full: messages per second.
    FlatOut,
    /// As `Paced`, in bursts of eight.
    Bursts,
    /// As `Paced`, where the message is written in full before the clock starts: what sending alone takes.
    Loaned,
    /// To many receivers that keep up: how long the sender is busy.
    Fan,
    /// To many receivers that sleep: the sender's system calls for a message.
    Calls,
}

impl Run {
    pub fn to_arguments(&self) -> Vec<String> {
        let Self { kind, bytes, depth, waits, messages, receivers, pause } = self;
        vec![
            format!("{kind:?}"),
            bytes.to_string(),
            depth.to_string(),
            format!("{waits:?}"),
            messages.to_string(),
            receivers.to_string(),
            pause.to_string(),
        ]
    }

    pub fn from_arguments(arguments: &[String]) -> Self {
        let kinds = [Kind::Paced, Kind::FlatOut, Kind::Bursts, Kind::Loaned, Kind::Fan, Kind::Calls];
        let number = |at: usize| arguments[at].parse::<u64>().unwrap();
        Self {
            kind: kinds.into_iter().find(|kind| format!("{kind:?}") == arguments[0]).unwrap(),
            bytes: number(1) as usize,
            depth: number(2) as usize,
            waits: if arguments[3] == "Spins" { Waits::Spins } else { Waits::Sleeps },
            messages: number(4),
            receivers: number(5) as usize,
            pause: number(6),
        }
    }

    fn setting(&self, name: &str) -> Setting {
        Setting { name: name.to_owned(), bytes: self.bytes, depth: self.depth, waits: self.waits }
    }
}

/// Words that both halves look at: how many receivers are there, whether all has arrived, then when each message did.
struct Board(&'static [AtomicU64]);

impl Board {
    fn open(name: &str, run: &Run) -> Self {
        Self(machine::shared(&format!("{name}-board"), 64 + run.messages as usize))
    }

    fn ready(&self) -> &AtomicU64 {
        &self.0[0]
    }

    fn arrived(&self) -> &AtomicU64 {
        &self.0[16]
    }

    fn times(&self) -> &[AtomicU64] {
        &self.0[64..]
    }
}

/// The sending half.
pub fn send<P: Peer>(run: &Run, name: &str) {
    machine::pin(SENDER);
    let board = Board::open(name, run);
    let mut sender = P::Sender::open(&run.setting(name));
    let mut receivers = start_receivers(P::NAME, run, name);
    while board.ready().load(Acquire) != run.receivers as u64 {
        std::thread::yield_now();
    }
    // Receivers that sleep shall have gone to sleep.
    wait_until(now() + 20_000_000);
    let mut figures = Vec::new();
    if run.kind == Kind::FlatOut {
        figures.push(flat_out(&mut sender, run, &board));
        assert!(receivers.wait().unwrap().success());
    } else {
        let mut send_all = || paced(&mut sender, run);
        let (sent, mut busy) = if run.kind == Kind::Calls { calls::marked(send_all) } else { send_all() };
        assert!(receivers.wait().unwrap().success());
        let arrived = board.times().iter().map(|time| time.load(Relaxed));
        let mut ways: Vec<f64> =
            arrived.zip(sent).map(|(arrived, sent)| arrived as f64 - sent as f64).collect();
        for figures_of in [&mut ways, &mut busy] {
            figures.extend([percentile(figures_of, 50), percentile(figures_of, 99)]);
        }
    }
    println!("{}", figures.iter().map(f64::to_string).collect::<Vec<_>>().join(" "));
    machine::remove(&format!("{name}-board"));
    machine::remove(name);
}

fn start_receivers(peer: &str, run: &Run, name: &str) -> Child {
    let arguments = ["--receive".to_owned(), peer.to_owned(), name.to_owned()];
    let own = std::env::current_exe().unwrap();
    Command::new(own).args(arguments).args(run.to_arguments()).spawn().unwrap()
}

/// When each message was sent, and how long the sender was busy with it.
fn paced<S: Sender>(sender: &mut S, run: &Run) -> (Vec<u64>, Vec<f64>) {
    let messages = run.messages as usize;
    let (mut sent, mut busy) = (Vec::with_capacity(messages), Vec::with_capacity(messages));
    let mut next = now();
    for sequence in 0..run.messages {
        if run.kind != Kind::Bursts || sequence % 8 == 0 {
            // A message that took longer than the pause does not make the next ones come at once.
            next = now().max(next + run.pause);
            wait_until(next);
        }
        let mut started = now();
        sender.send(run.bytes, |message| {
            link::write(black_box(message), sequence);
            if run.kind == Kind::Loaned {
                // What is still on its way to memory belongs to the writing.
                fence(SeqCst);
                started = now();
            }
        });
        busy.push((now() - started) as f64);
        sent.push(started);
    }
    (sent, busy)
}

/// Messages per second.
fn flat_out<S: Sender>(sender: &mut S, run: &Run, board: &Board) -> f64 {
    let started = now();
    for sequence in 0..run.messages {
        sender.send(run.bytes, |message| link::write(black_box(message), sequence));
    }
    while board.arrived().load(Acquire) != 1 {
        std::hint::spin_loop();
    }
    run.messages as f64 * 1e9 / (now() - started) as f64
}

/// The receiving half.
pub fn receive<P: Peer>(run: &Run, name: &str) {
    machine::pin(RECEIVER);
    let board = &Board::open(name, run);
    match run.kind {
        Kind::FlatOut => receive_all::<P>(run, name, board),
        Kind::Paced | Kind::Bursts | Kind::Loaned => receive_paced::<P>(run, name, board),
        Kind::Fan => receive_in_turn::<P>(run, name, board),
        Kind::Calls => receive_asleep::<P>(run, name, board),
    }
}

fn receive_all<P: Peer>(run: &Run, name: &str, board: &Board) {
    let mut receiver = P::Receiver::open(&run.setting(name));
    board.ready().fetch_add(1, AcqRel);
    for sequence in 0..run.messages {
        let (head, sum) = receiver.receive(|message| (link::head(message), link::read(black_box(message))));
        assert_eq!(head, sequence, "a message was lost");
        black_box(sum);
    }
    board.arrived().store(1, Release);
}

fn receive_paced<P: Peer>(run: &Run, name: &str, board: &Board) {
    let mut receiver = P::Receiver::open(&run.setting(name));
    board.ready().fetch_add(1, AcqRel);
    for time in board.times() {
        receiver.receive(|message| {
            time.store(now(), Relaxed);
            black_box(link::read_pages(black_box(message)));
        });
    }
}

fn receive_in_turn<P: Peer>(run: &Run, name: &str, board: &Board) {
    let open = |_| P::Receiver::open(&run.setting(name));
    let mut receivers: Vec<P::Receiver> = (0..run.receivers).map(open).collect();
    board.ready().fetch_add(run.receivers as u64, AcqRel);
    let mut left = run.messages * run.receivers as u64;
    while left != 0 {
        for receiver in &mut receivers {
            left -= u64::from(receiver.try_receive(|message| black_box(link::head(message))).is_some());
        }
    }
}

fn receive_asleep<P: Peer>(run: &Run, name: &str, board: &Board) {
    std::thread::scope(|scope| {
        for _ in 0..run.receivers {
            scope.spawn(|| {
                let mut receiver = P::Receiver::open(&run.setting(name));
                board.ready().fetch_add(1, AcqRel);
                for _ in 0..run.messages {
                    receiver.receive(|message| black_box(link::head(message)));
                }
            });
        }
    });
}
