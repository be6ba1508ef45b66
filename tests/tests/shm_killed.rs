//! A process killed at any instruction while it opens a ring or closes it: as the first one in and the last one out,
//! beside others who take part, and beside one that opens the ring at the same time.
//!
//! What a kill leaves is what is in the files at that instruction: the kernel frees locks, and files without a name. So
//! the first test copies the files after each instruction that changed them, and goes on with the copy. The others kill
//! for real, at each system call that changes something.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod peer;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use msg_runtime::error::RecvError;
use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};
use msg_tests::shm::{self, Directory};
use peer::trace::{Stop, Traced};

/// Whoever opens a ring, or waits in it, goes on within this, on a busy machine too.
const SOON: Duration = Duration::from_secs(2);
const ROLES: [&str; 2] = ["0", "1"];

fn options(directory: &Directory) -> Options {
    shm::options(directory.path(), "c").slots(2).slot_bytes(64)
}

/// Opens the ring, uses it, and leaves nothing.
fn goes_on(directory: &Directory, subscriber_first: bool) {
    let (started, options) = (Instant::now(), options(directory));
    let early = subscriber_first.then(|| ShmSubscriber::open(&options).unwrap());
    let publisher = ShmPublisher::open(&options).unwrap();
    let subscriber = early.unwrap_or_else(|| ShmSubscriber::open(&options).unwrap());
    for _ in 0..5 {
        publisher.send_timeout(b"x", SOON).unwrap();
        assert_eq!(&*subscriber.recv_timeout(SOON).unwrap(), b"x");
    }
    assert_eq!((publisher.subscribers(), publisher.slots()), (1, 2));
    drop((publisher, subscriber));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "a file is left");
    assert!(started.elapsed() < SOON);
}

/// The names that a ring's files ever have.
fn names(directory: &Directory) -> Vec<PathBuf> {
    let _ring = ShmPublisher::open(&options(directory)).unwrap();
    let mut names = directory.files();
    assert_eq!(names.len(), 2);
    names.push(names[0].with_extension("data.new"));
    names
}

/// The files of a ring as they are just now.
struct Files {
    names: Vec<PathBuf>,
    /// Those that are there, and what is in them.
    found: Vec<Option<(fs::File, Vec<u8>)>>,
    buffer: Vec<u8>,
}

impl Files {
    fn new(names: Vec<PathBuf>) -> Self {
        Self { found: names.iter().map(|_| None).collect(), names, buffer: Vec::new() }
    }

    /// Looks again; whether something has changed.
    fn have_changed(&mut self) -> bool {
        let mut changed = false;
        for (name, found) in self.names.iter().zip(&mut self.found) {
            match (name.exists(), &mut *found) {
                (true, Some((file, bytes))) => {
                    self.buffer.resize(bytes.len(), 0);
                    file.read_exact_at(&mut self.buffer, 0).unwrap();
                    if *bytes != self.buffer {
                        std::mem::swap(bytes, &mut self.buffer);
                        changed = true;
                    }
                }
                (true, None) => {
                    *found = Some((fs::File::open(name).unwrap(), fs::read(name).unwrap()));
                    changed = true;
                }
                (false, Some(_)) => {
                    *found = None;
                    changed = true;
                }
                (false, None) => {}
            }
        }
        changed
    }

    fn copy_to(&self, directory: &Directory) {
        for (name, found) in self.names.iter().zip(&self.found) {
            let Some((file, bytes)) = found else { continue };
            let copy = Path::new(directory.path()).join(name.file_name().unwrap());
            fs::write(&copy, bytes).unwrap();
            fs::set_permissions(&copy, file.metadata().unwrap().permissions()).unwrap();
        }
    }
}

