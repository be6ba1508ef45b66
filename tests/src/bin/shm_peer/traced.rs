//! What a test watches instruction by instruction, or call by call: the peer asks to be traced, and stops at marks.

use std::fs;
use std::time::Duration;

use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};
use msg_runtime::{Error, ErrorKind};
use msg_tests::shm;

use super::{say, shm_directory, wait_forever};

/// Asks to be traced by the test that started us.
fn be_traced() {
    // SAFETY: takes no memory.
    if unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } == -1 {
        say(&format!("refused {}", std::io::Error::last_os_error()));
        wait_forever();
    }
    say("traced");
}

/// Stops until the test lets us go on.
fn mark() {
    // SAFETY: stops this process.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// Sends without end, with a mark before each loan, in the middle of each fill, and before each commit.
pub(crate) fn send(options: &Options) {
    let publisher = ShmPublisher::open(options).unwrap();
    be_traced();
    for counter in 0.. {
        mark();
        let message = shm::message(1, counter);
        let mut loan = publisher.loan_timeout(message.len(), Duration::from_secs(10)).unwrap();
        loan[..32].copy_from_slice(&message[..32]);
        mark();
        loan[32..].copy_from_slice(&message[32..]);
        mark();
        loan.send().unwrap();
    }
}

/// A handle of either kind.
enum Handle {
    Subscriber(ShmSubscriber),
    Publisher(ShmPublisher),
}

/// Opens as subscriber (0) or publisher (1).
fn open_as(options: &Options, role: u64) -> Result<Handle, Error> {
    match role {
        0 => ShmSubscriber::open(options).map(Handle::Subscriber),
        _ => ShmPublisher::open(options).map(Handle::Publisher),
    }
}

/// Opens between the first mark and the second, closes between the second and the third.
pub(crate) fn open(options: &Options, role: u64) {
    let options = options.clone().slots(2).slot_bytes(64);
    be_traced();
    mark();
    let handle = open_as(&options, role).unwrap();
    mark();
    drop(handle);
    mark();
    wait_forever();
}

/// Descriptors that are open, and mappings of files in the test's directory.
fn in_use() -> (usize, usize) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mapped = maps.lines().filter(|line| line.contains(&shm_directory())).count();
    (fs::read_dir("/proc/self/fd").unwrap().count(), mapped)
}

/// Opens again and again, each time between two marks, where the test makes calls fail. Says what came of it: a handle
/// that works, or an error that leaves nothing.
pub(crate) fn fail(options: &Options, role: u64) {
    let options = options.clone().slots(4).slot_bytes(64);
    // What the first open of a process sets up for all that follow.
    drop(open_as(&options, role).unwrap());
    let (before, files) = (in_use(), files());
    be_traced();
    loop {
        mark();
        let opened = open_as(&options, role);
        mark();
        let said = match opened {
            Ok(handle) => {
                works(&handle, &options);
                "ok".to_owned()
            }
            Err(error) => {
                assert!(
                    !matches!(error.kind(), ErrorKind::InvalidTopic | ErrorKind::InvalidEndpoint),
                    "{error}"
                );
                format!("{:?} {error}", error.kind())
            }
        };
        assert_eq!(in_use(), before, "after `{said}` something is still open");
        assert_eq!(self::files(), files, "after `{said}` a file is left, or gone");
        say(&said);
    }
}

fn files() -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(shm_directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Sees to it that a handle does what it is for.
fn works(handle: &Handle, options: &Options) {
    let long = Duration::from_secs(5);
    match handle {
        Handle::Publisher(publisher) => {
            let subscriber = ShmSubscriber::open(options).unwrap();
            publisher.send_timeout(b"x", long).unwrap();
            assert_eq!(&*subscriber.recv_timeout(long).unwrap(), b"x");
        }
        Handle::Subscriber(subscriber) => {
            ShmPublisher::open(options).unwrap().send_timeout(b"x", long).unwrap();
            assert_eq!(&*subscriber.recv_timeout(long).unwrap(), b"x");
        }
    }
}
