//! The tables: which designs are compared under which load, and what is printed of each.

use crate::{
    designs::{self, Design, Joints},
    load::{Endpoint, Machine, Make, Measured, Pace, USUAL, run},
};
use msg_runtime::{
    Publisher,
    realtime::{Waking, WhenFull},
};
use std::time::Duration;

/// How long things are measured.
pub(crate) struct Effort {
    /// Each row is measured so many times, in turn with the others.
    rounds: usize,
    paced: Duration,
    tight: Duration,
    row: Duration,
}

impl Effort {
    pub(crate) const FULL: Self = Self {
        rounds: 5,
        paced: Duration::from_secs(1),
        tight: Duration::from_secs(5),
        row: Duration::from_millis(400),
    };
    pub(crate) const BRIEF: Self = Self {
        rounds: 1,
        paced: Duration::from_millis(10),
        tight: Duration::from_millis(10),
        row: Duration::from_millis(2),
    };
}

const MILLISECOND: Duration = Duration::from_millis(1);
/// Keeps 100 ms of 10 kHz.
const CAPACITY: usize = 1001;
/// Of the designs in the tables of `report_paced` and `report_tight`: what the others are compared with.
const BASELINE: usize = 0;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Every design once a round, so that what else the machine does meets all of them. A row of results for each design.
fn rounds(count: usize, designs: usize, mut measure: impl FnMut(usize) -> Measured) -> Vec<Vec<Measured>> {
    let mut rows: Vec<Vec<Measured>> = (0..designs).map(|_| Vec::new()).collect();
    for _ in 0..count {
        for (design, row) in rows.iter_mut().enumerate() {
            row.push(measure(design));
        }
    }
    rows
}

pub(crate) fn report_paced(effort: &Effort) {
    let designs: [(&str, Make<'_>); 6] = [
        ("mutex + condvar", &|publisher| designs::mutex_and_condvar(publisher)),
        ("polling 10 us, queue 5", &|publisher| designs::polling(publisher, 5, Duration::from_micros(10))),
        ("ours, deadline 1 ms", &|publisher| ours(publisher, CAPACITY, Waking::Deadline(MILLISECOND))),
        ("ours, notify", &|publisher| ours(publisher, CAPACITY, Waking::Notify)),
        ("ours, spin", &|publisher| ours(publisher, CAPACITY, Waking::Spin)),
        ("sleeping 1 ms, no work", &|_| designs::sleeping(MILLISECOND)),
    ];
    for (rate, period) in [("1 kHz", MILLISECOND), ("10 kHz", MILLISECOND / 10)] {
        for (machine, name) in [(Machine::Quiet, "quiet"), (Machine::Loaded, "every processor busy")] {
            println!(
                "a push at {rate}, {name}, {} rounds: ns a push, messages published, processor time of the worker",
                effort.rounds
            );
            println!(
                "{:<24} {:>7} {:>7} {:>7} {:>8} {:>11} {:>9} {:>9} {:>8}",
                "", "p50", "p99", "p99.9", "max", "published", "worker", "most", "p50 : 1"
            );
            let rows = rounds(effort.rounds, designs.len(), |design| {
                run(USUAL, designs[design].1, Pace::Every(period), machine, effort.paced)
            });
            let of_baseline = typical(&rows[BASELINE], 0.5);
            for ((name, _), row) in designs.iter().zip(&rows) {
                print_paced(name, row, of_baseline);
            }
            println!();
        }
    }
}

/// The median of the rounds' percentiles.
fn typical(row: &[Measured], share: f64) -> f64 {
    median(row.iter().map(|result| f64::from(result.percentile(share))).collect())
}

fn print_paced(name: &str, row: &[Measured], of_baseline: f64) {
    let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|share| typical(row, share));
    let max = row.iter().map(|result| result.percentile(1.0)).max().unwrap_or(0);
    let published: u64 = row.iter().map(|result| result.published).sum();
    let pushes: u64 = row.iter().map(|result| result.pushes).sum();
    let worker: Vec<f64> = row.iter().map(Measured::worker_percent).collect();
    let most = worker.iter().copied().fold(0.0, f64::max);
    println!(
        "{name:<24} {p50:>7} {p99:>7} {p999:>7} {max:>8} {:>9.2} % {:>7.2} % {most:>7.2} % {:>8.3}",
        100.0 * published as f64 / pushes as f64,
        median(worker),
        p50 / of_baseline
    );
}

