//! Who sleeps is woken by each event that it may wait for, not by the end of its longest sleep.
//!
//! That an event wakes is seen in the event counts themselves: a test says in a count that somebody sleeps, as a sleeper
//! does, and finds that counted and cleared. That a count wakes a real sleeper is seen by the clock.

#![allow(clippy::unwrap_used, reason = "a test")]

mod peer;

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use msg_runtime::error::{RecvError, TryRecvError, TrySendError};
use msg_runtime::shm::{ShmPublisher, ShmSubscriber};
use msg_tests::shm::{Directory, options};
use peer::Peer;

/// Where the two counts lie in the readers file, as the ring's documentation has it.
const WAKE: u64 = 128;
const SPACE: u64 = 256;
const SOMEBODY_SLEEPS: u32 = 1;

fn file(directory: &Directory, end: &str) -> PathBuf {
    let mut files = directory.files().into_iter();
    files.find(|path| path.extension().is_some_and(|found| found == end)).unwrap()
}

/// Whether an event wakes those who sleep on a count.
fn wakes<R>(directory: &Directory, count: u64, event: impl FnOnce() -> R) -> (bool, R) {
    let file = OpenOptions::new().read(true).write(true).open(file(directory, "readers")).unwrap();
    file.write_all_at(&SOMEBODY_SLEEPS.to_ne_bytes(), count).unwrap();
    let result = event();
    let mut after = [0; 4];
    file.read_exact_at(&mut after, count).unwrap();
    let after = u32::from_ne_bytes(after);
    assert!([SOMEBODY_SLEEPS, 2].contains(&after), "{after}");
    (after != SOMEBODY_SLEEPS, result)
}

fn ring(slots: usize) -> (Directory, ShmPublisher, ShmSubscriber) {
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(slots).slot_bytes(64);
    let publisher = ShmPublisher::open(&options).unwrap();
    let subscriber = ShmSubscriber::open(&options).unwrap();
    (directory, publisher, subscriber)
}

#[test]
fn what_is_no_event_wakes_nobody() {
    let (directory, publisher, subscriber) = ring(1);
    for count in [WAKE, SPACE] {
        let look = || {
            assert_eq!(subscriber.try_recv().err(), Some(TryRecvError::Empty));
            publisher.subscribers()
        };
        assert_eq!(wakes(&directory, count, look), (false, 1));
    }
}

#[test]
fn a_message_wakes_subscribers_and_publishers_who_wait_for_its_slot_to_say_so() {
    let (directory, publisher, subscriber) = ring(2);
    assert!(wakes(&directory, WAKE, || publisher.try_send(b"x").unwrap()).0);
    assert!(wakes(&directory, SPACE, || publisher.try_send(b"x").unwrap()).0);
    drop(subscriber);
}

#[test]
fn a_sample_that_is_let_go_wakes_publishers() {
    let (directory, publisher, subscriber) = ring(1);
    publisher.try_send(b"x").unwrap();
    let sample = subscriber.try_recv().unwrap();
    assert_eq!(publisher.try_send(b"x"), Err(TrySendError::Full));
    assert!(wakes(&directory, SPACE, || drop(sample)).0);
    publisher.try_send(b"x").unwrap();
}

#[test]
fn a_message_that_is_passed_over_wakes_publishers() {
    let (directory, publisher, subscriber) = ring(1);
    publisher.try_send(b"x").unwrap();
    // The length in the only slot's record: behind the tail, two places and the slot word, each on lines of its own.
    let data = OpenOptions::new().write(true).open(file(&directory, "data")).unwrap();
    data.write_all_at(&u64::MAX.to_ne_bytes(), 4096 + 3 * 128 + 8).unwrap();
    let (woken, received) = wakes(&directory, SPACE, || subscriber.try_recv().err());
    assert_eq!((woken, received), (true, Some(TryRecvError::Corrupted)));
    publisher.try_send(b"x").unwrap();
}

#[test]
fn whoever_comes_or_goes_wakes_publishers() {
    let (directory, publisher, subscriber) = ring(2);
    (0..2).for_each(|_| publisher.try_send(b"x").unwrap());
    assert!(wakes(&directory, SPACE, || drop(subscriber)).0);
    let options = options(directory.path(), "c");
    let (woken, subscriber) = wakes(&directory, SPACE, || ShmSubscriber::open(&options).unwrap());
    assert!(woken);
    (0..2).for_each(|_| publisher.try_send(b"x").unwrap());
    // Its sample keeps its place, but not what it has not read.
    let sample = subscriber.try_recv().unwrap();
    assert!(wakes(&directory, SPACE, || drop(subscriber)).0);
    publisher.try_send(b"x").unwrap();
    drop(sample);
}

