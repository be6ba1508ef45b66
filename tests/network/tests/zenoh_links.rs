//! Links of Zenoh: dead, late, lost and found again, through routers, stopped.
#![cfg(feature = "zenoh")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_network_tests::zenoh::{Process, Router};
use msg_runtime::{DropCause, ErrorKind, Event, Publisher, Subscriber};
use msg_tests::{conformance::Note, server::free_port};
use std::{
    process::Command,
    sync::mpsc,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(60);
/// The number that ends `zenoh_peer receive`.
const LAST: u32 = u32::MAX;

fn note(number: u32) -> Note {
    Note { number, text: String::new(), bytes: Vec::new() }
}

/// Peers find each other on this host, and so do two runs of these tests.
fn topic(name: &str) -> String {
    format!("{name}-{}", std::process::id())
}

fn listens(port: u16) -> String {
    format!("zenoh;peer?listen=tcp://127.0.0.1:{port},iface=lo")
}

fn peer(arguments: &[&str]) -> Process {
    Process::start(Command::new(env!("CARGO_BIN_EXE_zenoh_peer")).args(arguments))
}

/// Why opening fails, and after how long.
fn failure(endpoint: &str) -> (String, Duration) {
    let start = Instant::now();
    let error = Subscriber::<Note>::open(endpoint).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreachable);
    (error.to_string(), start.elapsed())
}

/// Sends until a message arrives. Sending to nobody succeeds, so only that tells when a link is there.
fn meet(publisher: &Publisher<Note>, subscriber: &Subscriber<Note>) {
    let end = Instant::now() + PATIENCE;
    while subscriber.recv_timeout(Duration::from_millis(50)).is_err() {
        assert!(Instant::now() < end, "no message has arrived");
        publisher.send(&note(0)).unwrap();
    }
}

#[test]
fn a_refusing_endpoint_is_named_at_once() {
    let (one, other) = (free_port(), free_port());
    let endpoint = format!("zenoh;tcp://127.0.0.1:{one}+tcp://127.0.0.1:{other}?connect_timeout=30s");
    let (text, after) = failure(&endpoint);
    assert!(text.contains(&format!("tcp://127.0.0.1:{one} or tcp://127.0.0.1:{other}")), "{text}");
    assert!(text.contains("retry=true"), "{text}");
    assert!(after < Duration::from_secs(20), "{after:?}");
}

/// A peer that listens as well opens without the others, and says nothing.
#[test]
fn a_dead_endpoint_of_a_peer_is_named_after_its_time() {
    let (dead, own) = (free_port(), free_port());
    let endpoint = format!("zenoh;tcp://127.0.0.1:{dead}?listen=tcp://127.0.0.1:{own},connect_timeout=500ms");
    let (text, after) = failure(&endpoint);
    assert!(text.contains(&format!("tcp://127.0.0.1:{dead} within 500ms")), "{text}");
    assert!(after >= Duration::from_millis(500), "{after:?}");
}

/// Nothing answers there: packets to it vanish.
#[test]
fn a_silent_endpoint_is_given_up_in_time() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let (text, after) = failure(&format!("zenoh;tcp://{address}?connect_timeout=500ms"));
    assert!(text.contains(&format!("tcp://{address}")), "{text}");
    assert!(after < Duration::from_secs(20), "{after:?}");
}

#[test]
fn an_occupied_port_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (text, _) = failure(&listens(taken.local_addr().unwrap().port()));
    assert!(text.contains("in use"), "{text}");
}

#[test]
fn retrying_opens_anyway_and_finds_who_comes() {
    let port = free_port();
    let endpoint = format!("zenoh;tcp://127.0.0.1:{port}?retry=true");
    let (events, happened) = mpsc::channel();
    let early = Subscriber::<Note>::builder(&endpoint)
        .topic(topic("retry"))
        .on_event(move |event| events.send(event.clone()).unwrap())
        .open()
        .unwrap();
    assert!(happened.try_recv().is_err());
    let late = Publisher::<Note>::builder(&listens(port)).topic(topic("retry")).open().unwrap();
    assert_eq!(happened.recv_timeout(PATIENCE).unwrap(), Event::Connected);
    meet(&late, &early);
}

