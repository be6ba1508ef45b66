//! UDP multicast between hosts, in networks of their own: what leaves a host, and what a bad way does to messages.
#![cfg(target_os = "linux")]
#![cfg(feature = "udp")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_network_tests::hosts::{Host, in_a_network_of_its_own, ip};
use msg_runtime::{Message, Publisher, Stats, Subscriber};
use msg_tests::random::Random;
use socket2::{Domain, Socket, Type};
use std::{
    collections::HashMap,
    io::{ErrorKind, Read},
    net::{Ipv4Addr, SocketAddrV4},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

const GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 255, 7, 7), 7667);
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "udp")]
struct Reading {
    publisher: u32,
    number: u32,
    values: Vec<u32>,
}

impl Reading {
    /// One datagram, or up to five.
    fn new(publisher: u32, number: u32) -> Self {
        let len = if number.is_multiple_of(3) { 200 * (number % 9) + 10 } else { 3 };
        Self { publisher, number, values: (0..len).map(|at| at ^ number).collect() }
    }
}

/// The other hosts' address of this one, on cable `number`.
fn here(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, number, 0, 1)
}

/// A socket in the group, on the interface with this address.
fn listener(address: Ipv4Addr) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    socket.set_reuse_address(true).unwrap();
    socket.set_multicast_all_v4(false).unwrap();
    socket.set_recv_buffer_size(4 << 20).unwrap();
    socket.bind(&GROUP.into()).unwrap();
    socket.join_multicast_v4(GROUP.ip(), &address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// A socket that sends to the group through the interface with this address, and is not in it.
fn talker(address: Ipv4Addr, ttl: u32) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    socket.set_multicast_if_v4(&address).unwrap();
    socket.set_multicast_ttl_v4(ttl).unwrap();
    socket.connect(&GROUP.into()).unwrap();
    socket
}

#[test]
fn with_ttl_0_nothing_leaves_the_host() {
    if !in_a_network_of_its_own("with_ttl_0_nothing_leaves_the_host") {
        return;
    }
    let host = Host::new("cable", 1);
    let mut listener = listener(here(1));
    let there = Ipv4Addr::new(10, 1, 0, 2);
    let mut received_until_marker = || {
        host.run(move || talker(there, 1).send(b"marker").unwrap());
        let mut datagram = [0; 2000];
        let received = std::iter::from_fn(|| {
            let len = listener.read(&mut datagram).unwrap();
            (datagram[..len] != *b"marker").then_some(())
        });
        received.count()
    };
    // The trap: ttl 0 by itself does not keep them.
    host.run(move || {
        let talker = talker(there, 0);
        (0..100).for_each(|_| _ = talker.send(b"leaves").unwrap());
    });
    assert_eq!(received_until_marker(), 100);
    let send = |ttl: u32| {
        host.run(move || {
            let endpoint = format!("udp;{GROUP}?iface=eth0,ttl={ttl},announce=off");
            let publisher = Publisher::<Reading>::open(&endpoint).unwrap();
            (0..100).for_each(|number| publisher.send(&Reading::new(0, number)).unwrap());
        });
    };
    send(0);
    assert_eq!(received_until_marker(), 0);
    send(1);
    let datagrams = (0..100).map(|number| {
        let bytes = msg_runtime::encode(&Reading::new(0, number)).unwrap().len() + 1;
        bytes.div_ceil(1500 - 28 - 48 - "udp.Reading".len())
    });
    assert_eq!(received_until_marker(), datagrams.sum::<usize>());
}

