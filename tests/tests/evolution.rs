//! Programs of different age on one ring: what was added is no hindrance, what changed is refused and named.

use std::{
    io::{BufRead as _, BufReader},
    process::{self, Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use msg_runtime::{
    ErrorKind, Message, Publisher, Subscriber,
    shm::{Description, Options, ShmPublisher, ShmSubscriber},
};

/// A channel that no other test has.
fn endpoint() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("shm;evolution-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

mod old {
    use msg_runtime::{Message, Open};

    #[derive(Message, Clone, Copy, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    #[repr(u8)]
    pub(super) enum Mode {
        Idle,
        Busy,
    }

    #[derive(Message, Clone, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    pub(super) struct Imu {
        pub(super) sequence: u64,
        pub(super) frame: String,
        pub(super) mode: Open<Mode>,
    }
}

/// Fields at the end, one of them with a default; an enumerator; one field is deprecated.
mod new {
    use msg_runtime::{Message, Open};

    #[derive(Message, Clone, Copy, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    #[repr(u8)]
    pub(super) enum Mode {
        Idle,
        Busy,
        Broken,
    }

    #[derive(Message, Clone, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    pub(super) struct Imu {
        pub(super) sequence: u64,
        pub(super) frame: String,
        pub(super) mode: Open<Mode>,
        #[message(default = 20.0)]
        pub(super) temperature: f32,
        pub(super) samples: Vec<f32>,
        pub(super) note: Option<String>,
    }
}

fn old(sequence: u64) -> old::Imu {
    old::Imu { sequence, frame: "base".into(), mode: old::Mode::Busy.into() }
}

fn new(sequence: u64) -> new::Imu {
    let (frame, mode) = ("base".into(), new::Mode::Broken.into());
    new::Imu { sequence, frame, mode, temperature: 36.5, samples: vec![1.0, 2.0], note: Some("new".into()) }
}

/// Opens both handles, the publisher or the subscriber first.
fn open<P: Message, S: Message>(publisher_first: bool) -> (Publisher<P>, Subscriber<S>) {
    let endpoint = endpoint();
    if publisher_first {
        let publisher = Publisher::open(&endpoint).expect("the ring is free");
        return (publisher, Subscriber::open(&endpoint).expect("the ring is free"));
    }
    let subscriber = Subscriber::open(&endpoint).expect("the ring is free");
    (Publisher::open(&endpoint).expect("the ring is free"), subscriber)
}

#[test]
fn an_old_reader_reads_new_messages() {
    for publisher_first in [true, false] {
        let (publisher, subscriber) = open::<new::Imu, old::Imu>(publisher_first);
        publisher.send(&new(1)).unwrap();
        let read = subscriber.recv().unwrap().to_owned();
        assert_eq!((read.sequence, read.frame.as_str()), (1, "base"));
        assert_eq!(read.mode.number(), 2, "an enumerator that it does not know is a number");
        assert_eq!(subscriber.stats().invalid, 0);
    }
}

#[test]
fn a_new_reader_gets_defaults_from_old_messages() {
    for publisher_first in [true, false] {
        let (publisher, subscriber) = open::<old::Imu, new::Imu>(publisher_first);
        publisher.send(&old(1)).unwrap();
        let expected = new::Imu {
            sequence: 1,
            frame: "base".into(),
            mode: new::Mode::Busy.into(),
            temperature: 20.0,
            samples: Vec::new(),
            note: None,
        };
        assert_eq!(subscriber.recv().unwrap().to_owned(), expected);
    }
}

/// A ring keeps the description that it was made with; old and new ones join it in any order.
#[test]
fn many_of_both_ages_share_a_ring() {
    let endpoint = endpoint();
    let old_publisher = Publisher::<old::Imu>::open(&endpoint).unwrap();
    let new_subscriber = Subscriber::<new::Imu>::open(&endpoint).unwrap();
    let old_subscriber = Subscriber::<old::Imu>::open(&endpoint).unwrap();
    let new_publisher = Publisher::<new::Imu>::open(&endpoint).unwrap();
    old_publisher.send(&old(1)).unwrap();
    new_publisher.send(&new(2)).unwrap();
    assert_eq!([(); 2].map(|()| old_subscriber.recv().unwrap().view().sequence()), [1, 2]);
    assert_eq!([(); 2].map(|()| new_subscriber.recv().unwrap().view().temperature()), [20.0, 36.5]);
}

/// Ids and a placeholder: the order of declaration says nothing, what went away keeps its place.
#[test]
fn reordered_fields_and_placeholders() {
    mod newer {
        use msg_runtime::{Message, Open};

        #[derive(Message, Clone, Debug, PartialEq)]
        #[message(namespace = "evolution")]
        pub(super) struct Imu {
            #[message(id = 3)]
            pub(super) range: f64,
            #[message(id = 2)]
            pub(super) mode: Open<super::old::Mode>,
            #[message(id = 1, deprecated)]
            pub(super) frame: String,
            #[message(id = 0)]
            pub(super) sequence: u64,
        }
    }
    #[allow(deprecated)]
    let message = newer::Imu { range: 0.5, mode: old::Mode::Busy.into(), frame: String::new(), sequence: 7 };
    for publisher_first in [true, false] {
        let (publisher, subscriber) = open::<newer::Imu, old::Imu>(publisher_first);
        publisher.send(&message).unwrap();
        let expected = old::Imu { sequence: 7, frame: String::new(), mode: old::Mode::Busy.into() };
        assert_eq!(subscriber.recv().unwrap().to_owned(), expected);
        let (publisher, subscriber) = open::<old::Imu, newer::Imu>(publisher_first);
        publisher.send(&old(8)).unwrap();
        let sample = subscriber.recv().unwrap();
        assert_eq!((sample.view().sequence(), sample.view().range()), (8, 0.0));
    }
}

/// Everything in the way is named: both types, the field, and what each side has.
fn refused<Theirs: Message, Ours: Message>(parts: &[&str]) {
    let check = |result: Result<(), msg_runtime::Error>| {
        let error = result.expect_err("the types do not go together");
        assert_eq!(error.kind(), ErrorKind::Incompatible, "{error}");
        let text = error.to_string();
        for part in parts.iter().chain(&[
            "channel `evolution-",
            "in use with type `evolution.Imu`, ours is `",
            "use one type everywhere",
        ]) {
            assert!(text.contains(part), "{text:?} lacks {part}");
        }
    };
    let (one, other) = (endpoint(), endpoint());
    let _publisher = Publisher::<Theirs>::open(&one).expect("the ring is free");
    check(Subscriber::<Ours>::open(&one).map(drop));
    check(Publisher::<Ours>::open(&one).map(drop));
    let _subscriber = Subscriber::<Theirs>::open(&other).expect("the ring is free");
    check(Subscriber::<Ours>::open(&other).map(drop));
    check(Publisher::<Ours>::open(&other).map(drop));
}

mod base {
    #[derive(msg_runtime::Message, Clone, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    pub(super) struct Imu {
        #[message(default = 1)]
        pub(super) x: i32,
        pub(super) y: f32,
    }
}

