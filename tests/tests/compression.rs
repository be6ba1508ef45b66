//! Compressed messages over shared memory: who sends chooses, who receives looks at each message for itself.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::{
    BadFrame, Invalid, Message, Publisher, RecvError, SendError, Subscriber, TryRecvError,
    shm::{Options, ShmPublisher, ShmSubscriber},
};
use msg_tests::random::Random;
use std::{thread, time::Duration};

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "compression")]
struct Scan {
    count: u64,
    name: String,
    ranges: Vec<f32>,
    bytes: Vec<u8>,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "compression", plain)]
#[repr(C, align(64))]
struct Grid {
    stamp: u64,
    cells: [u8; 4088],
}

const PATIENCE: Duration = Duration::from_secs(20);

fn channel(test: &str) -> String {
    format!("compression-{test}-{}", std::process::id())
}

fn scan(count: u64, len: usize) -> Scan {
    let ranges = (0..len).map(|at| (at / 9) as f32).collect();
    Scan { count, name: "front".repeat(7), ranges, bytes: vec![count as u8; len] }
}

fn noise(len: usize) -> Vec<u8> {
    let mut random = Random::new(7);
    (0..len).map(|_| random.below(256) as u8).collect()
}

/// The ring below a type's messages.
fn ring(channel: &str, topic: &str) -> Options {
    Options::new(channel, topic)
}

#[test]
fn every_codec_arrives_at_a_subscriber_that_names_none() {
    let channel = channel("every");
    let scans = Subscriber::<Scan>::open(&format!("shm;{channel}?size=256KiB")).unwrap();
    let mut sent = Vec::new();
    for compression in ["none", "lz4", "zstd", "zstd:1", "zstd:19", "zstd:22"] {
        let publisher = Publisher::<Scan>::open(&format!("shm;{compression};{channel}")).unwrap();
        for len in [0, 1, 100, 20_000] {
            sent.push(scan(sent.len() as u64, len));
            publisher.send(sent.last().unwrap()).unwrap();
            let received = scans.recv_timeout(PATIENCE).unwrap();
            assert_eq!(received.to_owned(), *sent.last().unwrap(), "{compression}");
            assert!(received.payload().as_ptr().addr().is_multiple_of(64));
            assert_eq!(received.info().lost, Some(0));
        }
        let (sent, received) = (publisher.stats(), scans.stats());
        assert_eq!(sent.messages, 4);
        assert_eq!((received.invalid, received.messages % 4), (0, 0));
    }
}

#[test]
fn publishers_with_different_compression_share_a_topic() {
    const EACH: u64 = 200;
    let channel = channel("mixed");
    let scans = Subscriber::<Scan>::open(&format!("shm;{channel}?size=64KiB,timeout=20s")).unwrap();
    let compressions = ["none", "lz4", "zstd:1", "zstd:5"];
    thread::scope(|scope| {
        for (number, compression) in compressions.iter().enumerate() {
            let endpoint = format!("shm;{compression};{channel}?timeout=20s");
            scope.spawn(move || {
                let publisher = Publisher::<Scan>::open(&endpoint).unwrap();
                for count in 0..EACH {
                    let mut scan = scan(count, (count % 50 * 100) as usize);
                    scan.name = number.to_string();
                    publisher.send(&scan).unwrap();
                }
            });
        }
        let mut next = [0; 4];
        for _ in 0..EACH * compressions.len() as u64 {
            let received = scans.recv_timeout(PATIENCE).unwrap().to_owned();
            let number: usize = received.name.parse().unwrap();
            let mut expected = scan(next[number], (next[number] % 50 * 100) as usize);
            expected.name = received.name.clone();
            assert_eq!(received, expected);
            next[number] += 1;
        }
        assert_eq!(next, [EACH; 4]);
    });
    assert!(matches!(scans.try_recv(), Err(TryRecvError::Empty)));
}

