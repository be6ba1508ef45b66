//! Subscriptions by closure: what the guard promises, and what a closure may do.
#![allow(clippy::unwrap_used, reason = "a test")]

use msg_runtime::{Ended, Guard, Message, Publisher, RecvError, Subscriber};
use std::{
    process,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

const LONG: Duration = Duration::from_secs(10);

/// A channel that no other test has.
fn endpoint() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("shm;none;callback-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "callback")]
struct Note {
    number: u64,
    text: String,
}

fn note(number: u64) -> Note {
    Note { number, text: format!("note {number}") }
}

fn eventually(mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < LONG, "not within {LONG:?}");
        thread::yield_now();
    }
}

/// A subscription that hands on the numbers that it gets.
fn numbers(endpoint: &str) -> (Guard, mpsc::Receiver<u64>) {
    let (sender, receiver) = mpsc::channel();
    let guard = Subscriber::<Note>::builder(endpoint).on_message(move |note, info| {
        assert_eq!(note.text(), format!("note {}", note.number()));
        assert_eq!(info.lost, Some(0));
        sender.send(note.number()).unwrap();
    });
    (guard.unwrap(), receiver)
}

#[test]
fn every_message_is_handed_to_the_closure_in_order() {
    let endpoint = endpoint();
    let (guard, received) = numbers(&endpoint);
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    (0..1000).for_each(|number| publisher.send(&note(number)).unwrap());
    (0..1000).for_each(|number| assert_eq!(received.recv_timeout(LONG).unwrap(), number));
    assert_eq!(guard.ended(), None);
}

#[test]
fn no_call_begins_or_goes_on_after_the_drop_has_returned() {
    let endpoint = endpoint();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    let (dropped, late, calls) = (AtomicBool::new(true), AtomicU64::new(0), AtomicU64::new(0));
    let shared = Arc::new((dropped, late, calls));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            (0..)
                .take_while(|_| !done.load(Ordering::Relaxed))
                .for_each(|number| publisher.send(&note(number)).unwrap())
        });
        for round in 0..200 {
            let own = Arc::clone(&shared);
            own.0.store(false, Ordering::SeqCst);
            let before = own.2.load(Ordering::SeqCst);
            let guard = Subscriber::<Note>::builder(&endpoint).on_message(move |_, _| {
                own.2.fetch_add(1, Ordering::SeqCst);
                // Long enough that the drop comes in the middle now and then.
                (0..round).for_each(|_| thread::yield_now());
                own.1.fetch_add(u64::from(own.0.load(Ordering::SeqCst)), Ordering::SeqCst);
            });
            let guard = guard.unwrap();
            eventually(|| shared.2.load(Ordering::SeqCst) > before);
            drop(guard);
            shared.0.store(true, Ordering::SeqCst);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(shared.1.load(Ordering::SeqCst), 0, "calls after the drop had returned");
}

