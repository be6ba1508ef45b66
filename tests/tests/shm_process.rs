//! The ring between processes: who comes late, is slow, is stopped, is killed, or has its files taken away.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod peer;

use std::collections::HashMap;
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use msg_runtime::ErrorKind;
use msg_runtime::error::{RecvError, SendError, TrySendError};
use msg_runtime::shm::{ShmPublisher, ShmSubscriber};
use msg_tests::shm::{self, Directory, END};
use peer::Peer;

const SECOND: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(20);

/// Waits until something holds, for at most this long. Returns how long it took.
fn eventually(most: Duration, mut holds: impl FnMut() -> bool) -> Duration {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < most, "not within {most:?}");
        std::thread::yield_now();
    }
    started.elapsed()
}

fn send_all(publisher: &ShmPublisher, counters: std::ops::Range<u64>) {
    for counter in counters {
        publisher.send_timeout(&shm::message(1, counter), LONG).unwrap();
    }
}

fn send_end(publisher: &ShmPublisher) {
    publisher.send_timeout(&shm::message(0, END), LONG).unwrap();
}

#[test]
fn messages_cross_whole_and_in_order_to_every_process() {
    let directory = Directory::new();
    let publisher = ShmPublisher::open(&shm::options(directory.path(), "c")).unwrap();
    send_all(&publisher, 0..5); // Nobody is there: discarded.
    let peers = [(); 3].map(|()| Peer::ready(&directory, "c", &["receive"]));
    assert!(publisher.wait_for_subscribers(3, LONG));
    send_all(&publisher, 5..20_000);
    send_end(&publisher);
    peers.into_iter().for_each(Peer::ends_well);
    eventually(SECOND, || publisher.subscribers() == 0);
    assert_eq!(publisher.stats().sent, 20_001);
    drop(publisher);
    assert!(directory.files().is_empty(), "the last one out removes the files");
}

#[test]
fn a_process_that_ends_has_sent_what_it_sent() {
    let directory = Directory::new();
    let subscriber = ShmSubscriber::open(&shm::options(directory.path(), "c")).unwrap();
    let mut peer = Peer::ready(&directory, "c", &["send", "3"]);
    peer.kill();
    for counter in 0..3 {
        assert_eq!(shm::parse(&subscriber.recv_timeout(SECOND).unwrap()), (1, counter));
    }
}

#[test]
fn a_slow_subscriber_holds_publishers_back_until_it_dies() {
    let directory = Directory::new();
    let publisher = ShmPublisher::open(&shm::options(directory.path(), "c").slots(4)).unwrap();
    let mut hog = Peer::ready(&directory, "c", &["hog"]);
    send_all(&publisher, 0..4);
    assert_eq!(publisher.try_send(b"x"), Err(TrySendError::Full));
    let started = Instant::now();
    let timeout = Duration::from_millis(150);
    assert_eq!(publisher.send_timeout(b"x", timeout), Err(SendError::Timeout));
    assert!((timeout..timeout + SECOND / 2).contains(&started.elapsed()), "{:?}", started.elapsed());
    // A publisher that sleeps is woken by the death, as far as it looks around by itself.
    std::thread::scope(|scope| {
        let blocked = scope.spawn(|| publisher.send_timeout(b"x", LONG));
        hog.kill();
        let killed = Instant::now();
        assert_eq!(blocked.join().unwrap(), Ok(()));
        assert!(killed.elapsed() < LONG / 4, "the dead one's slots took {:?}", killed.elapsed());
    });
    send_all(&publisher, 0..20);
}

#[test]
fn try_send_alone_gets_a_dead_subscribers_slots_back() {
    let directory = Directory::new();
    let publisher = ShmPublisher::open(&shm::options(directory.path(), "c").slots(2)).unwrap();
    let mut holder = Peer::ready(&directory, "c", &["hold", "1"]);
    // One is held, one is unread.
    send_all(&publisher, 0..2);
    assert_eq!(holder.line(), "holding");
    assert_eq!(publisher.try_send(b"x"), Err(TrySendError::Full));
    holder.kill();
    eventually(SECOND, || publisher.try_send(b"x").is_ok());
}