mod retyped {
    #[derive(msg_runtime::Message, Clone, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    pub(super) struct Imu {
        #[message(default = 1)]
        pub(super) x: i32,
        pub(super) y: f64,
    }
}

mod moved {
    #[derive(msg_runtime::Message, Clone, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    pub(super) struct Imu {
        pub(super) y: f32,
        #[message(default = 1)]
        pub(super) x: i32,
    }
}

mod other_default {
    #[derive(msg_runtime::Message, Clone, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    pub(super) struct Imu {
        #[message(default = 2)]
        pub(super) x: i32,
        pub(super) y: f32,
    }
}

mod requiring {
    #[derive(msg_runtime::Message, Clone, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    pub(super) struct Imu {
        #[message(default = 1)]
        pub(super) x: i32,
        pub(super) y: f32,
        #[message(required)]
        pub(super) name: String,
    }
}

mod left {
    #[derive(msg_runtime::Message, Clone, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    pub(super) struct Imu {
        #[message(default = 1)]
        pub(super) x: i32,
        pub(super) y: f32,
        pub(super) temperature: f32,
    }
}

mod right {
    #[derive(msg_runtime::Message, Clone, Debug, PartialEq)]
    #[message(namespace = "evolution")]
    pub(super) struct Imu {
        #[message(default = 1)]
        pub(super) x: i32,
        pub(super) y: f32,
        pub(super) voltage: f32,
    }
}

#[test]
fn a_changed_field_is_refused_and_named() {
    refused::<base::Imu, retyped::Imu>(&["field `y`", "ours is `double`, theirs is `float`"]);
    refused::<retyped::Imu, base::Imu>(&["field `y`", "ours is `float`, theirs is `double`"]);
    refused::<base::Imu, moved::Imu>(&["field `y`", "ours is id 0, theirs is id 1"]);
    refused::<base::Imu, other_default::Imu>(&["field `x`", "the default of ours is `2`, of theirs `1`"]);
    refused::<base::Imu, requiring::Imu>(&["field `name`", "ours has it and requires it"]);
    refused::<requiring::Imu, base::Imu>(&["field `name`", "theirs has it and requires it"]);
}

