//! Typed handles over shared memory: what a user relies on, and what bad input gets.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::{
    ErrorKind, Message, Publisher, RecvError, SendError, Subscriber, TryRecvError, TrySendError,
    shm::{Options, ShmPublisher},
};
use std::{
    process,
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

/// A channel that no other test has.
fn endpoint(options: &str) -> String {
    format!("shm;none;{}{options}", channel())
}

fn channel() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("pubsub-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "pubsub")]
struct Note {
    number: u32,
    text: String,
}

fn note(number: u32) -> Note {
    Note { number, text: format!("note {number}") }
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "pubsub", plain)]
#[repr(C)]
struct Point {
    x: f64,
    y: f64,
}

#[test]
fn messages_arrive_in_order_at_every_subscriber() {
    let endpoint = endpoint("");
    let subscribers = [(); 3].map(|()| Subscriber::<Note>::open(&endpoint).unwrap());
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    thread::scope(|scope| {
        for subscriber in &subscribers {
            scope.spawn(|| {
                for number in 0..1000 {
                    let sample = subscriber.recv().unwrap();
                    assert_eq!(sample.to_owned(), note(number));
                    assert_eq!(sample.info().sequence, Some(u64::from(number)));
                    assert_eq!(sample.info().lost, Some(0));
                }
                assert_eq!(subscriber.try_recv().unwrap_err(), TryRecvError::Empty);
            });
        }
        scope.spawn(|| (0..1000).for_each(|number| publisher.send(&note(number)).unwrap()));
    });
    assert_eq!(publisher.stats().messages, 1000);
    assert_eq!(subscribers[0].stats().messages, 1000);
}

#[test]
fn the_topic_is_the_type_name_unless_said_otherwise() {
    let endpoint = endpoint("");
    let left = Subscriber::<Note>::builder(&endpoint).topic("left").open().unwrap();
    let right = Subscriber::<Note>::builder(&endpoint).topic("right").open().unwrap();
    let own = Subscriber::<Note>::open(&endpoint).unwrap();
    assert_eq!(own.topic().as_str(), "pubsub.Note");
    Publisher::<Note>::builder(&endpoint).topic("left").open().unwrap().send(&note(1)).unwrap();
    Publisher::<Note>::builder(&endpoint).topic("right").open().unwrap().send(&note(2)).unwrap();
    assert_eq!(left.recv().unwrap().view().number(), 1);
    assert_eq!(right.recv().unwrap().view().number(), 2);
    for subscriber in [left, right, own] {
        assert_eq!(subscriber.try_recv().unwrap_err(), TryRecvError::Empty);
    }
    let error = Publisher::<Note>::builder(&endpoint).topic("left image").open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidTopic);
}

#[test]
fn plain_messages_are_filled_and_read_in_the_slot() {
    let endpoint = endpoint("");
    let points = Subscriber::<Point>::open(&endpoint).unwrap();
    let publisher = Publisher::<Point>::open(&endpoint).unwrap();
    let mut point = publisher.loan().unwrap();
    assert_eq!(*point, Point { x: 0.0, y: 0.0 }, "a loan starts zeroed");
    point.y = 2.5;
    point.send().unwrap();
    publisher.send(&Point { x: 1.0, y: 1.0 }).unwrap();
    drop(publisher.loan().unwrap());
    let sample = points.recv().unwrap();
    let point: &Point = sample.view();
    assert_eq!((point, sample.payload().len()), (&Point { x: 0.0, y: 2.5 }, 16));
    assert_eq!(points.recv().unwrap().to_owned(), Point { x: 1.0, y: 1.0 });
    assert_eq!(points.try_recv().unwrap_err(), TryRecvError::Empty, "a dropped loan sends nothing");
}

#[test]
fn a_slow_subscriber_gives_full_and_timeout_and_nothing_is_lost() {
    let endpoint = endpoint("?slots=4,timeout=10ms");
    let notes = Subscriber::<Note>::open(&endpoint).unwrap();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    (0..4).for_each(|number| publisher.try_send(&note(number)).unwrap());
    assert_eq!(publisher.try_send(&note(4)).unwrap_err(), TrySendError::Full);
    assert_eq!(publisher.send(&note(4)).unwrap_err(), SendError::Timeout);
    assert_eq!(publisher.stats().full, 2);
    assert_eq!(notes.recv().unwrap().to_owned(), note(0));
    publisher.try_send(&note(4)).unwrap();
    (1..5).for_each(|number| assert_eq!(notes.recv().unwrap().to_owned(), note(number)));
}