/// Cloned handles compress at the same time, each with tables of its own.
#[test]
fn threads_share_a_publisher_that_compresses() {
    const EACH: u64 = 100;
    let channel = channel("threads");
    let scans = Subscriber::<Scan>::open(&format!("shm;{channel}?timeout=20s")).unwrap();
    let publisher = Publisher::<Scan>::open(&format!("shm;zstd:3;{channel}?timeout=20s")).unwrap();
    thread::scope(|scope| {
        for thread in 0..4 {
            let publisher = publisher.clone();
            scope.spawn(move || {
                for count in 0..EACH {
                    publisher.send(&scan(thread * EACH + count, 500)).unwrap();
                }
            });
        }
        let mut seen = vec![false; 4 * EACH as usize];
        for _ in 0..seen.len() {
            let received = scans.recv_timeout(PATIENCE).unwrap().to_owned();
            assert_eq!(received, scan(received.count, 500));
            assert!(!std::mem::replace(&mut seen[received.count as usize], true));
        }
    });
}

#[test]
fn slots_carry_the_header_byte_and_less_bytes() {
    let channel = channel("slots");
    let raw = ShmSubscriber::open(&ring(&channel, "compression.Scan").slot_bytes(256 << 10)).unwrap();
    let check = |compression: &str, message: &Scan, header: u8| {
        let publisher = Publisher::<Scan>::open(&format!("shm;{compression};{channel}")).unwrap();
        publisher.send(message).unwrap();
        let slot = raw.recv_timeout(PATIENCE).unwrap();
        assert_eq!(slot.info().header_byte, header, "{compression}");
        assert_eq!(publisher.stats().messages, 1);
        (slot.len(), publisher.stats().bytes as usize)
    };
    let large = scan(1, 10_000);
    let (plain, _) = check("none", &large, 0);
    for (compression, header) in [("lz4", 1), ("zstd", 2)] {
        let (len, counted) = check(compression, &large, header);
        assert!(len < plain / 4, "{compression}: {len} of {plain}");
        assert_eq!(counted, plain, "statistics count payloads");
        // What would not shrink goes as it is.
        let mut random = scan(1, 0);
        random.bytes = noise(50_000);
        let (len, counted) = check(compression, &random, 0);
        assert!(len > 50_000 && len == counted);
    }
}

#[test]
fn a_loan_is_compressed_when_it_is_sent() {
    for compression in ["lz4", "zstd:9"] {
        let channel = channel(&compression.replace(':', "-"));
        let grids = Subscriber::<Grid>::open(&format!("shm;{channel}")).unwrap();
        let publisher = Publisher::<Grid>::open(&format!("shm;{compression};{channel}")).unwrap();
        drop(publisher.loan().unwrap());
        for stamp in 0..3 {
            let mut grid = publisher.loan().unwrap();
            assert_eq!((grid.stamp, grid.cells), (0, [0; 4088]), "a loan starts zeroed");
            grid.stamp = stamp;
            grid.cells.fill(stamp as u8);
            grid.send().unwrap();
            let received = grids.recv_timeout(PATIENCE).unwrap();
            assert_eq!(*received.view(), Grid { stamp, cells: [stamp as u8; 4088] });
        }
        // A slot of exactly the message's size, and a message that does not shrink.
        let mut grid = publisher.loan().unwrap();
        grid.cells.copy_from_slice(&noise(4088));
        grid.send().unwrap();
        assert_eq!(grids.recv_timeout(PATIENCE).unwrap().view().cells[..], noise(4088)[..]);
    }
}

#[test]
fn ten_mebibytes_pass_and_what_is_larger_than_a_slot_does_not() {
    let channel = channel("large");
    let endpoint = |compression: &str| format!("shm;{compression};{channel}?slots=2,size=16MiB");
    let scans = Subscriber::<Scan>::open(&endpoint("none")).unwrap();
    for compression in ["lz4", "zstd:1"] {
        let publisher = Publisher::<Scan>::open(&endpoint(compression)).unwrap();
        let bytes = |len: usize| (0..len).map(|at| (at / 300) as u8).collect();
        let large = Scan { bytes: bytes(10 << 20), ..scan(3, 10) };
        publisher.send(&large).unwrap();
        let received = scans.recv_timeout(PATIENCE).unwrap();
        assert!(received.payload().len() > 10 << 20);
        assert_eq!(received.to_owned(), large);
        // It would fit if compressed, and might not another time.
        let refused = publisher.send(&Scan { bytes: bytes(20 << 20), ..scan(4, 10) });
        assert!(matches!(refused, Err(SendError::TooLarge { max: 16_777_216, .. })), "{refused:?}");
    }
}