/// Two branches of a type that both added a field at the end: nobody can tell that from one field with a new name.
#[test]
fn two_names_for_one_place_are_refused() {
    refused::<left::Imu, right::Imu>(&["field `voltage`", "theirs has `temperature` in its place"]);
}

/// The fields are the same; the names say that they mean something else.
#[test]
fn a_type_with_another_name_is_refused() {
    mod other {
        #[derive(msg_runtime::Message)]
        #[message(namespace = "elsewhere", topic = "evolution.Imu")]
        pub(super) struct Imu {
            #[message(default = 1)]
            pub(super) x: i32,
            pub(super) y: f32,
        }
    }
    refused::<base::Imu, other::Imu>(&[
        "type `evolution.Imu`",
        "ours is `elsewhere.Imu`",
        "the names differ",
    ]);
    let _unused = other::Imu { x: 0, y: 0.0 };
}

/// The ring alone knows no schemas: descriptions have to be equal unless whoever opens it can judge them.
#[test]
fn the_ring_asks_whoever_opens_it() {
    let endpoint = endpoint();
    let channel = endpoint.strip_prefix("shm;").unwrap();
    let options = |fingerprint| {
        let description = Description { type_name: "a.B".into(), fingerprint, schema: vec![1] };
        Options::new(channel, "topic").description(description)
    };
    let _first = ShmPublisher::open(&options(1)).unwrap();
    let error = ShmSubscriber::open(&options(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.to_string().contains("carries `a.B` (fingerprint 0000000000000001)"), "{error}");
    let knows = |ours: &Description, theirs: &Description| match (ours.fingerprint, theirs.fingerprint) {
        (2, 1) => Ok(()),
        _ => Err("not these".to_owned()),
    };
    let subscriber = ShmSubscriber::open(&options(2).check(knows)).unwrap();
    assert_eq!(subscriber.description().fingerprint, 1, "the ring keeps what it was made with");
    let error = ShmSubscriber::open(&options(3).check(knows)).unwrap_err();
    assert!(error.to_string().ends_with("not these"), "{error}");
    assert!(ShmSubscriber::open(&Options::new(channel, "topic").check(knows)).is_ok(), "unspecified");
}

const CHILD_ENDPOINT: &str = "MSG_TESTS_EVOLUTION_ENDPOINT";

/// Not a test by itself: the process that `a_ring_of_the_dead_is_replaced_in_silence` kills.
#[test]
#[ignore = "started by another test"]
fn child_with_the_old_type() {
    let endpoint = std::env::var(CHILD_ENDPOINT).expect("the parent names an endpoint");
    let publisher = Publisher::<base::Imu>::open(&endpoint).unwrap();
    let _subscriber = Subscriber::<base::Imu>::open(&endpoint).unwrap();
    publisher.send(&base::Imu { x: 1, y: 2.0 }).unwrap();
    println!("\nready");
    // Until the parent is gone or kills us.
    let _ = std::io::stdin().read_line(&mut String::new());
}

fn start_child(endpoint: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("a test has a file"))
        .args(["child_with_the_old_type", "--exact", "--ignored", "--nocapture"])
        .env(CHILD_ENDPOINT, endpoint)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the child starts");
    let output = child.stdout.take().expect("its output is a pipe");
    let mut lines = BufReader::new(output).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line == "ready")), "the child has opened its handles");
    child
}

#[test]
fn a_ring_of_the_dead_is_replaced_in_silence() {
    let endpoint = endpoint();
    let mut child = start_child(&endpoint);
    // With somebody alive, the error names both types and the field.
    let error = Publisher::<retyped::Imu>::open(&endpoint).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.to_string().contains("field `y` of `evolution.Imu`: ours is `double`"), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    let publisher = Publisher::<retyped::Imu>::open(&endpoint).unwrap();
    let subscriber = Subscriber::<retyped::Imu>::open(&endpoint).unwrap();
    publisher.send(&retyped::Imu { x: 3, y: 0.25 }).unwrap();
    assert_eq!(subscriber.recv().unwrap().to_owned(), retyped::Imu { x: 3, y: 0.25 });
    assert_eq!(subscriber.stats().invalid, 0);
}
