//! A process of its own for the tests of NATS: `nats_peer ROLE ENDPOINT TOPIC [NUMBER]`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what failed by panicking")]

use msg_network_tests::{PATIENCE, eventually, next, note, publisher, subscriber, usage};
use msg_runtime::{Publisher, RecvError, SendError, Subscriber};
use std::{cell::RefCell, env, thread, time::Duration};

type Note = msg_network_tests::Note;

thread_local! {
    static KEPT: RefCell<Option<Publisher<Note>>> = const { RefCell::new(None) };
    static FIRST: RefCell<Option<LateSender>> = const { RefCell::new(None) };
}

/// Sends when it is dropped.
struct LateSender(Publisher<Note>);

impl Drop for LateSender {
    fn drop(&mut self) {
        self.0.send(&note(7)).unwrap();
        self.0.flush(PATIENCE).unwrap();
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (role, endpoint, topic) = (&*arguments[0], &*arguments[1], &*arguments[2]);
    let number = arguments.get(3).map_or(1, |number| number.parse().unwrap());
    match role {
        // Returns from `main` right after the last one.
        "publish" => {
            let publisher = publisher(endpoint, topic);
            (0..number).for_each(|number| publisher.send_timeout(&note(number), PATIENCE).unwrap());
        }
        "thread_local" => FIRST.set(Some(LateSender(publisher(endpoint, topic)))),
        "kept" => {
            KEPT.set(Some(publisher(endpoint, topic)));
            KEPT.with_borrow(|publisher| publisher.as_ref().unwrap().send(&note(7)).unwrap());
        }
        "atexit" => at_exit(endpoint, topic),
        "unwinding" => unwinding(endpoint, topic),
        "cycles" => cycles(endpoint, topic, number),
        "idle" => idle(endpoint, topic, number),
        "report" => report(endpoint, topic),
        "fork" => fork(endpoint, topic),
        "open" => match Publisher::<Note>::builder(endpoint).topic(topic).open() {
            Ok(publisher) => println!("open {:?}", publisher.flush(PATIENCE)),
            Err(error) => println!("{:?}: {error}", error.kind()),
        },
        other => panic!("no role `{other}`"),
    }
}

static AT_EXIT: std::sync::OnceLock<Publisher<Note>> = std::sync::OnceLock::new();

fn at_exit(endpoint: &str, topic: &str) {
    extern "C" fn last_words() {
        let publisher = AT_EXIT.get().unwrap();
        publisher.send(&note(7)).unwrap();
        publisher.flush(PATIENCE).unwrap();
    }
    AT_EXIT.set(publisher(endpoint, topic)).unwrap();
    // SAFETY: the function takes nothing and returns nothing, and does not unwind but abort.
    assert_eq!(unsafe { libc::atexit(last_words) }, 0);
}

fn unwinding(endpoint: &str, topic: &str) {
    let (endpoint, topic) = (endpoint.to_owned(), topic.to_owned());
    let fell = thread::spawn(move || {
        let kept = publisher(&endpoint, &topic);
        let _subscriber = subscriber(&endpoint, &topic);
        let _late = LateSender(publisher(&endpoint, &topic));
        kept.send(&note(7)).unwrap();
        panic!("as wanted");
    });
    fell.join().unwrap_err();
}

/// Opens and closes; prints how many threads, descriptors and bytes there are more than after the first few.
fn cycles(endpoint: &str, topic: &str, count: u64) {
    let cycle = |number| {
        let subscriber = subscriber(endpoint, topic);
        let publisher = publisher(endpoint, topic);
        publisher.send(&note(number)).unwrap();
        assert_eq!(next(&subscriber), number);
    };
    (0..20).for_each(cycle);
    // Connections are closed behind the back of who drops the last handle.
    eventually("the first connections are closed", || usage::descriptors() < 40);
    let (threads, memory) = (usage::threads(), usage::memory());
    (0..count).for_each(cycle);
    eventually("the connections are closed", || usage::descriptors() < 40);
    let more = usage::threads().saturating_sub(threads);
    println!("{more} {}", usage::memory().saturating_sub(memory));
}

/// Prints the processor time, in microseconds a second, of three subscribers who wait that long.
fn idle(endpoint: &str, topic: &str, seconds: u64) {
    let subscribers = [(); 3].map(|()| subscriber(endpoint, topic));
    let before = usage::cpu();
    thread::scope(|scope| {
        let wait = |subscriber: &Subscriber<Note>| {
            assert_eq!(
                subscriber.recv_timeout(Duration::from_secs(seconds)).unwrap_err(),
                RecvError::Timeout
            );
        };
        for subscriber in &subscribers {
            scope.spawn(move || wait(subscriber));
        }
    });
    println!("{}", (usage::cpu() - before).as_micros() / u128::from(seconds));
}

/// The child's copies say so at once, and it can open handles of its own; the parent's go on.
fn fork(endpoint: &str, topic: &str) {
    let (publisher, subscriber) = (publisher(endpoint, topic), subscriber(endpoint, topic));
    publisher.send(&note(0)).unwrap();
    assert_eq!(next(&subscriber), 0);
    // SAFETY: no other thread of this process holds a lock that the child needs: the client is idle.
    let child = unsafe { libc::fork() };
    if child == 0 {
        assert_eq!(publisher.send(&note(1)).unwrap_err(), SendError::Forked);
        assert_eq!(subscriber.recv().unwrap_err(), RecvError::Forked);
        publisher.flush(PATIENCE).unwrap_err();
        drop((publisher, subscriber));
        let own = msg_network_tests::publisher(endpoint, topic);
        assert!(own.wait_for_subscribers(1, PATIENCE), "the child hears announcements");
        own.send(&note(2)).unwrap();
        return;
    }
    assert_eq!(next(&subscriber), 2);
    let mut status = 0;
    // SAFETY: the status lives through the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child failed");
    publisher.send(&note(3)).unwrap();
    assert_eq!(next(&subscriber), 3);
}

/// Tells of events and of the hundredth note; with the note numbered highest, how many were received and lost, and the
/// place of that one.
fn report(endpoint: &str, topic: &str) {
    println!("ready");
    let tell = |event: &msg_runtime::Event| println!("{event}");
    let subscriber = Subscriber::<Note>::builder(endpoint).topic(topic).on_event(tell).open().unwrap();
    loop {
        let sample = subscriber.recv_timeout(PATIENCE).unwrap();
        let stats = subscriber.stats();
        if stats.messages == 100 {
            println!("received 100");
        }
        if sample.view().number() == u64::MAX {
            return println!("end {} {} {}", stats.messages, stats.lost, sample.info().sequence.unwrap());
        }
    }
}
