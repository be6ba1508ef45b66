//! What the ring's handles promise, within one process.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use msg_runtime::ErrorKind::{
    self, Corrupted, Incompatible, InvalidEndpoint, InvalidTopic, Mismatch, NoRoom, PermissionDenied,
};
use msg_runtime::error::{RecvError, SendError, TryRecvError, TrySendError};
use msg_runtime::shm::{self, Description, Loan, Options, ShmPublisher, ShmSample, ShmSubscriber};
use msg_tests::shm::{Directory, options};

const SECOND: Duration = Duration::from_secs(1);

fn pair(options: &Options) -> (ShmPublisher, ShmSubscriber) {
    (ShmPublisher::open(options).unwrap(), ShmSubscriber::open(options).unwrap())
}

fn send_numbers(publisher: &ShmPublisher, numbers: std::ops::Range<u8>) {
    numbers.for_each(|number| publisher.try_send(&[number]).unwrap());
}

#[test]
fn handles_go_between_threads() {
    fn shared<T: Send + Sync + std::fmt::Debug>() {}
    shared::<ShmPublisher>();
    shared::<ShmSubscriber>();
    shared::<ShmSample>();
    shared::<Loan<'_>>();
}

#[test]
fn samples_are_kept_and_dropped_in_any_order() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c").slots(10));
    send_numbers(&publisher, 0..10);
    let mut held: Vec<_> = (0..8).map(|_| subscriber.recv().unwrap()).collect();
    assert_eq!(subscriber.try_recv().err(), Some(TryRecvError::TooManyHeld { max: 8 }));
    assert_eq!(subscriber.recv().err(), Some(RecvError::TooManyHeld { max: 8 }));
    assert_eq!(publisher.try_send(&[0]), Err(TrySendError::Full));
    // From the middle: exactly these two places are free again.
    drop((held.remove(6), held.remove(2)));
    send_numbers(&publisher, 10..12);
    assert_eq!(publisher.try_send(&[0]), Err(TrySendError::Full));
    let numbers: Vec<u8> = held.iter().map(|sample| sample[0]).collect();
    assert_eq!(numbers, [0, 1, 3, 4, 5, 7]);
    for expected in 8..12 {
        assert_eq!(subscriber.recv().unwrap()[..], [expected]);
    }
    assert_eq!(subscriber.try_recv().err(), Some(TryRecvError::Empty));
}

#[test]
fn a_sample_outlives_its_subscriber_and_holds_nobody_back() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c").slots(2));
    send_numbers(&publisher, 1..3);
    let sample = subscriber.recv().unwrap();
    drop(subscriber);
    send_numbers(&publisher, 3..20);
    assert_eq!(sample[..], [1]);
    drop(publisher);
    let moved = std::thread::spawn(move || sample[0]).join().unwrap();
    assert_eq!(moved, 1);
    assert!(directory.files().is_empty());
}

#[test]
fn a_loan_is_filled_in_place_shortened_and_marked() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c"));
    let mut loan = publisher.loan(10).unwrap();
    loan.fill(7);
    loan.truncate(3);
    loan.truncate(5);
    loan.header_byte(2);
    assert_eq!(loan.send(), Ok(0));
    publisher.send(b"").unwrap();
    let (first, second) = (subscriber.recv().unwrap(), subscriber.recv().unwrap());
    assert_eq!((&first[..], first.info().header_byte, first.info().sequence), (&[7, 7, 7][..], 2, 0));
    assert_eq!((&second[..], second.info().header_byte, second.info().sequence), (&[][..], 0, 1));
    assert_eq!(first.as_ptr() as usize % 64, 0);
    assert_eq!(first.info().publisher, second.info().publisher);
    assert!(first.info().sent <= second.info().sent);
    assert_eq!(first.info().lost, 0);
    let other = ShmPublisher::open(&options(directory.path(), "c")).unwrap();
    other.send(b"x").unwrap();
    assert_ne!(subscriber.recv().unwrap().info().publisher, first.info().publisher);
}

#[test]
fn a_loan_that_is_dropped_or_whose_filling_panics_sends_nothing() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c").slots(1));
    for _ in 0..3 {
        drop(publisher.try_loan(8).unwrap());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            publisher.try_publish(8, |_| panic!("on purpose")).unwrap();
        }));
        assert!(panicked.is_err());
    }
    assert_eq!(publisher.try_publish(2, |slot| slot.copy_from_slice(b"ok")), Ok(()));
    assert_eq!(&*subscriber.recv().unwrap(), b"ok");
    assert_eq!(publisher.stats().sent, 1);
}

