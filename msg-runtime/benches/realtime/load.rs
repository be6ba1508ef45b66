//! The designs at work: a publishing thread into shared memory with a subscriber, quiet or with every processor busy.

use crate::designs::{self, Design, Joints, WORKER, WORKER_CPU};
use msg_runtime::{
    Publisher, Subscriber,
    realtime::{Policy, Schedule, Waking, WhenFull},
};
use std::{
    fs, hint, process,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

/// How long things are measured.
pub(crate) struct Effort {
    paced: Duration,
    tight: Duration,
    row: Duration,
}

impl Effort {
    pub(crate) const FULL: Self = Self {
        paced: Duration::from_secs(3),
        tight: Duration::from_secs(5),
        row: Duration::from_millis(400),
    };
    pub(crate) const BRIEF: Self = Self {
        paced: Duration::from_millis(10),
        tight: Duration::from_millis(10),
        row: Duration::from_millis(2),
    };
}

type Make<'a> = &'a dyn Fn(&Publisher<Joints>) -> Box<dyn Design>;

/// What the other threads do meanwhile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Machine {
    Quiet,
    /// A thread of normal priority spins on each processor.
    Loaded,
}

/// How the pushing thread goes about it.
#[derive(Clone, Copy)]
enum Pace {
    Every(Duration),
    /// As fast as it can, and each push is timed.
    Timed,
    /// As fast as it can.
    Tight,
}

struct Measured {
    /// Of each push, sorted; empty in a tight loop.
    times: Vec<u32>,
    pushes: u64,
    accepted: u64,
    published: u64,
    /// Processor time of the publishing thread.
    worker: Duration,
    elapsed: Duration,
}

impl Measured {
    fn percentile(&self, share: f64) -> u32 {
        let last = self.times.len().saturating_sub(1);
        self.times.get((last as f64 * share) as usize).copied().unwrap_or(0)
    }

    fn mean(&self) -> f64 {
        self.times.iter().map(|time| f64::from(*time)).sum::<f64>() / self.times.len().max(1) as f64
    }

    fn worker_percent(&self) -> f64 {
        100.0 * self.worker.as_secs_f64() / self.elapsed.as_secs_f64()
    }

    fn published_percent(&self) -> f64 {
        100.0 * self.published as f64 / self.pushes as f64
    }

    fn refused_percent(&self) -> f64 {
        100.0 * (self.pushes - self.accepted) as f64 / self.pushes as f64
    }
}

const MILLISECOND: Duration = Duration::from_millis(1);
/// Keeps 100 ms of 10 kHz.
const CAPACITY: usize = 1001;

