//! Zenoh from wherever a program may be: inside runtimes, while unwinding, with handles coming and going.
#![cfg(feature = "zenoh")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::{Publisher, Subscriber};
use msg_tests::{conformance::Note, server::free_port};
use std::{panic, thread, time::Duration};
use tokio::runtime::Builder;

const PATIENCE: Duration = Duration::from_secs(60);

fn note(number: u32) -> Note {
    Note { number, text: String::new(), bytes: Vec::new() }
}

/// Peers find each other on this host, and so do two runs of these tests.
fn topic(name: &str, port: u16) -> String {
    format!("{name}-{port}-{}", std::process::id())
}

/// Everything that a handle can do, over a link.
fn everything() {
    let port = free_port();
    let listens = format!("zenoh;peer?listen=tcp://127.0.0.1:{port},iface=lo");
    let subscriber = Subscriber::<Note>::builder(&listens).topic(topic("anywhere", port)).open().unwrap();
    let builder = Publisher::<Note>::builder(&format!("zenoh;tcp://127.0.0.1:{port}"));
    let publisher = builder.topic(topic("anywhere", port)).open().unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.send(&note(1)).unwrap();
    publisher.try_send(&note(2)).unwrap();
    assert!(publisher.flush(PATIENCE).is_err());
    for number in 1..3 {
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), number);
    }
    assert_eq!(publisher.stats().messages, 2);
    drop(publisher);
    drop(subscriber);
}

#[test]
fn inside_a_runtime_of_one_thread() {
    Builder::new_current_thread().build().unwrap().block_on(async { everything() });
}

#[test]
fn inside_a_runtime_of_many_threads() {
    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async { everything() });
    runtime.block_on(runtime.spawn(async { everything() })).unwrap();
}

#[test]
fn while_unwinding() {
    let port = free_port();
    let listens = format!("zenoh;peer?listen=tcp://127.0.0.1:{port},iface=lo");
    let subscriber = Subscriber::<Note>::builder(&listens).topic(topic("unwinding", port)).open().unwrap();
    let connect = format!("zenoh;tcp://127.0.0.1:{port}");
    let panics = panic::catch_unwind(|| {
        let publisher = Publisher::<Note>::builder(&connect).topic(topic("unwinding", port)).open().unwrap();
        let _other = Subscriber::<Note>::builder(&connect).topic(topic("unwinding", port)).open().unwrap();
        assert!(publisher.wait_for_subscribers(2, PATIENCE));
        publisher.send(&note(7)).unwrap();
        panic::resume_unwind(Box::new("on purpose"));
    });
    assert!(panics.is_err());
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), 7);
}

/// Two handles of one address cannot both listen at its port: they share a session, from the first moment to the last.
#[test]
fn many_threads_open_and_close_one_address() {
    let listens = format!("zenoh;peer?listen=tcp://127.0.0.1:{},iface=lo", free_port());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    drop(Publisher::<Note>::builder(&listens).topic("many").open().unwrap());
                }
            });
        }
    });
}
