//! NATS over bad links: nobody there, a wrong login, a server that dies and comes back, a link that is silent, too large,
//! too slow. Time and memory are bounded, and whatever is lost is counted.
#![cfg(feature = "nats")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_network_tests::{
    Note, PATIENCE, events, eventually, next, note, publisher, relay::Relay, subscriber, usage,
};
use msg_runtime::{ErrorKind, Event, FlushError, Publisher, SendError, Subscriber, TrySendError};
use msg_tests::server::{Server, free_port};
use std::{
    net::{Ipv4Addr, TcpListener},
    thread,
    time::{Duration, Instant},
};

const SECOND: Duration = Duration::from_secs(1);
/// The client asks a silent server every two seconds, and gives up at the third time.
const HALF_OPEN: Duration = Duration::from_secs(6);

fn refused(endpoint: &str) -> msg_runtime::Error {
    let error = Publisher::<Note>::open(endpoint).unwrap_err();
    let other = Subscriber::<Note>::open(endpoint).unwrap_err();
    assert_eq!(error.kind(), other.kind());
    error
}

#[test]
fn an_absent_server_is_an_error_that_names_it() {
    let address = format!("127.0.0.1:{}", free_port());
    let start = Instant::now();
    let error = refused(&format!("nats;{address}"));
    assert_eq!(error.kind(), ErrorKind::Unreachable);
    assert!(error.to_string().contains(&address) && error.to_string().contains("refused"), "{error}");
    assert!(start.elapsed() < 4 * SECOND, "{:?}", start.elapsed());
}

#[test]
fn a_server_that_says_nothing_is_waited_for_as_long_as_the_endpoint_says() {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = silent.local_addr().unwrap();
    let start = Instant::now();
    let error = Publisher::<Note>::open(&format!("nats;{address}?connect_timeout=300ms")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreachable);
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(200) && took < 5 * SECOND, "{took:?}");
}

#[test]
fn with_retry_handles_open_first_and_the_server_comes_later() {
    let mut server = Server::nats(&[]);
    server.kill();
    let endpoint = format!("nats;{}?retry=true", server.address());
    let (on_event, events) = events();
    let start = Instant::now();
    let subscriber = subscriber(&endpoint, "later");
    let publisher = Publisher::<Note>::builder(&endpoint).topic("later").on_event(on_event).open().unwrap();
    assert!(start.elapsed() < 4 * SECOND, "opening waits for nobody: {:?}", start.elapsed());
    publisher.send(&note(1)).unwrap();
    assert_eq!(publisher.flush(SECOND / 10), Err(FlushError::Timeout { unsent: 1 }));
    assert!(events.try_recv().is_err());
    server.restart();
    assert_eq!(next(&subscriber), 1);
    assert_eq!(events.recv_timeout(PATIENCE).unwrap(), Event::Connected);
    publisher.flush(PATIENCE).unwrap();
}

#[test]
fn a_killed_server_loses_nothing_uncounted_and_everybody_comes_back() {
    let mut server = Server::nats(&[]);
    let endpoint = format!("nats;{}", server.address());
    let ((on_sub, sub_events), (on_pub, pub_events)) = (events(), events());
    let subscriber = Subscriber::<Note>::builder(&endpoint).topic("killed").on_event(on_sub).open().unwrap();
    let publisher = Publisher::<Note>::builder(&endpoint).topic("killed").on_event(on_pub).open().unwrap();
    publisher.send(&note(0)).unwrap();
    assert_eq!(next(&subscriber), 0);
    server.kill();
    for events in [&sub_events, &pub_events] {
        assert_eq!(events.recv_timeout(PATIENCE).unwrap(), Event::Connected);
        let gone = events.recv_timeout(PATIENCE).unwrap();
        assert!(
            matches!(&gone, Event::Disconnected(reason) if reason.contains(&server.address())),
            "{gone:?}"
        );
    }
    for number in 1..=3 {
        publisher.send(&note(number)).unwrap();
    }
    let start = Instant::now();
    let flushed = publisher.flush(SECOND / 2);
    assert!(matches!(flushed, Err(FlushError::Timeout { .. })), "{flushed:?}");
    assert!(start.elapsed() >= SECOND / 2 && start.elapsed() < 5 * SECOND, "{:?}", start.elapsed());
    server.restart();
    for events in [&sub_events, &pub_events] {
        assert_eq!(events.recv_timeout(PATIENCE).unwrap(), Event::Reconnected);
    }
    publisher.flush(PATIENCE).unwrap();
    publisher.send(&note(4)).unwrap();
    let mut got = 1;
    while next(&subscriber) != 4 {
        got += 1;
    }
    let stats = subscriber.stats();
    assert_eq!(got + 1 + stats.lost, 5, "{stats:?}");
    assert_eq!((stats.reconnects, publisher.stats().reconnects), (1, 1));
    assert!(subscriber.last_error().unwrap().contains(&server.address()));
}

