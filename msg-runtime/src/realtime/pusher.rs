//! The pushing side: what a push costs, the worker's start and its end.

use super::{
    queue::{Full, Producer, Pushed, WhenFull, queue},
    schedule::Schedule,
    sink::Sink,
    worker::{RESCUE, Shared, Waking, Worker},
};
use crate::error::{Error, ErrorKind, SendError};
use std::{
    fmt, mem, panic,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::{self, JoinHandle, Thread},
    time::Duration,
};

/// Where every pushed message is: `pushed = published + refused + overwritten + left`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RealtimeStats {
    /// Messages handed to `push`.
    pub pushed: u64,
    /// Messages that the endpoint has accepted.
    pub published: u64,
    /// Messages that found the queue full ([`WhenFull::RefuseNewest`]).
    pub refused: u64,
    /// Messages dropped for a newer one ([`WhenFull::OverwriteOldest`], [`WhenFull::LatestOnly`]).
    pub overwritten: u64,
    /// Messages in the queue, with the one being published.
    pub left: u64,
    /// Why the worker has given up publishing, if it has: the endpoint will not take a message any more.
    pub error: Option<SendError>,
}

/// How a real-time publisher works.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) capacity: usize,
    pub(super) when_full: WhenFull,
    pub(super) waking: Waking,
    /// Longest sleep of a worker that waits for the bell.
    pub(super) rescue: Duration,
    pub(super) schedule: Schedule,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            capacity: DEFAULT_CAPACITY,
            when_full: WhenFull::default(),
            waking: Waking::default(),
            rescue: RESCUE,
            schedule: Schedule::default(),
        }
    }
}

/// 64 ms at 1 kHz.
const DEFAULT_CAPACITY: usize = 64;

/// How long a drop waits for the queue to be published.
const DROP_TIMEOUT: Duration = Duration::from_millis(500);
/// How long an attempt under way may go on when the time is over.
const GRACE: Duration = Duration::from_millis(50);
const STACK_BYTES: usize = 2 << 20;
/// Unless the schedule names it.
const THREAD_NAME: &str = "msg-realtime";

/// The pushing end of a queue, and the worker at the other.
pub(super) struct Pusher<T: Copy + Send + 'static> {
    producer: Producer<T>,
    shared: Arc<Shared>,
    /// The worker to wake, when it runs and waits for the bell.
    sleeper: Option<Thread>,
    refused: u64,
    overwritten: u64,
    state: State<T>,
    pub(super) settings: Settings,
}

/// The worker's place: taken out by the thread when it starts, and put back when it cannot.
type Berth<T> = Arc<Mutex<Option<Worker<T>>>>;

enum State<T> {
    Waiting(Berth<T>),
    Running(Running<T>),
    Over,
}

struct Running<T> {
    thread: JoinHandle<Worker<T>>,
    /// Its other end is dropped when the thread is about to end.
    ended: mpsc::Receiver<()>,
}

