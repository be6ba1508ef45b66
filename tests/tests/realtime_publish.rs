//! Real-time publishing over a real endpoint: what arrives, and what becomes of the rest.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
#![cfg(target_os = "linux")]

use msg_runtime::{
    ErrorKind, Message, Publisher, Subscriber, TryRecvError,
    realtime::{Full, RealtimePublisher, Waking, WhenFull},
};
use std::{
    process,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

const LONG: Duration = Duration::from_secs(20);
const WAKINGS: [Waking; 4] = [
    Waking::Deadline(Duration::from_millis(1)),
    Waking::Notify,
    Waking::NotifySpin(Duration::from_micros(20)),
    Waking::Spin,
];

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "realtime_publish", plain)]
#[repr(C)]
struct Joints {
    number: u64,
    position: [f64; 7],
}

fn joints(number: u64) -> Joints {
    Joints { number, position: [number as f64; 7] }
}

/// A channel that no other test has.
fn endpoint(options: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("shm;realtime-publish-{}-{}{options}", process::id(), NEXT.fetch_add(1, Relaxed))
}

fn open(options: &str) -> (Publisher<Joints>, Subscriber<Joints>) {
    let endpoint = endpoint(options);
    let subscriber = Subscriber::open(&endpoint).unwrap();
    (Publisher::open(&endpoint).unwrap(), subscriber)
}

#[test]
fn what_is_pushed_arrives_in_order_whatever_wakes_the_worker() {
    for waking in WAKINGS {
        let (publisher, subscriber) = open("");
        let mut realtime = publisher.realtime().capacity(1000).waking(waking).build().unwrap();
        realtime.start().unwrap();
        for number in 0..1000 {
            if number % 2 == 0 {
                realtime.push(&joints(number)).unwrap();
            } else {
                realtime.push_with(|message| *message = joints(number)).unwrap();
            }
        }
        for number in 0..1000 {
            assert_eq!(*subscriber.recv_timeout(LONG).unwrap().view(), joints(number), "{waking:?}");
        }
        let stats = realtime.stop(LONG);
        assert_eq!((stats.pushed, stats.published, stats.refused, stats.left), (1000, 1000, 0, 0));
    }
}

#[test]
fn a_message_does_not_wait_for_the_next_one() {
    for waking in WAKINGS {
        let (publisher, subscriber) = open("");
        let mut realtime = publisher.realtime().waking(waking).build().unwrap();
        realtime.start().unwrap();
        for number in 0..50 {
            realtime.push(&joints(number)).unwrap();
            assert_eq!(subscriber.recv_timeout(LONG).unwrap().view().number, number, "{waking:?}");
        }
    }
}

/// The subscriber takes nothing, so the worker is stuck in its endpoint all the while.
#[test]
fn a_subscriber_that_takes_nothing_holds_back_the_worker_and_not_the_push() {
    for when_full in [WhenFull::RefuseNewest, WhenFull::OverwriteOldest, WhenFull::LatestOnly] {
        let (publisher, subscriber) = open("?slots=4,timeout=3600s");
        let mut realtime = publisher.realtime().capacity(8).when_full(when_full).build().unwrap();
        realtime.start().unwrap();
        let mut pushed = 0;
        while pushed < 10_000 || realtime.stats().published < 4 {
            let result = realtime.push(&joints(pushed));
            pushed += 1;
            assert!(result.is_ok() || (result, when_full) == (Err(Full), WhenFull::RefuseNewest));
        }
        // Whatever the worker took out of the queue meanwhile, this fills it again.
        (0..8).for_each(|number| _ = realtime.push(&joints(pushed + number)));
        pushed += 8;
        let start = Instant::now();
        let stats = realtime.stop(Duration::from_millis(20));
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        assert_eq!(stats.pushed, stats.published + stats.refused + stats.overwritten + stats.left);
        assert_eq!((stats.pushed, stats.published), (pushed, 4), "{stats:?}");
        let expected_left = match when_full {
            WhenFull::RefuseNewest => 8..=8,
            WhenFull::OverwriteOldest => 8..=9,
            WhenFull::LatestOnly => 1..=2,
        };
        assert!(expected_left.contains(&stats.left), "{stats:?}");
        let arrived: Vec<_> =
            std::iter::from_fn(|| subscriber.try_recv().ok().map(|sample| sample.to_owned())).collect();
        assert_eq!(arrived.len(), 4);
        assert!(arrived.iter().all(|message| *message == joints(message.number)));
        assert!(arrived.windows(2).all(|pair| pair[0].number < pair[1].number));
    }
}

