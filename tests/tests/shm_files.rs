//! The ring's files: who may use them, what happens when they change under running processes, and who is found dead.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod peer;

use msg_runtime::shm::{ShmPublisher, ShmSubscriber};
use msg_tests::shm::{self, Directory};
use peer::Peer;

/// What a test needs that is not here; it must be where CI is set.
fn not_run(reason: &str) {
    println!("not run: {reason}");
    assert!(std::env::var_os("CI").is_none(), "must run where CI is set");
}

#[test]
fn a_subscriber_that_cannot_see_the_files_disturbs_nobody() {
    let directory = Directory::new();
    let options = shm::options(directory.path(), "c");
    let publisher = ShmPublisher::open(&options).unwrap();
    let other = ShmSubscriber::open(&options).unwrap();
    let mut peer = Peer::start(&directory, "c", &["elsewhere"]);
    let line = peer.line();
    if let Some(reason) = line.strip_prefix("refused ") {
        return not_run(&format!("no chroot ({reason}); run as root"));
    }
    assert_eq!((&*line, &*peer.line()), ("ready", "waited"));
    publisher.send(b"x").unwrap();
    assert_eq!(&*other.try_recv().unwrap(), b"x");
    peer.ends_well();
}