impl<T: Copy + Send + 'static> Pusher<T> {
    pub(super) fn new(settings: Settings, initial: T, sink: Box<dyn Sink<T>>) -> Self {
        let (producer, consumer) = queue(settings.capacity, settings.when_full, initial);
        let latest_only = settings.when_full == WhenFull::LatestOnly;
        let worker = Worker { consumer, sink, waking: settings.waking, rescue: settings.rescue, latest_only };
        Self {
            producer,
            shared: Arc::new(Shared::new()),
            sleeper: None,
            refused: 0,
            overwritten: 0,
            state: State::Waiting(Arc::new(Mutex::new(Some(worker)))),
            settings,
        }
    }

    #[inline]
    pub(super) fn push_with(&mut self, fill: impl FnOnce(&mut T)) -> Result<(), Full> {
        match (&mut self.producer, &self.sleeper) {
            // What is usual is short, and becomes part of the caller's loop.
            (Producer::Ring(ring), None) => {
                let pushed = ring.push_with(fill);
                self.refused += u64::from(pushed.is_err());
                pushed.map(drop)
            }
            _ => self.push_and_ring(fill),
        }
    }

    #[inline(never)]
    fn push_and_ring(&mut self, fill: impl FnOnce(&mut T)) -> Result<(), Full> {
        match self.producer.push_with(fill) {
            Ok(Pushed::Added) => {}
            Ok(Pushed::Overwrote) => self.overwritten += 1,
            Err(Full) => {
                self.refused += 1;
                return Err(Full);
            }
        }
        if let Some(worker) = &self.sleeper {
            self.shared.bell.ring(|| worker.unpark());
        }
        Ok(())
    }

    pub(super) fn start(&mut self) -> Result<(), Error> {
        let State::Waiting(berth) = &self.state else { return Ok(()) };
        let (ready, is_ready) = mpsc::sync_channel(1);
        let (ending, ended) = mpsc::sync_channel(0);
        let (berth, shared) = (Arc::clone(berth), Arc::clone(&self.shared));
        let schedule = self.settings.schedule.clone();
        let thread = thread::Builder::new().name(THREAD_NAME.into()).stack_size(STACK_BYTES).spawn({
            let berth = Arc::clone(&berth);
            move || {
                let mut worker = take(&berth);
                let applied = schedule.apply();
                let refused = applied.is_err();
                // The starter waits for it.
                let _ = ready.send(applied);
                if !refused {
                    worker.run(&shared);
                }
                drop(ending);
                worker
            }
        });
        let thread = thread.map_err(|error| {
            Error::new(ErrorKind::Io, "the worker's thread could not be started").with_source(error)
        })?;
        match is_ready.recv() {
            Ok(Ok(())) => {
                self.sleeper = self.settings.waking.rings().then(|| thread.thread().clone());
                self.state = State::Running(Running { thread, ended });
                Ok(())
            }
            refusal => {
                *berth.lock().unwrap_or_else(PoisonError::into_inner) = Some(join(thread));
                refusal.unwrap_or_else(|_| {
                    unreachable!("`join` goes on with the panic of a thread that sent nothing")
                })
            }
        }
    }

    /// Publishes what is in the queue for at most this long and ends the worker.
    pub(super) fn stop(&mut self, timeout: Duration) -> RealtimeStats {
        let state = mem::replace(&mut self.state, State::Over);
        self.sleeper = None;
        let left = match state {
            State::Waiting(berth) => Some(take(&berth).consumer.len()),
            State::Running(running) => self.end(running, timeout).map(|worker| worker.consumer.len()),
            State::Over => None,
        };
        let stats = self.stats();
        debug_assert!(
            left.is_none_or(|left| left as u64 == stats.left),
            "{left:?} are left, expected {stats:?}"
        );
        stats
    }

    /// The worker, unless it is stuck in its endpoint: then it ends by itself, after that message.
    fn end(&self, running: Running<T>, timeout: Duration) -> Option<Worker<T>> {
        let unpark = || running.thread.thread().unpark();
        self.shared.drain();
        unpark();
        if running.ended.recv_timeout(timeout) == Err(mpsc::RecvTimeoutError::Timeout) {
            self.shared.abandon();
            unpark();
            if running.ended.recv_timeout(GRACE) == Err(mpsc::RecvTimeoutError::Timeout) {
                return None;
            }
        }
        // A worker that panicked has said so on the way; its queue is gone, the counts stay true.
        running.thread.join().ok()
    }

    pub(super) fn stats(&self) -> RealtimeStats {
        let accepted = self.producer.accepted();
        let overwritten = self.overwritten + self.shared.superseded();
        let published = self.shared.published();
        RealtimeStats {
            pushed: accepted + self.refused,
            published,
            refused: self.refused,
            overwritten,
            left: accepted - overwritten - published,
            error: self.shared.failure(),
        }
    }
}

fn take<T>(berth: &Mutex<Option<Worker<T>>>) -> Worker<T> {
    let worker = berth.lock().unwrap_or_else(PoisonError::into_inner).take();
    worker.expect("it is there until the thread has started or the publisher is stopped")
}

fn join<T>(thread: JoinHandle<Worker<T>>) -> Worker<T> {
    thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
}

impl<T: Copy + Send + 'static> Drop for Pusher<T> {
    fn drop(&mut self) {
        self.stop(DROP_TIMEOUT);
    }
}

impl<T: Copy + Send + 'static> fmt::Debug for Pusher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pusher").field("settings", &self.settings).field("stats", &self.stats()).finish()
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
mod tests {
    use super::*;
    use std::{
        sync::{
            MutexGuard,
            atomic::{AtomicU64, Ordering::Relaxed},
        },
        time::Instant,
    };

    const EVERY_MODE: [WhenFull; 3] =
        [WhenFull::RefuseNewest, WhenFull::OverwriteOldest, WhenFull::LatestOnly];
    const EVERY_WAKING: [Waking; 4] = [
        Waking::Deadline(Duration::from_millis(1)),
        Waking::Notify,
        Waking::NotifySpin(Duration::from_micros(20)),
        Waking::Spin,
    ];

