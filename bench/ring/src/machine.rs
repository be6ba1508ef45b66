//! The machine: its processors, its clock, memory that two processes share, and what no message can be faster than.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Two processes run on these, one each.
pub const SENDER: usize = 0;
pub const RECEIVER: usize = 1;

/// Keeps the calling thread, and those it starts, on one processor.
pub fn pin(processor: usize) {
    // SAFETY: all zeros is an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: two processors are within a set's size.
    unsafe { libc::CPU_SET(processor, &mut set) };
    // SAFETY: the set lives through the call.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    assert_eq!(result, 0, "a machine with at least two processors");
}

/// Nanoseconds by the clock that all processes share.
pub fn now() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Spins until then.
pub fn wait_until(time: u64) {
    while now() < time {
        std::hint::spin_loop();
    }
}

/// Words in a file that all who name it map, for as long as they live. Aligned to a page.
pub fn shared(name: &str, words: usize) -> &'static [AtomicU64] {
    let options = &mut OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).open(path(name)).unwrap();
    if file.metadata().unwrap().len() < words as u64 * 8 {
        file.set_len(words as u64 * 8).unwrap();
    }
    let (fd, protection) = (file.as_raw_fd(), libc::PROT_READ | libc::PROT_WRITE);
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    // SAFETY: a new mapping of as many bytes as the file has.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), words * 8, protection, flags, fd, 0) };
    assert_ne!(base, libc::MAP_FAILED);
    // SAFETY: mapped for the rest of the process's life; any bytes are atomics.
    unsafe { std::slice::from_raw_parts(base.cast(), words) }
}

fn path(name: &str) -> String {
    format!("/dev/shm/{name}")
}

pub fn remove(name: &str) {
    // A run that was stopped may have removed it.
    let _ = std::fs::remove_file(path(name));
}

pub fn futex_wake(word: &AtomicU64) {
    // SAFETY: FUTEX_WAKE takes any address and reads nothing there.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Sleeps while the word's low half is this.
pub fn futex_wait(word: &AtomicU64, value: u32) {
    let no_timeout = std::ptr::null::<libc::timespec>();
    // SAFETY: the word is mapped and aligned; no timeout is given.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, no_timeout) };
}

/// How long a cache line takes from one processor to the other, in nanoseconds: half of a round trip, the median of
/// a hundred bursts.
pub fn distance() -> f64 {
    const BURSTS: usize = 100;
    const TRIPS: u64 = 200;
    #[repr(align(128))]
    struct Line(AtomicU64);
    let (there, back) = (&Line(AtomicU64::new(0)), &Line(AtomicU64::new(0)));
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(RECEIVER);
            for trip in 1..=BURSTS as u64 * TRIPS {
                while there.0.load(Acquire) != trip {}
                back.0.store(trip, Release);
            }
        });
        let mut bursts = Vec::with_capacity(BURSTS);
        for burst in 0..BURSTS as u64 {
            let started = now();
            for trip in burst * TRIPS + 1..=(burst + 1) * TRIPS {
                there.0.store(trip, Release);
                while back.0.load(Acquire) != trip {}
            }
            bursts.push((now() - started) as f64 / (2 * TRIPS) as f64);
        }
        median(bursts)
    })
}

/// How long a bare futex takes to wake a sleeper on the other processor, in nanoseconds; the median.
pub fn futex_wakeup() -> f64 {
    const ROUNDS: u64 = 300;
    static ROUND: AtomicU64 = AtomicU64::new(0);
    static ASLEEP: AtomicU64 = AtomicU64::new(0);
    static SENT: AtomicU64 = AtomicU64::new(0);
    ROUND.store(0, Relaxed);
    ASLEEP.store(0, Relaxed);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            pin(RECEIVER);
            let mut times = Vec::with_capacity(ROUNDS as usize);
            for round in 0..ROUNDS {
                ASLEEP.store(round + 1, Release);
                while ROUND.load(Acquire) == round {
                    futex_wait(&ROUND, round as u32);
                }
                times.push((now() - SENT.load(Relaxed)) as f64);
            }
            median(times)
        });
        for round in 0..ROUNDS {
            while ASLEEP.load(Acquire) != round + 1 {}
            wait_until(now() + 300_000);
            SENT.store(now(), Relaxed);
            ROUND.fetch_add(1, Ordering::AcqRel);
            futex_wake(&ROUND);
        }
        sleeper.join().unwrap()
    })
}

/// How long it takes to copy this many bytes from one place to another and to read them there, in nanoseconds. Both
/// in one process: what two cannot beat unless both work at once.
pub fn copy(bytes: usize) -> f64 {
    let (from, mut to) = (vec![7_u8; bytes], vec![0_u8; bytes]);
    let rounds = (256_usize << 20).div_ceil(bytes).min(1_000_000);
    let started = now();
    for _ in 0..rounds {
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(crate::link::read(std::hint::black_box(&to)));
    }
    (now() - started) as f64 / rounds as f64
}

pub fn median(mut figures: Vec<f64>) -> f64 {
    percentile(&mut figures, 50)
}

pub fn percentile(figures: &mut [f64], percent: usize) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[(figures.len() * percent / 100).min(figures.len() - 1)]
}
