//! Topics, their types and handles are found on every transport; types that do not go together are told of.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::{
    Event, Message, Publisher, Subscriber,
    topics::{Direction, TopicInfo, topics},
};
use std::{
    fs, process,
    sync::mpsc,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(30);
/// What a tool gives others for answering.
const WAIT: Duration = Duration::from_millis(500);

#[derive(Message)]
#[message(namespace = "topics")]
struct Speed {
    metres_per_second: f32,
}

/// The same name, another field.
mod other {
    use msg_runtime::Message;

    #[derive(Message)]
    #[message(namespace = "topics")]
    pub(crate) struct Speed {
        pub(crate) metres_per_second: f64,
    }
}

/// Asks until what is found is as expected: an answer may be under way.
fn find(endpoint: &str, topic: &str, expected: impl Fn(&TopicInfo) -> bool) -> TopicInfo {
    let start = Instant::now();
    loop {
        let found = topics(endpoint, WAIT).unwrap();
        let of_topic = found.iter().find(|info| info.topic == topic);
        match of_topic {
            Some(info) if expected(info) => return info.clone(),
            _ => assert!(start.elapsed() < PATIENCE, "{topic} is not as expected: {found:#?}"),
        }
    }
}

/// A publisher with one message sent and a subscriber with one received are found, and gone when they are dropped.
fn handles_are_found(endpoint: &str, topic: &str) {
    let subscriber = Subscriber::<Speed>::builder(endpoint).topic(topic).open().unwrap();
    let publisher = Publisher::<Speed>::builder(endpoint).topic(topic).open().unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.send(&Speed { metres_per_second: 1.5 }).unwrap();
    subscriber.recv_timeout(PATIENCE).unwrap();

    let counts = |info: &TopicInfo| info.handles.iter().map(|handle| handle.messages).collect::<Vec<_>>();
    let found = find(endpoint, topic, |info| counts(info) == [1, 1]);
    assert_eq!(found.type_name, "topics.Speed");
    assert_eq!(found.encoding, "flatbuffers");
    assert_eq!((found.fingerprint, &found.schema[..]), (Speed::fingerprint(), Speed::schema()));
    let directions: Vec<_> = found.handles.iter().map(|handle| handle.direction).collect();
    assert_eq!(directions, [Direction::Publisher, Direction::Subscriber]);
    for handle in &found.handles {
        assert_eq!(handle.pid, process::id());
        assert!(handle.program.starts_with("topics"), "{handle:?}");
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!((&*handle.host, handle.bytes > 0), (host.trim(), true), "{handle:?}");
    }

    drop(publisher);
    find(endpoint, topic, |info| info.handles.len() == 1);
    drop(subscriber);
    let start = Instant::now();
    while topics(endpoint, WAIT).unwrap().iter().any(|info| info.topic == topic) {
        assert!(start.elapsed() < PATIENCE, "the subscriber is gone");
    }
}

#[test]
fn handles_are_found_on_shared_memory() {
    handles_are_found(&format!("shm;topics-{}", process::id()), "speed");
}

#[test]
fn handles_are_found_inside_a_process() {
    handles_are_found("inproc;topics", "speed");
}

#[test]
fn files_that_are_no_rings_are_passed_over() {
    let channel = format!("topics-garbage-{}", process::id());
    let endpoint = format!("shm;{channel}");
    let _publisher = Publisher::<Speed>::open(&endpoint).unwrap();
    // As a ring of this channel is called, but for what is in it.
    let ours = fs::read_dir("/dev/shm").unwrap().map(|entry| entry.unwrap().path());
    let ours = ours.filter(|path| path.to_str().unwrap().contains(&format!(".{channel}.")));
    let data: Vec<_> = ours.filter(|path| path.to_str().unwrap().ends_with(".data")).collect();
    let name = data[0].to_str().unwrap();
    let (stem, _) = name.rsplit_once(&format!("{channel}.")).unwrap();
    let fake = |topic: &str, bytes: &[u8]| {
        let path = format!("{stem}{channel}.{topic}.data");
        fs::write(&path, bytes).unwrap();
        path
    };
    let whole = fs::read(&data[0]).unwrap();
    let fakes = [
        fake("0", b""),
        fake("11111111111111111111111111111111", &[0xff; 5000]),
        fake("22222222222222222222222222222222", &whole),
        fake("33333333333333333333333333333333", &whole[..200]),
        fake("no.number", b"msg.ring"),
    ];
    let found = topics(&endpoint, Duration::ZERO);
    fakes.iter().for_each(|path| fs::remove_file(path).unwrap());
    let found = found.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].topic, "topics.Speed");
}

/// A handle hears once of each other handle whose type it would misread.
fn types_that_conflict_are_told(endpoint: &str, topic: &str) {
    let (tell, told) = mpsc::channel();
    let subscriber = Subscriber::<Speed>::builder(endpoint)
        .topic(topic)
        .on_event(move |event| {
            if let Event::Incompatible { type_name, conflict, pid, .. } = event {
                tell.send((type_name.clone(), conflict.clone(), *pid)).unwrap();
            }
        })
        .open()
        .unwrap();
    let _same = Publisher::<Speed>::builder(endpoint).topic(topic).open().unwrap();
    let (tell_late, told_late) = mpsc::channel();
    let other = Publisher::<other::Speed>::builder(endpoint)
        .topic(topic)
        .on_event(move |event| {
            if let Event::Incompatible { conflict, .. } = event {
                tell_late.send(conflict.clone()).unwrap();
            }
        })
        .open()
        .unwrap();
    let conflict = "field `metres_per_second` of `topics.Speed`: ours is `float`, theirs is `double`";
    let expected = ("topics.Speed".to_owned(), conflict.to_owned(), process::id());
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), expected);
    assert!(subscriber.last_error().unwrap().contains(conflict));
    // The newcomer hears of both who were there.
    let reversed = "field `metres_per_second` of `topics.Speed`: ours is `double`, theirs is `float`";
    for _ in 0..2 {
        assert_eq!(told_late.recv_timeout(PATIENCE).unwrap(), reversed);
    }
    // Everybody says again what they are, and nobody is told again.
    topics(endpoint, WAIT).unwrap();
    drop(other);
    assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty));
    assert_eq!(told_late.try_recv().ok(), None);
}

#[test]
fn types_that_conflict_are_told_inside_a_process() {
    types_that_conflict_are_told("inproc;topics-conflict", "speed");
}

#[cfg(feature = "nats")]
mod nats {
    use super::*;
    use msg_tests::server::Server;

    #[test]
    fn handles_are_found_on_nats() {
        let server = Server::nats(&[]);
        handles_are_found(&format!("nats;{}", server.address()), "speed");
    }

    #[test]
    fn types_that_conflict_are_told_on_nats() {
        let server = Server::nats(&[]);
        types_that_conflict_are_told(&format!("nats;{}", server.address()), "speed");
    }

    #[test]
    fn without_announcements_nobody_can_be_found() {
        let server = Server::nats(&[]);
        let error = topics(&format!("nats;{}?announce=off", server.address()), WAIT).unwrap_err();
        assert_eq!(error.kind(), msg_runtime::ErrorKind::Unsupported);
        assert!(error.to_string().contains("`announce=off`"), "{error}");
    }
}