#[test]
fn a_stopped_subscriber_is_waited_for() {
    let directory = Directory::new();
    let publisher = ShmPublisher::open(&shm::options(directory.path(), "c").slots(2)).unwrap();
    let mut peer = Peer::ready(&directory, "c", &["receive"]);
    peer.signal(libc::SIGSTOP);
    send_all(&publisher, 0..2);
    assert_eq!(publisher.send_timeout(b"x", SECOND / 4), Err(SendError::Timeout));
    peer.signal(libc::SIGCONT);
    send_all(&publisher, 2..10);
    send_end(&publisher);
    assert_eq!(peer.line(), "end");
    peer.ends_well();
}

/// Stopped again and again wherever it is just then, a latest-only subscriber holds nobody back, and reads whole
/// messages when it goes on.
#[test]
fn a_stopped_latest_only_subscriber_is_not_waited_for() {
    let directory = Directory::new();
    let publisher = ShmPublisher::open(&shm::options(directory.path(), "c").slots(6)).unwrap();
    let peers = [(); 2].map(|()| Peer::ready(&directory, "c", &["latest"]));
    let mut counter = 0;
    let mut send = |messages: u64| {
        for _ in 0..messages {
            assert_eq!(publisher.try_send(&shm::message(1, counter)), Ok(()), "held back");
            counter += 1;
        }
    };
    for _ in 0..100 {
        send(2000);
        peers[0].signal(libc::SIGSTOP);
        send(500);
        peers[0].signal(libc::SIGCONT);
    }
    send_end(&publisher);
    peers.into_iter().for_each(Peer::ends_well);
}

#[test]
fn who_wakes_nobody_makes_no_system_call() {
    let directory = Directory::new();
    let mut peer = Peer::ready(&directory, "c", &["silent"]);
    let sleeper = ShmSubscriber::open(&shm::options(directory.path(), "c").spin(Duration::ZERO)).unwrap();
    std::thread::scope(|scope| {
        let received = scope.spawn(|| std::iter::from_fn(|| sleeper.recv_timeout(SECOND).ok()).count());
        eventually(SECOND, || somebody_sleeps(&directory));
        peer.child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        assert_eq!(peer.line(), "silent");
        assert!(received.join().unwrap() > 4);
    });
}

/// Whether a subscriber has announced that it must be woken: bit 0 of the readers file's word at 128.
fn somebody_sleeps(directory: &Directory) -> bool {
    let mut word = [0; 4];
    let readers = std::fs::File::open(&directory.files()[1]).unwrap();
    readers.read_exact_at(&mut word, 128).unwrap();
    u32::from_ne_bytes(word) & 1 == 1
}

#[test]
fn memory_that_may_not_be_locked_is_an_error_at_open() {
    let directory = Directory::new();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut peer = Peer::start(&directory, "c", &["unlocked"]);
    let line = peer.line();
    assert!(line.starts_with("PermissionDenied ") && line.contains("RLIMIT_MEMLOCK"), "{line}");
    assert_eq!(peer.line(), "0 files");
}

#[test]
fn a_killed_publishers_loans_return() {
    let directory = Directory::new();
    let options = shm::options(directory.path(), "c").slots(4);
    let subscriber = ShmSubscriber::open(&options).unwrap();
    let publisher = ShmPublisher::open(&options).unwrap();
    let mut dying = Peer::ready(&directory, "c", &["loan", "4"]);
    assert_eq!(publisher.try_send(b"x"), Err(TrySendError::Full));
    dying.kill();
    let started = Instant::now();
    publisher.send_timeout(b"after", LONG).unwrap();
    // Far from the timeout, with room for a machine that is busy.
    assert!(started.elapsed() < LONG / 4);
    assert_eq!(&*subscriber.recv().unwrap(), b"after");
    assert!(subscriber.try_recv().is_err(), "half a message was published");
}