#[test]
fn a_half_open_link_is_found_and_made_anew() {
    let server = Server::nats(&[]);
    let relay = Relay::new(server.port());
    let endpoint = format!("nats;{}", relay.address());
    let (on_event, events) = events();
    let subscriber = Subscriber::<Note>::builder(&endpoint).topic("half").on_event(on_event).open().unwrap();
    assert_eq!(events.recv_timeout(PATIENCE).unwrap(), Event::Connected);
    let direct = publisher(&format!("nats;{}", server.address()), "half");
    direct.send(&note(0)).unwrap();
    assert_eq!(next(&subscriber), 0);
    relay.stall(true);
    let start = Instant::now();
    // Announcements of others may be what is swallowed; the client hears nothing either way.
    let gone = events.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(gone, Event::Disconnected(_)), "{gone:?}");
    assert!(start.elapsed() < HALF_OPEN + 3 * SECOND, "{:?}", start.elapsed());
    direct.send(&note(1)).unwrap();
    relay.stall(false);
    assert_eq!(events.recv_timeout(PATIENCE).unwrap(), Event::Reconnected);
    eventually("a message arrives again", || {
        direct.send(&note(2)).unwrap();
        subscriber.recv_timeout(SECOND / 10).is_ok()
    });
    let (sent, got) = (direct.stats(), subscriber.stats());
    assert!(got.lost >= 1 && got.messages + got.lost <= sent.messages, "{sent:?} {got:?}");
}

#[test]
fn a_byte_more_than_the_server_takes_is_refused_at_once_and_the_next_arrives() {
    let server = Server::nats(&[]);
    for (stamp, topic) in [("on", "large"), ("off", "large-bare")] {
        let endpoint = format!("nats;{}?stamp={stamp}", server.address());
        let (subscriber, publisher) = (subscriber(&endpoint, topic), publisher(&endpoint, topic));
        let noise = |len: usize| Note { number: 0, bytes: (0..len).map(|k| ((k * k) >> 3) as u8).collect() };
        let frame_of_none = match publisher.send(&noise(2 << 20)) {
            Err(SendError::TooLarge { len, max }) => (len - (2 << 20), max),
            other => panic!("{other:?}"),
        };
        // What the server takes, less the header byte and what travels beside it.
        let (overhead, max) = frame_of_none;
        assert_eq!(max, (1 << 20) - 1 - if stamp == "on" { 67 } else { 0 });
        // Vectors are padded to four bytes or eight, so the largest payload that fits may be a few bytes short of the limit.
        let fits = (max - overhead) & !7;
        publisher.send(&noise(fits - 8)).unwrap();
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().bytes().len(), fits - 8);
        let start = Instant::now();
        let refused = publisher.send(&noise(fits + 8)).unwrap_err();
        assert!(
            matches!(refused, SendError::TooLarge { len, max: limit } if len > limit && limit == max),
            "{refused}"
        );
        assert!(start.elapsed() < SECOND / 2, "{:?}", start.elapsed());
        publisher.send(&note(1)).unwrap();
        assert_eq!(next(&subscriber), 1);
        assert_eq!(subscriber.stats().lost, 0, "who was refused has no number");
    }
}

#[test]
fn what_is_too_large_shows_after_compression() {
    let server = Server::nats(&[]);
    let endpoint = format!("nats;zstd;{}", server.address());
    let (subscriber, publisher) = (subscriber(&endpoint, "zstd"), publisher(&endpoint, "zstd"));
    let long = Note { number: 1, bytes: vec![7; 8 << 20] };
    publisher.send(&long).unwrap();
    assert!(subscriber.recv_timeout(PATIENCE).unwrap().to_owned() == long);
}

