//! Every network transport beside its raw client, in the same run.
//!
//! `cargo bench -p msg-runtime --bench network`. For messages of four sizes: how many a second, processor seconds for each
//! (sender and receiver together), and the time from before sending to after receiving at 1 kHz. The two sides take
//! turns, so that what else the machine does hits both; figures are medians of the rounds. Both copy the message once
//! from where it was made. What is in flight is bounded, so that nothing is lost. Without `--bench` it runs briefly.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "a benchmark reports on its output")]
#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

#[cfg(feature = "udp")]
mod udp;

use msg_runtime::{Message, Publisher, Subscriber};
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

const SIZES: [usize; 4] = [64, 1 << 10, 64 << 10, 1 << 20];
/// Bytes in flight.
const WINDOW: usize = 1 << 20;
/// Messages in flight.
const MOST_IN_FLIGHT: usize = 256;
/// How long a receiver waits for a message before it looks whether it is over.
const MOMENT: Duration = Duration::from_millis(100);

/// What is done with a message.
type Each<'a> = &'a mut dyn FnMut(&[u8]);
/// Receives, at least one message unless there is none for a [`MOMENT`], and hands them out.
type Receive<'a> = Box<dyn FnMut(Each<'_>) + 'a>;

/// A way to send and receive.
trait Wire: Sync {
    /// Sends a message so many times, as one does who has them all at once.
    fn send(&self, message: &[u8], count: usize);
    /// Makes what receives.
    fn receiver(&self) -> Receive<'_>;
}

#[derive(Message)]
#[message(namespace = "bench")]
struct Block<'a> {
    bytes: &'a [u8],
}

/// A publisher and a subscriber of ours.
struct Ours {
    publisher: Publisher<Block<'static>>,
    subscriber: Subscriber<Block<'static>>,
}

impl Ours {
    fn new(endpoint: &str) -> Self {
        let subscriber = Subscriber::open(endpoint).unwrap();
        let publisher = Publisher::open(endpoint).unwrap();
        assert!(publisher.wait_for_subscribers(1, Duration::from_secs(10)));
        Self { publisher, subscriber }
    }
}

impl Wire for Ours {
    fn send(&self, message: &[u8], count: usize) {
        (0..count).for_each(|_| self.publisher.send(&Block { bytes: message }).unwrap());
    }

    fn receiver(&self) -> Receive<'_> {
        Box::new(|each| {
            if let Ok(sample) = self.subscriber.recv_timeout(MOMENT) {
                each(sample.view().bytes());
            }
        })
    }
}

/// What one side takes for a message.
#[derive(Clone, Copy)]
struct Figures {
    seconds: f64,
    processor_seconds: f64,
}

/// Processor time of the process.
fn processor_time() -> Duration {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).unwrap();
    let micros = |time: nix::sys::time::TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()) as u64;
    Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
}

/// Sends bursts, each after the one before has arrived.
fn bursts(wire: &dyn Wire, len: usize, total: Duration) -> Figures {
    let message = vec![7; len];
    let burst = (WINDOW / len).clamp(1, MOST_IN_FLIGHT);
    let (got, goal, over) = (AtomicU64::new(0), AtomicU64::new(burst as u64), AtomicBool::new(false));
    let sender = thread::current();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut receive = wire.receiver();
            while !over.load(SeqCst) {
                receive(&mut |bytes| {
                    assert!(bytes.first() == Some(&7) && bytes.len() <= len);
                    if got.fetch_add(1, SeqCst) + 1 == goal.load(SeqCst) {
                        sender.unpark();
                    }
                });
            }
        });
        let (start, before) = (Instant::now(), processor_time());
        let (mut sent, mut lost) = (0, 0);
        while start.elapsed() < total {
            wire.send(&message, burst);
            sent += burst as u64;
            while got.load(SeqCst) + lost < sent {
                thread::park_timeout(MOMENT);
                if got.load(SeqCst) + lost < sent && start.elapsed() > total {
                    break;
                }
            }
            lost = sent - got.load(SeqCst);
            goal.store(got.load(SeqCst) + burst as u64, SeqCst);
        }
        let (seconds, used) = (start.elapsed().as_secs_f64(), processor_time() - before);
        over.store(true, SeqCst);
        let got = got.load(SeqCst) as f64;
        Figures { seconds: seconds / got, processor_seconds: used.as_secs_f64() / got }
    })
}

/// The median time on the way of messages that are sent at a rate.
fn one_way(wire: &dyn Wire, len: usize, count: u32, period: Duration) -> f64 {
    let begin = Instant::now();
    let over = AtomicBool::new(false);
    let mut times = thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let (mut times, mut receive) = (Vec::new(), wire.receiver());
            while !over.load(SeqCst) {
                receive(&mut |bytes| {
                    let now = begin.elapsed().as_nanos() as u64;
                    let sent = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                    times.push(now - sent);
                });
            }
            times
        });
        let mut message = vec![0; len];
        for number in 0..count {
            thread::sleep((period * number).saturating_sub(begin.elapsed()));
            message[..8].copy_from_slice(&(begin.elapsed().as_nanos() as u64).to_le_bytes());
            wire.send(&message, 1);
        }
        thread::sleep(MOMENT);
        over.store(true, SeqCst);
        receiver.join().unwrap()
    });
    times.sort_unstable();
    times[times.len() / 2] as f64 / 1e9
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Measures both, in turns. `raw` is a list of ways to use the raw client, with their names.
fn compare(transport: &str, len: usize, ours: &dyn Wire, raw: &[(&str, &dyn Wire)], full: bool) {
    let (rounds, time) = if full { (7, Duration::from_millis(500)) } else { (1, Duration::from_millis(5)) };
    let period = if len < WINDOW { Duration::from_millis(1) } else { Duration::from_millis(10) };
    let all: Vec<&dyn Wire> = [ours].into_iter().chain(raw.iter().map(|(_, wire)| *wire)).collect();
    let (mut figures, mut ways) = (vec![Vec::new(); all.len()], vec![Vec::new(); all.len()]);
    for _ in 0..rounds {
        for (at, wire) in all.iter().enumerate() {
            figures[at].push(bursts(*wire, len, time));
            ways[at].push(one_way(*wire, len, if full { 200 } else { 3 }, period));
        }
    }
    // The ratio of each round by itself: what disturbs a round disturbs both.
    let ratio = |at: usize, of: &dyn Fn(usize, usize) -> f64| {
        median((0..rounds).map(|round| of(0, round) / of(at, round)).collect())
    };
    for (at, name) in ["ours"].into_iter().chain(raw.iter().map(|(name, _)| *name)).enumerate() {
        let rate = |side: usize, round: usize| 1.0 / figures[side][round].seconds;
        let cost = |side: usize, round: usize| figures[side][round].processor_seconds;
        let way = |side: usize, round: usize| ways[side][round];
        let middle =
            |of: &dyn Fn(usize, usize) -> f64| median((0..rounds).map(|round| of(at, round)).collect());
        println!(
            "{transport} {len:8} B  {name:14} {:10.0} messages/s  {:8.2} us processor  {:8.1} us one-way   \
             ours/this: {:.2} {:.2} {:.2}",
            middle(&rate),
            middle(&cost) * 1e6,
            middle(&way) * 1e6,
            ratio(at, &rate),
            ratio(at, &cost),
            ratio(at, &way)
        );
    }
}

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    println!(
        "ours/this: messages a second (more is better), processor time and time one-way (less is better)"
    );
    for len in SIZES {
        #[cfg(feature = "udp")]
        udp::compare(len, full);
    }
}