/// Samples of compressed messages hold no slot, and their buffers are used again.
#[test]
fn decompressed_samples_are_many_and_their_buffers_come_back() {
    let channel = channel("held");
    let scans = Subscriber::<Scan>::open(&format!("shm;{channel}")).unwrap();
    let publisher = Publisher::<Scan>::open(&format!("shm;lz4;{channel}")).unwrap();
    let mut held = Vec::new();
    for count in 0..30 {
        publisher.send(&scan(count, 1000)).unwrap();
        held.push(scans.recv_timeout(PATIENCE).unwrap());
    }
    for (count, sample) in held.iter().enumerate() {
        assert_eq!(sample.to_owned(), scan(count as u64, 1000));
    }
    let buffers: Vec<_> = held.iter().map(|sample| sample.payload().as_ptr()).collect();
    drop(held);
    for count in 0..10 {
        publisher.send(&scan(count, 1000)).unwrap();
        let sample = scans.recv_timeout(PATIENCE).unwrap();
        assert!(buffers.contains(&sample.payload().as_ptr()), "a buffer that was used before");
    }
    drop(scans);
}

#[test]
fn a_latest_only_subscriber_decompresses_the_newest() {
    let channel = channel("latest");
    let newest = Subscriber::<Scan>::builder(&format!("shm;{channel}")).latest_only().open().unwrap();
    let all = Subscriber::<Scan>::open(&format!("shm;{channel}?copy=on")).unwrap();
    let publisher = Publisher::<Scan>::open(&format!("shm;zstd;{channel}")).unwrap();
    for count in 0..10 {
        publisher.send(&scan(count, 300)).unwrap();
    }
    assert_eq!(newest.recv_timeout(PATIENCE).unwrap().to_owned(), scan(9, 300));
    assert_eq!(all.recv_timeout(PATIENCE).unwrap().to_owned(), scan(0, 300));
    assert_eq!(all.latest().unwrap().to_owned(), scan(9, 300));
}

#[test]
fn bad_frames_are_counted_and_the_next_message_is_received() {
    let channel = channel("bad");
    let scans = Subscriber::<Scan>::open(&format!("shm;{channel}")).unwrap();
    let good = Publisher::<Scan>::open(&format!("shm;lz4;{channel}")).unwrap();
    let raw = ShmPublisher::open(&ring(&channel, "compression.Scan")).unwrap();
    let send = |header: u8, body: &[u8]| {
        let mut loan = raw.loan(body.len()).unwrap();
        loan.copy_from_slice(body);
        loan.header_byte(header);
        loan.send().unwrap();
    };
    let twenty = b"\x14\0\0\0\x1aa\x01\0\x50aaaaa";
    let mut bad = 0;
    let mut check = |header: u8, body: &[u8], expected: Option<BadFrame>| {
        send(header, body);
        good.send(&scan(5, 100)).unwrap();
        match (scans.recv_timeout(PATIENCE), expected) {
            (Err(RecvError::Invalid(Invalid::Frame(found))), Some(expected)) => assert_eq!(found, expected),
            // Decoded, and no message.
            (Err(RecvError::Invalid(_)), None) => {}
            (other, expected) => panic!("{other:?} instead of {expected:?}"),
        }
        bad += 1;
        assert_eq!(scans.recv_timeout(PATIENCE).unwrap().to_owned(), scan(5, 100));
        assert_eq!((scans.stats().invalid, scans.stats().messages), (bad, bad));
    };
    check(3, twenty, Some(BadFrame::ReservedCodec));
    check(0x81, twenty, Some(BadFrame::ReservedBits { header: 0x81 }));
    check(1, &twenty[..3], Some(BadFrame::MissingSize { len: 3 }));
    check(2, twenty, Some(BadFrame::Corrupt));
    check(1, &twenty[..12], Some(BadFrame::Corrupt));
    check(1, &[b"\x15\0\0\0", &twenty[4..]].concat(), Some(BadFrame::WrongSize { claimed: 21 }));
    // A bomb: the slots have 64 KiB.
    let max = 65_536;
    check(1, b"\xff\xff\xff\xff\x1f", Some(BadFrame::TooLarge { len: u32::MAX as usize, max }));
    check(2, b"\x01\0\x01\0\x28\xb5\x2f\xfd", Some(BadFrame::TooLarge { len: max + 1, max }));
    check(1, twenty, None);
}
