//! UDP multicast on one host: what is promised, what is refused, and how datagrams look.
#![cfg(target_os = "linux")]
#![cfg(feature = "udp")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
#![allow(clippy::print_stdout, reason = "what is not run is listed")]

use msg_network_tests::{hosts, udp};
use msg_runtime::{DropCause, Event, Message, Publisher, SendError, Subscriber, encode};
use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    io::Read,
    net::{Ipv4Addr, SocketAddrV4},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Longer than anything here takes on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "udp", topic = "udp.Note")]
struct Note {
    number: u32,
    bytes: Vec<u8>,
}

fn note(number: u32, len: usize) -> Note {
    Note { number, bytes: (0..len).map(|at| (at as u32).wrapping_mul(number + 7) as u8).collect() }
}

fn pair(endpoint: &str) -> (Publisher<Note>, Subscriber<Note>) {
    let subscriber = Subscriber::open(endpoint).unwrap();
    let publisher = Publisher::open(endpoint).unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    (publisher, subscriber)
}

/// Group and port of an endpoint.
fn place(endpoint: &str) -> SocketAddrV4 {
    endpoint.split(';').next_back().unwrap().split('?').next().unwrap().parse().unwrap()
}

/// A program that knows nothing of us, in the group on this host.
fn stranger(group: SocketAddrV4) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    socket.set_reuse_address(true).unwrap();
    socket.set_reuse_port(true).unwrap();
    socket.bind(&group.into()).unwrap();
    socket.join_multicast_v4(group.ip(), &Ipv4Addr::LOCALHOST).unwrap();
    socket.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
    socket.set_multicast_ttl_v4(0).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// The checksum that RFC 3720 describes, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32| (crc >> 1) ^ (0x82f6_3b78 * (crc & 1));
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

/// A datagram as the documentation draws it.
fn datagram(sequence: u64, [index, count, total]: [u32; 3], piece: &[u8]) -> Vec<u8> {
    let topic = b"udp.Note";
    let mut bytes = b"msgu\x01\x01".to_vec();
    bytes.extend([topic.len() as u8, 0]);
    [0x1234, sequence, 99].iter().for_each(|number: &u64| bytes.extend(number.to_le_bytes()));
    [index, count, total].iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes.extend(topic);
    bytes.extend(crc32c(&bytes).to_le_bytes());
    bytes.extend(piece);
    bytes
}

/// Header byte and payload.
fn frame(note: &Note) -> Vec<u8> {
    [&[0], &encode(note).unwrap()[..]].concat()
}

#[test]
fn a_megabyte_thirty_times_a_second_for_five_seconds_arrives() {
    let (publisher, subscriber) = pair(&udp::endpoint("?announce=on"));
    let notes: Vec<Note> = (0..4).map(|number| note(number, 1 << 20)).collect();
    let numbers = || (0..150_u32).map(|number| number % 4);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in numbers() {
                // Not more at once after a pause of the machine.
                thread::sleep(Duration::from_secs(1) / 30);
                publisher.send(&notes[number as usize]).unwrap();
            }
        });
        for number in numbers() {
            let sample = subscriber.recv_timeout(PATIENCE).unwrap();
            assert_eq!(sample.info().lost, Some(0), "{:?}", subscriber.stats());
            // An owned copy would cost an unoptimized build more than the time there is.
            let (view, sent) = (sample.view(), &notes[number as usize]);
            assert!(view.number() == sent.number && view.bytes() == sent.bytes);
        }
    });
    let stats = subscriber.stats();
    assert_eq!((stats.messages, stats.lost, stats.incomplete, stats.late), (150, 0, 0, 0));
    assert_eq!(stats.overflowed_datagrams, 0);
}

#[test]
fn a_datagram_made_by_hand_is_a_message_and_a_message_is_such_a_datagram() {
    let endpoint = udp::endpoint("?announce=off");
    let group = place(&endpoint);
    let subscriber = Subscriber::<Note>::open(&endpoint).unwrap();
    let mut stranger = stranger(group);
    let short = frame(&note(1, 10));
    let to: SockAddr = group.into();
    stranger.send_to(&datagram(5, [0, 1, short.len() as u32], &short), &to).unwrap();
    let sample = subscriber.recv_timeout(PATIENCE).unwrap();
    assert_eq!(sample.to_owned(), note(1, 10));
    let info = sample.info();
    assert_eq!((info.publisher, info.sequence, info.lost), (Some(0x1234), Some(5), Some(0)));
    // Three pieces, the last one first.
    let long = frame(&note(2, 500));
    let pieces: Vec<&[u8]> = long.chunks(200).collect();
    for index in [2, 0, 1] {
        let bytes = datagram(6, [index, 3, long.len() as u32], pieces[index as usize]);
        stranger.send_to(&bytes, &to).unwrap();
    }
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().to_owned(), note(2, 500));

    let mut got = vec![0; 1 << 16];
    while stranger.read(&mut got).unwrap() != datagram(6, [1, 3, 0], pieces[1]).len() || got[32] != 1 {}
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    publisher.send(&note(1, 10)).unwrap();
    let len = stranger.read(&mut got).unwrap();
    let mut expected = datagram(0, [0, 1, short.len() as u32], &short);
    // Its number and the time are its own; the checksum is over them.
    expected[8..16].copy_from_slice(&got[8..16]);
    expected[24..32].copy_from_slice(&got[24..32]);
    let checksum = crc32c(&expected[..52]);
    expected[52..56].copy_from_slice(&checksum.to_le_bytes());
    assert_eq!(got[..len], expected);
}

