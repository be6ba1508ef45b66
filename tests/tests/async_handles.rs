//! Streams and futures on several executors, and what becomes of those that are dropped, wait for room, or end.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

use futures_core::Stream;
use futures_executor::{block_on, block_on_stream};
use msg_runtime::{Message, Publisher, RecvError, Subscriber, json::JsonPublisher, raw::RawPublisher};
use std::{
    pin::{Pin, pin},
    process,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

const LONG: Duration = Duration::from_secs(30);
const COUNT: u32 = 300;

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "asynchronous")]
struct Note {
    number: u32,
    text: String,
}

fn note(number: u32) -> Note {
    Note { number, text: format!("note {number}") }
}

/// A channel that no other test has.
fn channel() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("async-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn each_transport(test: impl Fn(String)) {
    for transport in ["shm", "inproc"] {
        test(format!("{transport};{}", channel()));
    }
}

/// A publisher and two streams in tasks of their own; gives what both got.
fn tasks(endpoint: &str) -> [impl Future<Output = u32> + Send + use<>; 3] {
    let streams = [(); 2].map(|()| Subscriber::<Note>::open(endpoint).unwrap().into_stream());
    let publisher = Publisher::<Note>::open(endpoint).unwrap();
    let [first, second] = streams.map(|stream| async move {
        let mut stream = pin!(stream);
        for number in 0..COUNT {
            let sample = std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await;
            assert_eq!(sample.unwrap().unwrap().to_owned(), note(number));
        }
        COUNT
    });
    let sent = async move {
        for number in 0..COUNT {
            publisher.send_async(&note(number)).await.unwrap();
        }
        COUNT
    };
    [boxed(sent), boxed(first), boxed(second)]
}

fn boxed(future: impl Future<Output = u32> + Send + 'static) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(future)
}

#[test]
fn on_tokio_with_one_thread() {
    each_transport(|endpoint| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for task in tasks(&endpoint).map(tokio::spawn) {
                assert_eq!(task.await.unwrap(), COUNT);
            }
        });
    });
}

#[test]
fn on_tokio_with_several_threads() {
    each_transport(|endpoint| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        runtime.block_on(async {
            for task in tasks(&endpoint).map(tokio::spawn) {
                assert_eq!(task.await.unwrap(), COUNT);
            }
        });
    });
}

#[test]
fn on_an_executor_of_the_async_std_kind() {
    each_transport(|endpoint| {
        let executor = async_executor::Executor::new();
        let tasks = tasks(&endpoint).map(|task| executor.spawn(task));
        block_on(executor.run(async {
            for task in tasks {
                assert_eq!(task.await, COUNT);
            }
        }));
    });
}

#[test]
fn on_a_thread_each_that_blocks() {
    each_transport(|endpoint| {
        thread::scope(|scope| {
            for task in tasks(&endpoint) {
                scope.spawn(move || assert_eq!(block_on(task), COUNT));
            }
        });
    });
}

/// Counts how often it is woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

#[test]
fn what_is_dropped_while_it_waits_is_forgotten() {
    each_transport(|endpoint| {
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let subscriber = Subscriber::<Note>::open(&endpoint).unwrap();
        let mut future = Box::pin(subscriber.recv_async());
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(future);
        let mut stream = subscriber.into_stream();
        assert!(Pin::new(&mut stream).poll_next(&mut Context::from_waker(&waker)).is_pending());
        drop(stream);
        drop(waker);
        assert_eq!(Arc::strong_count(&count), 1, "nobody keeps the waker");
        // The place is free and the files are gone, as without a stream.
        let channel = endpoint.split(';').next_back().unwrap();
        let files = std::fs::read_dir("/dev/shm").unwrap().map(|file| file.unwrap().file_name());
        let left: Vec<_> = files.filter(|file| file.to_str().unwrap().contains(channel)).collect();
        assert!(left.is_empty(), "{left:?}");
    });
}