#[test]
fn a_publisher_whose_server_is_away_queues_as_much_as_it_may_and_then_is_full() {
    let mut server = Server::nats(&[]);
    let (on_event, events) = events();
    let endpoint = format!("nats;{}?queue=1MiB,timeout=200ms", server.address());
    let publisher = Publisher::<Note>::builder(&endpoint).topic("away").on_event(on_event).open().unwrap();
    publisher.flush(PATIENCE).unwrap();
    assert_eq!(events.recv_timeout(PATIENCE).unwrap(), Event::Connected);
    server.kill();
    assert!(matches!(events.recv_timeout(PATIENCE).unwrap(), Event::Disconnected(_)));
    let message = Note { number: 0, bytes: vec![0; 100] };
    let start = Instant::now();
    for _ in 0..3000 {
        publisher.send(&message).unwrap();
    }
    assert!(start.elapsed() < 10 * SECOND, "{:?}", start.elapsed());
    let mut more = 0;
    while publisher.try_send(&message).is_ok() {
        more += 1;
    }
    assert!(more < 10_000, "1 MiB is full after {more} more");
    assert_eq!(publisher.try_send(&message), Err(TrySendError::Full));
    let start = Instant::now();
    assert_eq!(publisher.send(&message), Err(SendError::Timeout));
    assert!(start.elapsed() >= SECOND / 5 && start.elapsed() < 5 * SECOND, "{:?}", start.elapsed());
    assert!(publisher.stats().queued > 3000 && publisher.stats().full >= 2, "{:?}", publisher.stats());
    let queued = publisher.stats().queued;
    let start = Instant::now();
    drop(publisher);
    assert!(start.elapsed() < 10 * SECOND, "{:?}", start.elapsed());
    let dropped: Vec<Event> = events.try_iter().collect();
    let expected = Event::Dropped { count: queued, cause: msg_runtime::DropCause::Unsent };
    assert_eq!(dropped, [expected], "what was queued is counted");
}

#[test]
fn a_slow_subscriber_costs_bounded_memory_and_every_message_is_counted() {
    const COUNT: u64 = 2000;
    let server = Server::nats(&[]);
    let (on_event, events) = events();
    let endpoint = format!("nats;{}?queue=1MiB", server.address());
    let subscriber = Subscriber::<Note>::builder(&endpoint).topic("slow").on_event(on_event).open().unwrap();
    let publisher = publisher(&endpoint, "slow");
    let before = usage::memory();
    for number in 0..COUNT {
        publisher.send_timeout(&Note { number, bytes: vec![1; 50_000] }, PATIENCE).unwrap();
    }
    publisher.flush(PATIENCE).unwrap();
    let stats = subscriber.stats();
    assert!(stats.queued <= 21, "{stats:?}");
    // A hundred million bytes went through.
    let more = usage::memory().saturating_sub(before);
    assert!(more < 50 << 20, "{more} bytes more");
    let mut got = 1;
    while next(&subscriber) != COUNT - 1 {
        got += 1;
    }
    let stats = subscriber.stats();
    // What a first message tells nobody knows: how many were there before it.
    let told: u64 =
        events.try_iter().map(|event| if let Event::Dropped { count, .. } = event { count } else { 0 }).sum();
    assert_eq!(stats.messages, got);
    assert_eq!((got + stats.lost, told), (COUNT, stats.overflowed), "{stats:?}");
}

#[test]
fn a_subscriber_that_blocks_loses_nothing_while_the_client_has_room() {
    let server = Server::nats(&[]);
    let endpoint = format!("nats;{}?queue=10KiB,on_full=block", server.address());
    let subscriber = subscriber(&endpoint, "blocks");
    let publisher = publisher(&format!("nats;{}", server.address()), "blocks");
    for number in 0..500 {
        publisher.send(&Note { number, bytes: vec![1; 1000] }).unwrap();
    }
    publisher.flush(PATIENCE).unwrap();
    for number in 0..500 {
        assert_eq!(next(&subscriber), number);
    }
    assert_eq!(subscriber.stats().lost, 0);
}

#[test]
fn the_users_closure_for_events_may_publish_and_flush() {
    let mut server = Server::nats(&[]);
    let endpoint = format!("nats;{}", server.address());
    let (subscriber, told) = (subscriber(&endpoint, "told"), publisher(&endpoint, "told"));
    let (sender, flushed) = std::sync::mpsc::channel();
    let on_event = move |event: &Event| {
        if *event == Event::Reconnected {
            told.send(&note(5)).unwrap();
            sender.send(told.flush(PATIENCE)).unwrap();
        }
    };
    let _watching =
        Publisher::<Note>::builder(&endpoint).topic("watching").on_event(on_event).open().unwrap();
    server.restart();
    assert_eq!(flushed.recv_timeout(PATIENCE).unwrap(), Ok(()));
    assert_eq!(next(&subscriber), 5);
}

#[test]
fn fragments_are_refused_by_name_rather_than_ignored() {
    let error = refused(&format!("nats;127.0.0.1:{}?fragment=on", free_port()));
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("fragment=on"), "{error}");
}

#[test]
fn a_handle_of_its_own_thread_ends_while_the_server_is_away() {
    let mut server = Server::nats(&[]);
    let endpoint = format!("nats;{}", server.address());
    let (subscriber, publisher) = (subscriber(&endpoint, "ends"), publisher(&endpoint, "ends"));
    server.kill();
    let start = Instant::now();
    thread::spawn(move || drop((subscriber, publisher))).join().unwrap();
    assert!(start.elapsed() < 12 * SECOND, "{:?}", start.elapsed());
}
