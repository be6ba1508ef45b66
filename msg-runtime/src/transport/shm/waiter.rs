//! The thread that sleeps for the futures and streams of this process, over all its rings. It starts with the first of
//! them that waits, and sleeps without end while none does.

use crate::{
    shm::{Bell, Watch},
    transport::wakers::{Registration, WaitingPlace, next_id},
};
use std::{
    panic::{self, AssertUnwindSafe},
    process,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::Waker,
    thread,
    time::{Duration, Instant},
};

/// How long it sleeps when nobody waits. It is woken when somebody does.
const LONG: Duration = Duration::from_secs(3600);

/// The waiter of one process. A forked child has no thread, and goes on to one of its own.
struct Waiter {
    process: u32,
    of_child: OnceLock<Arc<Waiter>>,
    state: Mutex<State>,
    /// Rings when somebody came, or left.
    bell: Bell,
}

#[derive(Default)]
struct State {
    waiting: Vec<Waiting>,
    runs: bool,
}

struct Waiting {
    id: u64,
    watch: Watch,
    /// When the handle wants to look around in any case.
    due: Instant,
    waker: Waker,
}

/// Has the waker woken when the event has happened, and now and then, as the watch says.
pub(super) fn enter(watch: Watch, waker: &Waker) -> Registration {
    let waiter = Waiter::of_this_process();
    let id = next_id();
    let waiting = Waiting { id, due: Instant::now() + watch.longest(), watch, waker: waker.clone() };
    let mut state = waiter.lock();
    state.waiting.push(waiting);
    state.runs = state.runs || waiter.start();
    let runs = state.runs;
    drop(state);
    if runs {
        waiter.bell.ring();
    } else {
        // Without a thread that could wait it goes on asking, and yields each time.
        waker.wake_by_ref();
    }
    Registration::new(waiter, id)
}

