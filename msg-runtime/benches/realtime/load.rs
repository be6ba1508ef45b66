//! A design at work: a publishing thread into shared memory with a subscriber, quiet or with every processor busy.

use crate::designs::{Design, Joints, WORKER, WORKER_CPU};
use msg_runtime::{
    Publisher, Subscriber,
    realtime::{Policy, Schedule},
};
use std::{
    fs, hint, process,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

pub(crate) type Make<'a> = &'a dyn Fn(&Publisher<Joints>) -> Box<dyn Design>;

/// What the endpoint is, and what its subscriber gets.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint {
    pub(crate) options: &'static str,
    pub(crate) newest: bool,
}

pub(crate) const USUAL: Endpoint = Endpoint { options: "?slots=256", newest: false };

/// What the other threads do meanwhile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    Quiet,
    /// A thread of normal priority spins on each processor.
    Loaded,
}

/// How the pushing thread goes about it.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    Every(Duration),
    /// As fast as it can, and each push is timed.
    Timed,
    /// As fast as it can.
    Tight,
}

pub(crate) struct Measured {
    /// Of each push, sorted; empty in a tight loop.
    pub(crate) times: Vec<u32>,
    pub(crate) pushes: u64,
    pub(crate) accepted: u64,
    pub(crate) published: u64,
    /// By the subscriber.
    pub(crate) received: u64,
    /// Processor time of the publishing thread.
    pub(crate) worker: Duration,
    pub(crate) elapsed: Duration,
}

impl Measured {
    pub(crate) fn percentile(&self, share: f64) -> u32 {
        let last = self.times.len().saturating_sub(1);
        self.times.get((last as f64 * share) as usize).copied().unwrap_or(0)
    }

    pub(crate) fn mean(&self) -> f64 {
        self.times.iter().map(|time| f64::from(*time)).sum::<f64>() / self.times.len().max(1) as f64
    }

    pub(crate) fn worker_percent(&self) -> f64 {
        100.0 * self.worker.as_secs_f64() / self.elapsed.as_secs_f64()
    }

    pub(crate) fn refused_percent(&self) -> f64 {
        100.0 * (self.pushes - self.accepted) as f64 / self.pushes as f64
    }
}

/// Of the subscriber, before it looks whether it shall end.
const LONGEST_WAIT: Duration = Duration::from_millis(10);

pub(crate) fn run(
    endpoint: Endpoint,
    make: Make<'_>,
    pace: Pace,
    machine: Machine,
    time: Duration,
) -> Measured {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let Endpoint { options, newest } = endpoint;
    let endpoint = format!("shm;bench-{}-{}{options}", process::id(), NEXT.fetch_add(1, Relaxed));
    let subscriber = Subscriber::<Joints>::builder(&endpoint);
    let subscriber = if newest { subscriber.latest_only() } else { subscriber }.open().unwrap();
    let publisher = Publisher::<Joints>::open(&endpoint).unwrap();
    let (ends, received) = (AtomicBool::new(false), AtomicU64::new(0));
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(WORKER_CPU, cpus);
            while !ends.load(Relaxed) {
                let arrived = subscriber.recv_timeout(LONGEST_WAIT);
                received.fetch_add(u64::from(arrived.is_ok()), Relaxed);
            }
        });
        for cpu in (0..cpus).filter(|_| machine == Machine::Loaded) {
            let ends = &ends;
            scope.spawn(move || {
                pin(cpu, cpus);
                while !ends.load(Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let mut design = make(&publisher);
        let pushing = scope.spawn(move || {
            // Without the right to it the figures are those of an ordinary thread.
            let _ = Schedule::new().cpus([0]).policy(Policy::Fifo(80)).prefault_stack(64 << 10).apply();
            let mut result = push(&mut *design, pace, time);
            result.worker = worker_time();
            result.published = design.stop();
            result
        });
        let mut result = pushing.join().unwrap();
        result.received = received.load(Relaxed);
        ends.store(true, Relaxed);
        result
    })
}

fn pin(cpu: usize, cpus: usize) {
    Schedule::new().cpus([cpu.min(cpus - 1)]).apply().unwrap();
}

fn push(design: &mut dyn Design, pace: Pace, time: Duration) -> Measured {
    const MOST_TIMES: usize = 20_000_000;
    let places = match pace {
        Pace::Every(period) => (time.as_nanos() / period.as_nanos()) as usize + 1,
        Pace::Timed => MOST_TIMES.min(time.as_micros() as usize * 50),
        Pace::Tight => 0,
    };
    // Written, not only reserved: a page fault is no part of a push.
    let mut times = vec![1_u32; places];
    times.clear();
    let (mut pushes, mut accepted) = (0, 0);
    let start = Instant::now();
    let mut next = start;
    while start.elapsed() < time {
        if let Pace::Every(period) = pace {
            next += period;
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        // Reading the clock after each push of a tight loop would be most of the loop.
        for _ in 0..if matches!(pace, Pace::Tight) { 1000 } else { 1 } {
            let message = Joints { number: pushes, position: [pushes as f64; 7] };
            let before = if matches!(pace, Pace::Tight) { start } else { Instant::now() };
            accepted += u64::from(design.push(hint::black_box(&message)));
            if times.len() < times.capacity() && !matches!(pace, Pace::Tight) {
                times.push(before.elapsed().as_nanos() as u32);
            }
            pushes += 1;
        }
    }
    let elapsed = start.elapsed();
    times.sort_unstable();
    Measured { times, pushes, accepted, published: 0, received: 0, worker: Duration::ZERO, elapsed }
}

/// Processor time of the publishing thread so far, from the kernel.
fn worker_time() -> Duration {
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let folder = task.unwrap().path();
        let read = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
        if read("comm").trim() == WORKER {
            let nanoseconds = read("schedstat").split(' ').next().and_then(|time| time.parse().ok());
            return Duration::from_nanos(nanoseconds.unwrap_or(0));
        }
    }
    Duration::ZERO
}