#[test]
fn ten_thousand_lives_each_end_within_a_second() {
    let (publisher, subscriber) = open("?slots=64");
    for round in 0..10_000_u64 {
        let mut realtime =
            publisher.realtime().waking(WAKINGS[round as usize % WAKINGS.len()]).build().unwrap();
        realtime.start().unwrap();
        let pushes = round % 4;
        (0..pushes).for_each(|number| realtime.push(&joints(number)).unwrap());
        let start = Instant::now();
        drop(realtime);
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        for number in 0..pushes {
            assert_eq!(subscriber.try_recv().unwrap().view().number, number);
        }
        assert_eq!(subscriber.try_recv().unwrap_err(), TryRecvError::Empty);
    }
}

#[test]
fn it_can_be_made_on_one_thread_and_used_on_another() {
    let (publisher, subscriber) = open("");
    let mut realtime: RealtimePublisher<Joints> = publisher.realtime().build().unwrap();
    drop(publisher);
    realtime.start().unwrap();
    let control = thread::spawn(move || {
        realtime.push(&joints(1)).unwrap();
        realtime.stop(LONG).published
    });
    assert_eq!(control.join().unwrap(), 1);
    assert_eq!(subscriber.recv_timeout(LONG).unwrap().view().number, 1);
}

#[test]
fn a_capacity_may_be_computed_from_rate_and_stall() {
    let check = |rate, stall, expected: u64| {
        let (publisher, _subscriber) = open("");
        let mut realtime = publisher.realtime().capacity_for(rate, stall).build().unwrap();
        let kept = (0..=expected).filter(|number| realtime.push(&joints(*number)).is_ok()).count() as u64;
        assert_eq!(kept, expected, "{rate} a second for {stall:?}");
    };
    check(1000, Duration::from_millis(20), 21);
    check(1000, Duration::from_micros(1), 2);
    check(0, Duration::from_secs(1), 1);
}

/// Nobody wakes it: it looks ten times a second, or as often as its timeout ends.
#[test]
fn a_sleeping_subscriber_notices_a_publisher_that_wakes_nobody() {
    let endpoint = endpoint("?wake=never,wait=sleep");
    let subscriber = Subscriber::<Joints>::open(&endpoint).unwrap();
    let publisher = Publisher::<Joints>::open(&endpoint).unwrap();
    thread::scope(|scope| {
        let patient = scope.spawn(|| subscriber.recv().unwrap().view().number);
        let mut loan = publisher.try_loan().unwrap();
        *loan = joints(1);
        loan.send().unwrap();
        assert_eq!(patient.join().unwrap(), 1);
        let looking = scope.spawn(|| {
            loop {
                if let Ok(sample) = subscriber.recv_timeout(Duration::from_millis(1)) {
                    return sample.view().number;
                }
            }
        });
        publisher.try_send(&joints(2)).unwrap();
        assert_eq!(looking.join().unwrap(), 2);
    });
}

/// A subscriber that sleeps between bursts is woken for each, also if all of the burst was sent at once.
#[test]
fn a_burst_wakes_a_subscriber_that_sleeps_and_a_full_ring_does_not_leave_it_asleep() {
    let (publisher, subscriber) = open("?slots=2,wait=sleep");
    let mut realtime = publisher.realtime().capacity(512).build().unwrap();
    realtime.start().unwrap();
    let start = Instant::now();
    for burst in 0..20 {
        (0..200).for_each(|number| realtime.push(&joints(200 * burst + number)).unwrap());
        for number in 0..200 {
            assert_eq!(subscriber.recv_timeout(LONG).unwrap().view().number, 200 * burst + number);
        }
    }
    // Left asleep it would take 100 ms a burst, and more for each time that the ring is full.
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}

#[test]
fn settings_that_make_no_sense_are_refused_with_what_was_expected() {
    let (publisher, _subscriber) = open("");
    let check = |builder: msg_runtime::realtime::RealtimeBuilder<Joints>, expected: &str| {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(publisher.realtime().capacity(0), "capacity 0 of the queue, expected 1 to 4194304");
    check(publisher.realtime().capacity(usize::MAX), "expected 1 to 4194304");
    check(publisher.realtime().capacity_for(u32::MAX, Duration::MAX), "expected 1 to 4194304");
    for period in [Duration::ZERO, Duration::MAX] {
        check(publisher.realtime().waking(Waking::Deadline(period)), "expected more than 0 s");
    }
}
