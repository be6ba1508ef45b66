//! Redis servers that are not there, refuse, die, fall silent and cut off: what `open` says, what is counted, what comes
//! back.
#![cfg(feature = "redis")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::{ErrorKind, Event, Publisher, Subscriber, error::FlushError};
use msg_tests::{
    conformance::{Note, Place},
    relay::Relay,
    server::{Server, free_port},
};
use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(30);

fn note(number: u32) -> Note {
    Note { number, text: String::new(), bytes: vec![] }
}

fn place(port: u16, options: &str) -> Place {
    Place::new(format!("redis;127.0.0.1:{port}?announce=off{options}"))
}

/// Handles that tell what happens to them.
fn watched(
    place: &Place,
) -> (Publisher<Note>, mpsc::Receiver<Event>, Subscriber<Note>, mpsc::Receiver<Event>) {
    let (sender, subscriber_events) = mpsc::channel();
    let subscriber = Subscriber::builder(&place.endpoint)
        .topic(&place.topic)
        .on_event(move |event| _ = sender.send(event.clone()))
        .open()
        .unwrap();
    let (sender, publisher_events) = mpsc::channel();
    let publisher = Publisher::builder(&place.endpoint)
        .topic(&place.topic)
        .on_event(move |event| _ = sender.send(event.clone()))
        .open()
        .unwrap();
    (publisher, publisher_events, subscriber, subscriber_events)
}

/// Waits for an event, past others.
fn wait_for(events: &mpsc::Receiver<Event>, wanted: fn(&Event) -> bool) -> Event {
    let end = Instant::now() + PATIENCE;
    loop {
        let event = events.recv_timeout(end.saturating_duration_since(Instant::now())).unwrap();
        if wanted(&event) {
            return event;
        }
    }
}

fn is_disconnected(event: &Event) -> bool {
    matches!(event, Event::Disconnected(_))
}

/// Says a line to a server and gives the first line of its answer.
fn tell(port: u16, line: &str) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.write_all(format!("{line}\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    answer
}

/// How opening both ends fails.
fn refused(endpoint: &str) -> [msg_runtime::Error; 2] {
    [Publisher::<Note>::open(endpoint).unwrap_err(), Subscriber::<Note>::open(endpoint).unwrap_err()]
}

#[test]
fn an_absent_server_is_named() {
    let port = free_port();
    for error in refused(&format!("redis;localhost:{port}")) {
        assert_eq!(error.kind(), ErrorKind::Unreachable);
        let text = error.to_string();
        assert!(text.starts_with(&format!("cannot connect to redis server localhost:{port}: ")), "{text}");
        assert!(text.contains("refused") && text.contains("retry=true"), "{text}");
    }
    let error = Publisher::<Note>::open("redis;unix:/nowhere/redis.sock").unwrap_err();
    assert!(error.to_string().starts_with("cannot connect to redis server unix:/nowhere/redis.sock: "));
}

#[test]
fn a_silent_server_takes_no_longer_than_connecting_may() {
    // It accepts by itself, and never answers.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let start = Instant::now();
    for error in refused(&format!("redis;{address}?connect_timeout=200ms")) {
        assert_eq!(error.kind(), ErrorKind::Unreachable);
        assert_eq!(error.to_string(), format!("redis server {address} does not answer within 200ms"));
    }
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn who_is_no_redis_server_is_told_from_one() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            client.unwrap().write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        }
    });
    for error in refused(&format!("redis;{address}")) {
        let text = error.to_string();
        assert!(text.contains("is it a Redis server"), "{text}");
    }
}

