//! Other forms of a message, which encode as it.

use std::borrow::Cow;

use msg_runtime::{Encode, FillWith, Message, decode, encode};

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo", identifier = "SCAN")]
struct Scan {
    #[message(default = 7)]
    stamp: u64,
    #[message(rename = "frame")]
    frame_name: String,
    #[message(required)]
    label: String,
    ranges: Vec<f32>,
    points: Vec<Point>,
    first: Option<Point>,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Point {
    x: f64,
    name: String,
}

/// In another order, borrowed throughout, with a field that is no part of the message.
#[derive(Message)]
#[message(like = Scan)]
struct ScanRef<'a> {
    ranges: FillWith<'a, f32>,
    #[message(skip)]
    _cached: usize,
    points: &'a [PointRef<'a>],
    label: Cow<'a, str>,
    first: Option<PointRef<'a>>,
    stamp: u64,
    #[message(rename = "frame")]
    frame_name: &'a str,
}

#[derive(Message)]
#[message(like = Point)]
struct PointRef<'a> {
    x: f64,
    name: &'a str,
}

fn scan() -> Scan {
    let point = Point { x: 1.5, name: "p".into() };
    Scan {
        stamp: 3,
        frame_name: "base".into(),
        label: "l".into(),
        ranges: vec![0.5; 4],
        points: vec![point.clone(), point.clone()],
        first: Some(point),
    }
}

fn sent_as<E: Encode<Message = Scan>>(value: &E) -> Scan {
    let bytes = encode(value).expect("it is valid");
    Scan::from(decode::<Scan>(&bytes).expect("it is valid"))
}

#[test]
fn a_twin_is_received_as_its_message() {
    let point = || PointRef { x: 1.5, name: "p" };
    let mut fill = |ranges: &mut [f32]| ranges.fill(0.5);
    let twin = ScanRef {
        ranges: FillWith::new(4, &mut fill),
        _cached: 1,
        points: &[point(), point()],
        label: "l".into(),
        first: Some(point()),
        stamp: 3,
        frame_name: "base",
    };
    assert_eq!(sent_as(&twin), scan());
    assert_eq!(sent_as(&scan()), scan());
}

mod elsewhere {
    #[derive(msg_runtime::Message)]
    #[message(namespace = "demo")]
    pub(super) struct Hidden {
        value: u32,
    }

    impl Hidden {
        pub(super) fn value(view: HiddenView<'_>) -> u32 {
            view.value()
        }
    }
}

/// Its message's field is private, so that no accessor tells here what it is.
#[derive(Message)]
#[message(like = elsewhere::Hidden)]
struct Seen {
    value: u32,
}

#[derive(Message)]
#[message(like = elsewhere::Hidden)]
struct Mistaken {
    value: u64,
}

#[test]
fn a_twin_in_another_module_is_sent() {
    let bytes = encode(&Seen { value: 7 }).unwrap();
    assert_eq!(elsewhere::Hidden::value(decode::<elsewhere::Hidden>(&bytes).unwrap()), 7);
}

#[test]
#[should_panic(expected = "`value` of a twin is of another kind than that of its message")]
fn a_private_field_of_another_kind_is_never_sent() {
    let _ = encode(&Mistaken { value: 7 });
}
