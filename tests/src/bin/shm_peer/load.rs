//! Many at once: who publishes and subscribes at a pace, who does it on command, and who comes with everybody else.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use msg_runtime::error::{TryRecvError, TrySendError};
use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber, now};
use msg_tests::shm::{self, END};

use super::say;

/// What takes longer is written down.
const LATE: Duration = Duration::from_millis(100);

/// Writes down when something took long: from and to, in nanoseconds.
struct LateBook(File);

impl LateBook {
    fn new(directory: &str) -> Self {
        let name = format!("late.{}", std::process::id());
        Self(File::create(Path::new(directory).join(name)).unwrap())
    }

    fn note(&mut self, from: Duration, to: Duration) {
        if to.saturating_sub(from) > LATE {
            writeln!(self.0, "{} {}", from.as_nanos(), to.as_nanos()).unwrap();
        }
    }
}

/// Publishes a message each millisecond, and writes down which was sent last and how long each took.
pub(crate) fn paced(options: &Options, directory: &str, tag: u64) {
    let sent = File::create(shm::acknowledged(directory, tag)).unwrap();
    let mut late = LateBook::new(directory);
    let publisher = ShmPublisher::open(options).unwrap();
    say("ready");
    for counter in 0.. {
        let from = now();
        publisher.send_timeout(&shm::message(tag, counter), Duration::from_secs(20)).unwrap();
        late.note(from, now());
        sent.write_all_at(&(counter + 1).to_ne_bytes(), 0).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Receives until the end. Nothing may be lost, torn, twice or out of order; says how many there were of each publisher.
pub(crate) fn witness(options: &Options, directory: &str) {
    let mut late = LateBook::new(directory);
    let subscriber = ShmSubscriber::open(options).unwrap();
    say("ready");
    let (mut sequence, mut counts) = (None, BTreeMap::new());
    loop {
        let sample = subscriber.recv().unwrap();
        let info = sample.info();
        late.note(info.sent, now());
        assert_eq!(*sequence.get_or_insert(info.sequence), info.sequence, "lost or twice");
        sequence = Some(info.sequence + 1);
        let (tag, counter) = shm::parse(&sample);
        if counter == END {
            break;
        }
        let next = counts.entry(tag).or_insert(counter);
        assert_eq!(counter, *next, "publisher {tag}: lost, twice or out of order");
        *next += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(tag, count)| format!("{tag}={count}")).collect();
    say(&format!("seen {}", counts.join(" ")));
}

/// Publishes as many messages as each line of its input says; 0 is the last message of all.
pub(crate) fn obey(options: &Options, tag: u64) {
    // Room for what all of them send at once: 64 that wait for 64 would keep a small machine busy with waking.
    let publisher = ShmPublisher::open(&options.clone().slots(1024).slot_bytes(64)).unwrap();
    say("ready");
    let mut next = 0;
    let send =
        |counter| publisher.send_timeout(&shm::message(tag, counter), Duration::from_secs(20)).unwrap();
    for line in std::io::stdin().lines() {
        let messages: u64 = line.unwrap().parse().unwrap();
        if messages == 0 {
            send(END);
        }
        (next..next + messages).for_each(send);
        next += messages;
        say("sent");
    }
}

/// Comes at the times that its input says, in nanoseconds, does its part and leaves again at once.
pub(crate) fn meet(options: &Options, number: u64) {
    let options = options.clone().slots(4).slot_bytes(64);
    say("ready");
    for line in std::io::stdin().lines() {
        let at = Duration::from_nanos(line.unwrap().parse().unwrap());
        while now() < at {
            std::hint::spin_loop();
        }
        if number.is_multiple_of(2) {
            let subscriber = ShmSubscriber::open(&options).unwrap();
            match subscriber.try_recv() {
                Ok(sample) => assert_eq!(&*sample, b"x"),
                Err(error) => assert_eq!(error, TryRecvError::Empty),
            }
        } else {
            let publisher = ShmPublisher::open(&options).unwrap();
            // Subscribers that have not read yet may have filled the ring.
            let sent = publisher.try_send(b"x");
            assert!(matches!(sent, Ok(()) | Err(TrySendError::Full)), "{sent:?}");
        }
        say("left");
    }
}