#[test]
fn what_is_left_of_a_first_and_last_participant_killed_at_any_instruction_is_replaced() {
    for role in ROLES {
        let (directory, copy) = (Directory::new(), Directory::new());
        let mut files = Files::new(names(&directory));
        let Some(victim) = Traced::start(&directory, "c", &["traced-open", role]) else { return };
        let (mut instructions, mut changes) = (0_u64, 0);
        for _open_then_close in 0..2 {
            while victim.step() != Stop::Mark {
                instructions += 1;
                if files.have_changed() {
                    files.copy_to(&copy);
                    goes_on(&copy, changes % 2 == 0);
                    changes += 1;
                }
            }
        }
        println!("role {role}: {instructions} instructions, {changes} changes of the files");
        assert!(changes > 6, "the victim did nothing");
        assert!(directory.files().is_empty());
    }
}

/// Kills a peer at each call that changes something between its first mark and its last; `survive` sees what follows.
/// Returns how many there were.
fn kill_at_every_call(directory: &Directory, role: &str, mut survive: impl FnMut(&mut dyn FnMut())) -> usize {
    for kill_at in 0.. {
        let Some(mut victim) = Traced::start(directory, "c", &["traced-open", role]) else {
            return usize::MAX;
        };
        let (mut calls, mut marks) = (0, 0);
        while calls <= kill_at && marks < 2 {
            match victim.to_call() {
                Some(call) if call.changes_something() => calls += 1,
                Some(_) => {}
                None => marks += 1,
            }
        }
        survive(&mut || victim.0.kill());
        victim.0.kill();
        if marks == 2 {
            return kill_at;
        }
    }
    unreachable!("it comes to its last mark")
}

#[test]
fn a_first_and_last_participant_killed_at_any_call_is_in_nobodys_way() {
    for role in ROLES {
        let (directory, mut turn) = (Directory::new(), 0);
        let calls = kill_at_every_call(&directory, role, |kill| {
            kill();
            turn += 1;
            goes_on(&directory, turn % 2 == 0);
        });
        println!("role {role}: {calls} calls");
        assert!(calls > 15);
    }
}

#[test]
fn whoever_opens_at_the_same_time_waits_no_longer_than_the_one_that_is_killed() {
    for role in ROLES {
        let directory = Directory::new();
        let calls = kill_at_every_call(&directory, role, |kill| {
            std::thread::scope(|scope| {
                let opens = scope.spawn(|| goes_on_beside(&directory));
                // It has come to where the other is in its way, if that is anywhere.
                std::thread::sleep(Duration::from_millis(2));
                kill();
                opens.join().unwrap();
            });
            goes_on(&directory, false);
        });
        println!("role {role}: {calls} calls");
    }
}

/// As `goes_on`, where another may be opening or closing the ring meanwhile.
fn goes_on_beside(directory: &Directory) {
    let (started, options) = (Instant::now(), options(directory));
    let subscriber = ShmSubscriber::open(&options).unwrap();
    let publisher = ShmPublisher::open(&options).unwrap();
    for _ in 0..5 {
        publisher.send_timeout(b"x", SOON).unwrap();
        assert_eq!(&*subscriber.recv_timeout(SOON).unwrap(), b"x");
    }
    assert!(started.elapsed() < SOON, "blocked for {:?}", started.elapsed());
}

#[test]
fn those_who_take_part_are_not_disturbed_by_one_that_is_killed_while_it_comes_or_goes() {
    for role in ROLES {
        let directory = Directory::new();
        let (subscriber, publisher) = (
            ShmSubscriber::open(&options(&directory)).unwrap(),
            ShmPublisher::open(&options(&directory)).unwrap(),
        );
        let mut next = 0;
        let calls = kill_at_every_call(&directory, role, |kill| {
            kill();
            // More than there are slots: the dead one's place is found empty and its messages are nobody's.
            for _ in 0..5 {
                publisher.send_timeout(&shm::message(1, next), SOON).unwrap();
                assert_eq!(shm::parse(&subscriber.recv_timeout(SOON).unwrap()), (1, next));
                next += 1;
            }
            assert_eq!(subscriber.recv_timeout(Duration::ZERO).err(), Some(RecvError::Timeout));
            assert_eq!(publisher.subscribers(), 1);
            assert_eq!(directory.files().len(), 2);
        });
        println!("role {role}: {calls} calls");
        drop((publisher, subscriber));
        assert!(directory.files().is_empty());
    }
}
