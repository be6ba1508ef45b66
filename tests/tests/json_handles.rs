//! What JSON handles do with numbers, bytes and values that have no JSON.
#![allow(clippy::unwrap_used, reason = "a test")]

use msg_runtime::{
    RecvError, TryRecvError,
    json::{JsonError, JsonPublisher, JsonSubscriber},
    raw::RawPublisher,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fmt::Debug,
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// A channel that no other test has.
fn endpoint() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("inproc;json-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// What a value is as text, and read as `R`.
fn sent<T: Serialize, R: DeserializeOwned>(value: &T) -> (String, Result<R, JsonError<RecvError>>) {
    let endpoint = endpoint();
    let subscriber = JsonSubscriber::<R>::open(&endpoint, "x").unwrap();
    let raw = msg_runtime::raw::RawSubscriber::open(&endpoint, "x").unwrap();
    JsonPublisher::<T>::open(&endpoint, "x").unwrap().send(value).unwrap();
    let text = String::from_utf8(raw.recv().unwrap().payload().to_vec()).unwrap();
    (text, subscriber.recv().map(|sample| sample.value))
}

fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, text: &str) {
    assert_eq!(sent(&value), (text.to_owned(), Ok(value)));
}

#[test]
fn numbers_keep_every_digit() {
    check(u64::MAX, "18446744073709551615");
    check(i64::MIN, "-9223372036854775808");
    check(0.1_f64, "0.1");
    check(0.1_f32, "0.1");
    check(f64::MIN_POSITIVE, "2.2250738585072014e-308");
    check(json!({"id": u64::MAX, "x": -0.5}), "{\"id\":18446744073709551615,\"x\":-0.5}");
}

#[test]
fn numbers_that_are_not_finite_are_null() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (text, back) = sent::<f64, Option<f64>>(&number);
        assert_eq!((text.as_str(), back), ("null", Ok(None)));
        let error = sent::<f64, f64>(&number).1.unwrap_err();
        assert!(
            error.to_string().starts_with("a message was dropped because it does not fit its type"),
            "{error}"
        );
    }
}

#[test]
fn bytes_are_lists_of_numbers() {
    check(vec![0_u8, 255], "[0,255]");
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Command {
    name: String,
    #[serde(default)]
    speed: f64,
}

#[test]
fn fields_that_are_missing_or_unknown_are_serdes_affair() {
    let read = |value: Value| sent::<Value, Command>(&value).1;
    let go = || Command { name: "go".into(), speed: 0.0 };
    assert_eq!(read(json!({"name": "go", "newer": [1]})), Ok(go()));
    let error = read(json!({"speed": 1.0})).unwrap_err().to_string();
    assert!(error.contains("missing field `name`"), "{error}");
}

#[test]
fn a_value_without_json_is_refused_and_nothing_is_sent() {
    let endpoint = endpoint();
    type Grid = BTreeMap<(u8, u8), u8>;
    let publisher = JsonPublisher::<Grid>::open(&endpoint, "x").unwrap();
    let subscriber = JsonSubscriber::<Value>::open(&endpoint, "x").unwrap();
    let error = publisher.send(&Grid::from([((1, 2), 3)])).unwrap_err();
    assert_eq!(error.to_string(), "the value has no JSON: key must be a string");
    assert_eq!(subscriber.try_recv().unwrap_err(), TryRecvError::Empty.into());
    assert_eq!(publisher.stats().messages, 0);
}

/// As deep as one may read, and deeper; what is inside cannot exhaust the stack.
#[test]
fn lists_may_be_127_deep() {
    let endpoint = endpoint();
    let subscriber = JsonSubscriber::<Value>::open(&endpoint, "x").unwrap();
    let publisher = RawPublisher::open(&endpoint, "x").unwrap();
    for (depth, fits) in [(127, true), (128, false), (1_000_000, false)] {
        publisher.send(&[vec![b'['; depth], vec![b']'; depth]].concat()).unwrap();
        assert_eq!(subscriber.recv().is_ok(), fits, "{depth}");
    }
    assert_eq!(subscriber.stats().invalid, 2);
}
