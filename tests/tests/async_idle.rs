//! Streams that nobody sends to cost next to nothing. Alone in its file: it measures the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

use msg_runtime::raw::{RawPublisher, RawSubscriber};
use std::{pin::pin, process, thread, time::Duration};

/// What is measured.
const TIME: Duration = Duration::from_secs(2);

/// Processor time that this process has had.
fn used() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` lives through the call.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn idle_streams_use_less_than_a_hundredth_of_a_processor() {
    let endpoint = format!("shm;async-idle-{}", process::id());
    let before = threads();
    let streams = ["x", "y"].map(|topic| RawSubscriber::open(&endpoint, topic).unwrap().into_stream());
    assert_eq!(threads(), before, "a stream that was never polled needs no thread");
    let waits = streams.map(|stream| {
        thread::spawn(move || {
            let mut stream = pin!(stream);
            let next =
                std::future::poll_fn(|context| futures_core::Stream::poll_next(stream.as_mut(), context));
            futures_executor::block_on(next).unwrap().unwrap().payload().len()
        })
    });
    let publishers = ["x", "y"].map(|topic| RawPublisher::open(&endpoint, topic).unwrap());
    let start = used();
    thread::sleep(TIME);
    let used = used() - start;
    assert_eq!(threads(), before + waits.len() + 1, "one thread waits for all streams");
    publishers.iter().for_each(|publisher| publisher.send(b"end").unwrap());
    for wait in waits {
        assert_eq!(wait.join().unwrap(), 3);
    }
    assert!(used < TIME / 100, "{used:?} in {TIME:?}");
}
