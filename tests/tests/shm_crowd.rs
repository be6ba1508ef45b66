//! As many processes as a ring takes, at once, and killed at random.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod peer;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use msg_runtime::ErrorKind;
use msg_runtime::shm::{ShmPublisher, ShmSubscriber, now};
use msg_tests::shm::{self, Directory, END};
use peer::Peer;

const LONG: Duration = Duration::from_secs(20);

#[test]
fn in_128_processes_64_publish_to_64_and_the_next_of_each_is_refused() {
    const MESSAGES: u64 = 25;
    let directory = Directory::new();
    let mut subscribers: Vec<Peer> = (0..64).map(|_| Peer::start(&directory, "c", &["witness"])).collect();
    let mut publishers: Vec<Peer> =
        (0..64).map(|tag| Peer::start(&directory, "c", &["obey", &tag.to_string()])).collect();
    subscribers.iter_mut().chain(&mut publishers).for_each(|peer| assert_eq!(peer.line(), "ready"));
    let options = shm::options(directory.path(), "c");
    let refused = [
        (ShmPublisher::open(&options).unwrap_err(), "64 publishers"),
        (ShmSubscriber::open(&options).unwrap_err(), "64 subscribers"),
    ];
    for (error, text) in refused {
        assert_eq!(error.kind(), ErrorKind::NoRoom);
        assert!(error.to_string().contains(text), "{error}");
    }
    let started = Instant::now();
    publishers.iter().for_each(|peer| peer.tell(&MESSAGES.to_string()));
    publishers.iter_mut().for_each(|peer| assert_eq!(peer.line(), "sent"));
    assert_eq!(publishers[0].ask("0"), "sent");
    let expected: Vec<String> = (0..64).map(|tag| format!("{tag}={MESSAGES}")).collect();
    let expected = format!("seen {}", expected.join(" "));
    subscribers.iter_mut().for_each(|peer| assert_eq!(peer.line(), expected));
    println!("{} messages to 64 subscribers each in {:?}", 64 * MESSAGES, started.elapsed());
    // A place that was left can be taken again.
    subscribers.pop().unwrap().ends_well();
    publishers.pop().unwrap().hang_up();
    drop((ShmPublisher::open(&options).unwrap(), ShmSubscriber::open(&options).unwrap()));
    publishers.into_iter().for_each(Peer::hang_up);
    subscribers.into_iter().for_each(Peer::ends_well);
    assert!(directory.files().is_empty());
}

/// Who comes and who goes, all at the same moment: making, finding, replacing and removing the files meet.
#[test]
fn thirty_two_processes_come_and_go_at_the_same_moment() {
    let directory = Directory::new();
    let mut peers: Vec<Peer> =
        (0..32).map(|number| Peer::ready(&directory, "c", &["meet", &number.to_string()])).collect();
    for round in 0..40 {
        let at = now() + Duration::from_millis(4);
        peers.iter().for_each(|peer| peer.tell(&at.as_nanos().to_string()));
        // In every fourth round some are killed in the middle of it.
        let victims = if round % 4 == 3 { 4 } else { 0 };
        while now() < at {
            std::hint::spin_loop();
        }
        for victim in 0..victims {
            let number = (round + 8 * victim) % 32;
            peers[number].kill();
            peers[number] = Peer::start(&directory, "c", &["meet", &number.to_string()]);
        }
        for peer in &mut peers {
            let line = peer.line();
            assert!(
                line == "left" || (victims != 0 && line == "ready"),
                "round {round}: a peer met an error"
            );
        }
        assert!(victims != 0 || directory.files().is_empty(), "round {round}: the last one out leaves files");
    }
    peers.into_iter().for_each(Peer::hang_up);
    drop(ShmPublisher::open(&shm::options(directory.path(), "c")).unwrap());
    assert!(directory.files().is_empty());
}

/// How long the processes are killed: by a variable, in seconds.
fn time_of_killing() -> Duration {
    let seconds = std::env::var("MSG_TEST_SECONDS").map_or(20, |text| text.parse().unwrap());
    Duration::from_secs(seconds)
}

/// How long a survivor may be blocked once the kernel has let go of what a dead process held.
const BLOCKED: Duration = Duration::from_millis(100);

/// When a process was told to end, and when we saw that it had.
struct Kill {
    told: Duration,
    ended: Duration,
}

/// How long each living process had waited for a processor, at some time.
struct Waits {
    at: Duration,
    of: HashMap<u32, Duration>,
}

/// What happened, as far as it explains why somebody was blocked.
#[derive(Default)]
struct Events {
    kills: Vec<Kill>,
    waits: Vec<Waits>,
}

impl Events {
    fn look(&mut self, peers: &[Peer]) {
        let wait = |peer: &Peer| {
            let text = std::fs::read_to_string(format!("/proc/{}/schedstat", peer.id())).ok()?;
            Some((peer.id(), Duration::from_nanos(text.split(' ').nth(1)?.parse().ok()?)))
        };
        self.waits.push(Waits { at: now(), of: peers.iter().filter_map(wait).collect() });
    }