#[test]
fn a_guard_that_waits_for_messages_is_dropped_at_once() {
    let endpoint = endpoint();
    let started = Instant::now();
    for _ in 0..20 {
        let (guard, received) = numbers(&endpoint);
        Publisher::<Note>::open(&endpoint).unwrap().send(&note(1)).unwrap();
        received.recv_timeout(LONG).unwrap();
        // It sleeps by now, or is about to.
        drop(guard);
        assert!(received.recv().is_err(), "the closure is gone too");
    }
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[test]
fn a_closure_may_drop_its_own_guard() {
    let endpoint = endpoint();
    let own = Arc::new(Mutex::new(None::<Guard>));
    let (inside, calls) = (Arc::clone(&own), Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&calls);
    let guard = Subscriber::<Note>::builder(&endpoint).on_message(move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        eventually(|| inside.lock().unwrap().take().is_some());
    });
    *own.lock().unwrap() = Some(guard.unwrap());
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    (0..5).for_each(|number| publisher.send(&note(number)).unwrap());
    // The subscriber is gone, so nobody holds the publisher back; and there was one call.
    (0..100).for_each(|number| publisher.send(&note(number)).unwrap());
    eventually(|| Arc::strong_count(&calls) == 1);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[test]
fn a_closure_may_drop_another_guard() {
    let endpoint = endpoint();
    let (other, received) = numbers(&endpoint);
    let mut other = Some(other);
    let (sender, done) = mpsc::channel();
    let _guard = Subscriber::<Note>::builder(&endpoint).on_message(move |_, _| {
        drop(other.take());
        sender.send(()).unwrap();
    });
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    publisher.send(&note(0)).unwrap();
    done.recv_timeout(LONG).unwrap();
    publisher.send(&note(1)).unwrap();
    done.recv_timeout(LONG).unwrap();
    assert!(received.iter().all(|number| number == 0), "nothing came after the drop");
}

#[test]
fn a_closure_may_publish_to_its_own_topic() {
    let endpoint = endpoint();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    let (again, (sender, received)) = (publisher.clone(), mpsc::channel());
    let _guard = Subscriber::<Note>::builder(&endpoint).on_message(move |message, _| {
        let number = message.number();
        if number < 100 {
            again.send(&note(number + 1)).unwrap();
        }
        sender.send(number).unwrap();
    });
    publisher.send(&note(0)).unwrap();
    (0..=100).for_each(|number| assert_eq!(received.recv_timeout(LONG).unwrap(), number));
}

#[test]
fn a_panic_ends_the_subscription_and_nothing_else() {
    let endpoint = endpoint();
    let (_other, received) = numbers(&endpoint);
    let guard = Subscriber::<Note>::builder(&endpoint).on_message(|note, _| {
        assert!(note.number() != 3, "number {} on purpose", note.number());
    });
    let guard = guard.unwrap();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    assert!(publisher.wait_for_subscribers(2, LONG));
    // More than there are slots: whoever panicked holds nobody back.
    (0..100).for_each(|number| publisher.send(&note(number)).unwrap());
    eventually(|| guard.ended().is_some());
    let ended = guard.ended().unwrap();
    assert_eq!(*ended, Ended::Panicked("number 3 on purpose".into()));
    assert_eq!(ended.to_string(), "the closure panicked: number 3 on purpose");
    (0..100).for_each(|number| assert_eq!(received.recv_timeout(LONG).unwrap(), number));
    assert!(!publisher.wait_for_subscribers(2, Duration::ZERO));
}

/// Whatever panics once more while the subscription ends.
#[test]
fn a_panic_is_told_though_what_is_left_panics_too() {
    struct Grenade;
    impl Drop for Grenade {
        fn drop(&mut self) {
            panic!("on purpose, in a drop");
        }
    }
    let endpoint = endpoint();
    let captured = Grenade;
    let guard = Subscriber::<Note>::builder(&endpoint).on_message(move |note, _| {
        let _captured = &captured;
        if note.number() == 0 {
            std::panic::panic_any(Grenade);
        }
    });
    let guard = guard.unwrap();
    Publisher::<Note>::open(&endpoint).unwrap().send(&note(0)).unwrap();
    eventually(|| guard.ended().is_some());
    assert_eq!(*guard.ended().unwrap(), Ended::Panicked("without a text".into()));
}

/// The child has the guard, and not the thread.
#[test]
fn a_forked_child_may_drop_a_guard() {
    let (guard, _received) = numbers(&endpoint());
    // SAFETY: the child drops the guard and ends; nothing that it uses may be under way elsewhere but the allocator,
    // which survives.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(guard)));
        // SAFETY: ends the child without what a test program does at its end.
        unsafe { libc::_exit(i32::from(dropped.is_err())) };
    }
    let mut status = -1;
    // SAFETY: `status` lives through the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the drop panicked");
}

#[test]
fn a_subscription_that_is_evicted_says_so() {
    let endpoint = format!("{}?slots=2,evict=20ms", endpoint());
    let (release, stop) = mpsc::channel::<()>();
    let guard = Subscriber::<Note>::builder(&endpoint).on_message(move |_, _| stop.recv().unwrap_or(()));
    let guard = guard.unwrap();
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    (0..10).for_each(|number| publisher.send(&note(number)).unwrap());
    drop(release);
    eventually(|| guard.ended().is_some());
    assert_eq!(guard.ended(), Some(&Ended::Receive(RecvError::Evicted)));
}

#[test]
fn a_latest_only_closure_holds_nobody_back() {
    let endpoint = endpoint();
    let (release, stop) = mpsc::channel::<()>();
    let (sender, received) = mpsc::channel();
    let guard = Subscriber::<Note>::builder(&endpoint).latest_only().on_message(move |note, info| {
        sender.send((note.number(), info.lost)).unwrap();
        stop.recv().unwrap_or(());
    });
    let publisher = Publisher::<Note>::open(&endpoint).unwrap();
    publisher.try_send(&note(0)).unwrap();
    assert_eq!(received.recv_timeout(LONG).unwrap(), (0, Some(0)));
    (1..=1000).for_each(|number| publisher.try_send(&note(number)).unwrap());
    drop(release);
    assert_eq!(received.recv_timeout(LONG).unwrap(), (1000, Some(999)));
    drop(guard);
}
