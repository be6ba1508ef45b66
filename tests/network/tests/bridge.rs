//! Bridges carry topics from one endpoint to another, whole, counted, typed, and around no circle.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::{
    Compression, Endpoint, ErrorKind, Message, Publisher, Subscriber,
    bridge::{Bridge, BridgeStats},
    shm::{Options, ShmSubscriber},
    topics::topics,
};
use std::{
    process,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(30);
/// Nothing is expected to come in this time.
const MOMENT: Duration = Duration::from_millis(200);

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "bridge")]
struct Note {
    number: u32,
    text: String,
}

fn note(number: u32) -> Note {
    Note { number, text: "text that repeats itself, ".repeat(20) }
}

fn channel() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("bridge-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Shared memory with room for everything that a test sends before it receives.
fn shm() -> String {
    format!("shm;{}?slots=256", channel())
}

fn subscriber(endpoint: &str) -> Subscriber<Note> {
    Subscriber::open(endpoint).unwrap()
}

/// A publisher that the bridge's end has found, beside so many other subscribers.
fn publisher(endpoint: &str, subscribers: usize) -> Publisher<Note> {
    let publisher = Publisher::open(endpoint).unwrap();
    assert!(publisher.wait_for_subscribers(subscribers + 1, PATIENCE), "the bridge is there");
    publisher
}

/// Receives these numbers, and nothing else.
fn expect(subscriber: &Subscriber<Note>, numbers: std::ops::Range<u32>) {
    for number in numbers {
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().to_owned(), note(number));
    }
    let more = subscriber.recv_timeout(MOMENT);
    assert!(more.is_err(), "{more:?}");
}

/// The bridge's counts, once they are as expected.
fn counts(bridge: &Bridge, expected: impl Fn(&BridgeStats) -> bool) -> BridgeStats {
    let start = Instant::now();
    loop {
        let stats = bridge.stats();
        if expected(&stats) {
            return stats;
        }
        assert!(start.elapsed() < PATIENCE, "{bridge:?}");
        std::thread::yield_now();
    }
}

/// A hundred messages go over, and are counted; the types on the other side are checked.
fn messages_go_over(from: &str, to: &str) {
    let there = subscriber(to);
    let bridge = Bridge::open(from, to).unwrap();
    let here = publisher(from, 0);
    (0..100).for_each(|number| here.send(&note(number)).unwrap());
    expect(&there, 0..100);
    let stats = counts(&bridge, |stats| stats.forwarded == 100);
    assert_eq!((stats.seen, stats.refused, stats.invalid, stats.lost), (0, 0, 0, 0));
    assert!(stats.bytes > 0);
    let carried = bridge.topics();
    assert_eq!(carried.len(), 1);
    assert_eq!((&*carried[0].topic, &*carried[0].type_name), ("bridge.Note", "bridge.Note"));
    assert_eq!(there.stats().lost, 0);
}

/// Two bridges in opposite directions carry what is published on either side, once.
fn circles_end(here: &str, there: &str) {
    let (here_subscriber, there_subscriber) = (subscriber(here), subscriber(there));
    let forth = Bridge::builder(here, there).topic("bridge.Note").open().unwrap();
    let back = Bridge::builder(there, here).topic("bridge.Note").open().unwrap();
    let here_publisher = publisher(here, 1);
    let there_publisher = publisher(there, 1);
    (0..50).for_each(|number| here_publisher.send(&note(number)).unwrap());
    expect(&here_subscriber, 0..50);
    expect(&there_subscriber, 0..50);
    (50..100).for_each(|number| there_publisher.send(&note(number)).unwrap());
    expect(&there_subscriber, 50..100);
    expect(&here_subscriber, 50..100);
    // Around once at most, and then nothing moves.
    assert!(forth.stats().forwarded <= 100, "{forth:?}");
    assert!(back.stats().forwarded <= 100, "{back:?}");
    let before = (forth.stats(), back.stats());
    std::thread::sleep(MOMENT);
    assert_eq!((forth.stats(), back.stats()), before);
}

#[test]
fn from_shared_memory_into_the_process() {
    messages_go_over(&shm(), &format!("inproc;{}", channel()));
}

#[test]
fn from_the_process_to_shared_memory() {
    messages_go_over(&format!("inproc;{}", channel()), &shm());
}

#[test]
fn from_one_channel_to_another() {
    messages_go_over(&shm(), &shm());
}

#[test]
fn circles_of_shared_memory_end() {
    circles_end(&shm(), &shm());
}

#[test]
fn circles_through_the_process_end() {
    circles_end(&shm(), &format!("inproc;{}", channel()));
}

#[test]
fn a_type_that_does_not_go_with_the_other_side_is_refused_there() {
    mod other {
        use msg_runtime::Message;

        #[derive(Message)]
        #[message(namespace = "bridge")]
        pub(super) struct Note {
            number: f64,
        }
    }
    let (from, to) = (shm(), shm());
    let _there = Subscriber::<other::Note>::open(&to).unwrap();
    let _here = Publisher::<Note>::open(&from).unwrap();
    let error = Bridge::open(&from, &to).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.to_string().starts_with("topic `bridge.Note`: "), "{error}");
}

#[test]
fn both_ends_in_one_place_are_refused() {
    let channel = channel();
    let error = Bridge::open(&format!("shm;{channel}"), &format!("shm;{channel}?slots=4")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidEndpoint);
}