    /// For closures, whose arguments a boxed trait says nothing about.
    fn sink<T>(send: impl FnMut(&T, Duration) -> Result<(), SendError> + Send + 'static) -> Box<dyn Sink<T>> {
        Box::new(send)
    }

    /// What came out.
    #[derive(Clone, Default)]
    struct Endpoint(Arc<Mutex<Vec<u64>>>);

    impl Endpoint {
        fn sink(&self) -> Box<dyn Sink<u64>> {
            let endpoint = self.clone();
            sink(move |message, _| {
                endpoint.messages().push(*message);
                Ok(())
            })
        }

        fn messages(&self) -> MutexGuard<'_, Vec<u64>> {
            self.0.lock().unwrap()
        }
    }

    fn push(pusher: &mut Pusher<u64>, message: u64) -> Result<(), Full> {
        pusher.push_with(|slot| *slot = message)
    }

    #[test]
    fn a_burst_and_an_immediate_stop_publish_everything() {
        for round in 0..1000 {
            let waking = EVERY_WAKING[round % EVERY_WAKING.len()];
            let endpoint = Endpoint::default();
            let mut pusher =
                Pusher::new(Settings { capacity: 8, waking, ..Settings::default() }, 0, endpoint.sink());
            pusher.start().unwrap();
            (0..5).for_each(|message| push(&mut pusher, message).unwrap());
            let stats = pusher.stop(Duration::from_secs(10));
            assert_eq!(*endpoint.messages(), [0, 1, 2, 3, 4], "{waking:?}");
            assert_eq!((stats.pushed, stats.published, stats.left), (5, 5, 0));
        }
    }

    #[test]
    fn a_push_right_after_start_is_published() {
        for round in 0..1000 {
            let waking = EVERY_WAKING[round % EVERY_WAKING.len()];
            let endpoint = Endpoint::default();
            let mut pusher = Pusher::new(Settings { waking, ..Settings::default() }, 0, endpoint.sink());
            pusher.start().unwrap();
            push(&mut pusher, 7).unwrap();
            drop(pusher);
            assert_eq!(*endpoint.messages(), [7], "{waking:?}");
        }
    }

    #[test]
    fn pushes_before_the_start_are_kept_and_a_stop_without_one_leaves_them() {
        for when_full in EVERY_MODE {
            let endpoint = Endpoint::default();
            let settings = Settings { capacity: 3, when_full, ..Settings::default() };
            let mut pusher = Pusher::new(settings.clone(), 0, endpoint.sink());
            let refused = (0..5).filter(|message| push(&mut pusher, *message).is_err()).count() as u64;
            let kept = if when_full == WhenFull::LatestOnly { 1 } else { 3 };
            let before = pusher.stats();
            assert_eq!((before.refused + before.overwritten, before.left), (5 - kept, kept), "{when_full:?}");
            assert_eq!(before.refused, refused);
            pusher.start().unwrap();
            pusher.start().unwrap();
            assert_eq!(pusher.stop(Duration::from_secs(10)).published, kept);
            let expected: &[u64] = match when_full {
                WhenFull::RefuseNewest => &[0, 1, 2],
                WhenFull::OverwriteOldest => &[2, 3, 4],
                WhenFull::LatestOnly => &[4],
            };
            assert_eq!(*endpoint.messages(), expected);

            let mut never_started = Pusher::new(settings, 0, endpoint.sink());
            push(&mut never_started, 1).unwrap();
            assert_eq!(never_started.stop(Duration::from_secs(10)).left, 1);
            assert_eq!(never_started.stop(Duration::from_secs(10)).left, 1, "a second stop is nothing new");
        }
    }

    #[test]
    fn a_refused_start_keeps_everything_and_can_be_tried_again() {
        let endpoint = Endpoint::default();
        let schedule = Schedule::new().cpus([1023]);
        let mut pusher = Pusher::new(Settings { schedule, ..Settings::default() }, 0, endpoint.sink());
        push(&mut pusher, 1).unwrap();
        let error = pusher.start().unwrap_err();
        assert!(error.to_string().contains("[1023]"), "{error}");
        push(&mut pusher, 2).unwrap();
        pusher.settings.schedule = Schedule::new();
        pusher.start().unwrap();
        assert_eq!(pusher.stop(Duration::from_secs(10)).published, 2);
    }

    #[test]
    fn ten_thousand_lives_each_end_within_a_second() {
        for round in 0..10_000 {
            let waking = EVERY_WAKING[round % EVERY_WAKING.len()];
            let when_full = EVERY_MODE[round % EVERY_MODE.len()];
            let endpoint = Endpoint::default();
            let settings = Settings { waking, when_full, ..Settings::default() };
            let mut pusher = Pusher::new(settings, 0, endpoint.sink());
            pusher.start().unwrap();
            let pushes = round as u64 % 4;
            (0..pushes).for_each(|message| push(&mut pusher, message).unwrap());
            let start = Instant::now();
            drop(pusher);
            assert!(start.elapsed() < Duration::from_secs(1), "{:?} with {waking:?}", start.elapsed());
            let published = endpoint.messages().len() as u64;
            assert!(published == pushes || when_full == WhenFull::LatestOnly && published >= pushes.min(1));
        }
    }

    /// The test holds the gate while it pushes: a push that waited for the consumer would wait for ever.
    #[test]
    fn a_consumer_frozen_in_its_call_holds_no_push_back() {
        for when_full in EVERY_MODE {
            for waking in EVERY_WAKING {
                let gate = Arc::new(Mutex::new(()));
                let (entered, is_entered) = mpsc::channel();
                let sink = sink::<u64>({
                    let gate = Arc::clone(&gate);
                    move |_, _| {
                        let _ = entered.send(());
                        drop(gate.lock().unwrap());
                        Ok(())
                    }
                });
                let mut pusher = Pusher::new(Settings { when_full, waking, ..Settings::default() }, 0, sink);
                pusher.start().unwrap();
                let frozen = gate.lock().unwrap();
                push(&mut pusher, 0).unwrap();
                is_entered.recv().unwrap();
                let refused =
                    (1..10_000).filter(|message| push(&mut pusher, *message).is_err()).count() as u64;
                let stats = pusher.stats();
                assert_eq!((stats.pushed, stats.published, stats.refused), (10_000, 0, refused));
                let left = match when_full {
                    WhenFull::RefuseNewest => 64,
                    WhenFull::OverwriteOldest => 64 + 1,
                    WhenFull::LatestOnly => 1 + 1,
                };
                assert_eq!(stats.left, left, "the queue, and beside it the message being published");
                drop(frozen);
                let stats = pusher.stop(Duration::from_secs(10));
                assert_eq!(stats.published + stats.refused + stats.overwritten, 10_000, "{stats:?}");
            }
        }
    }

    #[test]
    fn a_stop_whose_worker_is_stuck_returns_in_time_and_says_what_is_left() {
        let gate = Arc::new(Mutex::new(()));
        let (entered, is_entered) = mpsc::channel();
        let sink = sink::<u64>({
            let gate = Arc::clone(&gate);
            move |_, _| {
                let _ = entered.send(());
                drop(gate.lock().unwrap());
                Ok(())
            }
        });
        let mut pusher = Pusher::new(Settings::default(), 0, sink);
        pusher.start().unwrap();
        let _frozen = gate.lock().unwrap();
        (0..5).for_each(|message| push(&mut pusher, message).unwrap());
        is_entered.recv().unwrap();
        let start = Instant::now();
        let stats = pusher.stop(Duration::from_millis(20));
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        assert_eq!((stats.pushed, stats.published, stats.left), (5, 0, 5));
    }

    #[test]
    fn an_endpoint_without_room_is_tried_again() {
        let (seen, room) = (Endpoint::default(), Arc::new(AtomicU64::new(0)));
        let sink = |room: &Arc<AtomicU64>, seen: &Endpoint| -> Box<dyn Sink<u64>> {
            let (room, seen) = (Arc::clone(room), seen.clone());
            sink(move |message, _| {
                if room.load(Relaxed) == 0 {
                    return Err(SendError::Timeout);
                }
                seen.messages().push(*message);
                Ok(())
            })
        };
        let waking = Waking::Spin;
        let mut pusher = Pusher::new(Settings { waking, ..Settings::default() }, 0, sink(&room, &seen));
        pusher.start().unwrap();
        (0..5).for_each(|message| push(&mut pusher, message).unwrap());
        room.store(1, Relaxed);
        assert_eq!(pusher.stop(Duration::from_secs(10)).published, 5);
        assert_eq!(*seen.messages(), [0, 1, 2, 3, 4]);

        room.store(0, Relaxed);
        seen.messages().clear();
        let when_full = WhenFull::LatestOnly;
        let mut pusher =
            Pusher::new(Settings { waking, when_full, ..Settings::default() }, 0, sink(&room, &seen));
        pusher.start().unwrap();
        (0..1000).for_each(|message| push(&mut pusher, message).unwrap());
        while pusher.stats().overwritten < 999 {
            thread::yield_now();
        }
        room.store(1, Relaxed);
        assert_eq!(pusher.stop(Duration::from_secs(10)).published, 1);
        assert_eq!(*seen.messages(), [999], "what waited for room gives way to the newest");
    }

    #[test]
    fn an_endpoint_that_is_gone_ends_publishing_and_says_why() {
        let sink = sink(|message: &u64, _| if *message < 2 { Ok(()) } else { Err(SendError::Disconnected) });
        let mut pusher = Pusher::new(Settings { capacity: 4, ..Settings::default() }, 0, sink);
        (0..4).for_each(|message| push(&mut pusher, message).unwrap());
        pusher.start().unwrap();
        let stats = pusher.stop(Duration::from_secs(10));
        assert_eq!((stats.published, stats.left, stats.error), (2, 2, Some(SendError::Disconnected)));
    }

    /// A message is its number and a checksum of it, spread over lines enough to be torn.
    fn message(number: u64) -> [u64; 24] {
        let mut words = [number; 24];
        words[23] = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        words
    }

    /// xorshift: the same numbers every time.
    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    #[test]
    fn every_message_is_accounted_for_whenever_the_stop_comes() {
        let mut state = 0x5eed;
        for round in 0..600 {
            let (when_full, waking) = (EVERY_MODE[round % 3], EVERY_WAKING[round / 3 % 4]);
            let (slow, capacity) = (round % 5 == 0, 1 + random(&mut state) as usize % 64);
            let seen = Arc::new(Mutex::new((0_u64, 0_u64)));
            let sink = sink::<[u64; 24]>({
                let seen = Arc::clone(&seen);
                move |words, _| {
                    let (count, last) = &mut *seen.lock().unwrap();
                    assert_eq!(*words, message(words[0]));
                    assert!(words[0] > *last, "{} after {last}", words[0]);
                    (*count, *last) = (*count + 1, words[0]);
                    if slow {
                        thread::yield_now();
                    }
                    Ok(())
                }
            });
            let settings = Settings { capacity, when_full, waking, ..Settings::default() };
            let mut pusher = Pusher::new(settings, message(0), sink);
            pusher.start().unwrap();
            let pushes = random(&mut state) % 2000;
            let accepted =
                (1..=pushes).filter(|number| pusher.push_with(|slot| *slot = message(*number)).is_ok());
            let accepted = accepted.count() as u64;
            let timeout = Duration::from_micros(random(&mut state) % 300);
            let stats = pusher.stop(timeout);
            assert_eq!(
                stats.pushed,
                stats.published + stats.refused + stats.overwritten + stats.left,
                "{stats:?}"
            );
            assert_eq!((stats.pushed, stats.pushed - stats.refused), (pushes, accepted));
            assert_eq!(seen.lock().unwrap().0, stats.published, "counted by the endpoint itself");
        }
    }

    /// With a rescue of an hour a lost wake-up is a test that hangs, which the time limit turns into a failure.
    #[test]
    fn no_wake_up_is_lost_in_a_million_rounds_of_random_gaps() {
        const ROUNDS: u64 = 1_000_000;
        const LIMIT: Duration = Duration::from_secs(600);
        let seen = Arc::new(AtomicU64::new(0));
        let sink = sink::<u64>({
            let seen = Arc::clone(&seen);
            move |number, _| {
                seen.store(*number, Relaxed);
                Ok(())
            }
        });
        let rescue = Duration::from_secs(3600);
        let settings = Settings { capacity: 4, waking: Waking::Notify, rescue, ..Settings::default() };
        let mut pusher = Pusher::new(settings, 0, sink);
        pusher.start().unwrap();
        let (start, mut state) = (Instant::now(), 0x5eed);
        for number in 1..=ROUNDS {
            push(&mut pusher, number).unwrap();
            while seen.load(Relaxed) < number {
                std::hint::spin_loop();
                assert!(
                    start.elapsed() < LIMIT,
                    "message {number} of {ROUNDS} waits for a wake-up that was lost"
                );
            }
            // From "still awake" over "about to sleep" to "asleep".
            (0..random(&mut state) % 400).for_each(|_| std::hint::spin_loop());
        }
        assert_eq!(pusher.stop(Duration::from_secs(10)).published, ROUNDS);
    }
}