#[test]
fn with_retry_a_handle_opens_without_a_server_and_finds_it_later() {
    let mut server = Server::redis(&[]);
    server.kill();
    let place = place(server.port(), ",retry=true");
    let (publisher, publisher_events, subscriber, subscriber_events) = watched(&place);
    let error = publisher.last_error().unwrap();
    assert!(error.contains("refused"), "{error}");
    publisher.send(&note(1)).unwrap();
    assert_eq!(publisher.flush(Duration::from_millis(50)), Err(FlushError::Timeout { unsent: 1 }));
    assert_eq!(publisher.stats().queued, 1);
    server.restart();
    assert_eq!(publisher_events.recv_timeout(PATIENCE).unwrap(), Event::Connected);
    assert_eq!(subscriber_events.recv_timeout(PATIENCE).unwrap(), Event::Connected);
    publisher.flush(PATIENCE).unwrap();
    publisher.send(&note(2)).unwrap();
    // The first one arrives if the subscriber was there before the publisher.
    while subscriber.recv_timeout(PATIENCE).unwrap().view().number() != 2 {}
    publisher.flush(PATIENCE).unwrap();
    assert_eq!((publisher.stats().queued, publisher.stats().unsent), (0, 0));
}

#[test]
fn a_wrong_password_is_refused_at_open_and_shown_nowhere() {
    let server = Server::redis(&[
        "--requirepass",
        "right@secret",
        "--user",
        "alice",
        "on",
        ">topsecret",
        "&*",
        "+@all",
    ]);
    let address = server.address();
    // Without a password a client of this server connects, and would fail later.
    let attempts = [
        (format!("redis;{address}"), "NOAUTH"),
        (format!("redis;:wrong-secret@{address}"), "WRONGPASS"),
        (format!("redis;alice:wrong-secret@{address}"), "WRONGPASS"),
        (format!("redis;nobody:wrong-secret@{address}?connect_timeout=1s"), "WRONGPASS"),
    ];
    for (endpoint, reason) in attempts {
        for error in refused(&endpoint) {
            assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
            let text = format!("{error} {error:?}");
            assert!(text.contains(reason) && text.contains(&address), "{text}");
            assert!(!text.contains("secret"), "{text}");
        }
    }
    for endpoint in [format!("redis;:right%40secret@{address}/3"), format!("redis;alice:topsecret@{address}")]
    {
        let place = Place::new(endpoint.as_str());
        let subscriber = place.subscriber::<Note>();
        let publisher = place.publisher(1);
        publisher.send(&note(1)).unwrap();
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), 1);
        assert!(!format!("{publisher:?} {subscriber:?}").contains("secret"));
    }
    // With a password that was not asked for, something is wrong as well.
    let open = Server::redis(&[]);
    for error in refused(&format!("redis;:secret@{}", open.address())) {
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[test]
fn a_password_that_is_changed_keeps_out_who_reconnects() {
    let server = Server::redis(&["--requirepass", "first-secret"]);
    let (publisher, publisher_events, _subscriber, _) =
        watched(&Place::new(format!("redis;:first-secret@{}?announce=off", server.address())));
    let mut control = TcpStream::connect(server.address()).unwrap();
    let commands = "AUTH first-secret\r\nCONFIG SET requirepass second-secret\r\nCLIENT KILL TYPE normal\r\n";
    control.write_all(commands.as_bytes()).unwrap();
    wait_for(&publisher_events, is_disconnected);
    let end = Instant::now() + PATIENCE;
    while !publisher.last_error().unwrap().contains("WRONGPASS") {
        assert!(Instant::now() < end, "{:?}", publisher.last_error());
        thread::yield_now();
    }
    let shown = format!("{publisher:?} {:?}", publisher.last_error());
    assert!(!shown.contains("secret"), "{shown}");
}

/// Each message that is sent while there is no server waits, and each that was under way is counted.
#[test]
fn a_server_that_is_killed_and_restarted_gets_what_waits() {
    let mut server = Server::redis(&[]);
    let place = place(server.port(), "");
    let (publisher, publisher_events, subscriber, subscriber_events) = watched(&place);
    publisher.send(&note(0)).unwrap();
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), 0);
    server.kill();
    let reason = wait_for(&publisher_events, is_disconnected).to_string();
    assert!(reason.contains(&format!("redis server 127.0.0.1:{}", server.port())), "{reason}");
    wait_for(&subscriber_events, is_disconnected);
    for number in 1..4 {
        publisher.send(&note(number)).unwrap();
    }
    let start = Instant::now();
    assert_eq!(publisher.flush(Duration::from_millis(200)), Err(FlushError::Timeout { unsent: 3 }));
    assert!(start.elapsed() < Duration::from_secs(2), "flush keeps its time");
    server.restart();
    wait_for(&publisher_events, |event| *event == Event::Reconnected);
    wait_for(&subscriber_events, |event| *event == Event::Reconnected);
    publisher.flush(PATIENCE).unwrap();
    for number in 10..20 {
        publisher.send(&note(number)).unwrap();
    }
    let numbers = std::iter::from_fn(|| Some(subscriber.recv_timeout(PATIENCE).unwrap().view().number()));
    let after: Vec<u32> = numbers.skip_while(|&number| number < 10).take(10).collect();
    assert_eq!(after, (10..20).collect::<Vec<_>>());
    publisher.flush(PATIENCE).unwrap();
    let (sent, got) = (publisher.stats(), subscriber.stats());
    assert_eq!((sent.messages, sent.unsent, sent.queued), (14, 0, 0));
    assert_eq!((sent.reconnects, got.reconnects), (1, 1));
}

