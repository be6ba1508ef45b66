//! Sending and receiving typed messages allocates nothing once both have begun: a million of each kind, counted by the
//! allocator of this process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::{FillWith, Message, Publisher, Subscriber};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::process;

const WARM_UP: u64 = 1_000;
const MESSAGES: u64 = 1_000_000;
/// Where the path differs from that of a million by the subscriber's copy only.
const FEWER: u64 = 100_000;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    // A thread that ends has no counter any more.
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

// SAFETY: the system's allocator, with a counter of the thread beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Message, Clone, Copy)]
#[message(namespace = "memory", plain)]
#[repr(C)]
struct Joints {
    number: u64,
    position: [f64; 7],
}

#[derive(Message)]
#[message(namespace = "memory")]
struct Link {
    name: String,
    mass: Option<f64>,
}

#[derive(Message)]
#[message(namespace = "memory")]
struct Scan<'a> {
    number: u64,
    frame: &'a str,
    intensities: &'a [u16],
    ranges: FillWith<'a, f32>,
    links: Vec<Link>,
    labels: BTreeMap<String, u32>,
}

/// A pair of handles of one type, on a channel that no other test has.
fn pair<M: Message>(name: &str, options: &str) -> (Publisher<M>, Subscriber<M>) {
    let endpoint = format!("shm;memory-{name}-{}?slots=4,size=4KiB{options}", process::id());
    (Publisher::open(&endpoint).unwrap(), Subscriber::open(&endpoint).unwrap())
}

/// Fails if `send_and_receive` calls the allocator after its first messages.
fn check(messages: u64, mut send_and_receive: impl FnMut(u64)) {
    (0..WARM_UP).for_each(&mut send_and_receive);
    let before = CALLS.get();
    drop(Box::new(0));
    assert_eq!(CALLS.get() - before, 2, "the allocator counts");
    let before = CALLS.get();
    (WARM_UP..WARM_UP + messages).for_each(&mut send_and_receive);
    assert_eq!(CALLS.get() - before, 0, "calls of the allocator in {messages} messages");
}

fn joints(number: u64) -> Joints {
    Joints { number, position: [number as f64; 7] }
}

#[test]
fn plain_messages() {
    let (publisher, subscriber) = pair::<Joints>("plain", "");
    check(MESSAGES, |number| {
        match number % 3 {
            0 => publisher.send(&joints(number)).unwrap(),
            1 => publisher.loan_uninit().unwrap().init(|slot| slot.write(joints(number))).send().unwrap(),
            _ => {
                let mut loan = publisher.loan().unwrap();
                *loan = joints(number);
                loan.send().unwrap();
            }
        }
        let sample =
            if number % 2 == 0 { subscriber.recv().unwrap() } else { subscriber.try_recv().unwrap() };
        assert_eq!((sample.view().number, sample.view().position[6]), (number, number as f64));
    });
}

/// Sends tables with everything that a table may have, and receives them, the endpoint having these options.
fn check_tables(name: &str, options: &str, messages: u64) {
    let (publisher, subscriber) = pair::<Scan<'_>>(name, options);
    let link = |mass| Link { name: "arm".to_owned(), mass };
    let mut links = vec![link(Some(1.5)), link(None)];
    let mut labels: BTreeMap<_, _> = [("left".to_owned(), 1), ("right".to_owned(), 2)].into();
    check(messages, |number| {
        let mut fill = |ranges: &mut [f32]| ranges.fill(number as f32);
        // Now longer, now shorter.
        let len = 1 + (number * 7 % 300) as usize;
        let ranges = FillWith::new(len, &mut fill);
        let own = (std::mem::take(&mut links), std::mem::take(&mut labels));
        let scan =
            Scan { number, frame: "base", intensities: &[7; 100], ranges, links: own.0, labels: own.1 };
        publisher.send(&scan).unwrap();
        (links, labels) = (scan.links, scan.labels);
        let sample = subscriber.recv().unwrap();
        let view = sample.view();
        assert_eq!((view.number(), view.frame(), view.ranges().len()), (number, "base", len));
        assert_eq!((view.ranges()[len - 1], view.intensities().len()), (number as f32, 100));
        assert!(view.links().iter().map(|link| link.mass()).eq([Some(1.5), None]));
        assert_eq!(view.labels().get("right"), Some(2));
    });
}

#[test]
fn tables() {
    check_tables("tables", "", MESSAGES);
}

#[test]
fn tables_that_the_subscriber_copies() {
    check_tables("copies", ",copy=on", FEWER);
}

#[test]
fn the_newest_message_while_an_older_one_is_kept() {
    let endpoint = format!("shm;memory-newest-{}?slots=4", process::id());
    let subscriber = Subscriber::<Joints>::builder(&endpoint).latest_only().open().unwrap();
    let publisher = Publisher::<Joints>::open(&endpoint).unwrap();
    publisher.send(&joints(7)).unwrap();
    let kept = subscriber.recv().unwrap();
    check(FEWER, |number| {
        publisher.send(&joints(number)).unwrap();
        publisher.send(&joints(number + 1)).unwrap();
        let copied = subscriber.latest().unwrap();
        assert_eq!((copied.view().number, copied.info().lost), (number + 1, Some(1)));
    });
    assert_eq!(kept.view().number, 7);
}

#[test]
fn two_threads_that_wait_for_each_other() {
    let (publisher, subscriber) = pair::<Joints>("threads", "");
    std::thread::scope(|scope| {
        scope.spawn(|| check(MESSAGES, |number| publisher.send(&joints(number)).unwrap()));
        scope
            .spawn(|| check(MESSAGES, |number| assert_eq!(subscriber.recv().unwrap().view().number, number)));
    });
}
