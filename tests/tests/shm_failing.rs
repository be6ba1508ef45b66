//! Opening a ring where the system refuses something: every call of the way once, and limits of all kinds. What comes
//! of it is a handle that works, or an error that says what is wrong and leaves nothing.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod peer;

use std::collections::BTreeMap;

use msg_runtime::shm::{ShmPublisher, ShmSubscriber};
use msg_tests::shm::{self, Directory};
use peer::trace::Traced;
use peer::{Peer, not_run};

/// Makes each call of an open fail, with each error that it may fail with. Returns what came of it, and how often.
fn fail_every_call(victim: &mut Traced, mut meanwhile: impl FnMut()) -> BTreeMap<String, u32> {
    let mut said = BTreeMap::new();
    let (mut nth, mut error) = (0, 0);
    loop {
        // One call of this open fails; how many errors it could fail with.
        let (mut calls, mut errors) = (0, 0);
        while let Some(call) = victim.to_call() {
            if call.errors().is_empty() {
                continue;
            }
            if calls == nth {
                errors = call.errors().len();
                victim.fail_call(call.errors()[error]);
            }
            calls += 1;
        }
        // It says what came of it before it opens again.
        victim.to_mark();
        let line = victim.0.line();
        let kind = line.split(' ').next().unwrap().to_owned();
        assert!(!kind.is_empty(), "call {nth}, error {error}: the peer found something wrong");
        *said.entry(kind).or_insert(0) += 1;
        meanwhile();
        if errors == 0 {
            assert_eq!(line, "ok", "no call failed");
            println!("{nth} calls: {said:?}");
            return said;
        }
        (nth, error) = if error + 1 < errors { (nth, error + 1) } else { (nth + 1, 0) };
    }
}

#[test]
fn a_ring_whose_making_fails_at_any_call_leaves_nothing() {
    for role in ["0", "1"] {
        let directory = Directory::new();
        let Some(mut victim) = Traced::start(&directory, "c", &["traced-fail", role]) else { return };
        let said = fail_every_call(&mut victim, || {});
        for kind in ["ok", "Io", "NoSpace"] {
            assert!(said.get(kind).is_some_and(|count| *count > 0), "never {kind}: {said:?}");
        }
    }
}

#[test]
fn a_ring_that_is_entered_with_a_failing_call_serves_the_others() {
    for role in ["0", "1"] {
        let directory = Directory::new();
        let options = shm::options(directory.path(), "c").slots(4).slot_bytes(64);
        let subscriber = ShmSubscriber::open(&options).unwrap();
        let publisher = ShmPublisher::open(&options).unwrap();
        let Some(mut victim) = Traced::start(&directory, "c", &["traced-fail", role]) else { return };
        let said = fail_every_call(&mut victim, || {
            while subscriber.try_recv().is_ok() {}
            publisher.send(b"y").unwrap();
            assert_eq!(&*subscriber.try_recv().unwrap(), b"y");
        });
        assert!(said["ok"] > 0 && said["Io"] > 0, "{said:?}");
    }
}

#[test]
fn a_file_system_with_too_little_room_is_an_error_whatever_is_missing() {
    let directory = Directory::new();
    let mut peer = Peer::start(&directory, "c", &["tight"]);
    let line = peer.line();
    if let Some(reason) = line.strip_prefix("refused ") {
        return not_run(&format!("no mount namespace ({reason}); run as root"));
    }
    let (pages, files) = line.split_once(' ').expect("the peer found something wrong");
    println!("it takes more than {pages} pages and {files} files");
    assert!(pages.parse::<u32>().unwrap() > 8 && files.parse::<u32>().unwrap() > 1);
    peer.ends_well();
}

#[test]
fn a_file_or_memory_that_may_not_be_as_large_is_an_error_that_says_so() {
    let directory = Directory::new();
    let mut peer = Peer::start(&directory, "c", &["small"]);
    for what in ["file NoSpace ", "small file NoSpace ", "memory Io "] {
        for _ in 0..2 {
            let line = peer.line();
            println!("{line}");
            assert!(line.starts_with(what), "{line}");
            assert!(!what.contains("file") || line.contains("RLIMIT_FSIZE"), "says which limit: {line}");
        }
    }
    assert_eq!(peer.line(), "fits");
    peer.ends_well();
}