#[test]
fn a_loan_that_is_dropped_or_forgotten_wakes_other_publishers() {
    let (directory, publisher, _subscriber) = ring(1);
    let loan = publisher.try_loan(1).unwrap();
    assert!(wakes(&directory, SPACE, || drop(loan)).0);
    std::mem::forget(publisher.try_loan(1).unwrap());
    let other = ShmPublisher::open(&options(directory.path(), "c")).unwrap();
    assert_eq!(other.try_send(b"x"), Err(TrySendError::Full));
    assert!(wakes(&directory, SPACE, || drop(publisher)).0);
    other.try_send(b"x").unwrap();
}

#[test]
fn what_is_done_for_the_dead_wakes_other_publishers() {
    let (directory, publisher, subscriber) = ring(2);
    drop(subscriber);
    let mut hog = Peer::ready(&directory, "c", &["hog"]);
    (0..2).for_each(|_| publisher.try_send(b"x").unwrap());
    hog.kill();
    let (woken, loan) = wakes(&directory, SPACE, || publisher.try_loan(1).unwrap());
    assert!(woken);
    drop(loan);
}

#[test]
fn a_slot_that_is_taken_and_given_back_wakes_other_publishers() {
    let (directory, publisher, subscriber) = ring(2);
    (0..2).for_each(|_| publisher.try_send(b"x").unwrap());
    // Whoever goes and leaves a sample behind is not waited for; only this slot is left alone.
    let _sample = subscriber.try_recv().unwrap();
    drop(subscriber);
    let (woken, other) = wakes(&directory, SPACE, || publisher.try_loan(1).unwrap());
    assert!(woken);
    // From here on it is known to be borrowed: a publisher that is blocked by it does not wake itself at every try.
    let (woken, error) = wakes(&directory, SPACE, || publisher.try_loan(1).err());
    assert_eq!((woken, error), (false, Some(TrySendError::Full)));
    drop(other);
}

/// A lost wake-up would cost the rest of the longest sleep, of which little has passed when the event comes.
const LEAST_LOSS: Duration = Duration::from_millis(50);

/// How long a sleeper takes to return after an event, in the middle of many rounds.
fn median(mut round: impl FnMut() -> Duration) -> Duration {
    let mut took: Vec<_> = (0..21).map(|_| round()).collect();
    took.sort();
    took[took.len() / 2]
}

/// Starts what will sleep, waits until it does, makes the event, and says how long the sleeper slept on.
fn slept_on(sleeper: impl FnOnce() + Send, event: impl FnOnce()) -> Duration {
    std::thread::scope(|scope| {
        let (name, named) = mpsc::channel();
        let sleeping = scope.spawn(move || {
            // SAFETY: touches no memory.
            name.send(unsafe { libc::gettid() }).unwrap();
            sleeper();
            Instant::now()
        });
        let stat = format!("/proc/self/task/{}/stat", named.recv().unwrap());
        while !std::fs::read_to_string(&stat).unwrap().contains(") S ") {
            std::thread::yield_now();
        }
        let made = Instant::now();
        event();
        sleeping.join().unwrap().saturating_duration_since(made)
    })
}

#[test]
fn a_sleeping_subscriber_is_woken_by_the_message() {
    let (_directory, publisher, subscriber) = ring(4);
    let round = || {
        let receive = || drop(subscriber.recv_timeout(Duration::from_secs(10)).unwrap());
        slept_on(receive, || publisher.try_send(b"x").unwrap())
    };
    let took = median(round);
    assert!(took < LEAST_LOSS / 2, "{took:?}");
    assert_eq!(subscriber.recv_timeout(Duration::ZERO).err(), Some(RecvError::Timeout));
}

#[test]
fn a_sleeping_publisher_is_woken_by_the_room() {
    let (_directory, publisher, subscriber) = ring(1);
    publisher.try_send(b"x").unwrap();
    let round = || {
        let send = || publisher.send_timeout(b"x", Duration::from_secs(10)).unwrap();
        slept_on(send, || drop(subscriber.try_recv().unwrap()))
    };
    let took = median(round);
    assert!(took < LEAST_LOSS / 2, "{took:?}");
}
