//! Runs the workloads peer by peer, and prints medians and ratios.
//!
//! The distance of the two processors (how long a cache line takes from one to the other) is measured before and after
//! each run. Virtual machines move their processors about: only runs at about the same distance are compared.

use std::collections::BTreeMap;
use std::process::Command;

use crate::bare::Bare;
use crate::calls;
use crate::iceoryx::Iceoryx2;
use crate::link::{Peer, Waits};
use crate::machine::{self, median};
use crate::ring::Ring;
use crate::workload::{Kind, Run};

const PEERS: [&str; 3] = [Ring::NAME, Bare::NAME, Iceoryx2::NAME];
/// Nanoseconds that a cache line takes between processors that share a cache, at most.
const NEAR: f64 = 110.0;

/// A workload and what to print of it. The figures of a run are the one-way p50 and p99 and those of the send call, or
/// the messages per second.
struct Row {
    name: &'static str,
    run: Run,
    figures: &'static [(&'static str, usize, f64)],
    peers: &'static [&'static str],
}

const LATENCIES: &[(&str, usize, f64)] =
    &[("one way p50 us", 0, 1e-3), ("one way p99 us", 1, 1e-3), ("send call p50 us", 2, 1e-3)];
const RATE: &[(&str, usize, f64)] = &[("M msg/s", 0, 1e-6)];
const COST: &[(&str, usize, f64)] = &[("send call p50 us", 2, 1e-3)];

fn rows(quick: bool) -> Vec<Row> {
    let few = |messages: u64| if quick { messages / 20 } else { messages };
    let base = Run {
        kind: Kind::Paced,
        bytes: 1024,
        depth: 64,
        waits: Waits::Spins,
        messages: few(1000),
        receivers: 1,
        pause: 1_000_000,
    };
    let paced = |name, bytes, depth, waits, pause| Row {
        name,
        run: Run { bytes, depth, waits, pause, ..base.clone() },
        figures: LATENCIES,
        peers: &PEERS,
    };
    let flat = |name, bytes, depth, messages| Row {
        name,
        run: Run { kind: Kind::FlatOut, bytes, depth, messages: few(messages), ..base.clone() },
        figures: RATE,
        peers: &PEERS,
    };
    let fan = |name, receivers| Row {
        name,
        run: Run { kind: Kind::Fan, receivers, messages: few(4000), pause: 100_000, ..base.clone() },
        figures: COST,
        peers: &[Ring::NAME, Iceoryx2::NAME],
    };
    let loaned = |name, bytes| {
        let mut row = paced(name, bytes, 4, Waits::Spins, 12_000_000);
        (row.run.kind, row.run.messages) = (Kind::Loaned, few(200));
        row
    };
    let mut bursts = paced("bursts", 1024, 64, Waits::Sleeps, 1_000_000);
    bursts.run.kind = Kind::Bursts;
    vec![
        paced("spinning", 1024, 64, Waits::Spins, 1_000_000),
        paced("sleeping", 1024, 64, Waits::Sleeps, 1_000_000),
        bursts,
        loaned("loaned1KiB", 1024),
        loaned("loaned10MiB", 10 << 20),
        flat("flat64B", 64, 64, 2_000_000),
        flat("flat1KiB", 1024, 64, 1_000_000),
        flat("flat64KiB", 64 << 10, 16, 40_000),
        flat("flat1MiB", 1 << 20, 16, 2_000),
        fan("fan1", 1),
        fan("fan8", 8),
        fan("fan64", 64),
    ]
}

pub fn main(arguments: &[String]) {
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let runs = arguments.iter().position(|argument| argument == "--runs").map(|at| &arguments[at + 1]);
    let runs: usize =
        runs.map_or(if quick { 1 } else { 5 }, |runs| runs.parse().expect("`--runs` and a number"));
    let wanted = |name: &str| {
        let names: Vec<_> = arguments.iter().filter(|argument| argument.parse::<usize>().is_err()).collect();
        let mut names = names.into_iter().filter(|argument| !argument.starts_with("--")).peekable();
        names.peek().is_none() || names.any(|other| other == name)
    };
    machine::pin(machine::SENDER);
    settings();
    if wanted("limits") {
        limits(runs);
    }
    for row in rows(quick).iter().filter(|row| wanted(row.name)) {
        report(row, runs);
    }
    if wanted("calls") {
        system_calls(if quick { 20 } else { 200 });
    }
}

