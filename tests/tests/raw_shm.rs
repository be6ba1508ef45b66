//! Raw, JSON and typed handles on one topic of shared memory: who may come, whoever came first.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

use msg_runtime::{
    ErrorKind, Message, Publisher, RecvError, SendError, Subscriber,
    json::{JsonPublisher, JsonSubscriber},
    raw::{RawPublisher, RawSubscriber},
};
use std::{
    process,
    sync::atomic::{AtomicU32, Ordering},
};

const TOPIC: &str = "any";

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "rawshm", plain)]
#[repr(C)]
struct Position {
    x: f64,
    y: f64,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "rawshm", plain)]
#[repr(C)]
struct Large {
    words: [u64; 12_500],
}

#[derive(Message)]
#[message(namespace = "rawshm")]
struct Text {
    text: String,
}

/// A channel that no other test has.
fn endpoint() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("shm;raw-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn publisher<M: Message>(endpoint: &str) -> Result<Publisher<M>, msg_runtime::Error> {
    Publisher::<M>::builder(endpoint).topic(TOPIC).open()
}

fn subscriber<M: Message>(endpoint: &str) -> Result<Subscriber<M>, msg_runtime::Error> {
    Subscriber::<M>::builder(endpoint).topic(TOPIC).open()
}

fn position(payload: &[u8]) -> Position {
    let number = |at: usize| f64::from_le_bytes(payload[at..at + 8].try_into().unwrap());
    Position { x: number(0), y: number(8) }
}

const HERE: Position = Position { x: 0.1, y: 0.2 };

#[test]
fn raw_handles_join_a_typed_topic() {
    let endpoint = endpoint();
    let typed = subscriber::<Position>(&endpoint).unwrap();
    let publisher = publisher::<Position>(&endpoint).unwrap();
    let (raw, raw_publisher) =
        (RawSubscriber::open(&endpoint, TOPIC).unwrap(), RawPublisher::open(&endpoint, TOPIC).unwrap());
    publisher.send(&HERE).unwrap();
    let sample = raw.recv().unwrap();
    assert_eq!(position(sample.payload()), HERE);
    raw_publisher.send(sample.payload()).unwrap();
    for _ in 0..2 {
        assert_eq!(*typed.recv().unwrap().view(), HERE);
    }
    let error = subscriber::<Text>(&endpoint).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible, "raw handles open the topic for nobody: {error}");
}

#[test]
fn a_typed_publisher_gives_a_raw_topic_its_type_and_room() {
    let endpoint = endpoint();
    let raw = RawSubscriber::open(&endpoint, TOPIC).unwrap();
    let idle = RawPublisher::open(&endpoint, TOPIC).unwrap();
    let publisher = publisher::<Large>(&endpoint).unwrap();
    let mut large = publisher.loan().unwrap();
    large.words.fill(0x0707_0707_0707_0707);
    large.send().unwrap();
    assert!(raw.recv().unwrap().payload() == [7; 100_000]);
    idle.send(&[8; 100_000]).unwrap();
    assert!(raw.recv().unwrap().payload() == [8; 100_000]);
    let error = subscriber::<Text>(&endpoint).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.to_string().contains("rawshm.Large"), "{error}");
}

#[test]
fn where_a_raw_publisher_sent_first_every_type_may_come_and_verifies() {
    let endpoint = endpoint();
    let raw = RawPublisher::open(&endpoint, TOPIC).unwrap();
    raw.send(b"to nobody").unwrap();
    let positions = subscriber::<Position>(&endpoint).unwrap();
    let texts = subscriber::<Text>(&endpoint).unwrap();
    publisher::<Position>(&endpoint).unwrap().send(&HERE).unwrap();
    raw.send(b"neither").unwrap();
    publisher::<Text>(&endpoint).unwrap().send(&Text { text: "hello".into() }).unwrap();
    assert_eq!(*positions.recv().unwrap().view(), HERE);
    for _ in 0..2 {
        assert!(matches!(positions.recv().unwrap_err(), RecvError::Invalid(_)));
        assert!(matches!(texts.recv().unwrap_err(), RecvError::Invalid(_)));
    }
    assert_eq!(texts.recv().unwrap().view().text(), "hello");
    assert_eq!((positions.stats().invalid, texts.stats().invalid), (2, 2));
}

#[test]
fn json_goes_with_json_and_raw_and_not_with_a_type() {
    let endpoint = endpoint();
    let json = JsonSubscriber::<Vec<u32>>::open(&endpoint, TOPIC).unwrap();
    let raw = RawSubscriber::open(&endpoint, TOPIC).unwrap();
    let publisher = JsonPublisher::<[u32]>::open(&endpoint, TOPIC).unwrap();
    publisher.send(&[1, 2]).unwrap();
    assert_eq!(json.recv().unwrap().value, [1, 2]);
    assert_eq!(raw.recv().unwrap().payload(), b"[1,2]");
    let error = subscriber::<Text>(&endpoint).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.to_string().contains("in use with type `json`, ours is `rawshm.Text`"), "{error}");
}

#[test]
fn what_is_too_large_says_what_fits() {
    let endpoint = format!("{}?size=64B", endpoint());
    let (raw, json) =
        (RawPublisher::open(&endpoint, TOPIC).unwrap(), JsonPublisher::<str>::open(&endpoint, TOPIC));
    let too_large = |len| SendError::TooLarge { len, max: 64 };
    assert_eq!(raw.send(&[0; 65]).unwrap_err(), too_large(65));
    assert_eq!(raw.loan(65).unwrap_err(), too_large(65));
    raw.send(&[0; 64]).unwrap();
    let json = json.unwrap();
    assert_eq!(json.send(&"x".repeat(63)).unwrap_err(), too_large(65).into());
    json.send(&"x".repeat(62)).unwrap();
    assert_eq!(json.stats().messages, 1);
}