impl Waiter {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            process: process::id(),
            of_child: OnceLock::new(),
            state: Mutex::default(),
            bell: Bell::new(),
        })
    }

    fn of_this_process() -> Arc<Self> {
        static FIRST: OnceLock<Arc<Waiter>> = OnceLock::new();
        let mut waiter = FIRST.get_or_init(Self::new);
        // What a parent's threads have locked stays locked in a child: nothing of it is touched.
        while waiter.process != process::id() {
            waiter = waiter.of_child.get_or_init(Self::new);
        }
        Arc::clone(waiter)
    }

    /// Whether the thread could be started.
    fn start(self: &Arc<Self>) -> bool {
        let waiter = Arc::clone(self);
        thread::Builder::new().name("msg waiter".to_owned()).spawn(move || waiter.serve()).is_ok()
    }

    fn serve(&self) {
        loop {
            // Before the look at who waits: who comes after that look rings.
            let listening = self.bell.listen();
            for waker in self.take_woken() {
                // A waker that panics is its executor's affair; the others wait for us.
                drop(panic::catch_unwind(AssertUnwindSafe(|| waker.wake())));
            }
            let (watches, longest) = self.watches();
            listening.sleep(&watches, longest);
        }
    }

    /// Who has what it waited for, or wants to look around.
    fn take_woken(&self) -> Vec<Waker> {
        let now = Instant::now();
        let over = |waiting: &mut Waiting| waiting.watch.has_happened() || waiting.due <= now;
        self.lock().waiting.extract_if(.., over).map(|waiting| waiting.waker).collect()
    }

    /// What to sleep for, and how long.
    fn watches(&self) -> (Vec<Watch>, Duration) {
        let state = self.lock();
        let watches = state.waiting.iter().map(|waiting| waiting.watch.clone()).collect();
        let due = state.waiting.iter().map(|waiting| waiting.due).min();
        let longest = due.map_or(LONG, |due| due.saturating_duration_since(Instant::now()));
        (watches, longest)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The list is whole after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingPlace for Waiter {
    fn leave(&self, id: u64) {
        if self.process != process::id() {
            return;
        }
        let mut state = self.lock();
        let at = state.waiting.iter().position(|waiting| waiting.id == id);
        let left = at.map(|at| state.waiting.swap_remove(at));
        drop(state);
        if left.is_some() {
            // It lets go of the mapping.
            self.bell.ring();
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::shm::{Options, ShmPublisher, ShmSample, ShmSubscriber};
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        task::Wake,
    };

    /// Nothing takes as long on the slowest machine.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Wakes a thread.
    struct Thread {
        thread: thread::Thread,
        woken: AtomicBool,
    }

    impl Wake for Thread {
        fn wake(self: Arc<Self>) {
            self.woken.store(true, Ordering::Release);
            self.thread.unpark();
        }
    }

    fn options(name: &str) -> Options {
        Options::new(&format!("waiter-{name}-{}", process::id()), "x").slots(4).slot_bytes(64)
    }

    /// The next message, by way of a wake-up alone: no look around now and then hides a lost one.
    fn next(subscriber: &ShmSubscriber) -> ShmSample {
        loop {
            let thread = Thread { thread: thread::current(), woken: AtomicBool::new(false) };
            let thread = Arc::new(thread);
            let watch = subscriber.watch().patient();
            if let Ok(sample) = subscriber.try_recv() {
                return sample;
            }
            let _place = enter(watch, &Waker::from(Arc::clone(&thread)));
            let end = Instant::now() + PATIENCE;
            while !thread.woken.load(Ordering::Acquire) {
                assert!(Instant::now() < end, "a wake-up was lost");
                thread::park_timeout(PATIENCE);
            }
        }
    }

    #[test]
    fn no_wake_up_is_lost() {
        const COUNT: u64 = 2000;
        thread::scope(|scope| {
            for ring in 0..4 {
                let options = options(&format!("lost-{ring}"));
                let subscribers = [(); 2].map(|()| ShmSubscriber::open(&options).unwrap());
                let publisher = ShmPublisher::open(&options).unwrap();
                for subscriber in subscribers {
                    scope.spawn(move || {
                        for number in 0..COUNT {
                            assert_eq!(*next(&subscriber), number.to_ne_bytes());
                        }
                    });
                }
                scope.spawn(move || {
                    for number in 0..COUNT {
                        publisher.send_timeout(&number.to_ne_bytes(), PATIENCE).unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn more_may_wait_than_the_kernel_looks_at_at_once() {
        let rings: Vec<Options> = (0..4).map(|ring| options(&format!("many-{ring}"))).collect();
        let subscribers: Vec<ShmSubscriber> =
            rings.iter().cycle().take(160).map(|options| ShmSubscriber::open(options).unwrap()).collect();
        let (sender, ready) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            for subscriber in &subscribers {
                let sender = sender.clone();
                scope.spawn(move || {
                    sender.send(()).unwrap();
                    assert_eq!(*next(subscriber), *b"one");
                    sender.send(()).unwrap();
                    assert_eq!(*next(subscriber), *b"two");
                });
            }
            let publishers: Vec<_> =
                rings.iter().map(|options| ShmPublisher::open(options).unwrap()).collect();
            for payload in [b"one", b"two"] {
                subscribers.iter().for_each(|_| ready.recv_timeout(PATIENCE).unwrap());
                publishers.iter().for_each(|publisher| publisher.send(payload).unwrap());
            }
        });
    }

    #[test]
    fn who_leaves_is_forgotten() {
        let subscriber = ShmSubscriber::open(&options("leaves")).unwrap();
        let thread = Arc::new(Thread { thread: thread::current(), woken: AtomicBool::new(false) });
        let waker = Waker::from(Arc::clone(&thread));
        let place = enter(subscriber.watch().patient(), &waker);
        assert_eq!(Arc::strong_count(&thread), 3);
        drop((place, waker));
        assert_eq!(Arc::strong_count(&thread), 1, "nobody keeps the waker");
    }
}