#[test]
fn files_removed_by_hand_make_a_new_ring_to_which_subscribers_move() {
    for victims in [&["data", "readers"][..], &["data"], &["readers"]] {
        let directory = Directory::new();
        let options = shm::options(directory.path(), "c");
        let subscriber = ShmSubscriber::open(&options).unwrap();
        let stale = ShmPublisher::open(&options).unwrap();
        let mut dying = Peer::ready(&directory, "c", &["loan", "1"]);
        dying.kill();
        for file in directory.files() {
            if victims.iter().any(|victim| file.extension().is_some_and(|end| end == *victim)) {
                std::fs::remove_file(file).unwrap();
            }
        }
        let publisher = ShmPublisher::open(&options).unwrap();
        let received = std::thread::scope(|scope| {
            let receiving = scope.spawn(|| subscriber.recv_timeout(2 * SECOND));
            assert!(
                publisher.wait_for_subscribers(1, 2 * SECOND),
                "the subscriber has not moved: {victims:?}"
            );
            publisher.send(b"again").unwrap();
            receiving.join().unwrap()
        });
        assert_eq!(received.as_deref(), Ok(&b"again"[..]));
        assert_eq!(stale.try_send(b"x"), Err(TrySendError::Disconnected), "{victims:?}");
    }
}

#[test]
fn a_publisher_alone_notices_that_its_files_are_gone() {
    let directory = Directory::new();
    let publisher = ShmPublisher::open(&shm::options(directory.path(), "c")).unwrap();
    directory.files().iter().for_each(|file| std::fs::remove_file(file).unwrap());
    eventually(2 * SECOND, || publisher.send(b"x") == Err(SendError::Disconnected));
}

#[test]
fn a_random_subscriber_is_killed_again_and_again_at_a_thousand_messages_a_second() {
    let directory = Directory::new();
    let options = shm::options(directory.path(), "c").slots(32);
    let publisher = ShmPublisher::open(&options).unwrap();
    let start = || Peer::ready(&directory, "c", &["receive"]);
    let mut peers: Vec<Peer> = (0..4).map(|_| start()).collect();
    let done = AtomicBool::new(false);
    let slowest = std::thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let mut slowest = Duration::ZERO;
            for counter in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let started = Instant::now();
                publisher.send_timeout(&shm::message(1, counter), SECOND).unwrap();
                slowest = slowest.max(started.elapsed());
                std::thread::sleep(Duration::from_millis(1));
            }
            slowest
        });
        for kill in 0..25 {
            let victim = kill * 7 % peers.len();
            peers[victim].kill();
            peers[victim] = start();
        }
        done.store(true, Ordering::Relaxed);
        sending.join().unwrap()
    });
    println!("the slowest send took {slowest:?}");
    send_end(&publisher);
    peers.into_iter().for_each(Peer::ends_well);
}

#[test]
fn killed_pairs_leave_no_more_than_the_last_one_did() {
    let directory = Directory::new();
    let mut after_third = 0;
    for run in 0..60 {
        let mut receiver = Peer::ready(&directory, "c", &["receive"]);
        let mut sender = Peer::ready(&directory, "c", &["send", "20"]);
        sender.kill();
        receiver.kill();
        if run == 2 {
            after_third = directory.files().len();
        }
    }
    assert_eq!(directory.files().len(), after_third);
    assert!(after_third <= 2);
    drop(ShmPublisher::open(&shm::options(directory.path(), "c")).unwrap());
    assert!(directory.files().is_empty());
}

/// Peers die while they open, send, receive and close; the next ones find their way.
#[test]
fn killed_at_any_time_while_opening_nobody_is_in_the_way() {
    let directory = Directory::new();
    let mut dice = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..60 {
        let mut peers: Vec<_> =
            ["receive", "send", "hold"].map(|what| Peer::start(&directory, "c", &[what, "3"])).into();
        for peer in &mut peers {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            std::thread::sleep(Duration::from_micros(dice % 1500));
            peer.kill();
        }
        // Nothing to close: the files are there or not, as the kill left them.
        assert!(directory.files().len() <= 3);
    }
    let options = shm::options(directory.path(), "c").slots(4);
    let subscriber = ShmSubscriber::open(&options).unwrap();
    let publisher = ShmPublisher::open(&options).unwrap();
    publisher.send(b"x").unwrap();
    assert_eq!(&*subscriber.recv_timeout(SECOND).unwrap(), b"x");
    drop((subscriber, publisher));
    assert!(directory.files().is_empty());
}