#[test]
fn loans_of_several_threads_are_filled_side_by_side() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c").slots(4));
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let publisher = &publisher;
            scope.spawn(move || {
                for number in 0..2000_u32 {
                    let mut loan = publisher.loan_timeout(8, 20 * SECOND).unwrap();
                    loan[..4].copy_from_slice(&u32::to_ne_bytes(thread));
                    loan[4..].copy_from_slice(&number.to_ne_bytes());
                    loan.send().unwrap();
                }
            });
        }
        let mut next = [0; 3];
        for sequence in 0..6000 {
            let sample = subscriber.recv_timeout(20 * SECOND).unwrap();
            assert_eq!(sample.info().sequence, sequence);
            let word = |at: usize| u32::from_ne_bytes(sample[at..at + 4].try_into().unwrap());
            let (thread, number) = (word(0) as usize, word(4));
            assert_eq!(number, next[thread]);
            next[thread] += 1;
        }
    });
}

#[test]
fn what_does_not_fit_is_refused_with_both_figures() {
    let directory = Directory::new();
    let publisher = ShmPublisher::open(&options(directory.path(), "c").slot_bytes(100)).unwrap();
    assert_eq!(publisher.try_send(&[0; 101]), Err(TrySendError::TooLarge { len: 101, max: 100 }));
    assert_eq!(publisher.send(&[0; 101]), Err(SendError::TooLarge { len: 101, max: 100 }));
    assert!(publisher.send(&[0; 100]).is_ok());
    let default = ShmPublisher::open(&options(directory.path(), "d")).unwrap();
    assert_eq!((default.slots(), default.slot_bytes()), (16, 65536));
    assert!(default.send(&[0; 65536]).is_ok());
}

#[test]
fn figures_are_kept() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c").slots(2));
    publisher.send(&[0; 5]).unwrap();
    publisher.send(&[0; 6]).unwrap();
    assert_eq!(publisher.try_send(b"x"), Err(TrySendError::Full));
    subscriber.recv().unwrap();
    let (sent, received) = (publisher.stats(), subscriber.stats());
    assert_eq!((sent.sent, sent.bytes, sent.full), (2, 11, 1));
    assert_eq!((received.received, received.bytes, received.lost), (1, 5, 0));
}

#[test]
fn joining_late_replays_nothing_and_leaving_frees_at_once() {
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(2);
    let (publisher, first) = pair(&options);
    send_numbers(&publisher, 0..2);
    let second = ShmSubscriber::open(&options).unwrap();
    assert_eq!(second.try_recv().err(), Some(TryRecvError::Empty));
    assert_eq!(publisher.try_send(&[2]), Err(TrySendError::Full));
    drop(first);
    send_numbers(&publisher, 2..4);
    assert_eq!(second.recv().unwrap()[..], [2]);
}

#[test]
fn there_is_room_for_64_and_64_and_the_next_is_refused() {
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(64).slot_bytes(64);
    let publishers: Vec<_> = (0..64).map(|_| ShmPublisher::open(&options).unwrap()).collect();
    let mut subscribers: Vec<_> = (0..64).map(|_| ShmSubscriber::open(&options).unwrap()).collect();
    let refused = |error: msg_runtime::Error, kind: &str| {
        assert_eq!(error.kind(), NoRoom);
        assert!(error.to_string().contains(&format!("64 {kind}")), "{error}");
    };
    refused(ShmPublisher::open(&options).unwrap_err(), "publishers");
    refused(ShmSubscriber::open(&options).unwrap_err(), "subscribers");
    assert_eq!(publishers[0].subscribers(), 64);
    for (number, publisher) in publishers.iter().enumerate() {
        publisher.send(&[number as u8]).unwrap();
    }
    for subscriber in &subscribers {
        for number in 0..64 {
            assert_eq!(subscriber.try_recv().unwrap()[..], [number]);
        }
    }
    subscribers.pop();
    subscribers.push(ShmSubscriber::open(&options).unwrap());
}

#[test]
fn whoever_names_nothing_takes_what_is_there_and_others_are_told() {
    let directory = Directory::new();
    let plain = options(directory.path(), "c");
    let first = ShmPublisher::open(&plain.clone().slots(4).slot_bytes(1000)).unwrap();
    let second = ShmPublisher::open(&plain).unwrap();
    assert_eq!((second.slots(), second.slot_bytes()), (4, 1000));
    for (asked, text) in [
        (plain.clone().slots(5), "in use with slots=4, asked for slots=5"),
        (plain.clone().slot_bytes(2000), "in use with size=1000, asked for size=2000"),
    ] {
        for error in [ShmPublisher::open(&asked).unwrap_err(), ShmSubscriber::open(&asked).unwrap_err()] {
            assert_eq!(error.kind(), Mismatch);
            assert!(error.to_string().contains(text), "{error}");
        }
    }
    drop((first, second));
    // Nobody is left: what was does not count.
    assert_eq!(ShmPublisher::open(&plain.slots(5)).unwrap().slots(), 5);
}

