//! A cluster of three NATS servers: one dies, and everybody goes on. What arrives and what is counted as lost adds up.
#![cfg(feature = "nats")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_network_tests::{Note, PATIENCE, eventually, note, publisher, subscriber};
use msg_runtime::{Publisher, Subscriber};
use msg_tests::server::{Server, free_port};
use std::{
    collections::HashMap,
    net::{Ipv4Addr, TcpStream},
    thread,
    time::Duration,
};

const HANDLES: usize = 20;

/// Three servers that know each other.
fn cluster() -> [Server; 3] {
    let routes = [(); 3].map(|()| free_port());
    let urls = routes.map(|port| format!("nats://127.0.0.1:{port}")).join(",");
    let servers = routes.map(|port| {
        let own = format!("nats://127.0.0.1:{port}");
        // Clients are told of no other server: each test says which ones it uses.
        Server::nats(&["--cluster_name", "three", "--cluster", &own, "--routes", &urls, "--no_advertise"])
    });
    for port in routes {
        eventually("the servers listen to each other", || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
        });
    }
    servers
}

/// The servers from the given one on. The order makes another address of it, and so another connection.
fn endpoint(servers: &[Server; 3], first: usize) -> String {
    let addresses: Vec<String> = (0..3).map(|at| servers[(first + at) % 3].address()).collect();
    format!("nats;{}?timeout=20s", addresses.join("+"))
}

/// Sends until every subscriber has heard of this publisher.
fn reaches_all(publisher: &Publisher<Note>, subscribers: &[Subscriber<Note>]) {
    for subscriber in subscribers {
        eventually("a message crosses the cluster", || {
            publisher.send(&note(0)).unwrap();
            subscriber.recv_timeout(Duration::from_millis(50)).is_ok()
        });
    }
}

#[test]
fn twenty_publishers_and_twenty_subscribers_outlive_a_server() {
    let mut servers = cluster();
    let subscribers: Vec<_> =
        (0..HANDLES).map(|n| subscriber(&endpoint(&servers, n % 3), "cluster")).collect();
    let publishers: Vec<_> = (0..HANDLES).map(|n| publisher(&endpoint(&servers, n % 3), "cluster")).collect();
    publishers.iter().for_each(|publisher| reaches_all(publisher, &subscribers));
    let send = |numbers: std::ops::Range<u64>| {
        for number in numbers {
            publishers.iter().for_each(|publisher| publisher.send(&note(number)).unwrap());
        }
    };
    send(1..200);
    servers[0].kill();
    send(200..400);
    publishers.iter().for_each(|publisher| publisher.flush(PATIENCE).unwrap());
    // By now everybody has a server again, but routes may still be learning of each other's subscribers.
    publishers.iter().for_each(|publisher| reaches_all(publisher, &subscribers));
    send(400..500);
    publishers.iter().for_each(|publisher| publisher.flush(PATIENCE).unwrap());
    let sent: Vec<u64> = publishers.iter().map(|publisher| publisher.stats().messages).collect();
    thread::scope(|scope| {
        subscribers.iter().for_each(|subscriber| _ = scope.spawn(|| adds_up(subscriber, &sent)))
    });
    let reconnects: u64 = publishers.iter().map(|publisher| publisher.stats().reconnects).sum();
    // Three connections, of which the dead server had some, and some handles each.
    assert!(reconnects <= HANDLES as u64, "{reconnects} reconnects");
}

/// Takes what there is until the last message of every publisher is there: received and lost make the numbers.
fn adds_up(subscriber: &Subscriber<Note>, sent: &[u64]) {
    let mut next: HashMap<u64, u64> = HashMap::new();
    let mut done = 0;
    while done < sent.len() {
        let sample = subscriber.recv_timeout(PATIENCE).unwrap();
        let info = sample.info();
        let (publisher, sequence) = (info.publisher.unwrap(), info.sequence.unwrap());
        // Of the first one it is not known here what came right before it.
        if let Some(expected) = next.insert(publisher, sequence + 1) {
            assert_eq!(sequence, expected + info.lost.unwrap(), "what is missing is counted");
        }
        done += usize::from(sample.view().number() == 499);
    }
    let mut ends: Vec<u64> = next.into_values().collect();
    let mut sent = sent.to_vec();
    ends.sort_unstable();
    sent.sort_unstable();
    assert_eq!(ends, sent, "the last one of each is there");
    assert_eq!(subscriber.stats().late, 0);
}