#[test]
fn a_full_file_system_is_an_error_at_open() {
    let directory = Directory::new();
    let mut peer = Peer::start(&directory, "c", &["tiny"]);
    let line = peer.line();
    if let Some(reason) = line.strip_prefix("refused ") {
        return peer::not_run(&format!("no mount namespace ({reason}); run as root"));
    }
    assert!(line.starts_with("NoSpace "), "{line}");
    let need = 8 * (4 << 20);
    let said = line.split(' ').filter_map(|word| word.parse::<u64>().ok()).collect::<Vec<_>>();
    assert!(said[0] >= need && said[0] < need + (1 << 20), "says what is needed: {line}");
    assert!((15 << 20..=16 << 20).contains(&said[1]), "says what is free: {line}");
    assert!(line.contains(directory.path()), "says where: {line}");
    assert_eq!(peer.line(), "0 files");
    assert_eq!(peer.line(), "fits");
}

#[test]
fn a_publisher_that_names_a_geometry_replaces_one_that_nobody_named() {
    let directory = Directory::new();
    let mut waiting = Peer::ready(&directory, "c", &["receive"]);
    let stopped = Peer::ready(&directory, "c", &["receive"]);
    stopped.signal(libc::SIGSTOP);
    let mut dead = Peer::ready(&directory, "c", &["hog"]);
    dead.kill();
    let early = ShmPublisher::open(&shm::options(directory.path(), "c")).unwrap();
    let mut loan = early.loan(64).unwrap();
    loan.copy_from_slice(&shm::message(2, 0));
    let started = Instant::now();
    let options = shm::options(directory.path(), "c").slots(8).slot_bytes(4 << 20);
    let publisher = ShmPublisher::open(&options).unwrap();
    assert!(started.elapsed() < SECOND, "a stopped subscriber held the publisher up");
    assert_eq!((publisher.slots(), publisher.slot_bytes()), (8, 4 << 20));
    assert_eq!(publisher.subscribers(), 2);
    // What is sent right away waits in the new ring for those who have not moved yet; so does what an earlier
    // publisher was filling.
    send_all(&publisher, 0..3);
    assert_eq!(loan.send(), Ok(3));
    assert_eq!(early.slot_bytes(), 4 << 20);
    send_end(&publisher);
    assert_eq!(waiting.line(), "end");
    waiting.ends_well();
    stopped.signal(libc::SIGCONT);
    stopped.ends_well();
}

#[test]
fn a_forked_child_keeps_nobody_alive() {
    let directory = Directory::new();
    let options = shm::options(directory.path(), "c").slots(1);
    let publisher = ShmPublisher::open(&options).unwrap();
    let mut parent = Peer::start(&directory, "c", &["orphan"]);
    let child = parent.line().parse().unwrap();
    assert_eq!(publisher.subscribers(), 1);
    parent.kill();
    let gone = (0..100).any(|_| {
        std::thread::sleep(SECOND / 100);
        publisher.subscribers() == 0
    });
    // The child is there still: it was not its death that helped.
    peer::signal(child, libc::SIGKILL);
    assert!(gone, "the child keeps its parent's lock");
    send_all(&publisher, 0..3);
}

#[test]
fn handles_refuse_in_a_forked_child_and_go_on_in_the_parent() {
    let directory = Directory::new();
    let mut peer = Peer::start(&directory, "c", &["forked"]);
    assert_eq!(peer.line(), "ok");
    peer.ends_well();
    assert!(directory.files().is_empty());
}

#[test]
fn idle_subscribers_use_no_processor() {
    let directory = Directory::new();
    let publisher = ShmPublisher::open(&shm::options(directory.path(), "c")).unwrap();
    let peers = [(); 3].map(|()| Peer::ready(&directory, "c", &["receive"]));
    assert!(publisher.wait_for_subscribers(3, LONG));
    let used = || peers.iter().map(|peer| processor_time(peer.id())).sum::<Duration>();
    let (before, measured) = (used(), 2 * SECOND);
    std::thread::sleep(measured);
    let share = (used() - before).as_secs_f64() / measured.as_secs_f64();
    println!("three idle subscribers use {:.3} % of a processor", share * 100.0);
    assert!(share < 0.01);
}

