//! What the options of a ring change: who is evicted, who copies, who wakes, who locks, who spins.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use msg_runtime::ErrorKind::Mismatch;
use msg_runtime::error::{RecvError, SendError, TryRecvError, TrySendError};
use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};
use msg_tests::shm::{Directory, options};

const SECOND: Duration = Duration::from_secs(1);

fn pair(options: &Options) -> (ShmPublisher, ShmSubscriber) {
    (ShmPublisher::open(options).unwrap(), ShmSubscriber::open(options).unwrap())
}

// ---- evict

#[test]
fn who_is_too_far_behind_is_evicted_and_the_others_lose_nothing() {
    let directory = Directory::new();
    let patience = Duration::from_millis(100);
    let options = options(directory.path(), "c").slots(4).evict(patience);
    let (publisher, slow) = pair(&options);
    let good = ShmSubscriber::open(&options).unwrap();
    publisher.send(&[0]).unwrap();
    let kept = slow.recv().unwrap();
    assert_eq!(good.recv().unwrap()[..], [0]);
    let started = Instant::now();
    for n in 1..20 {
        publisher.send_timeout(&[n], 10 * SECOND).unwrap();
        assert_eq!(good.recv().unwrap()[..], [n]);
    }
    assert!((patience..5 * SECOND).contains(&started.elapsed()), "{:?}", started.elapsed());
    assert_eq!(publisher.subscribers(), 1);
    assert_eq!(kept[..], [0], "what an evicted subscriber holds stays what it was");
    assert_eq!(slow.try_recv().err(), Some(TryRecvError::Evicted));
    assert_eq!(slow.recv().err(), Some(RecvError::Evicted));
    assert_eq!(slow.latest().err(), Some(TryRecvError::Evicted));
    drop((kept, slow));
    let again = ShmSubscriber::open(&options).unwrap();
    publisher.send(&[99]).unwrap();
    assert_eq!(again.recv().unwrap()[..], [99]);
}

#[test]
fn who_reads_slowly_but_in_time_is_waited_for() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c").slots(2).evict(20 * SECOND));
    publisher.send(&[0]).unwrap();
    publisher.send(&[1]).unwrap();
    assert_eq!(publisher.send_timeout(&[2], SECOND / 5), Err(SendError::Timeout));
    assert_eq!(subscriber.recv().unwrap()[..], [0]);
}

#[test]
fn patience_belongs_to_the_ring() {
    let directory = Directory::new();
    let plain = options(directory.path(), "c");
    let first = ShmPublisher::open(&plain.clone().evict(SECOND)).unwrap();
    let error = ShmSubscriber::open(&plain.clone().evict(2 * SECOND)).unwrap_err();
    assert_eq!(error.kind(), Mismatch);
    assert!(error.to_string().contains("in use with evict=1s, asked for evict=2s"), "{error}");
    let _takes_what_is_there = ShmSubscriber::open(&plain).unwrap();
    drop(first);
    // The other order: a ring that nobody named gives way.
    let other = options(directory.path(), "d");
    let slow = ShmSubscriber::open(&other).unwrap();
    let publisher = ShmPublisher::open(&other.evict(SECOND / 20).slots(2)).unwrap();
    (0..5).for_each(|n| publisher.send_timeout(&[n], 5 * SECOND).unwrap());
    assert_eq!(slow.recv().err(), Some(RecvError::Evicted));
}

/// Evicted while it reads, and each time at the latest when it stops to look: whole messages, then an error.
#[test]
fn an_evicted_subscriber_sees_whole_messages_or_an_error() {
    const TIMES: u64 = 40;
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(2).slot_bytes(256).evict(Duration::from_nanos(1));
    let publisher = ShmPublisher::open(&options).unwrap();
    let (evicted, sent) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0..TIMES {
                let subscriber = ShmSubscriber::open(&options).unwrap();
                for received in 0.. {
                    if received == turn % 8 {
                        // More than there are slots: publishers had to do without us.
                        let before = sent.load(Ordering::Relaxed);
                        while sent.load(Ordering::Relaxed) < before + 4 {
                            std::thread::yield_now();
                        }
                    }
                    match subscriber.recv_timeout(10 * SECOND) {
                        Ok(sample) => assert!(sample.iter().all(|byte| *byte == sample[0]), "torn"),
                        Err(RecvError::Evicted) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
                evicted.fetch_add(1, Ordering::Relaxed);
            }
        });
        for n in (0..=u8::MAX).cycle() {
            if evicted.load(Ordering::Relaxed) == TIMES {
                break;
            }
            publisher.send_timeout(&[n; 256], 10 * SECOND).unwrap();
            sent.fetch_add(1, Ordering::Relaxed);
        }
    });
}

// ---- copy

