//! What Zenoh's sessions leave behind, and what they cost when nothing happens. One test, since it looks at the process.
#![cfg(feature = "zenoh")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_network_tests::zenoh::Router;
use msg_runtime::{Publisher, Subscriber};
use msg_tests::conformance::Note;
use std::{
    fs, thread,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// Threads and descriptors of this process.
fn held() -> (usize, usize) {
    let count = |folder| fs::read_dir(folder).unwrap().count();
    (count("/proc/self/task"), count("/proc/self/fd"))
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Processor time of this process so far.
fn worked() -> Duration {
    // SAFETY: the structure is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: it is valid for writes.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) }, 0);
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

fn cycle(endpoint: &str) {
    let subscriber = Subscriber::<Note>::builder(endpoint).topic("cycle").open().unwrap();
    let publisher = Publisher::<Note>::builder(endpoint).topic("cycle").open().unwrap();
    publisher.send(&Note { number: 1, text: String::new(), bytes: vec![1; 1000] }).unwrap();
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), 1);
}

#[test]
fn a_thousand_sessions_leave_nothing_and_idle_ones_cost_nothing() {
    let router = Router::start(&[]);
    let endpoint = format!("zenoh;{}", router.address());
    for _ in 0..50 {
        cycle(&endpoint);
    }
    let (before, memory) = (held(), resident());
    for _ in 0..1000 {
        cycle(&endpoint);
    }
    // Threads that tell the link what has ended may do so a moment longer.
    let end = Instant::now() + PATIENCE;
    while held().0 > before.0 + 2 || held().1 > before.1 + 2 {
        assert!(Instant::now() < end, "(threads, descriptors) were {before:?}, are {:?}", held());
        thread::yield_now();
    }
    let grown = resident().saturating_sub(memory);
    assert!(grown < 32 << 20, "{grown} bytes more");

    let idle = [(); 3].map(|()| Subscriber::<Note>::builder(&endpoint).topic("idle").open().unwrap());
    let (start, used) = (Instant::now(), worked());
    thread::sleep(Duration::from_secs(10));
    let share = (worked() - used).as_secs_f64() / start.elapsed().as_secs_f64();
    assert!(share < 0.01, "idle subscribers use {:.2} % of a core", share * 100.0);
    drop(idle);
}
