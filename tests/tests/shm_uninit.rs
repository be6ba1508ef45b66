//! Loans that are not cleared: only what was written is sent, and what was not written is never seen.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::error::TryRecvError;
use msg_runtime::shm::{ShmPublisher, ShmSubscriber};
use msg_runtime::{Message, Publisher, Subscriber};
use msg_tests::shm::{Directory, options};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "uninit")]
#[repr(u8)]
enum Gear {
    Low = 1,
    High = 2,
}

/// Zeros are no value of it, so that it cannot be lent zeroed.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "uninit", plain)]
#[repr(C)]
struct Drive {
    speed: u32,
    wheels: [u8; 3],
    gear: Gear,
}

fn typed(name: &str) -> (Publisher<Drive>, Subscriber<Drive>) {
    let endpoint = format!("shm;uninit-{name}-{}?slots=2", process::id());
    (Publisher::open(&endpoint).unwrap(), Subscriber::open(&endpoint).unwrap())
}

#[test]
fn the_front_that_was_written_is_the_message() {
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(2);
    let (publisher, subscriber) =
        (ShmPublisher::open(&options).unwrap(), ShmSubscriber::open(&options).unwrap());
    for (room, text) in [(8, &b"in place"[..]), (100, b"front"), (100, b""), (0, b"")] {
        let loan = publisher.loan_uninit(room).unwrap();
        assert_eq!(loan.len(), room);
        loan.init(|bytes| bytes[..text.len()].write_copy_of_slice(text)).send().unwrap();
        assert_eq!(&*subscriber.recv().unwrap(), text);
    }
}

#[test]
fn bytes_from_elsewhere_are_no_proof() {
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(2);
    let (publisher, subscriber) =
        (ShmPublisher::open(&options).unwrap(), ShmSubscriber::open(&options).unwrap());
    // More often than there are slots: each one comes back.
    for _ in 0..5 {
        let behind = catch_unwind(AssertUnwindSafe(|| {
            publisher.loan_uninit(8).unwrap().init(|bytes| bytes[1..].write_copy_of_slice(b"behind."))
        }));
        assert!(behind.is_err());
        let elsewhere = catch_unwind(AssertUnwindSafe(|| {
            publisher.loan_uninit(8).unwrap().init(|_| Vec::from(b"elsewhere").leak())
        }));
        assert!(elsewhere.is_err());
    }
    assert_eq!(subscriber.try_recv().unwrap_err(), TryRecvError::Empty);
}

#[test]
fn what_a_dropped_loan_left_unwritten_is_zeros() {
    let directory = Directory::new();
    let options = options(directory.path(), "c").slots(1);
    let publisher = ShmPublisher::open(&options).unwrap();
    publisher.send(b"secret").unwrap();
    drop(publisher.loan_uninit(6).unwrap());
    assert_eq!(publisher.loan(6).unwrap()[..], [0; 6]);
}

#[test]
fn a_message_whose_zeros_are_no_value_is_made_in_the_slot() {
    let (publisher, subscriber) = typed("value");
    let drive = Drive { speed: 70, wheels: [1, 2, 3], gear: Gear::High };
    for speed in 0..10 {
        publisher.loan_uninit().unwrap().init(|slot| slot.write(Drive { speed, ..drive })).send().unwrap();
        assert_eq!(*subscriber.recv().unwrap().view(), Drive { speed, ..drive });
    }
    let mut loan = publisher.loan_uninit().unwrap().init(|slot| slot.write(drive));
    loan.gear = Gear::Low;
    loan.send().unwrap();
    assert_eq!(subscriber.recv().unwrap().view().gear, Gear::Low);
}

#[test]
fn a_message_from_elsewhere_is_no_proof() {
    let (publisher, subscriber) = typed("elsewhere");
    let drive = Drive { speed: 70, wheels: [1, 2, 3], gear: Gear::High };
    for _ in 0..5 {
        let made = catch_unwind(AssertUnwindSafe(|| {
            publisher.loan_uninit().unwrap().init(|_| Box::leak(Box::new(drive))).send()
        }));
        assert!(made.is_err());
    }
    assert_eq!(subscriber.try_recv().unwrap_err(), TryRecvError::Empty);
    publisher.send(&drive).unwrap();
    assert_eq!(*subscriber.recv().unwrap().view(), drive);
}