#[test]
fn a_published_ring_keeps_its_geometry() {
    let directory = Directory::new();
    let plain = options(directory.path(), "c");
    let (publisher, subscriber) = pair(&plain);
    publisher.send(b"x").unwrap();
    assert_eq!(ShmPublisher::open(&plain.clone().slots(5)).unwrap_err().kind(), Mismatch);
    // A default does not insist.
    let other = ShmPublisher::open(&plain.default_slot_bytes(1 << 20)).unwrap();
    assert_eq!(other.slot_bytes(), 65536);
    assert_eq!(&*subscriber.recv().unwrap(), b"x");
}

#[test]
fn an_empty_ring_that_nobody_named_grows_and_learns_its_type() {
    let directory = Directory::new();
    let plain = options(directory.path(), "c");
    let subscriber = ShmSubscriber::open(&plain).unwrap();
    let early = ShmPublisher::open(&plain).unwrap();
    let description = Description { type_name: "demo.Big".into(), fingerprint: 9, schema: vec![1, 2] };
    let typed = plain.clone().description(description.clone()).default_slot_bytes(1 << 20);
    let publisher = ShmPublisher::open(&typed).unwrap();
    assert_eq!(publisher.slot_bytes(), 1 << 20);
    // The first message of a publisher that was there before, too long for the ring that it knew.
    early.send(&vec![3; 1 << 20]).unwrap();
    publisher.send(&[4]).unwrap();
    assert_eq!(subscriber.recv().unwrap()[..], vec![3; 1 << 20]);
    assert_eq!(subscriber.recv().unwrap()[..], [4]);
    assert_eq!(subscriber.description(), description);
    // The other order: a larger ring is taken as it is.
    assert_eq!(ShmPublisher::open(&plain.clone().default_slot_bytes(10)).unwrap().slot_bytes(), 1 << 20);
    assert_eq!(shm::open_description(&plain).unwrap(), Some(description));
    drop((subscriber, early, publisher));
    assert!(directory.files().is_empty());
    assert_eq!(shm::open_description(&plain).unwrap(), None);
}

#[test]
fn types_that_differ_are_refused_unless_one_is_unspecified() {
    let directory = Directory::new();
    let typed = |type_name: &str, fingerprint| {
        let description = Description { type_name: type_name.into(), fingerprint, ..Description::default() };
        options(directory.path(), "c").description(description)
    };
    let publisher = ShmPublisher::open(&typed("demo.A", 1)).unwrap();
    publisher.send(b"x").unwrap();
    for other in [typed("demo.B", 1), typed("demo.A", 2)] {
        assert_eq!(ShmSubscriber::open(&other).unwrap_err().kind(), Incompatible);
    }
    for other in [typed("demo.A", 1), typed("demo.C", 0), options(directory.path(), "c")] {
        assert_eq!(ShmSubscriber::open(&other).unwrap().description().type_name, "demo.A");
    }
}

#[test]
fn options_that_cannot_be_are_refused() {
    let directory = Directory::new();
    let refused = |options: Options, kind: ErrorKind| {
        assert_eq!(ShmPublisher::open(&options).unwrap_err().kind(), kind, "{options:?}");
        assert_eq!(ShmSubscriber::open(&options).unwrap_err().kind(), kind, "{options:?}");
    };
    let plain = options(directory.path(), "c");
    refused(options(directory.path(), "a/../b"), InvalidTopic);
    refused(options(directory.path(), ""), InvalidTopic);
    refused(plain.clone().slots(0), InvalidEndpoint);
    refused(plain.clone().slots(1025), InvalidEndpoint);
    refused(plain.clone().slot_bytes(0), InvalidEndpoint);
    refused(plain.clone().slots(1024).slot_bytes(2 << 20), InvalidEndpoint);
    for group in ["no such group", "4294967295"] {
        refused(plain.clone().group(group), PermissionDenied);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is made for them");
    refused(plain.directory("/nonexistent/directory"), ErrorKind::Io);
    assert!(directory.files().is_empty());
}

/// The data and readers file of a ring that somebody has open.
fn files(directory: &Directory) -> (PathBuf, PathBuf) {
    let [data, readers] = &directory.files()[..] else { panic!("not two files") };
    (data.clone(), readers.clone())
}

fn overwrite(path: &Path, offset: u64, bytes: &[u8]) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, offset).unwrap();
}