#[test]
fn datagrams_of_another_group_or_topic_are_not_seen_and_damaged_ones_are_counted() {
    let endpoint = udp::endpoint("?announce=off");
    let group = place(&endpoint);
    let other = SocketAddrV4::new(Ipv4Addr::new(239, 254, 1, 1), group.port());
    let (told, events) = mpsc::channel();
    let subscriber = Subscriber::<Note>::builder(&endpoint)
        .on_event(move |event| told.send(event.clone()).unwrap())
        .open()
        .unwrap();
    assert_eq!(events.recv_timeout(PATIENCE).unwrap(), Event::Connected);
    let (here, there) = (stranger(group), stranger(other));
    let message = frame(&note(1, 10));
    let whole = |sequence| datagram(sequence, [0, 1, message.len() as u32], &message);
    // Whoever is in the other group makes the host take its datagrams, and they have our port.
    there.send_to(b"no frame of ours", &other.into()).unwrap();
    here.send_to(&whole(1), &group.into()).unwrap();
    subscriber.recv_timeout(PATIENCE).unwrap();
    assert_eq!(subscriber.stats().invalid, 0);

    let unrelated = Publisher::<Note>::builder(&endpoint).topic("udp.Other").open().unwrap();
    unrelated.send(&note(9, 10)).unwrap();
    let mut flipped = whole(2);
    flipped[20] ^= 1;
    let contradiction = datagram(2, [3, 2, 500], &[0; 250]);
    for bytes in [&b"no frame of ours"[..], &[], &flipped, &contradiction, &whole(3)] {
        here.send_to(bytes, &group.into()).unwrap();
    }
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().info().sequence, Some(3));
    let stats = subscriber.stats();
    assert_eq!((stats.invalid, stats.messages, stats.lost), (4, 2, 1));
    let dropped = Event::Dropped { count: 1, cause: DropCause::Malformed };
    assert_eq!(events.try_iter().collect::<Vec<_>>(), vec![dropped; 4]);
}

#[test]
fn a_message_that_lacks_a_piece_is_counted_while_nothing_else_comes() {
    let endpoint = udp::endpoint("?announce=off");
    let group = place(&endpoint);
    let (told, events) = mpsc::channel();
    let subscriber = Subscriber::<Note>::builder(&endpoint)
        .on_event(move |event| told.send(event.clone()).unwrap())
        .open()
        .unwrap();
    stranger(group).send_to(&datagram(1, [1, 3, 500], &[0; 200]), &group.into()).unwrap();
    assert_eq!(events.recv_timeout(PATIENCE).unwrap(), Event::Connected);
    let dropped = Event::Dropped { count: 1, cause: DropCause::Incomplete };
    assert_eq!(events.recv_timeout(PATIENCE).unwrap(), dropped);
    assert_eq!(subscriber.stats().incomplete, 1);
}

#[test]
fn what_the_receive_buffer_has_no_room_for_is_counted() {
    // The reader waits for the subscriber, so the buffer fills.
    let endpoint = udp::endpoint("?rcvbuf=16KiB,on_full=block,queue=1B");
    let (publisher, subscriber) = pair(&endpoint);
    for number in 0..200 {
        publisher.send(&note(number, 1000)).unwrap();
    }
    let mut numbers = Vec::new();
    while numbers.last() != Some(&1000) {
        match subscriber.recv_timeout(Duration::from_millis(100)) {
            Ok(sample) => numbers.push(sample.view().number()),
            // The last one finds room at last, and shows the gap before it.
            Err(_) => publisher.send(&note(1000, 0)).unwrap(),
        }
    }
    let (sent, got) = (publisher.stats(), subscriber.stats());
    assert!(numbers.is_sorted());
    assert!(got.lost > 0 && got.overflowed_datagrams >= got.lost, "{got:?}");
    assert_eq!(got.messages + got.lost, sent.messages);
}