#[test]
fn what_the_other_side_cannot_take_is_counted() {
    let (from, to) = (shm(), format!("shm;{}?size=64B", channel()));
    let _there = subscriber(&to);
    let bridge = Bridge::open(&from, &to).unwrap();
    let here = publisher(&from, 0);
    here.send(&note(1)).unwrap();
    counts(&bridge, |stats| stats.refused == 1);
    let last_error = bridge.topics()[0].last_error.clone().unwrap();
    assert!(last_error.contains("64"), "{last_error}");
}

/// Bytes of the next message as it lies in the ring, and how it says it is compressed.
fn lies(ring: &ShmSubscriber) -> (usize, u8) {
    let sample = ring.recv_timeout(PATIENCE).unwrap();
    (sample.len(), sample.info().header_byte)
}

#[test]
fn messages_pass_as_they_came_or_are_compressed_anew() {
    let check = |published: &str, to: &str, header: u8| {
        let (from, to_channel) = (channel(), channel());
        let to = format!("shm;{to}{to_channel}");
        let ring = ShmSubscriber::open(&Options::new(&to_channel, "bridge.Note")).unwrap();
        let typed = subscriber(&to);
        let _bridge = Bridge::open(&format!("shm;{from}"), &to).unwrap();
        let here = publisher(&format!("shm;{published}{from}"), 0);
        here.send(&note(7)).unwrap();
        assert_eq!(typed.recv_timeout(PATIENCE).unwrap().to_owned(), note(7));
        let (len, found) = lies(&ring);
        assert_eq!(found, header, "{published} {to}");
        assert_eq!(len < 300, header != 0, "{len} bytes");
    };
    check("", "", 0);
    check("lz4;", "", 1);
    check("", "lz4;", 1);
    check("", "zstd:3;", 2);
    check("lz4;", "zstd:3;", 2);
    let endpoint: Endpoint = "shm;none;x".parse().unwrap();
    assert_eq!(endpoint.compression, Compression::None);
}

#[test]
fn a_topic_that_comes_later_is_carried() {
    let (from, to) = (shm(), format!("inproc;{}", channel()));
    let bridge = Bridge::open(&from, &to).unwrap();
    assert!(bridge.topics().is_empty());
    let there = Subscriber::<Note>::builder(&to).topic("late").open().unwrap();
    let here = Publisher::<Note>::builder(&from).topic("late").open().unwrap();
    assert!(here.wait_for_subscribers(1, PATIENCE));
    here.send(&note(3)).unwrap();
    assert_eq!(there.recv_timeout(PATIENCE).unwrap().to_owned(), note(3));
    drop(bridge);
    let ended = Instant::now();
    while topics(&to, Duration::ZERO).unwrap()[0].handles.len() > 1 {
        assert!(ended.elapsed() < PATIENCE);
    }
}

#[cfg(feature = "nats")]
mod nats {
    use super::*;
    use msg_tests::server::Server;

    #[test]
    fn from_shared_memory_to_nats_and_back() {
        let server = Server::nats(&[]);
        let nats = format!("nats;{}", server.address());
        messages_go_over(&shm(), &nats);
        let server = Server::nats(&[]);
        let nats = format!("nats;lz4;{}", server.address());
        messages_go_over(&nats, &shm());
    }

    #[test]
    fn publishers_keep_their_numbers_across_nats() {
        let (from, to, server) = (shm(), shm(), Server::nats(&[]));
        let nats = format!("nats;{}", server.address());
        let there = subscriber(&to);
        let between = subscriber(&nats);
        let _back = Bridge::builder(&nats, &to).topic("bridge.Note").open().unwrap();
        let _forth = Bridge::builder(&from, &nats).topic("bridge.Note").open().unwrap();
        let (first, second) = (publisher(&from, 0), publisher(&from, 0));
        for number in 0..50 {
            [&first, &second][number as usize % 2].send(&note(number)).unwrap();
        }
        let mut origin = None;
        for number in 0..50 {
            let sample = between.recv_timeout(PATIENCE).unwrap();
            assert_eq!(sample.info().sequence, Some(number));
            assert_eq!(sample.info().lost, Some(0));
            assert!(sample.info().age().unwrap() < PATIENCE);
            assert_eq!(*origin.get_or_insert(sample.info().publisher), sample.info().publisher);
        }
        for _ in 0..50 {
            assert_eq!(there.recv_timeout(PATIENCE).unwrap().info().publisher, origin.unwrap());
        }
    }

    #[test]
    fn circles_through_nats_end() {
        let server = Server::nats(&[]);
        circles_end(&shm(), &format!("nats;{}", server.address()));
    }

    #[test]
    fn a_circle_without_stamps_is_refused() {
        let server = Server::nats(&[]);
        let nats = format!("nats;{}?stamp=off", server.address());
        let shm = shm();
        let _here = Publisher::<Note>::open(&shm).unwrap();
        let _forth = Bridge::open(&shm, &nats).unwrap();
        let error = Bridge::builder(&nats, &shm).topic("bridge.Note").open().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.to_string().contains("nobody could tell what has been around"), "{error}");
        // All topics: what only the first bridge brings is left alone.
        let back = Bridge::open(&nats, &shm).unwrap();
        assert!(back.topics().is_empty(), "{back:?}");
    }
}