pub(crate) fn report_tight(effort: &Effort) {
    const SPIN: Waking = Waking::Spin;
    const ONE_MS: Waking = Waking::Deadline(MILLISECOND);
    const LOSSLESS: Endpoint = Endpoint { options: "?slots=1024,wake=never,wait=spin", newest: false };
    const NEWEST: Endpoint = Endpoint { newest: true, ..LOSSLESS };
    let overwriting =
        |publisher: &_, waking| designs::ours(publisher, 1024, WhenFull::OverwriteOldest, waking);
    let designs: [(&str, Endpoint, Make<'_>); 10] = [
        ("mutex + condvar", USUAL, &|publisher| designs::mutex_and_condvar(publisher)),
        ("polling 0 us, queue 1024", USUAL, &|publisher| designs::polling(publisher, 1024, Duration::ZERO)),
        ("refuse newest, spin", USUAL, &|publisher| ours(publisher, 1024, SPIN)),
        ("refuse newest, notify-spin", USUAL, &|publisher| {
            ours(publisher, 1024, Waking::NotifySpin(Duration::from_micros(50)))
        }),
        ("refuse newest, deadline 1 ms", USUAL, &|publisher| ours(publisher, 1024, ONE_MS)),
        ("overwrite oldest, spin", USUAL, &|publisher| overwriting(publisher, SPIN)),
        ("overwrite oldest, deadline", USUAL, &|publisher| overwriting(publisher, ONE_MS)),
        ("latest only, spin", USUAL, &|publisher| designs::ours(publisher, 1, WhenFull::LatestOnly, SPIN)),
        ("direct, reader of all", LOSSLESS, &|publisher| designs::direct(publisher)),
        ("direct, reader of the newest", NEWEST, &|publisher| designs::direct(publisher)),
    ];
    println!("pushing in a tight loop for {:?}, {} rounds: millions a second", effort.tight, effort.rounds);
    println!(
        "{:<30} {:>9} {:>11} {:>11} {:>11} {:>10}",
        "", "pushes", "accepted", "published", "received", "times"
    );
    let rows = rounds(effort.rounds, designs.len(), |design| {
        let (_, endpoint, make) = designs[design];
        run(endpoint, make, Pace::Tight, Machine::Quiet, effort.tight)
    });
    for ((name, ..), row) in designs.iter().zip(&rows) {
        let rate = |count: fn(&Measured) -> u64| {
            median(row.iter().map(|one| count(one) as f64 / one.elapsed.as_secs_f64() / 1e6).collect())
        };
        let times =
            |(one, baseline): (&Measured, &Measured)| one.published as f64 / baseline.published as f64;
        println!(
            "{name:<30} {:>9.2} {:>9.2} % {:>11.3} {:>11.3} {:>10.1}",
            rate(|one| one.pushes),
            median(row.iter().map(|one| 100.0 - one.refused_percent()).collect()),
            rate(|one| one.published),
            rate(|one| one.received),
            median(row.iter().zip(&rows[BASELINE]).map(times).collect())
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
            &run(USUAL, &|publisher| designs::mutex_and_condvar(publisher), Pace::Timed, machine, effort.row),
        );
        for queue in [1, 2, 5] {
            for poll in [0, 1, 5, 10, 50] {
                let (micros, text) = (Duration::from_micros(poll), poll.to_string());
                let polling: Make<'_> = &|publisher| designs::polling(publisher, queue, micros);
                print_row("polling", queue, &text, &run(USUAL, polling, Pace::Timed, machine, effort.row));
                let waking = if poll == 0 { Waking::Spin } else { Waking::Deadline(micros) };
                let own: Make<'_> = &|publisher| ours(publisher, queue, waking);
                print_row("ours", queue, &text, &run(USUAL, own, Pace::Timed, machine, effort.row));
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