fn settings() {
    println!("sender on processor {}, receiver on {}", machine::SENDER, machine::RECEIVER);
    for (name, settings) in
        [(Ring::NAME, Ring::SETTINGS), (Bare::NAME, Bare::SETTINGS), (Iceoryx2::NAME, Iceoryx2::SETTINGS)]
    {
        println!("{name:9} {settings}");
    }
}

fn limits(runs: usize) {
    let of = |measure: &dyn Fn() -> f64| median((0..runs).map(|_| measure()).collect());
    println!("\n-- limits");
    println!("a cache line from processor to processor {:8.0} ns", of(&machine::distance));
    println!("a sleeper woken by a bare futex          {:8.0} ns", of(&machine::futex_wakeup));
    for bytes in [64, 1024, 64 << 10, 1 << 20, 10 << 20] {
        println!("{bytes:8} bytes copied and read in a process {:8.0} ns", of(&|| machine::copy(bytes)));
    }
}

fn channel(number: usize) -> String {
    format!("msg-bench-{}-{number}", std::process::id())
}

fn sender(peer: &str, name: &str, run: &Run) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--send", peer, name]).args(run.to_arguments());
    command
}

/// The figures of one run.
fn measure(peer: &str, name: &str, run: &Run) -> Vec<f64> {
    let output = sender(peer, name, run).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{peer}: {errors}");
    text.split_whitespace().map(|figure| figure.parse().unwrap()).collect()
}

/// Runs in turn, so that all peers see the same machine, and compares those at one distance.
fn report(row: &Row, runs: usize) {
    let Run { kind, bytes, depth, waits, receivers, .. } = &row.run;
    println!("\n-- {}: {kind:?}, {bytes} B, depth {depth}, receivers {receivers}, {waits:?}", row.name);
    let mut results: BTreeMap<(bool, &str), Vec<(f64, Vec<f64>)>> = BTreeMap::new();
    for round in 0..runs {
        for peer in row.peers {
            let before = machine::distance();
            let figures = measure(peer, &channel(round), &row.run);
            let after = machine::distance();
            // A run in whose middle the processors moved compares with nothing.
            if (before < NEAR) == (after < NEAR) {
                results.entry((before < NEAR, *peer)).or_default().push(((before + after) / 2.0, figures));
            }
        }
    }
    for near in [true, false] {
        let of = |peer: &'static str| results.get(&(near, peer)).filter(|runs| !runs.is_empty());
        let Some(ours) = of(Ring::NAME) else { continue };
        for peer in row.peers {
            let Some(theirs) = of(peer) else { continue };
            print!("{:9}", peer);
            for (name, figure, scale) in row.figures {
                let at = |runs: &[(f64, Vec<f64>)]| median(runs.iter().map(|run| run.1[*figure]).collect());
                let ratio = if *peer == Ring::NAME {
                    String::new()
                } else {
                    format!(" (x{:.2})", at(ours) / at(theirs))
                };
                print!("  {name} {:8.3}{ratio:9}", at(theirs) * scale);
            }
            let distance = median(theirs.iter().map(|run| run.0).collect());
            println!("  [{} runs at {distance:.0} ns]", theirs.len());
        }
    }
}

/// How many system calls a sender makes for a message that sleeping receivers wait for.
fn system_calls(messages: u64) {
    println!("\n-- calls: system calls of the sender for a message to receivers that sleep");
    for peer in [Ring::NAME, Iceoryx2::NAME] {
        print!("{peer:9}");
        for receivers in [1, 8, 64] {
            let run = Run {
                kind: Kind::Calls,
                bytes: 1024,
                depth: 64,
                waits: Waits::Sleeps,
                messages,
                receivers,
                pause: 5_000_000,
            };
            let calls = calls::count(&mut sender(peer, &channel(receivers), &run));
            print!("  {receivers} receivers: {:.2}", calls as f64 / messages as f64);
        }
        println!();
    }
}