    /// The longest that one process waited for a processor between two times.
    fn starved(&self, from: Duration, to: Duration) -> Duration {
        let before = self.waits.iter().rev().find(|waits| waits.at <= from);
        let after = self.waits.iter().find(|waits| waits.at >= to).or(self.waits.last());
        let (Some(before), Some(after)) = (before, after) else { return Duration::ZERO };
        let waited = |(process, wait): (&u32, &Duration)| {
            wait.saturating_sub(before.of.get(process).copied().unwrap_or_default())
        };
        after.of.iter().map(waited).max().unwrap_or_default()
    }

    /// How much longer than it may somebody was blocked, after the last one had ended whose end came before.
    fn excess(&self, from: Duration, to: Duration) -> Duration {
        let ends = self.kills.iter().filter(|kill| kill.told <= to).map(|kill| kill.ended);
        let since = ends.max().unwrap_or_default().max(from);
        to.saturating_sub(since).saturating_sub(BLOCKED + self.starved(since, to))
    }
}

/// What peers have written down as late.
fn late(directory: &Directory) -> Vec<(Duration, Duration)> {
    let mut late = Vec::new();
    for entry in std::fs::read_dir(directory.path()).unwrap().map(Result::unwrap) {
        if !entry.file_name().to_str().unwrap().starts_with("late.") {
            continue;
        }
        for line in std::fs::read_to_string(entry.path()).unwrap().lines() {
            let nanos = |text: Option<&str>| Duration::from_nanos(text.unwrap().parse().unwrap());
            let mut words = line.split(' ');
            late.push((nanos(words.next()), nanos(words.next())));
        }
    }
    late
}

/// Eight publishers and eight subscribers, all killed at random but one of each.
struct Crowd<'a> {
    directory: &'a Directory,
    /// Even ones subscribe, odd ones publish; the first two are spared.
    peers: Vec<Peer>,
    tags: u64,
}

impl<'a> Crowd<'a> {
    fn new(directory: &'a Directory) -> Self {
        let mut crowd = Self { directory, peers: Vec::new(), tags: 0 };
        for number in 0..16 {
            let peer = crowd.peer(number);
            crowd.peers.push(peer);
        }
        crowd
    }

    fn peer(&mut self, number: usize) -> Peer {
        if number.is_multiple_of(2) {
            return Peer::ready(self.directory, "c", &["witness"]);
        }
        self.tags += 1;
        Peer::ready(self.directory, "c", &["paced", &self.tags.to_string()])
    }

    fn kill(&mut self, number: usize) -> Kill {
        let told = now();
        self.peers[number].kill();
        let ended = now();
        self.peers[number] = self.peer(number);
        Kill { told, ended }
    }
}

#[test]
fn eight_publishers_and_eight_subscribers_killed_at_random_lose_nothing_and_block_nobody() {
    let directory = Directory::new();
    let mut crowd = Crowd::new(&directory);
    let (mut events, mut dice) = (Events::default(), 0x2545_f491_4f6c_dd1d_u64);
    let (started, time) = (Instant::now(), time_of_killing());
    let mut next = started;
    while started.elapsed() < time {
        events.look(&crowd.peers);
        std::thread::sleep(Duration::from_millis(5));
        if Instant::now() < next {
            continue;
        }
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        let kill = crowd.kill(2 + dice as usize % 14);
        events.kills.push(kill);
        // For two seconds one after the other, then for two seconds so that each must be over before the next.
        let calm = started.elapsed().as_secs() % 4 >= 2;
        next = Instant::now() + Duration::from_millis(if calm { 250 + dice % 100 } else { dice % 40 });
    }
    events.look(&crowd.peers);
    let sent = end(&directory, crowd);
    let late = late(&directory);
    println!("{} kills, {} messages, {} late", events.kills.len(), sent, late.len());
    for (from, to) in late {
        let excess = events.excess(from, to);
        assert!(excess.is_zero(), "blocked for {:?}, {excess:?} more than it may", to - from);
    }
}

/// Ends the publishers and then, by the last message, the subscribers; what was sent is what was received. Returns how
/// many messages that were.
fn end(directory: &Directory, crowd: Crowd<'_>) -> u64 {
    let tags = crowd.tags;
    let (mut subscribers, mut publishers) = (Vec::new(), Vec::new());
    for (number, peer) in crowd.peers.into_iter().enumerate() {
        if number % 2 == 0 { subscribers.push(peer) } else { publishers.push(peer) }
    }
    publishers.iter_mut().for_each(Peer::kill);
    let publisher = ShmPublisher::open(&shm::options(directory.path(), "c")).unwrap();
    publisher.send_timeout(&shm::message(0, END), LONG).unwrap();
    // The first has seen everything.
    let seen = subscribers[0].line();
    let seen = seen.strip_prefix("seen ").expect("the subscriber found something wrong").split(' ');
    let seen: HashMap<u64, u64> = seen
        .map(|word| word.split_once('=').unwrap())
        .map(|(tag, count)| (tag.parse().unwrap(), count.parse().unwrap()))
        .collect();
    for tag in 1..=tags {
        let sent = std::fs::read(shm::acknowledged(directory.path(), tag)).unwrap_or_default();
        let sent = sent.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
        let received = seen.get(&tag).copied().unwrap_or(0);
        // It may have been killed between sending and writing it down.
        assert!((sent..=sent + 1).contains(&received), "publisher {tag}: sent {sent}, received {received}");
    }
    subscribers.into_iter().for_each(Peer::ends_well);
    drop(publisher);
    assert!(directory.files().is_empty());
    seen.values().sum()
}