/// What was written and not answered may have arrived or not: it is counted, and not sent twice.
#[test]
fn messages_under_way_when_the_link_breaks_are_counted_as_unsent() {
    let server = Server::redis(&[]);
    let relay = Relay::to(server.port());
    let (publisher, publisher_events, ..) = watched(&place(relay.port(), ""));
    publisher.send(&note(0)).unwrap();
    publisher.flush(PATIENCE).unwrap();
    relay.stop();
    publisher.send(&note(1)).unwrap();
    assert_eq!(publisher.flush(Duration::from_millis(50)), Err(FlushError::Timeout { unsent: 1 }));
    wait_for(&publisher_events, is_disconnected);
    publisher.send(&note(2)).unwrap();
    relay.resume();
    wait_for(&publisher_events, |event| *event == Event::Reconnected);
    let end = Instant::now() + PATIENCE;
    while publisher.stats().queued > 0 {
        assert!(Instant::now() < end);
        thread::yield_now();
    }
    // The first was written to the old link; the second waited for the new one.
    assert_eq!(publisher.stats().unsent, 1);
    assert_eq!(publisher.flush(PATIENCE), Err(FlushError::Timeout { unsent: 0 }), "one was given up");
    assert_eq!(publisher.flush(PATIENCE), Ok(()));
}

#[test]
fn subscribers_whose_links_are_cut_are_back_within_a_second() {
    let server = Server::redis(&[]);
    let place = place(server.port(), "");
    let (publisher, _, subscriber, events) = watched(&place);
    let (stop, stopped) = mpsc::channel::<()>();
    let publisher = &publisher;
    thread::scope(|scope| {
        let publish = scope.spawn(move || {
            // 1 kHz.
            let mut sent = 0;
            while stopped.recv_timeout(Duration::from_millis(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
                publisher.send(&note(sent)).unwrap();
                sent += 1;
            }
            sent
        });
        for _ in 0..200 {
            subscriber.recv_timeout(PATIENCE).unwrap();
        }
        let cut = Instant::now();
        assert_eq!(tell(server.port(), "CLIENT KILL TYPE pubsub"), ":1\r\n");
        wait_for(&events, |event| *event == Event::Reconnected);
        let away = cut.elapsed();
        assert!(away < Duration::from_secs(1), "{away:?}");
        for _ in 0..200 {
            subscriber.recv_timeout(PATIENCE).unwrap();
        }
        drop(stop);
        let sent = publish.join().unwrap();
        publisher.flush(PATIENCE).unwrap();
        while subscriber.recv_timeout(Duration::from_millis(200)).is_ok() {}
        let (published, got) = (publisher.stats(), subscriber.stats());
        assert_eq!((published.messages, published.unsent), (u64::from(sent), 0));
        assert_eq!((got.reconnects, got.invalid, got.lost), (1, 0, 0));
        // Redis numbers nothing: what was missed is what the two counts differ by.
        assert!(got.messages >= 400 && published.messages - got.messages < 1000);
    });
}

#[test]
fn a_link_that_is_half_open_is_found_and_made_again() {
    let server = Server::redis(&[]);
    let relay = Relay::to(server.port());
    let (publisher, publisher_events, subscriber, subscriber_events) = watched(&place(relay.port(), ""));
    assert_eq!(relay.connections(), 2);
    publisher.send(&note(0)).unwrap();
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), 0);
    relay.stop();
    let start = Instant::now();
    for number in 1..100 {
        publisher.try_send(&note(number)).unwrap();
    }
    let sending = start.elapsed();
    assert!(sending < Duration::from_secs(1), "sending does not wait for the link: {sending:?}");
    for events in [&publisher_events, &subscriber_events] {
        let reason = wait_for(events, is_disconnected).to_string();
        assert!(reason.contains("the server is silent"), "{reason}");
    }
    let found = start.elapsed();
    assert!(found < Duration::from_secs(10), "{found:?}");
    relay.resume();
    for events in [&publisher_events, &subscriber_events] {
        wait_for(events, |event| *event == Event::Reconnected);
    }
    publisher.send(&note(1000)).unwrap();
    while subscriber.recv_timeout(PATIENCE).unwrap().view().number() != 1000 {}
}