#[test]
fn a_message_larger_than_a_slot_says_what_to_write() {
    let endpoint = endpoint("?size=1KiB");
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    let error = publisher.send(&Note { number: 0, text: "x".repeat(2000) }).unwrap_err();
    let SendError::TooLarge { len, max: 1024 } = error else { panic!("{error:?}") };
    assert!((2000..2100).contains(&len));
    assert!(error.to_string().ends_with("write `size=2KiB` in the endpoint"), "{error}");
    publisher.send(&note(1)).unwrap();
    assert_eq!(publisher.stats().messages, 1);
}

#[test]
fn another_type_on_the_topic_is_refused_with_both_types_and_the_field() {
    mod other {
        #[derive(msg_runtime::Message)]
        #[message(namespace = "pubsub")]
        pub(super) struct Note {
            pub(super) number: u64,
            pub(super) text: String,
        }
    }
    let endpoint = endpoint("");
    let _notes = Subscriber::<Note>::open(&endpoint).unwrap();
    let error = Publisher::<other::Note>::open(&endpoint).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    let text = error.to_string();
    for part in ["pubsub.Note", "`number`", "`uint`", "`ulong`"] {
        assert!(text.contains(part), "{text:?} lacks {part}");
    }
    let _unused = other::Note { number: 0, text: String::new() };
}

/// Whoever writes raw bytes into a typed topic reaches the verifier, not the user.
#[test]
fn damaged_payloads_are_errors_and_counted_and_the_next_message_arrives() {
    let channel = channel();
    let notes = Subscriber::<Note>::open(&format!("shm;{channel}")).unwrap();
    let typed = Publisher::<Note>::open(&format!("shm;{channel}")).unwrap();
    let raw = ShmPublisher::open(&Options::new(&channel, "pubsub.Note")).unwrap();
    let good = msg_runtime::encode(&note(7)).unwrap().to_vec();
    let mut invalid = 0;
    for len in 0..good.len() {
        raw.send(&good[..len]).unwrap();
        match notes.recv() {
            Err(RecvError::Invalid(_)) => invalid += 1,
            Ok(sample) => assert_eq!(sample.view().number(), 7, "only what is not needed may be cut off"),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(invalid > good.len() / 2, "{invalid} of {} truncations refused", good.len());
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        raw.send(&bytes).unwrap();
        match notes.recv() {
            Err(RecvError::Invalid(_)) => invalid += 1,
            Ok(sample) => drop(sample.to_owned()),
            Err(error) => panic!("{error}"),
        }
    }
    typed.send(&note(8)).unwrap();
    assert_eq!(notes.recv().unwrap().to_owned(), note(8));
    assert_eq!(notes.stats().invalid, invalid as u64);
}

#[test]
fn a_plain_payload_of_another_size_is_an_error() {
    let channel = channel();
    let points = Subscriber::<Point>::open(&format!("shm;{channel}")).unwrap();
    let raw = ShmPublisher::open(&Options::new(&channel, "pubsub.Point")).unwrap();
    raw.send(&[0; 15]).unwrap();
    let error = points.recv().unwrap_err();
    assert!(error.to_string().contains("15 bytes, expected the 16"), "{error}");
}

#[test]
fn samples_may_be_kept_and_dropped_in_any_order() {
    let endpoint = endpoint("?slots=4");
    let notes = Subscriber::<Note>::open(&endpoint).unwrap();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    (0..3).for_each(|number| publisher.send(&note(number)).unwrap());
    let mut kept: Vec<_> = (0..3).map(|_| notes.recv().unwrap()).collect();
    (3..5).for_each(|number| {
        publisher.try_send(&note(number)).map_err(|error| (number, error)).ok();
    });
    assert_eq!(kept.iter().map(|sample| sample.view().number()).collect::<Vec<_>>(), [0, 1, 2]);
    drop(kept.remove(1));
    publisher.send(&note(9)).unwrap();
    assert_eq!(kept[0].to_owned(), note(0));
    assert_eq!(kept[1].to_owned(), note(2));
}

#[test]
fn latest_only_subscribers_get_the_newest_and_hold_nobody_back() {
    let endpoint = endpoint("?slots=4");
    let newest = Subscriber::<Note>::builder(&endpoint).latest_only().open().unwrap();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    (0..100).for_each(|number| publisher.try_send(&note(number)).unwrap());
    let kept = newest.recv().unwrap();
    assert_eq!((kept.to_owned(), kept.info().lost), (note(99), Some(99)));
    (100..200).for_each(|number| publisher.try_send(&note(number)).unwrap());
    let next = newest.latest().unwrap();
    assert_eq!((next.to_owned(), next.info().lost, kept.to_owned()), (note(199), Some(99), note(99)));
    assert_eq!(newest.stats().lost, 198);
    let error = Publisher::<Note>::open(&endpoint).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoRoom);
    assert!(error.to_string().contains("`slots=5`"), "{error}");
}