/// What waits when its handle goes is counted; nobody waits long for a link that never was.
#[test]
fn messages_for_nobody_reachable_are_counted_at_the_end() {
    let endpoint = format!("zenoh;tcp://127.0.0.1:{}?retry=true", free_port());
    let (events, happened) = mpsc::channel();
    let publisher = Publisher::<Note>::builder(&endpoint)
        .topic(topic("nobody"))
        .on_event(move |event| events.send(event.clone()).unwrap())
        .open()
        .unwrap();
    for number in 0..10 {
        publisher.send(&note(number)).unwrap();
    }
    let start = Instant::now();
    drop(publisher);
    assert!(start.elapsed() < Duration::from_secs(10));
    let dropped = Event::Dropped { count: 10, cause: DropCause::Unsent };
    assert_eq!(happened.recv_timeout(PATIENCE).unwrap(), dropped);
}

#[test]
fn a_killed_router_is_told_and_found_again() {
    let mut router = Router::start(&[]);
    let endpoint = format!("zenoh;{}", router.address());
    let other_session = format!("{endpoint}?connect_timeout=9s");
    let (events, happened) = mpsc::channel();
    let publisher = Publisher::<Note>::builder(&endpoint)
        .topic(topic("killed"))
        .on_event(move |event| events.send(event.clone()).unwrap())
        .open()
        .unwrap();
    let subscriber = Subscriber::<Note>::builder(&other_session).topic(topic("killed")).open().unwrap();
    assert_eq!(happened.recv_timeout(PATIENCE).unwrap(), Event::Connected);
    meet(&publisher, &subscriber);

    router.kill();
    let Event::Disconnected(why) = happened.recv_timeout(PATIENCE).unwrap() else { panic!() };
    assert!(why.contains(&router.address()), "{why}");
    for number in 0..3 {
        publisher.send(&note(number)).unwrap();
    }
    let mut unsent = 0;
    while unsent < 3 {
        match happened.recv_timeout(PATIENCE).unwrap() {
            Event::Dropped { count, cause: DropCause::Unsent } => unsent += count,
            event => panic!("{event}"),
        }
    }
    assert_eq!(publisher.stats().unsent, 3);

    router.restart();
    assert_eq!(happened.recv_timeout(PATIENCE).unwrap(), Event::Reconnected);
    meet(&publisher, &subscriber);
    assert_eq!(publisher.stats().reconnects, 1);
    assert!(publisher.last_error().unwrap().contains(&router.address()));
}

#[test]
fn two_routers_between_three_peers() {
    let first = Router::start(&[]);
    let second = Router::start(&[&first]);
    let at = |router: &Router, timeout| format!("zenoh;{}?connect_timeout={timeout}", router.address());
    let near = Subscriber::<Note>::builder(&at(&first, "9s")).topic(topic("routed")).open().unwrap();
    let far = Subscriber::<Note>::builder(&at(&second, "9s")).topic(topic("routed")).open().unwrap();
    let publisher = Publisher::<Note>::builder(&at(&first, "8s")).topic(topic("routed")).open().unwrap();
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    for number in 0..1000 {
        publisher.send(&note(number)).unwrap();
    }
    for subscriber in [&near, &far] {
        for number in 0..1000 {
            assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), number);
        }
        assert_eq!(subscriber.stats().lost, 0);
    }
}

/// Two clients of one peer talk through it.
#[test]
fn a_peer_passes_on_what_others_say() {
    let port = free_port();
    let between = Subscriber::<Note>::builder(&listens(port)).topic(topic("between")).open().unwrap();
    let client = |timeout| format!("zenoh;tcp://127.0.0.1:{port}?connect_timeout={timeout}");
    let early = Publisher::<Note>::builder(&client("8s")).topic(topic("between")).open().unwrap();
    let late = Subscriber::<Note>::builder(&client("9s")).topic(topic("between")).open().unwrap();
    assert!(early.wait_for_subscribers(2, PATIENCE));
    for number in 0..100 {
        early.send(&note(number)).unwrap();
    }
    for subscriber in [&between, &late] {
        for number in 0..100 {
            assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), number);
        }
    }
}

/// By itself Zenoh gives up after five seconds, and most messages with the link.
#[test]
fn a_subscriber_that_is_stopped_for_eight_seconds_gets_everything() {
    const COUNT: u32 = 3500;
    let port = free_port();
    let publisher = Publisher::<Note>::builder(&listens(port)).topic(topic("stopped")).open().unwrap();
    let mut stopped = peer(&["receive", &format!("zenoh;tcp://127.0.0.1:{port}"), &topic("stopped")]);
    stopped.expect("ready");
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    stopped.signal(libc::SIGSTOP);
    let end = Instant::now() + Duration::from_secs(8);
    // 35 MB: more than the sockets and Zenoh hold.
    let long = Note { bytes: vec![7; 10_000], ..note(0) };
    for _ in 0..COUNT {
        let start = Instant::now();
        publisher.send(&long).unwrap();
        assert!(start.elapsed() < Duration::from_secs(4), "sending does not wait for the link");
    }
    std::thread::sleep(end.saturating_duration_since(Instant::now()));
    stopped.signal(libc::SIGCONT);
    publisher.send(&note(LAST)).unwrap();
    stopped.expect(&format!("{} 0", COUNT + 1));
    assert_eq!(publisher.stats().unsent, 0);
}