#[test]
fn a_full_queue_of_a_publisher_ends_waiting_in_time() {
    let mut server = Server::redis(&[]);
    let place = place(server.port(), ",queue=64KiB,timeout=100ms");
    let (publisher, events, ..) = watched(&place);
    server.kill();
    wait_for(&events, is_disconnected);
    let mut taken = 0;
    let start = Instant::now();
    while publisher.send(&note(taken)).is_ok() {
        taken += 1;
    }
    assert!(start.elapsed() < PATIENCE && taken > 100);
    let stats = publisher.stats();
    assert_eq!((stats.messages, stats.queued, stats.full), (u64::from(taken), u64::from(taken), 1));
    let start = Instant::now();
    drop(publisher);
    assert!(start.elapsed() < Duration::from_secs(5), "dropping waits a second at most");
}

/// It reads on as soon as it can, is told, and comes back.
#[test]
fn a_subscriber_that_is_too_slow_for_the_server_is_told_and_comes_back() {
    let server = Server::redis(&["--client-output-buffer-limit", "pubsub", "2mb", "1mb", "1"]);
    let place = place(server.port(), ",queue=1MiB,on_full=block");
    let (publisher, _, subscriber, events) = watched(&place);
    let large = Note { bytes: vec![7; 64 << 10], ..note(1) };
    for _ in 0..1000 {
        publisher.send(&large).unwrap();
    }
    publisher.flush(PATIENCE).unwrap();
    let drained = thread::scope(|scope| {
        let drain = scope.spawn(|| {
            let mut got = 0;
            while subscriber.recv_timeout(PATIENCE).unwrap().view().number() == 1 {
                got += 1;
            }
            got
        });
        let reason = wait_for(&events, is_disconnected).to_string();
        assert!(reason.contains("cuts off a subscriber that falls 32 MiB behind"), "{reason}");
        wait_for(&events, |event| *event == Event::Reconnected);
        publisher.send(&note(2)).unwrap();
        drain.join().unwrap()
    });
    assert!(drained < 1000, "{drained} of 1000 came");
    assert_eq!(subscriber.stats().reconnects, 1);
}

#[test]
fn what_is_larger_than_a_subscriber_takes_is_counted() {
    let server = Server::redis(&[]);
    let publishing = place(server.port(), "");
    let limited = format!("{},max=10KiB", publishing.endpoint);
    let subscribing = Place { subscriber_endpoint: limited, ..publishing.clone() };
    let subscriber = subscribing.subscriber::<Note>();
    let publisher = Publisher::<Note>::builder(&publishing.endpoint).topic(&publishing.topic).open().unwrap();
    publisher.send(&Note { bytes: vec![0; 100 << 10], ..note(1) }).unwrap();
    publisher.send(&note(2)).unwrap();
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), 2);
    assert_eq!(subscriber.stats().invalid, 1);
}