#[test]
fn a_link_that_goes_down_is_an_error_and_comes_back() {
    if !in_a_network_of_its_own("a_link_that_goes_down_is_an_error_and_comes_back") {
        return;
    }
    let host = Host::new("cable", 1);
    let endpoint = format!("udp;{GROUP}?ttl=1,announce=off,iface=");
    let subscriber = Subscriber::<Reading>::open(&format!("{endpoint}cable")).unwrap();
    host.run(move || {
        let publisher = Publisher::<Reading>::open(&format!("{endpoint}eth0")).unwrap();
        publisher.send(&Reading::new(0, 0)).unwrap();
        ip("link set eth0 down");
        let error = publisher.send(&Reading::new(0, 1)).unwrap_err();
        assert_eq!(error, msg_runtime::SendError::Disconnected);
        assert!(publisher.last_error().unwrap().starts_with("the kernel takes no datagrams: "));
        ip("link set eth0 up");
        // The cable takes a moment to be one again.
        let end = std::time::Instant::now() + PATIENCE;
        while publisher.send(&Reading::new(0, 2)).is_err() && std::time::Instant::now() < end {
            thread::yield_now();
        }
        assert_eq!(publisher.stats().reconnects, 1);
    });
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), 0);
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), 2);
}

#[test]
fn groups_may_be_of_ipv6() {
    if !in_a_network_of_its_own("groups_may_be_of_ipv6") {
        return;
    }
    let host = Host::new("cable", 1);
    ip("address add fd00::1/64 dev cable nodad");
    let endpoint = "udp;lz4;[ff05::7]:7667?ttl=1,iface=";
    let subscriber = Subscriber::<Reading>::open(&format!("{endpoint}cable")).unwrap();
    let here = Publisher::<Reading>::open(&format!("{endpoint}cable")).unwrap();
    assert!(here.wait_for_subscribers(1, PATIENCE));
    here.send(&Reading::new(1, 8)).unwrap();
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().to_owned(), Reading::new(1, 8));
    host.run(move || {
        ip("address add fd00::2/64 dev eth0 nodad");
        let there = Publisher::<Reading>::open(&format!("{endpoint}eth0")).unwrap();
        assert!(there.wait_for_subscribers(1, PATIENCE));
        there.send(&Reading::new(2, 6)).unwrap();
    });
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().to_owned(), Reading::new(2, 6));
}

/// What the way did to datagrams.
#[derive(Debug, Default)]
struct Way {
    /// Nothing is done to them any more.
    clean: AtomicBool,
    end: AtomicBool,
    lost: AtomicU32,
    repeated: AtomicU32,
    overtaken: AtomicU32,
}

impl Way {
    /// Carries datagrams from one cable to the other, until the end.
    fn carry(&self, from: Ipv4Addr, to: Ipv4Addr) {
        let (mut listener, talker) = (listener(from), talker(to, 1));
        talker.set_multicast_loop_v4(false).unwrap();
        listener.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        let mut random = Random::new(42);
        let mut held: Vec<(usize, Vec<u8>)> = Vec::new();
        let mut datagram = vec![0; 1 << 16];
        let send = |bytes: &[u8]| _ = talker.send(bytes).unwrap();
        while !self.end.load(Relaxed) {
            let len = match listener.read(&mut datagram) {
                Ok(len) => len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(error) => panic!("{error}"),
            };
            let clean = self.clean.load(Relaxed);
            match random.below(100) {
                _ if clean => send(&datagram[..len]),
                0..3 => _ = self.lost.fetch_add(1, Relaxed),
                3..6 => {
                    self.repeated.fetch_add(1, Relaxed);
                    (0..2).for_each(|_| send(&datagram[..len]));
                }
                6..16 => held.push((1 + random.below(60), datagram[..len].to_vec())),
                _ => send(&datagram[..len]),
            }
            held.retain_mut(|(wait, bytes)| {
                *wait -= 1;
                let stays = *wait > 0 && !clean;
                if !stays {
                    self.overtaken.fetch_add(1, Relaxed);
                    send(bytes);
                }
                stays
            });
        }
    }
}