pub(crate) fn report_paced(effort: &Effort) {
    let designs: [(&str, Make<'_>); 5] = [
        ("mutex + condvar", &|publisher| designs::mutex_and_condvar(publisher)),
        ("polling 10 us, queue 5", &|publisher| designs::polling(publisher, 5, Duration::from_micros(10))),
        ("ours, deadline 1 ms", &|publisher| ours(publisher, CAPACITY, Waking::Deadline(MILLISECOND))),
        ("ours, notify", &|publisher| ours(publisher, CAPACITY, Waking::Notify)),
        ("ours, spin", &|publisher| ours(publisher, CAPACITY, Waking::Spin)),
    ];
    for (rate, period) in [("1 kHz", MILLISECOND), ("10 kHz", MILLISECOND / 10)] {
        for (machine, name) in [(Machine::Quiet, "quiet"), (Machine::Loaded, "every processor busy")] {
            println!("a push at {rate}, {name}: ns a push, messages published, processor time of the worker");
            println!(
                "{:<24} {:>7} {:>7} {:>7} {:>8} {:>11} {:>8} {:>8}",
                "", "p50", "p99", "p99.9", "max", "published", "worker", "p50 : 1"
            );
            let mut baseline = 0;
            for (name, make) in designs {
                let result = run(make, Pace::Every(period), machine, effort.paced);
                let median = result.percentile(0.5);
                if baseline == 0 {
                    baseline = median;
                }
                println!(
                    "{name:<24} {median:>7} {:>7} {:>7} {:>8} {:>9.2} % {:>6.1} % {:>8.3}",
                    result.percentile(0.99),
                    result.percentile(0.999),
                    result.percentile(1.0),
                    result.published_percent(),
                    result.worker_percent(),
                    f64::from(median) / f64::from(baseline)
                );
            }
            println!();
        }
    }
}

pub(crate) fn report_tight(effort: &Effort) {
    let designs: [(&str, Make<'_>); 5] = [
        ("mutex + condvar", &|publisher| designs::mutex_and_condvar(publisher)),
        ("polling 0 us, queue 1024", &|publisher| designs::polling(publisher, 1024, Duration::ZERO)),
        ("ours, spin, 1024", &|publisher| ours(publisher, 1024, Waking::Spin)),
        ("ours, deadline 1 ms, 1024", &|publisher| ours(publisher, 1024, Waking::Deadline(MILLISECOND))),
        ("ours, overwrite, 1024", &|publisher| {
            designs::ours(publisher, 1024, WhenFull::OverwriteOldest, Waking::Spin)
        }),
    ];
    println!("pushing in a tight loop for {:?}, quiet: millions a second", effort.tight);
    println!("{:<26} {:>9} {:>11} {:>11} {:>10}", "", "pushes", "accepted", "published", "times");
    let mut baseline = 0.0;
    for (name, make) in designs {
        let result = run(make, Pace::Tight, Machine::Quiet, effort.tight);
        let rate = |count: u64| count as f64 / result.elapsed.as_secs_f64() / 1e6;
        let published = rate(result.published);
        if baseline == 0.0 {
            baseline = published;
        }
        println!(
            "{name:<26} {:>9.2} {:>9.2} % {published:>11.3} {:>10.1}",
            rate(result.pushes),
            100.0 - result.refused_percent(),
            published / baseline
        );
    }
    println!();
}

/// The columns of the two designs' own benchmark, and the tails.
pub(crate) fn report_table(effort: &Effort) {
    for (machine, name) in [(Machine::Quiet, "quiet"), (Machine::Loaded, "every processor busy")] {
        println!("each push timed, one after the other, {name}");
        println!(
            "{:<9} {:>5} {:>7} {:>9} {:>7} {:>7} {:>8} {:>8} {:>10} {:>9}",
            "", "queue", "poll us", "mean ns", "p50", "p99.9", "max", "cpu ns", "published", "refused"
        );
        print_row(
            "mutex",
            1,
            "-",
            &run(&|publisher| designs::mutex_and_condvar(publisher), Pace::Timed, machine, effort.row),
        );
        for queue in [1, 2, 5] {
            for poll in [0, 1, 5, 10, 50] {
                let (micros, text) = (Duration::from_micros(poll), poll.to_string());
                let polling: Make<'_> = &|publisher| designs::polling(publisher, queue, micros);
                print_row("polling", queue, &text, &run(polling, Pace::Timed, machine, effort.row));
                let waking = if poll == 0 { Waking::Spin } else { Waking::Deadline(micros) };
                let own: Make<'_> = &|publisher| ours(publisher, queue, waking);
                print_row("ours", queue, &text, &run(own, Pace::Timed, machine, effort.row));
            }
        }
        println!();
    }
}

fn print_row(name: &str, queue: usize, poll: &str, result: &Measured) {
    println!(
        "{name:<9} {queue:>5} {poll:>7} {:>9.0} {:>7} {:>7} {:>8} {:>8.0} {:>10} {:>7.2} %",
        result.mean(),
        result.percentile(0.5),
        result.percentile(0.999),
        result.percentile(1.0),
        result.worker.as_secs_f64() * 1e9 / result.pushes as f64,
        result.published,
        result.refused_percent()
    );
}

fn ours(publisher: &Publisher<Joints>, capacity: usize, waking: Waking) -> Box<dyn Design> {
    designs::ours(publisher, capacity, WhenFull::RefuseNewest, waking)
}

fn run(make: Make<'_>, pace: Pace, machine: Machine, time: Duration) -> Measured {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let endpoint = format!("shm;bench-{}-{}?slots=256", process::id(), NEXT.fetch_add(1, Relaxed));
    let subscriber = Subscriber::<Joints>::open(&endpoint).unwrap();
    let publisher = Publisher::<Joints>::open(&endpoint).unwrap();
    let (ends, received) = (AtomicBool::new(false), AtomicU64::new(0));
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(WORKER_CPU, cpus);
            while !ends.load(Relaxed) {
                received.fetch_add(u64::from(subscriber.recv_timeout(10 * MILLISECOND).is_ok()), Relaxed);
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
        let result = pushing.join().unwrap();
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
    Measured { times, pushes, accepted, published: 0, worker: Duration::ZERO, elapsed }
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
