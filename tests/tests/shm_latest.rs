//! Latest-only subscribers: they see the newest message, count what they lost, and hold nobody back.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::time::Duration;

use msg_runtime::ErrorKind::NoRoom;
use msg_runtime::error::{TryRecvError, TrySendError};
use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};
use msg_tests::shm::{Directory, options};

const SECOND: Duration = Duration::from_secs(1);

fn number(n: u32) -> [u8; 4] {
    n.to_ne_bytes()
}

fn send_numbers(publisher: &ShmPublisher, numbers: std::ops::Range<u32>) {
    numbers.for_each(|n| publisher.try_send(&number(n)).unwrap());
}

/// Four slots are the fewest for one publisher and one latest-only subscriber.
fn pair(options: &Options) -> (ShmPublisher, ShmSubscriber) {
    let publisher = ShmPublisher::open(options).unwrap();
    (publisher, ShmSubscriber::open(&options.clone().latest_only()).unwrap())
}

#[test]
fn the_newest_message_arrives_and_the_lost_ones_are_counted() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c").slots(4));
    assert_eq!(subscriber.try_recv().err(), Some(TryRecvError::Empty));
    send_numbers(&publisher, 0..100);
    let sample = subscriber.recv().unwrap();
    assert_eq!((&sample[..], sample.info().sequence, sample.info().lost), (&number(99)[..], 99, 99));
    assert_eq!(subscriber.try_recv().err(), Some(TryRecvError::Empty), "once is enough");
    drop(sample);
    send_numbers(&publisher, 100..101);
    let sample = subscriber.latest().unwrap();
    assert_eq!((&sample[..], sample.info().lost), (&number(100)[..], 0));
    let stats = subscriber.stats();
    assert_eq!((stats.received, stats.lost, stats.bytes), (2, 99, 8));
}

#[test]
fn nothing_is_replayed_to_one_that_joins_late() {
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(4);
    let publisher = ShmPublisher::open(&options).unwrap();
    send_numbers(&publisher, 0..10);
    let subscriber = ShmSubscriber::open(&options.latest_only()).unwrap();
    assert_eq!(subscriber.try_recv().err(), Some(TryRecvError::Empty));
    send_numbers(&publisher, 10..11);
    assert_eq!(subscriber.recv().unwrap().info().lost, 0);
}

#[test]
fn samples_that_are_kept_stay_what_they_were_and_hold_nobody_back() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c").slots(4));
    let mut kept = Vec::new();
    for n in 0..20 {
        send_numbers(&publisher, n * 50..n * 50 + 50);
        kept.push(subscriber.recv().unwrap());
    }
    for (sample, n) in kept.iter().zip(0..) {
        assert_eq!(sample[..], number(n * 50 + 49));
        assert_eq!(sample.as_ptr() as usize % 64, 0);
    }
    // In another order, and after their subscriber.
    drop(subscriber);
    drop(kept.remove(0));
    send_numbers(&publisher, 0..50);
    assert_eq!(kept[18][..], number(999));
}

#[test]
fn a_sample_lies_in_its_slot_unless_an_earlier_one_lives() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c").slots(4));
    let in_a_slot = |bytes: &[u8]| {
        let address = bytes.as_ptr() as usize;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        maps.lines().filter(|line| line.contains(&format!("{}/", directory.path()))).any(|line| {
            let ends = line.split(' ').next().unwrap().split('-');
            let ends: Vec<usize> = ends.map(|end| usize::from_str_radix(end, 16).unwrap()).collect();
            (ends[0]..ends[1]).contains(&address)
        })
    };
    send_numbers(&publisher, 0..1);
    let first = subscriber.recv().unwrap();
    send_numbers(&publisher, 1..2);
    let second = subscriber.recv().unwrap();
    assert!(in_a_slot(&first) && !in_a_slot(&second));
    drop(first);
    send_numbers(&publisher, 2..3);
    assert!(in_a_slot(&subscriber.recv().unwrap()));
}

