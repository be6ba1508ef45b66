//! What a push costs beside time: nothing. Counted in a process of its own, see `src/bin/realtime_cost.rs`.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
#![cfg(target_os = "linux")]

use msg_tests::shm::Leftovers;
use std::{
    collections::HashMap,
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
};

const TRAPPED: u64 = 1_000_000;
const COUNTED: u64 = 200_000;
/// The processes under test spin, so they run one after the other.
static TURN: Mutex<()> = Mutex::new(());

struct Cost(HashMap<String, u64>);

impl Cost {
    fn of(arguments: &[&str]) -> Self {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = Command::new(env!("CARGO_BIN_EXE_realtime_cost"));
        let child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _leftovers = Leftovers(format!("realtime-cost-{}", child.id()));
        let output = child.wait_with_output().unwrap();
        let (text, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {}\n{errors}", output.status);
        let counts = text.lines().filter_map(|line| line.split_once(' '));
        Self(counts.map(|(name, count)| (name.to_owned(), count.parse().unwrap())).collect())
    }

    fn count(&self, name: &str) -> u64 {
        self.0[name]
    }
}

#[test]
fn the_counters_see_what_they_shall_count() {
    let cost = Cost::of(&["control"]);
    assert_eq!(cost.count("calls"), TRAPPED / 1000);
    assert_eq!(cost.count("allocations"), 2 * (COUNTED + TRAPPED) / 1000, "each allocates and frees");
}

#[test]
fn a_million_pushes_make_no_system_call_and_no_allocation() {
    for waking in ["deadline", "spin"] {
        for when_full in ["refuse", "overwrite", "latest"] {
            let cost = Cost::of(&[waking, when_full]);
            let costs = ["calls", "allocations", "faults", "switches"].map(|name| cost.count(name));
            assert_eq!(
                costs, [0; 4],
                "system calls, allocations, page faults, switches: {waking} {when_full}"
            );
            assert_eq!(cost.count("pushed"), cost.count("accounted"), "{waking} {when_full}");
            assert!(
                cost.count("published") > 100,
                "{waking} {when_full} published {}",
                cost.count("published")
            );
        }
    }
}

#[test]
fn notifying_makes_at_most_one_system_call_a_sleep_of_the_worker() {
    for when_full in ["refuse", "overwrite", "latest"] {
        let cost = Cost::of(&["notify", when_full]);
        let (calls, sleeps) = (cost.count("calls"), cost.count("sleeps"));
        assert!(0 < calls && calls <= sleeps, "{calls} calls for {sleeps} sleeps");
        assert!(calls < TRAPPED / 10, "{calls} calls for {TRAPPED} pushes");
        assert_eq!((cost.count("allocations"), cost.count("faults")), (0, 0));
        assert_eq!(cost.count("pushed"), cost.count("accounted"));
    }
}

/// With room in the ring and subscribers that poll, what is left is the look at the files' names twice a second.
#[test]
fn publishing_directly_to_subscribers_that_poll_wakes_nobody_and_hardly_calls_the_system() {
    let cost = Cost::of(&["direct"]);
    let costs = ["wakes", "allocations", "faults", "switches"].map(|name| cost.count(name));
    assert_eq!(costs, [0; 4], "wake-ups, allocations, page faults, switches");
    let half_seconds = 1 + cost.count("milliseconds") / 500;
    assert!(
        cost.count("calls") <= 4 * half_seconds,
        "{} calls in {half_seconds} half seconds",
        cost.count("calls")
    );
    assert!(cost.count("published") > TRAPPED, "{}", cost.count("published"));
}

/// With `wake=never` a million messages cost nothing but their bytes, though a subscriber sleeps all the while.
#[test]
fn publishing_directly_with_wake_never_makes_no_system_call_and_no_allocation() {
    let cost = Cost::of(&["silent"]);
    let costs = ["calls", "allocations", "faults", "switches"].map(|name| cost.count(name));
    assert_eq!(costs, [0; 4], "system calls, allocations, page faults, switches");
    assert_eq!(cost.count("pushed"), cost.count("accounted"));
    assert!(cost.count("published") > 1000, "{}", cost.count("published"));
    assert!(cost.count("noticed") > 0, "the sleeper looks by itself");
}