/// The link is slower than we are: a full queue refuses, in the time that it was given.
#[test]
fn a_stopped_link_makes_sending_full_and_dropping_short() {
    let port = free_port();
    let endpoint = format!("{},queue=1MiB,timeout=100ms", listens(port));
    let publisher = Publisher::<Note>::builder(&endpoint).topic(topic("full")).open().unwrap();
    let mut stopped = peer(&["receive", &format!("zenoh;tcp://127.0.0.1:{port}"), &topic("full")]);
    stopped.expect("ready");
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    stopped.signal(libc::SIGSTOP);
    let long = Note { bytes: vec![7; 100_000], ..note(0) };
    let refused = (0..1000).find_map(|_| {
        let start = Instant::now();
        publisher.send(&long).err().map(|_| start.elapsed())
    });
    let after = refused.unwrap();
    assert!((Duration::from_millis(100)..Duration::from_secs(5)).contains(&after), "{after:?}");
    let start = Instant::now();
    assert!(publisher.try_send(&long).is_err());
    assert!(start.elapsed() < Duration::from_secs(1));
    let start = Instant::now();
    drop(publisher);
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
}

/// Case 10: everything is sent although `main` returns right after the last `send`; case 9: a single message too.
#[test]
fn what_is_sent_right_before_the_end_of_a_process_arrives() {
    let port = free_port();
    let (listen, connect) = (listens(port), format!("zenoh;tcp://127.0.0.1:{port}"));
    let subscriber = Subscriber::<Note>::builder(&listen).topic(topic("last")).open().unwrap();
    for (command, count) in [("publish", 1), ("exit", 1), ("publish", 100_000), ("exit", 1000)] {
        let publisher = peer(&[command, &connect, &topic("last"), &count.to_string()]);
        for number in 0..count {
            assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), number);
        }
        publisher.finish();
    }
    assert_eq!(subscriber.stats().lost, 0);
}

/// In a network without interfaces.
#[test]
fn a_peer_without_multicast_is_told_how_to_go_on() {
    let said = |endpoint: &str, setup: &str| {
        let script = format!("{setup} exec \"$0\" open \"$1\" topic");
        let rights: &[&str] = if is_root() { &["-n"] } else { &["-U", "-r", "-n"] };
        let mut command = Command::new("unshare");
        command.args(rights).args(["sh", "-c", &script, env!("CARGO_BIN_EXE_zenoh_peer"), endpoint]);
        Process::start(&mut command).line().unwrap()
    };
    let up = "ip link set lo up &&";
    let text = said("zenoh;peer", up);
    assert!(text.contains("multicast") && text.contains("zenoh;peer?listen=tcp://HOST:7447"), "{text}");
    assert!(text.contains("`zenoh;tcp://HOST:7447`"), "{text}");
    let text = said("zenoh;peer?iface=eth7", up);
    assert!(text.contains("no network interface `eth7`"), "{text}");
    let text = said("zenoh;peer?iface=lo", "true &&");
    assert!(text.contains("`lo` is down"), "{text}");
    assert_eq!(said("zenoh;peer?listen=tcp://127.0.0.1:7447", up), "open");
}

/// In a network of their own with an interface that has multicast.
#[test]
fn peers_find_each_other_by_multicast() {
    let script = "set -e; ip link set lo up; ip link add wire type veth peer name end; \
                  ip addr add 10.9.8.7/24 dev wire; ip link set wire up; ip link set end up; \
                  \"$0\" publish zenoh\\;peer?iface=wire found 100 & exec \"$0\" take zenoh\\;peer?iface=wire found 100";
    let rights: &[&str] = if is_root() { &["-n"] } else { &["-U", "-r", "-n"] };
    let mut command = Command::new("unshare");
    command.args(rights).args(["sh", "-c", script, env!("CARGO_BIN_EXE_zenoh_peer")]);
    let mut receiver = Process::start(&mut command);
    receiver.expect("100");
}

fn is_root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}
