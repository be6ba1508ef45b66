//! A publisher that is stopped in the middle of its work takes nothing from the others but the slot that it has on loan.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod peer;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use msg_runtime::error::RecvError;
use msg_runtime::shm::{Options, ShmSubscriber};
use msg_tests::shm::{self, Directory};
use peer::Peer;
use peer::trace::Traced;

/// How long the others' messages are counted, each time.
const WINDOW: Duration = Duration::from_millis(15);
/// At how many instructions of a commit the victim is stopped, spread over all of them.
const INSTRUCTIONS: u64 = 40;
/// What the others must keep of their throughput.
const KEPT: f64 = 0.9;
/// As many as it takes until the medians are not those of a busy machine.
const MEASUREMENTS: usize = 4;
/// The publisher that is stopped marks its messages with this.
const VICTIM: u64 = 1;

/// What the subscriber of this process has received.
#[derive(Default)]
struct Received {
    of_others: AtomicU64,
    of_victim: AtomicU64,
    /// Nothing is received for a while, so that the ring fills and the others wait.
    pauses: AtomicBool,
    /// Whoever receives has ended, or shall.
    done: AtomicBool,
}

/// Receives until told to stop, and sees to it that each publisher's messages are whole and in order.
fn receive(subscriber: &ShmSubscriber, received: &Received) {
    let _ends = Ends(&received.done);
    let mut next = [None; 8];
    while !received.done.load(Ordering::Relaxed) {
        if received.pauses.load(Ordering::Relaxed) {
            std::thread::yield_now();
            continue;
        }
        let sample = match subscriber.recv_timeout(Duration::from_secs(1)) {
            Err(RecvError::Timeout) => continue,
            other => other.unwrap(),
        };
        let (tag, counter) = shm::parse(&sample);
        let next = next[tag as usize].get_or_insert(counter);
        assert_eq!(counter, *next, "publisher {tag}: lost, twice or out of order");
        *next += 1;
        let count = if tag == VICTIM { &received.of_victim } else { &received.of_others };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Messages a second of the others in one window.
fn throughput(received: &Received) -> f64 {
    let messages = || received.of_others.load(Ordering::Relaxed);
    // Whoever slept until there was room is at work again.
    let at_work = messages() + 200;
    let started = Instant::now();
    while messages() < at_work {
        assert!(
            started.elapsed() < Duration::from_secs(5) && !received.done.load(Ordering::Relaxed),
            "blocked"
        );
        std::thread::yield_now();
    }
    let (started, before) = (Instant::now(), messages());
    std::thread::sleep(WINDOW);
    let messages = messages() - before;
    assert!(messages > 0, "the others are blocked");
    messages as f64 / started.elapsed().as_secs_f64()
}

/// What the others kept of their throughput while the victim was stopped in the middle of a fill or of a commit, each
/// time beside a window in which it was stopped between two messages.
#[derive(Default)]
struct Kept {
    filling: Vec<f64>,
    committing: Vec<f64>,
    /// Stops in the middle of a commit at which its message had arrived already, and at which it had not.
    after: u64,
    before: u64,
}

/// Lets the victim run so many instructions of a commit. One that runs step by step would lose every race for the next
/// place in the ring, so the others wait for room meanwhile.
fn commit(victim: &Traced, received: &Received, instructions: u64) -> u64 {
    received.pauses.store(true, Ordering::Relaxed);
    let made = victim.steps(instructions);
    received.pauses.store(false, Ordering::Relaxed);
    made
}

fn measure(victim: &Traced, received: &Received, kept: &mut Kept) {
    // How many instructions a commit takes if nobody comes in between.
    let whole = |_| {
        victim.to_mark();
        victim.to_mark();
        commit(victim, received, 1_000_000)
    };
    let instructions = (0..4).map(whole).min().unwrap();
    let mut idle = throughput(received);
    for turn in 0..INSTRUCTIONS {
        victim.to_mark();
        let filling = throughput(received);
        victim.to_mark();
        let before = received.of_victim.load(Ordering::Relaxed);
        commit(victim, received, instructions * turn / INSTRUCTIONS);
        let committing = throughput(received);
        let arrived = received.of_victim.load(Ordering::Relaxed) != before;
        *if arrived { &mut kept.after } else { &mut kept.before } += 1;
        victim.to_mark();
        // Beside the nearest of the two idle windows around them.
        kept.filling.push(filling / idle);
        idle = throughput(received);
        kept.committing.push(committing / idle);
    }
}

/// Tells all threads to end, whatever happens.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn options(directory: &Directory) -> Options {
    shm::options(directory.path(), "c").slots(16).slot_bytes(64)
}

#[test]
fn a_publisher_stopped_in_a_fill_or_a_commit_slows_nobody_down() {
    let directory = Directory::new();
    let subscriber = ShmSubscriber::open(&options(&directory)).unwrap();
    let Some(victim) = Traced::start(&directory, "c", &["traced-send"]) else { return };
    let _publishers = ["2", "3"].map(|tag| Peer::ready(&directory, "c", &["publish", tag]));
    let _subscriber = Peer::ready(&directory, "c", &["receive"]);
    let received = Received::default();
    std::thread::scope(|scope| {
        scope.spawn(|| receive(&subscriber, &received));
        let _ends = Ends(&received.done);
        let mut kept = Kept::default();
        let enough = (0..MEASUREMENTS).any(|_| {
            measure(&victim, &received, &mut kept);
            let medians = [&kept.filling, &kept.committing].map(|figures| median(figures.clone()));
            println!(
                "with one stopped in a fill the others keep {:.2} of their throughput, in a commit {:.2} \
                 ({} stops before its message is there, {} after)",
                medians[0], medians[1], kept.before, kept.after
            );
            medians.iter().all(|kept| *kept >= KEPT)
        });
        assert!(kept.before > 2 && kept.after > 2, "the commit is in the middle of the instructions");
        assert!(enough, "the others keep less than {KEPT} of their throughput");
    });
}
