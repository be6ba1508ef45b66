//! What a message over Zenoh costs beside the client library alone, measured in the same run.
//!
//! `cargo bench -p msg-runtime --features zenoh --bench zenoh`. Two sessions of one process with a TCP link of this host
//! between them; both sides receive on a thread of their own, and both are given the bytes anew for each message, as a
//! struct that is encoded is. The processor time is that of sender and receiver together. Runs alternate, and ratios are
//! of medians. Without `--bench` (as under `cargo test --benches`) it runs briefly.
#![allow(clippy::print_stdout, reason = "a benchmark reports on its output")]
#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

use msg_runtime::{Message, Publisher, Subscriber};
use nix::sys::resource::{UsageWho, getrusage};
use std::{
    hint::black_box,
    net::TcpListener,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};
use zenoh::{Config, Wait, bytes::ZBytes, qos::CongestionControl};

const PATIENCE: Duration = Duration::from_secs(60);
const TOPIC: &str = "bench";

/// As much payload as is wanted.
#[derive(Message, Clone, Debug)]
#[message(namespace = "bench")]
struct Blob<'a> {
    bytes: &'a [u8],
}

/// One way to carry bytes.
trait Way {
    fn send(&self, bytes: &[u8]);
    /// Receives a message and lets `look` see its bytes.
    fn receive(&self, look: &mut dyn FnMut(&[u8]));
}

/// The client library alone.
struct Raw {
    publisher: zenoh::pubsub::Publisher<'static>,
    subscriber: zenoh::pubsub::Subscriber<zenoh::handlers::FifoChannelHandler<zenoh::sample::Sample>>,
    _sessions: [zenoh::Session; 2],
}

impl Raw {
    fn new() -> Self {
        let port = free_port();
        let open = |mode: &str, key: &str| {
            let text = format!(
                "{{ mode: '{mode}', {key}: {{ endpoints: ['tcp/127.0.0.1:{port}'] }}, \
                 scouting: {{ multicast: {{ enabled: false }} }} }}"
            );
            zenoh::open(Config::from_json5(&text).unwrap()).wait().unwrap()
        };
        let (here, there) = (open("peer", "listen"), open("client", "connect"));
        let subscriber = here.declare_subscriber(TOPIC).wait().unwrap();
        let publisher = there.declare_publisher(TOPIC).congestion_control(CongestionControl::Block);
        let publisher = publisher.wait().unwrap();
        while !publisher.matching_status().wait().unwrap().matching() {
            thread::yield_now();
        }
        Self { publisher, subscriber, _sessions: [here, there] }
    }
}

impl Way for Raw {
    fn send(&self, bytes: &[u8]) {
        self.publisher.put(ZBytes::from(bytes)).wait().unwrap();
    }

    fn receive(&self, look: &mut dyn FnMut(&[u8])) {
        look(&self.subscriber.recv().unwrap().payload().to_bytes());
    }
}

struct Ours {
    publisher: Publisher<Blob<'static>>,
    subscriber: Subscriber<Blob<'static>>,
}

impl Ours {
    fn new() -> Self {
        let port = free_port();
        let listen = format!("zenoh;peer?listen=tcp://127.0.0.1:{port},iface=lo,on_full=block");
        let subscriber = Subscriber::builder(&listen).topic(TOPIC).open().unwrap();
        let connect = format!("zenoh;tcp://127.0.0.1:{port}?timeout=60s");
        let publisher = Publisher::<Blob<'static>>::builder(&connect).topic(TOPIC).open().unwrap();
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        Self { publisher, subscriber }
    }
}

impl Way for Ours {
    fn send(&self, bytes: &[u8]) {
        self.publisher.send(&Blob { bytes }).unwrap();
    }

    fn receive(&self, look: &mut dyn FnMut(&[u8])) {
        look(self.subscriber.recv_timeout(PATIENCE).unwrap().view().bytes());
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Processor time of this process so far.
fn worked() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let time = |time: nix::sys::time::TimeVal| {
        Duration::from_micros(time.tv_sec() as u64 * 1_000_000 + time.tv_usec() as u64)
    };
    time(usage.user_time()) + time(usage.system_time())
}

/// Seconds of processor time and of time that a message takes when many are sent.
fn burst(way: &(dyn Way + Sync), len: usize, count: usize) -> [f64; 2] {
    let bytes = vec![7; len];
    let (start, used) = (Instant::now(), worked());
    thread::scope(|scope| {
        scope.spawn(|| (0..count).for_each(|_| way.receive(&mut |bytes| _ = black_box(bytes[0]))));
        (0..count).for_each(|_| way.send(&bytes));
    });
    [worked() - used, start.elapsed()].map(|time| time.as_secs_f64() / count as f64)
}

/// The median of the seconds that a message takes when one is sent each millisecond, and its processor time.
fn steady(way: &(dyn Way + Sync), len: usize, count: usize) -> [f64; 2] {
    let epoch = Instant::now();
    let used = worked();
    let (took, times) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..count {
                way.receive(&mut |bytes| {
                    let sent = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                    took.send(epoch.elapsed().as_nanos() as u64 - sent).unwrap();
                });
            }
        });
        let mut bytes = vec![7; len];
        for number in 0..count {
            let due = epoch + Duration::from_millis(number as u64);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            bytes[..8].copy_from_slice(&(epoch.elapsed().as_nanos() as u64).to_le_bytes());
            way.send(&bytes);
        }
    });
    drop(took);
    let times = times.iter().map(|nanos| nanos as f64 / 1e9).collect();
    [median(times), (worked() - used).as_secs_f64() / count as f64]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The medians of several runs of both, taken in turns.
fn compare(
    ways: [&(dyn Way + Sync); 2],
    runs: usize,
    measure: impl Fn(&(dyn Way + Sync)) -> [f64; 2],
) -> [[f64; 2]; 2] {
    let mut results = [[vec![], vec![]], [vec![], vec![]]];
    for _ in 0..runs {
        for (way, result) in ways.iter().zip(&mut results) {
            let [one, other] = measure(*way);
            result[0].push(one);
            result[1].push(other);
        }
    }
    results.map(|result| result.map(median))
}

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let (runs, share, steady_count) = if full { (7, 1, 1000) } else { (1, 100, 20) };
    let (raw, ours) = (Raw::new(), Ours::new());
    let ways: [&(dyn Way + Sync); 2] = [&raw, &ours];
    println!(
        "   bytes |  us of processor: raw   ours  ratio |   messages/s: raw     ours  ratio | p50 us at 1 kHz: raw   ours  ratio | us of processor then: raw  ours  ratio"
    );
    for (len, count) in [(64, 200_000), (1 << 10, 100_000), (64 << 10, 10_000), (1 << 20, 1000)] {
        let count = (count / share).max(10);
        let [raw_burst, our_burst] = compare(ways, runs, |way| burst(way, len, count));
        let [raw_steady, our_steady] = compare(ways, runs, |way| steady(way, len, steady_count));
        let micros =
            |raw: f64, ours: f64| format!("{:>8.2} {:>6.2} {:>6.2}", raw * 1e6, ours * 1e6, ours / raw);
        println!(
            "{len:>8} | {:>29} | {:>16.0} {:>9.0} {:>6.2} | {:>29} | {}",
            micros(raw_burst[0], our_burst[0]),
            1.0 / raw_burst[1],
            1.0 / our_burst[1],
            raw_burst[1] / our_burst[1],
            micros(raw_steady[0], our_steady[0]),
            micros(raw_steady[1], our_steady[1]),
        );
    }
}
