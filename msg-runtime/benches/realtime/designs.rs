//! Ways to publish from a thread that may not block: ours, with a worker and without, and the two known ones, written
//! from their description.

use msg_runtime::{
    Message, Publisher,
    realtime::{Policy, RealtimePublisher, Schedule, Waking, WhenFull},
};
use std::{
    hint,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// The state of a seven-joint arm.
#[derive(Message, Clone, Copy)]
#[message(namespace = "bench", plain)]
#[repr(C)]
pub(crate) struct Joints {
    pub(crate) number: u64,
    pub(crate) position: [f64; 7],
}

/// The name of every design's publishing thread.
pub(crate) const WORKER: &str = "bench-worker";
/// The processor it runs on, where there are two.
pub(crate) const WORKER_CPU: usize = 1;
const LONG: Duration = Duration::from_secs(1);

pub(crate) trait Design: Send {
    /// True if the message was accepted.
    fn push(&mut self, message: &Joints) -> bool;
    /// Ends the publishing thread and says how many messages it has published.
    fn stop(self: Box<Self>) -> u64;
}

fn worker_schedule(policy: Policy) -> Schedule {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let schedule = Schedule::new().name(WORKER).policy(policy);
    if cpus > WORKER_CPU { schedule.cpus([WORKER_CPU]) } else { schedule }
}

pub(crate) fn ours(
    publisher: &Publisher<Joints>,
    capacity: usize,
    when_full: WhenFull,
    waking: Waking,
) -> Box<dyn Design> {
    let builder = publisher.realtime().capacity(capacity).when_full(when_full).waking(waking);
    let mut realtime = builder.schedule(worker_schedule(Policy::Other)).build().unwrap();
    realtime.start().unwrap();
    Box::new(realtime)
}

impl Design for RealtimePublisher<Joints> {
    fn push(&mut self, message: &Joints) -> bool {
        RealtimePublisher::push(self, message).is_ok()
    }

    fn stop(self: Box<Self>) -> u64 {
        RealtimePublisher::stop(*self, LONG).published
    }
}

/// One message under a mutex; the pushing thread tries the lock, leaves the message if the last one was taken, and wakes
/// the publishing thread through a condition variable.
struct MutexAndCondvar {
    shared: Arc<(Mutex<Desk>, Condvar)>,
    thread: JoinHandle<u64>,
}

struct Desk {
    message: Option<Joints>,
    runs: bool,
}

pub(crate) fn mutex_and_condvar(publisher: &Publisher<Joints>) -> Box<dyn Design> {
    let shared = Arc::new((Mutex::new(Desk { message: None, runs: true }), Condvar::new()));
    let (publisher, theirs) = (publisher.clone(), Arc::clone(&shared));
    let thread = thread::spawn(move || {
        worker_schedule(Policy::Other).apply().unwrap();
        let (desk, changed) = &*theirs;
        let mut published = 0;
        loop {
            let guard = desk.lock().unwrap();
            let mut desk = changed.wait_while(guard, |desk| desk.message.is_none() && desk.runs).unwrap();
            let Some(message) = desk.message.take() else { return published };
            drop(desk);
            published += u64::from(publisher.send_timeout(&message, LONG).is_ok());
        }
    });
    Box::new(MutexAndCondvar { shared, thread })
}

impl Design for MutexAndCondvar {
    fn push(&mut self, message: &Joints) -> bool {
        let (desk, changed) = &*self.shared;
        let Ok(mut desk) = desk.try_lock() else { return false };
        if desk.message.is_some() {
            return false;
        }
        desk.message = Some(*message);
        drop(desk);
        changed.notify_one();
        true
    }

    fn stop(self: Box<Self>) -> u64 {
        let (desk, changed) = &*self.shared;
        desk.lock().unwrap().runs = false;
        changed.notify_one();
        self.thread.join().unwrap()
    }
}

/// A wait-free queue of a few places and a thread at FIFO priority that looks at it again and again; what is in the queue
/// when it stops is lost.
struct Polling {
    queue: rtrb::Producer<Joints>,
    runs: Arc<AtomicBool>,
    published: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

pub(crate) fn polling(publisher: &Publisher<Joints>, capacity: usize, poll: Duration) -> Box<dyn Design> {
    let (queue, mut messages) = rtrb::RingBuffer::new(capacity);
    let (runs, published) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU64::new(0)));
    let (publisher, still_runs, count) = (publisher.clone(), Arc::clone(&runs), Arc::clone(&published));
    let thread = thread::spawn(move || {
        if worker_schedule(Policy::Fifo(50)).apply().is_err() {
            worker_schedule(Policy::Other).apply().unwrap();
        }
        while still_runs.load(Relaxed) {
            while let Ok(message) = messages.pop() {
                count.fetch_add(u64::from(publisher.send_timeout(&message, LONG).is_ok()), Relaxed);
                if !still_runs.load(Relaxed) {
                    return;
                }
            }
            if poll.is_zero() { hint::spin_loop() } else { thread::sleep(poll) }
        }
    });
    Box::new(Polling { queue, runs, published, thread })
}

impl Design for Polling {
    fn push(&mut self, message: &Joints) -> bool {
        self.queue.push(*message).is_ok()
    }

    fn stop(self: Box<Self>) -> u64 {
        self.runs.store(false, Relaxed);
        self.thread.join().unwrap();
        self.published.load(Relaxed)
    }
}

/// No worker: the thread itself publishes into the ring. Its endpoint has `wake=never`.
struct Direct {
    publisher: Publisher<Joints>,
    published: u64,
}

pub(crate) fn direct(publisher: &Publisher<Joints>) -> Box<dyn Design> {
    Box::new(Direct { publisher: publisher.clone(), published: 0 })
}

impl Design for Direct {
    fn push(&mut self, message: &Joints) -> bool {
        let published = self.publisher.try_send(message).is_ok();
        self.published += u64::from(published);
        published
    }

    fn stop(self: Box<Self>) -> u64 {
        self.published
    }
}

/// Publishes nothing: what a thread costs on this machine that does nothing but sleep.
struct Sleeping {
    runs: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

pub(crate) fn sleeping(period: Duration) -> Box<dyn Design> {
    let runs = Arc::new(AtomicBool::new(true));
    let still_runs = Arc::clone(&runs);
    let thread = thread::spawn(move || {
        worker_schedule(Policy::Other).apply().unwrap();
        while still_runs.load(Relaxed) {
            thread::park_timeout(period);
        }
    });
    Box::new(Sleeping { runs, thread })
}

impl Design for Sleeping {
    fn push(&mut self, _: &Joints) -> bool {
        false
    }

    fn stop(self: Box<Self>) -> u64 {
        self.runs.store(false, Relaxed);
        self.thread.join().unwrap();
        0
    }
}