/// A publisher that goes on writing into its slot after it has sent it.
fn write_after_sending(publisher: &ShmPublisher, len: usize) -> &AtomicU64 {
    let mut loan = publisher.loan(len).unwrap();
    loan.fill(1);
    let first = loan.as_mut_ptr().cast::<AtomicU64>();
    loan.send().unwrap();
    // SAFETY: mapped as long as the publisher lives and nobody moves, and aligned to 64 bytes.
    unsafe { &*first }
}

#[test]
fn a_copy_does_not_change_though_the_publisher_goes_on_writing() {
    let directory = Directory::new();
    let plain = options(directory.path(), "c").slots(4);
    let publisher = ShmPublisher::open(&plain).unwrap();
    let in_place = ShmSubscriber::open(&plain).unwrap();
    let copying = ShmSubscriber::open(&plain.clone().copy_messages()).unwrap();
    let word = write_after_sending(&publisher, 100);
    let (sample, copy) = (in_place.recv().unwrap(), copying.recv().unwrap());
    word.store(2, Ordering::Release);
    assert_eq!(sample[..8], 2_u64.to_ne_bytes(), "this is what `copy_messages` is for");
    assert_eq!((&copy[..], copy.as_ptr() as usize % 64), (&[1; 100][..], 0));
    drop(sample);
    // Copies hold no slot: as many as one likes.
    let mut copies = Vec::new();
    for n in 0..50 {
        publisher.try_send(&[n; 9]).unwrap();
        assert_eq!(in_place.recv().unwrap()[..], [n; 9]);
        copies.push(copying.recv().unwrap());
    }
    (0..50).zip(&copies).for_each(|(n, copy)| assert_eq!(copy[..], [n; 9]));
    let newest = ShmSubscriber::open(&plain.copy_messages().latest_only());
    assert!(newest.is_ok());
}

// ---- wake and wait

#[test]
fn who_wakes_nobody_is_heard_by_those_who_look() {
    let directory = Directory::new();
    let silent = options(directory.path(), "c").wake_nobody();
    let publisher = ShmPublisher::open(&silent).unwrap();
    let spinning = ShmSubscriber::open(&silent.clone().spin(Duration::MAX)).unwrap();
    let sleeping = ShmSubscriber::open(&silent.spin(Duration::ZERO)).unwrap();
    std::thread::scope(|scope| {
        let asleep = scope.spawn(|| sleeping.recv_timeout(5 * SECOND).unwrap()[0]);
        let awake = scope.spawn(|| spinning.recv_timeout(5 * SECOND).unwrap()[0]);
        publisher.send(&[7]).unwrap();
        assert_eq!(awake.join().unwrap(), 7);
        assert_eq!(asleep.join().unwrap(), 7, "a sleeper looks by itself, ten times a second");
    });
    assert_eq!(spinning.recv_timeout(SECOND / 100).err(), Some(RecvError::Timeout));
}

#[test]
fn a_dead_subscribers_slots_return_to_a_publisher_that_looks_for_nobody() {
    let directory = Directory::new();
    let silent = options(directory.path(), "c").slots(2).wake_nobody();
    let (publisher, living) = pair(&silent);
    // What a killed process leaves: its place without its lock. A forked child's exit shows the same.
    // SAFETY: the child opens a subscriber and ends; no other thread of this test holds a lock that it needs.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let subscriber = ShmSubscriber::open(&silent);
        let code = i32::from(subscriber.is_err());
        std::mem::forget(subscriber);
        // SAFETY: ends the child as a kill does.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: `status` lives through the call.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
    publisher.try_send(&[1]).unwrap();
    publisher.try_send(&[2]).unwrap();
    assert_eq!(living.recv().unwrap()[..], [1]);
    assert_eq!(living.recv().unwrap()[..], [2]);
    assert_eq!(publisher.try_send(&[3]), Err(TrySendError::Full));
    // The living subscriber looks for the dead while it waits.
    assert_eq!(living.recv_timeout(SECOND / 2).err(), Some(RecvError::Timeout));
    publisher.try_send(&[3]).unwrap();
    assert_eq!(living.recv().unwrap()[..], [3]);
}

// ---- lock

#[test]
fn locked_memory_is_all_there() {
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(4).slot_bytes(1 << 16).lock_memory();
    let (_publisher, _subscriber) = pair(&options);
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut ours = false;
    let (mut size, mut locked) = (0, 0);
    for line in maps.lines() {
        if line.split(' ').next().is_some_and(|range| range.contains('-')) {
            ours = line.contains(&format!("{}/", directory.path()));
        }
        let field = |name: &str| line.strip_prefix(name)?.trim().strip_suffix(" kB")?.parse::<u64>().ok();
        if let Some(bytes) = field("Size:").filter(|_| ours) {
            size += bytes;
        }
        if let Some(bytes) = field("Locked:").filter(|_| ours) {
            locked += bytes;
        }
    }
    // Each page is mapped twice here, and each mapping counts half of it.
    assert!(size > 2 * 256 && locked == size / 2, "{locked} of {size} kB are locked");
}