#[test]
fn there_must_be_slots_enough_to_hold_nobody_back() {
    let directory = Directory::new();
    let three = options(directory.path(), "three").slots(3);
    let publisher = ShmPublisher::open(&three).unwrap();
    let error = ShmSubscriber::open(&three.clone().latest_only()).unwrap_err();
    assert_eq!(error.kind(), NoRoom);
    assert!(error.to_string().contains("has 3 slots") && error.to_string().contains("`slots=4`"), "{error}");
    // Whoever was refused is forgotten.
    send_numbers(&publisher, 0..20);
    let _lossless = ShmSubscriber::open(&three).unwrap();

    let four = options(directory.path(), "four").slots(4);
    let (publisher, latest) = pair(&four);
    let error = ShmPublisher::open(&four).unwrap_err();
    assert_eq!(error.kind(), NoRoom);
    assert!(error.to_string().contains("1 latest-only subscribers with 2 publishers need 5"), "{error}");
    let error = ShmSubscriber::open(&four.clone().latest_only()).unwrap_err();
    assert!(error.to_string().contains("`slots=6`"), "{error}");
    send_numbers(&publisher, 0..20);
    drop(latest);
    assert!(ShmPublisher::open(&four).is_ok());
}

#[test]
fn a_ring_does_not_give_way_to_one_that_is_too_small_for_those_who_are_here() {
    let directory = Directory::new();
    let plain = options(directory.path(), "c");
    let subscriber = ShmSubscriber::open(&plain.clone().latest_only()).unwrap();
    assert_eq!(ShmPublisher::open(&plain.clone().slots(2)).unwrap_err().kind(), NoRoom);
    // To one that is large enough it does, and the subscriber moves.
    let publisher = ShmPublisher::open(&plain.slots(8).slot_bytes(1 << 20)).unwrap();
    publisher.send(&vec![7; 1 << 20]).unwrap();
    let sample = subscriber.recv_timeout(SECOND).unwrap();
    assert_eq!((sample.len(), sample[9], sample.info().lost), (1 << 20, 7, 0));
}

#[test]
fn a_lossless_subscriber_can_pass_over_to_the_newest() {
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(4);
    let publisher = ShmPublisher::open(&options).unwrap();
    let subscriber = ShmSubscriber::open(&options).unwrap();
    assert_eq!(subscriber.latest().err(), Some(TryRecvError::Empty));
    send_numbers(&publisher, 0..4);
    assert_eq!(publisher.try_send(b"x"), Err(TrySendError::Full));
    let newest = subscriber.latest().unwrap();
    assert_eq!((&newest[..], newest.info().lost), (&number(3)[..], 3));
    // Those that were passed over are free again, the newest is held.
    send_numbers(&publisher, 4..7);
    assert_eq!(publisher.try_send(b"x"), Err(TrySendError::Full));
    assert_eq!(subscriber.recv().unwrap()[..], number(4));
    assert_eq!(subscriber.stats().lost, 3);
}

/// Two publishers at full speed, one lossless and one latest-only subscriber: every message is received or counted.
#[test]
fn what_is_received_and_what_is_lost_is_all_there_was() {
    const EACH: u32 = 20_000;
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(8);
    let publishers = [(); 2].map(|()| ShmPublisher::open(&options).unwrap());
    let lossless = ShmSubscriber::open(&options).unwrap();
    let latest = ShmSubscriber::open(&options.latest_only()).unwrap();
    let last = u64::from(2 * EACH) - 1;
    std::thread::scope(|scope| {
        for publisher in &publishers {
            scope.spawn(|| (0..EACH).for_each(|n| publisher.send_timeout(&number(n), 20 * SECOND).unwrap()));
        }
        scope.spawn(|| while lossless.recv_timeout(20 * SECOND).unwrap().info().sequence < last {});
        let mut counted = 0;
        loop {
            let info = latest.recv_timeout(20 * SECOND).unwrap().info();
            counted += 1 + info.lost;
            assert_eq!(counted, info.sequence + 1);
            if info.sequence == last {
                break;
            }
        }
    });
    let stats = latest.stats();
    assert_eq!(stats.received + stats.lost, last + 1);
}