/// Typed, raw and JSON; each waits once, and counts once.
#[test]
fn sending_waits_for_room() {
    for endpoint in [
        format!("shm;{}?slots=1", channel()),
        format!("shm;lz4;{}?slots=1", channel()),
        format!("inproc;{}?on_full=block,queue=1B", channel()),
    ] {
        let subscriber = msg_runtime::raw::RawSubscriber::open(&endpoint, "x").unwrap();
        let raw = RawPublisher::open(&endpoint, "x").unwrap();
        let json = JsonPublisher::<u32>::builder(&endpoint, "x").open();
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        raw.send(b"1").unwrap();
        let mut waits = Box::pin(raw.send_async(b"2"));
        assert!(waits.as_mut().poll(&mut context).is_pending(), "{endpoint}");
        assert_eq!(subscriber.recv().unwrap().payload(), b"1");
        let end = Instant::now() + LONG;
        let sent = loop {
            if let Poll::Ready(sent) = waits.as_mut().poll(&mut context) {
                break sent;
            }
            assert!(Instant::now() < end, "there is room");
            thread::yield_now();
        };
        sent.unwrap();
        drop(waits);
        assert_eq!(raw.stats().full, 1, "{endpoint}");
        // A future that was given up has sent nothing.
        let mut given_up = Box::pin(raw.send_async(b"never"));
        assert!(given_up.as_mut().poll(&mut context).is_pending());
        drop(given_up);
        assert_eq!(subscriber.recv().unwrap().payload(), b"2");
        if let Ok(json) = json {
            thread::scope(|scope| {
                scope.spawn(|| {
                    block_on(async {
                        for number in 0..100 {
                            json.send_async(&number).await.unwrap();
                        }
                    });
                });
                for number in 0..100 {
                    let sample = subscriber.recv_timeout(LONG).unwrap();
                    assert_eq!(sample.payload(), number.to_string().as_bytes());
                }
            });
        }
        drop(waker);
        assert_eq!(Arc::strong_count(&count), 1, "nobody keeps the waker");
    }
}

#[test]
fn a_stream_ends_after_an_error_that_stays() {
    let endpoint = format!("shm;{}?slots=2,evict=20ms", channel());
    let subscriber = Subscriber::<Note>::open(&endpoint).unwrap();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    (0..10).for_each(|number| publisher.send(&note(number)).unwrap());
    let mut stream = block_on_stream(subscriber.into_stream());
    let last = stream.by_ref().last().unwrap();
    assert_eq!(last.unwrap_err(), RecvError::Evicted);
    assert!(stream.next().is_none());
}

/// Several futures of one subscriber: each message goes to one, and none is left waiting.
#[test]
fn futures_share_a_subscriber() {
    each_transport(|endpoint| {
        let subscriber = Arc::new(Subscriber::<Note>::open(&endpoint).unwrap());
        let publisher = Publisher::<Note>::open(&endpoint).unwrap();
        let got = Arc::new(AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..COUNT / 4 {
                        block_on(subscriber.recv_async()).unwrap();
                        got.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            (0..COUNT).for_each(|number| publisher.send(&note(number)).unwrap());
        });
        assert_eq!(got.load(Ordering::Relaxed), COUNT);
    });
}

/// The parent's streams say so in a child, and the child's own work.
#[test]
fn a_forked_child_has_streams_of_its_own() {
    let (endpoint, own) = (format!("shm;{}", channel()), format!("shm;{}", channel()));
    let subscriber = Subscriber::<Note>::open(&endpoint).unwrap();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    let mut stream = subscriber.into_stream();
    let waker = Waker::noop();
    assert!(Pin::new(&mut stream).poll_next(&mut Context::from_waker(waker)).is_pending());
    // SAFETY: the child uses handles, which know forks, and the allocator, which survives; then it ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let works = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut stream = block_on_stream(stream);
            assert_eq!(stream.next().unwrap().unwrap_err(), RecvError::Forked);
            assert!(stream.next().is_none());
            let subscriber = Subscriber::<Note>::open(&own).unwrap();
            let publisher = Publisher::<Note>::open(&own).unwrap();
            let mut stream = block_on_stream(subscriber.into_stream());
            let sends =
                thread::spawn(move || (0..100).for_each(|number| publisher.send(&note(number)).unwrap()));
            for number in 0..100 {
                assert_eq!(stream.next().unwrap().unwrap().to_owned(), note(number));
            }
            sends.join().unwrap();
        }));
        // SAFETY: ends the child without what a test program does at its end.
        unsafe { libc::_exit(i32::from(works.is_err())) };
    }
    let mut status = -1;
    // SAFETY: `status` lives through the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "a stream failed in the child");
    publisher.send(&note(1)).unwrap();
    assert_eq!(block_on_stream(stream).next().unwrap().unwrap().view().number(), 1);
}