#[test]
fn every_option_of_the_endpoint_reaches_the_ring() {
    let endpoint = endpoint("?slots=4,evict=20ms,wait=sleep,wake=never,lock=on,copy=on");
    let notes = Subscriber::<Note>::open(&endpoint).unwrap();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    // Copies hold no slot.
    let kept: Vec<_> = (0..20)
        .map(|number| {
            publisher.try_send(&note(number)).unwrap();
            notes.recv().unwrap()
        })
        .collect();
    (0..20).zip(&kept).for_each(|(number, kept)| assert_eq!(kept.to_owned(), note(number)));
    (0..10).for_each(|number| publisher.send(&note(number)).unwrap());
    assert_eq!(notes.recv().unwrap_err(), RecvError::Evicted);
    let other = endpoint.replace("evict=20ms", "evict=1s");
    let error = Publisher::<Note>::open(&other).unwrap_err();
    assert!(error.to_string().contains("evict=20ms, asked for evict=1s"), "{error}");
}

/// A publisher that goes on writing after it has sent: what was verified is what is read.
#[test]
fn a_verified_copy_stays_verified() {
    let channel = channel();
    let notes = Subscriber::<Note>::open(&format!("shm;{channel}?copy=on")).unwrap();
    let raw = ShmPublisher::open(&Options::new(&channel, "pubsub.Note")).unwrap();
    let good = msg_runtime::encode(&note(7)).unwrap().to_vec();
    let stop = std::sync::atomic::AtomicBool::new(false);
    for _ in 0..200 {
        let mut loan = raw.loan(good.len()).unwrap();
        loan.copy_from_slice(&good);
        let words = loan.as_mut_ptr().cast::<AtomicU32>();
        // SAFETY: mapped as long as `raw` lives, aligned to 64 bytes, and all of them inside the slot.
        let words = unsafe { std::slice::from_raw_parts(words, good.len().div_ceil(4)) };
        loan.send().unwrap();
        stop.store(false, Ordering::Relaxed);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut value = 0_u32;
                while !stop.load(Ordering::Relaxed) {
                    words.iter().for_each(|word| word.store(value, Ordering::Relaxed));
                    value = value.wrapping_add(0x0101_0101);
                }
                words.iter().for_each(|word| word.store(!value, Ordering::Relaxed));
            });
            let received = notes.recv();
            let before = received.as_ref().ok().map(|sample| (sample.to_owned(), sample.payload().to_vec()));
            stop.store(true, Ordering::Relaxed);
            if let (Ok(sample), Some(before)) = (received, before) {
                assert_eq!((sample.to_owned(), sample.payload().to_vec()), before);
            }
        });
    }
}

#[test]
fn malformed_endpoints_are_named() {
    let check = |endpoint: &str, kind: ErrorKind, text: &str| {
        let error = Publisher::<Note>::open(endpoint).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    check("smh;x", ErrorKind::InvalidEndpoint, "did you mean `shm`?");
    check("shm;zstd:23;x", ErrorKind::InvalidEndpoint, "expected 1 to 22");
    check("shm;x?size=4mb", ErrorKind::InvalidEndpoint, "unknown unit `mb`");
    check("shm;x?slots=1000,size=64MiB", ErrorKind::InvalidEndpoint, "max");
}

#[test]
fn two_types_of_one_name_inside_a_message_are_refused_at_open() {
    #[derive(Message)]
    #[message(namespace = "pubsub", name = "Part")]
    struct First {
        x: u8,
    }
    #[derive(Message)]
    #[message(namespace = "pubsub", name = "Part")]
    struct Second {
        y: u8,
    }
    #[derive(Message)]
    #[message(namespace = "pubsub")]
    struct Both {
        first: First,
        second: Second,
    }
    let error = Subscriber::<Both>::open(&endpoint("")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.to_string().contains("`pubsub.Part`"), "{error}");
    let _unused = Both { first: First { x: 0 }, second: Second { y: 0 } };
}

#[test]
fn iteration_shows_every_error_and_goes_on_after_it() {
    let endpoint = endpoint("?slots=16");
    let notes = Subscriber::<Note>::open(&endpoint).unwrap();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    (0..10).for_each(|number| publisher.send(&note(number)).unwrap());
    let mut received = notes.iter();
    let kept: Result<Vec<_>, _> = received.by_ref().take(10).collect();
    assert_eq!(kept.err(), Some(RecvError::TooManyHeld { max: 8 }));
    let next = received.next().unwrap().unwrap();
    assert_eq!(next.view().number(), 8, "what could not be received is not lost");
}