/// Time that a process has run.
fn processor_time(process: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

/// Publishers and subscribers are killed at random; one subscriber and one publisher survive. Whatever was sent
/// arrives, and nobody is held up.
#[test]
fn random_kills_lose_nothing_that_was_sent() {
    let directory = Directory::new();
    let options = shm::options(directory.path(), "c").slots(16);
    let subscriber = ShmSubscriber::open(&options).unwrap();
    let publisher = ShmPublisher::open(&options).unwrap();
    let seen = std::thread::scope(|scope| {
        let surviving = scope.spawn(|| receive_all(&subscriber));
        let mut publishers: Vec<(u64, Peer)> = Vec::new();
        let mut subscribers: Vec<Peer> = Vec::new();
        let (mut next, mut dice) = (1, 88_172_645_463_325_252_u64);
        let started = Instant::now();
        while started.elapsed() < 3 * SECOND {
            while publishers.len() < 3 {
                let publish = next.to_string();
                publishers.push((next, Peer::ready(&directory, "c", &["publish", &publish])));
                next += 1;
            }
            while subscribers.len() < 3 {
                subscribers.push(Peer::ready(&directory, "c", &["receive"]));
            }
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            std::thread::sleep(Duration::from_micros(dice % 20_000));
            if dice.is_multiple_of(3) {
                subscribers.remove(dice as usize / 3 % 3).kill();
            } else {
                publishers.remove(dice as usize / 3 % 3).1.kill();
            }
        }
        publishers.iter_mut().for_each(|(_, peer)| peer.kill());
        let before_last = Instant::now();
        send_end(&publisher);
        assert!(before_last.elapsed() < SECOND, "held up for {:?}", before_last.elapsed());
        subscribers.into_iter().for_each(Peer::ends_well);
        surviving.join().unwrap()
    });
    println!("{} publishers, {} messages", seen.len(), seen.values().sum::<u64>());
    for (tag, received) in &seen {
        let sent = std::fs::read(shm::acknowledged(directory.path(), *tag)).unwrap();
        let sent = sent.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
        // It may have been killed between sending and writing it down.
        assert!((sent..=sent + 1).contains(received), "publisher {tag}: sent {sent}, received {received}");
    }
    drop((publisher, subscriber));
    assert!(directory.files().is_empty());
}

/// Receives until the end; how many messages came from each publisher.
fn receive_all(subscriber: &ShmSubscriber) -> HashMap<u64, u64> {
    let mut seen = HashMap::new();
    loop {
        let sample = match subscriber.recv_timeout(LONG) {
            Err(RecvError::Timeout) => panic!("nothing came for {LONG:?}"),
            other => other.unwrap(),
        };
        let (tag, counter) = shm::parse(&sample);
        if counter == END {
            return seen;
        }
        let expected = seen.entry(tag).or_insert(0);
        assert_eq!(counter, *expected, "publisher {tag}");
        *expected += 1;
    }
}

#[test]
fn a_type_changes_in_silence_when_nobody_is_left_and_not_before() {
    let directory = Directory::new();
    let typed = |name: &str, fingerprint| {
        let description =
            msg_runtime::shm::Description { type_name: name.into(), fingerprint, schema: vec![1] };
        shm::options(directory.path(), "c").description(description)
    };
    let alive = ShmSubscriber::open(&typed("demo.A", 1)).unwrap();
    let error = ShmPublisher::open(&typed("demo.B", 2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.to_string().contains("`demo.A`") && error.to_string().contains("`demo.B`"), "{error}");
    drop(alive);
    // Files without anybody, as a kill leaves them.
    let mut dead = Peer::ready(&directory, "c", &["receive"]);
    dead.kill();
    assert_eq!(directory.files().len(), 2);
    let publisher = ShmPublisher::open(&typed("demo.B", 2)).unwrap();
    assert!(publisher.send(b"x").is_ok());
}