#[test]
fn other_topics_of_the_group_are_neither_received_nor_counted() {
    let endpoint = udp::endpoint("?announce=off");
    let subscriber = Subscriber::<Note>::open(&endpoint).unwrap();
    let ours = Publisher::<Note>::open(&endpoint).unwrap();
    // Shorter, longer, different in a word and in the rest behind the words.
    for (number, topic) in (0..).zip(["udp.Not", "udp.Note.left", "vdp.Note", "udp.NoteX", "udp.Notf"]) {
        let other = Publisher::<Note>::builder(&endpoint).topic(topic).open().unwrap();
        (0..20).for_each(|_| other.send(&note(99, 100_000)).unwrap());
        ours.send(&note(number, 10)).unwrap();
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().to_owned(), note(number, 10), "{topic}");
    }
    let stats = subscriber.stats();
    assert_eq!((stats.messages, stats.invalid, stats.incomplete, stats.lost), (5, 0, 0, 0));
    assert_eq!(stats.overflowed_datagrams, 0);
}

#[test]
fn a_receive_buffer_that_the_system_does_not_grant_is_told() {
    let open = |options: &str| Subscriber::<Note>::open(&udp::endpoint(options)).unwrap();
    let told = open("?rcvbuf=1GiB").last_error().unwrap();
    for part in ["not the 1048576 KiB asked for (`rcvbuf=`)", "`sysctl -w net.core.rmem_max=1073741824`"] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(open("?rcvbuf=64KiB").last_error(), None);
}

#[test]
fn interfaces_that_are_not_there_down_or_without_address_are_named() {
    let error = |options: &str| {
        let endpoint = udp::endpoint(options);
        let publisher = Publisher::<Note>::open(&endpoint).unwrap_err().to_string();
        assert_eq!(publisher, Subscriber::<Note>::open(&endpoint).unwrap_err().to_string());
        publisher
    };
    let absent = error("?iface=nowhere7");
    assert!(absent.starts_with("there is no network interface `nowhere7` (`iface=`), but "), "{absent}");
    assert!(absent.contains("`lo`"), "{absent}");
    if !hosts::in_a_network_of_its_own("interfaces_that_are_not_there_down_or_without_address_are_named") {
        return;
    }
    let six = Publisher::<Note>::open("udp;[ff02::7]:7667").unwrap_err().to_string();
    assert!(six.starts_with("the network interface `lo` carries no IPv6 multicast; name another"), "{six}");
    hosts::ip("link add down7 type veth peer name up7");
    hosts::ip("link set up7 up");
    let down = "the network interface `down7` is down; `ip link set down7 up` brings it up";
    assert_eq!(error("?iface=down7"), down);
    let bare = error("?iface=up7");
    assert!(bare.starts_with("the network interface `up7` has no IPv4 address, which 239."), "{bare}");
}

#[test]
fn lengths_have_limits() {
    let endpoint = udp::endpoint("?fragment=off,mtu=1500B");
    let (publisher, subscriber) = pair(&endpoint);
    match publisher.send(&note(0, 2000)) {
        // 1472 less the header of a topic of eight bytes and the byte before the payload.
        Err(SendError::TooLarge { len, max }) => assert!(len > 2000 && max == 1472 - 56 - 1, "{len} {max}"),
        other => panic!("{other:?}"),
    }
    publisher.send(&note(1, 1000)).unwrap();
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().to_owned(), note(1, 1000));

    let publisher = Publisher::<Note>::open(&udp::endpoint("?max=1GiB")).unwrap();
    match publisher.send(&note(0, 64 << 20)) {
        Err(SendError::TooLarge { len, max }) => assert!(len > max && max == 64 << 20),
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_without_stamps_arrive_in_pieces_too() {
    let (publisher, subscriber) = pair(&udp::endpoint("?stamp=off,mtu=1500B"));
    for number in 0..20 {
        publisher.send(&note(number, 5000)).unwrap();
        let sample = subscriber.recv_timeout(PATIENCE).unwrap();
        assert_eq!(sample.to_owned(), note(number, 5000));
        assert_eq!((sample.info().sequence, sample.info().publisher), (None, None));
    }
}

#[test]
fn dropping_a_subscriber_waits_for_nobody() {
    let endpoint = udp::endpoint("?on_full=block,queue=1B,announce=off");
    let (in_the_closure, closure_entered) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let may_go_on = std::sync::Mutex::new(may_go_on);
    let busy = Subscriber::<Note>::builder(&endpoint)
        .on_event(move |event| {
            if matches!(event, Event::Dropped { .. }) {
                in_the_closure.send(()).unwrap();
                let _ = may_go_on.lock().unwrap().recv();
            }
        })
        .open()
        .unwrap();
    let full = Subscriber::<Note>::open(&endpoint).unwrap();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    (0..10).for_each(|number| publisher.send(&note(number, 10)).unwrap());
    let _first = full.recv_timeout(PATIENCE).unwrap();
    let start = Instant::now();
    drop(full);
    busy.recv_timeout(PATIENCE).unwrap();
    while busy.try_recv().is_ok() || busy.stats().messages < 10 {}
    stranger(place(&endpoint)).send_to(b"no frame of ours", &place(&endpoint).into()).unwrap();
    closure_entered.recv_timeout(PATIENCE).unwrap();
    drop(busy);
    assert!(start.elapsed() < PATIENCE);
    drop(go_on);
}