/// Counts a subscriber as finished, also when it failed: the publishers need not go on then.
struct Done(Arc<AtomicU32>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Receives until every publisher's number `last` or a later one was there; gives what was counted.
fn receive(subscriber: &Subscriber<Reading>, publishers: u32, last: u32) -> Stats {
    let mut seen: HashMap<u32, (u32, u64)> = HashMap::new();
    let (mut lost, mut done) = (0, 0);
    while done < publishers {
        let sample = subscriber.recv_timeout(PATIENCE).unwrap();
        let reading = sample.to_owned();
        assert!(reading == Reading::new(reading.publisher, reading.number), "it is what was sent");
        // Nothing is known of what a publisher sent before the first message that came.
        let first = (reading.number, u64::from(reading.number));
        let (next, accounted) = seen.entry(reading.publisher).or_insert(first);
        assert!(reading.number >= *next, "{} after {next}", reading.number);
        done += u32::from((*next..=reading.number).contains(&last));
        *next = reading.number + 1;
        let missed = sample.info().lost.unwrap();
        lost += missed;
        *accounted += 1 + missed;
        assert_eq!(*accounted, u64::from(*next), "received and lost of publisher {}", reading.publisher);
    }
    let stats = subscriber.stats();
    assert_eq!((stats.lost, stats.invalid), (lost, 0));
    stats
}

#[test]
fn between_hosts_what_arrives_and_what_is_counted_as_lost_adds_up() {
    const PUBLISHERS: u32 = 20;
    const LAST: u32 = 100;
    if !in_a_network_of_its_own("between_hosts_what_arrives_and_what_is_counted_as_lost_adds_up") {
        return;
    }
    let (sending, receiving) = (Host::new("left", 1), Host::new("right", 2));
    let endpoint = format!("udp;{GROUP}?iface=eth0,ttl=1,announce=off");
    let (way, finished) =
        (Arc::new(Way { clean: true.into(), ..Way::default() }), Arc::new(AtomicU32::new(0)));
    let carrier = thread::spawn({
        let way = Arc::clone(&way);
        move || way.carry(here(1), here(2))
    });
    let subscribers = receiving.run({
        let (endpoint, finished) = (endpoint.clone(), Arc::clone(&finished));
        move || {
            let subscribers = (0..20).map(|_| Subscriber::<Reading>::open(&endpoint).unwrap());
            let subscribers: Vec<_> = subscribers.collect();
            let threads = subscribers.into_iter().map(|subscriber| {
                let finished = Arc::clone(&finished);
                thread::spawn(move || {
                    let _done = Done(finished);
                    receive(&subscriber, PUBLISHERS, LAST)
                })
            });
            threads.collect::<Vec<_>>()
        }
    });
    sending.run({
        let way = Arc::clone(&way);
        move || {
            let open = |publisher| (publisher, Publisher::<Reading>::open(&endpoint).unwrap());
            let publishers: Vec<_> = (0..PUBLISHERS).map(open).collect();
            let send = |number| {
                let all = publishers.iter();
                all.for_each(|(publisher, handle)| handle.send(&Reading::new(*publisher, number)).unwrap());
                // The rate of a sensor.
                thread::sleep(Duration::from_millis(2));
            };
            send(0);
            way.clean.store(false, Relaxed);
            (1..LAST).for_each(&send);
            way.clean.store(true, Relaxed);
            (LAST..).take_while(|_| finished.load(Relaxed) < 20).for_each(&send);
        }
    });
    let stats: Vec<Stats> = subscribers.into_iter().map(|thread| thread.join().unwrap()).collect();
    way.end.store(true, Relaxed);
    carrier.join().unwrap();
    let count = |count: &AtomicU32| count.load(Relaxed);
    let (lost, repeated, overtaken) = (count(&way.lost), count(&way.repeated), count(&way.overtaken));
    assert!(lost > 20 && repeated > 20 && overtaken > 100, "{way:?}");
    for stats in &stats {
        // What lost a piece is incomplete, what was overtaken as a whole is late; both are lost.
        assert!(stats.incomplete > 0 && stats.late > 0, "{stats:?}");
        assert!(stats.lost >= stats.incomplete, "{stats:?}");
    }
}
