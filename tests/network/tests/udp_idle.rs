//! Handles of UDP cost nothing while nothing comes, and leave nothing when they go.
#![cfg(target_os = "linux")]
#![cfg(feature = "udp")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_network_tests::udp;
use msg_runtime::{Message, Publisher, Subscriber};
use std::{
    fs,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Message, Clone, Copy)]
#[message(namespace = "udp", plain)]
#[repr(C)]
struct Beat {
    number: u64,
}

/// These tests measure the process, which they have one after the other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number of `/proc/self/status`.
fn status(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.split(':').next() == Some(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn threads_and_descriptors() -> (u64, usize) {
    (status("Threads"), fs::read_dir("/proc/self/fd").unwrap().count())
}

/// Processor time of the process so far.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills in the struct it is given.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(done, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn three_idle_subscribers_use_less_than_a_hundredth_of_a_core() {
    let _alone = alone();
    let endpoint = udp::endpoint("");
    let subscribers = [(); 3].map(|()| Subscriber::<Beat>::open(&endpoint).unwrap());
    let publisher = Publisher::<Beat>::open(&endpoint).unwrap();
    assert!(publisher.wait_for_subscribers(3, PATIENCE));
    let (start, before) = (Instant::now(), processor_time());
    thread::sleep(Duration::from_secs(10));
    let used = processor_time() - before;
    assert!(used < start.elapsed() / 100, "{used:?} in {:?}", start.elapsed());
    drop(subscribers);
}

#[test]
fn a_thousand_times_open_and_close_leave_nothing() {
    let _alone = alone();
    let endpoint = udp::endpoint("");
    let cycle = || {
        let subscriber = Subscriber::<Beat>::open(&endpoint).unwrap();
        let publisher = Publisher::<Beat>::open(&endpoint).unwrap();
        publisher.send(&Beat { number: 1 }).unwrap();
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number, 1);
    };
    (0..100).for_each(|_| cycle());
    let settled = |expected: (u64, usize)| {
        // Threads end by themselves, soon.
        let end = Instant::now() + PATIENCE;
        while threads_and_descriptors() > expected && Instant::now() < end {
            thread::yield_now();
        }
        assert_eq!(threads_and_descriptors(), expected);
    };
    // The test's own: its thread and the main one; the three streams and the folder that is being read.
    let mut expected = threads_and_descriptors();
    for _ in 0..200 {
        thread::sleep(Duration::from_millis(1));
        expected = expected.min(threads_and_descriptors());
    }
    let memory = status("VmRSS");
    (0..1000).for_each(|_| cycle());
    settled(expected);
    let grown = status("VmRSS").saturating_sub(memory);
    assert!(grown < 8 << 10, "{grown} KiB more than before");
}