fn refused_with(options: &Options, kind: ErrorKind, text: &str) {
    for error in [ShmPublisher::open(options).unwrap_err(), ShmSubscriber::open(options).unwrap_err()] {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn a_living_segment_of_another_version_or_with_a_damaged_head_is_refused() {
    for (offset, bytes, kind, text) in [
        (8, &99_u32.to_ne_bytes()[..], Mismatch, "layout version 99, expected 3"),
        (0, b"nonsense", Corrupted, "is not a segment of ours"),
        (64, &[1], Corrupted, "is damaged"),
    ] {
        let directory = Directory::new();
        let options = options(directory.path(), "c");
        let _alive = ShmPublisher::open(&options).unwrap();
        overwrite(&files(&directory).0, offset, bytes);
        refused_with(&options, kind, text);
    }
    let directory = Directory::new();
    let options = options(directory.path(), "c");
    let _alive = ShmPublisher::open(&options).unwrap();
    overwrite(&files(&directory).1, 8, &[99]);
    refused_with(&options, Mismatch, "layout version 99, expected 3");
}

#[test]
fn what_is_not_ours_is_neither_used_nor_removed() {
    let directory = Directory::new();
    let options = options(directory.path(), "c");
    let names = {
        let _ring = ShmPublisher::open(&options).unwrap();
        files(&directory)
    };
    for path in [&names.0, &names.1] {
        std::fs::write(path, "somebody's notes").unwrap();
        refused_with(&options, Corrupted, "is not a segment of ours");
        std::fs::remove_file(path).unwrap();
        symlink("/etc/passwd", path).unwrap();
        refused_with(&options, PermissionDenied, path.to_str().unwrap());
        std::fs::remove_file(path).unwrap();
        std::fs::create_dir(path).unwrap();
        assert!(ShmPublisher::open(&options).is_err());
        std::fs::remove_dir(path).unwrap();
        let fifo = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(fifo.success());
        refused_with(&options, PermissionDenied, "is not a regular file");
        std::fs::remove_file(path).unwrap();
        File::create(path).unwrap().set_permissions(std::fs::Permissions::from_mode(0o666)).unwrap();
        refused_with(&options, PermissionDenied, "may be written by everybody");
        std::fs::remove_file(path).unwrap();
    }
    assert!(ShmPublisher::open(&options).is_ok());
}

#[test]
fn files_belong_to_the_user_alone() {
    let directory = Directory::new();
    let _ring = ShmPublisher::open(&options(directory.path(), "c")).unwrap();
    let (data, readers) = files(&directory);
    for path in [data, readers] {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_record_that_points_outside_is_an_error_and_the_next_message_arrives() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c").slots(2).slot_bytes(64));
    // The records of two slots: behind the tail, four places and two slot words, each on lines of its own.
    let records = 4096 + 128 + 128 + 128;
    for wrong in [u64::MAX, 65] {
        send_numbers(&publisher, 1..3);
        for slot in 0..2 {
            let len = File::open(files(&directory).0).unwrap();
            let mut word = [0; 8];
            len.read_exact_at(&mut word, records + slot * 64 + 8).unwrap();
            assert_eq!(u64::from_ne_bytes(word), 1, "this is the length");
        }
        overwrite(&files(&directory).0, records + 8, &wrong.to_ne_bytes());
        let results = [subscriber.try_recv().err(), subscriber.try_recv().err()];
        assert!(results.contains(&Some(TryRecvError::Corrupted)) && results.contains(&None), "{results:?}");
        assert_eq!(subscriber.try_recv().err(), Some(TryRecvError::Empty));
    }
}

#[test]
fn many_open_and_close_one_ring_at_once() {
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(4).slot_bytes(64);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let subscriber = ShmSubscriber::open(&options).unwrap();
                    let publisher = ShmPublisher::open(&options).unwrap();
                    // Full may be our own doing: our subscriber has read nothing yet.
                    loop {
                        match publisher.try_send(b"x") {
                            Ok(()) => break,
                            Err(TrySendError::Full) => while subscriber.try_recv().is_ok() {},
                            Err(error) => panic!("{error}"),
                        }
                        std::thread::yield_now();
                    }
                    assert_eq!(&*subscriber.recv_timeout(SECOND).unwrap(), b"x");
                }
            });
        }
    });
    assert!(directory.files().is_empty());
}

#[test]
fn waiting_ends_with_the_time_given() {
    let directory = Directory::new();
    let (publisher, subscriber) = pair(&options(directory.path(), "c"));
    let started = std::time::Instant::now();
    assert_eq!(subscriber.recv_timeout(SECOND / 10).err(), Some(RecvError::Timeout));
    assert!(!publisher.wait_for_subscribers(2, SECOND / 10));
    assert!(publisher.wait_for_subscribers(1, SECOND / 10));
    assert!((SECOND / 5..SECOND).contains(&started.elapsed()));
}
