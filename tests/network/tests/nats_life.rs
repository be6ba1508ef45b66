//! NATS handles wherever they live and however they end: at the end of the process, while unwinding, inside other runtimes,
//! in a forked child; and what they cost while they wait.
#![cfg(feature = "nats")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_network_tests::{PATIENCE, next, note, publisher, subscriber};
use msg_runtime::{RecvError, TryRecvError};
use msg_tests::{server::Server, tools};
use std::{
    env,
    process::Command,
    sync::LazyLock,
    time::{Duration, Instant},
};

static SERVER: LazyLock<Server> = LazyLock::new(|| Server::nats(&[]));

fn endpoint() -> String {
    format!("nats;{}", SERVER.address())
}

/// Fewer where every minute is paid for.
fn many(most: u64) -> u64 {
    if env::var_os("CI").is_some() { most / 10 } else { most }
}

fn peer(role: &str, topic: &str, number: u64) -> String {
    peer_at(&endpoint(), role, topic, number)
}

fn peer_at(endpoint: &str, role: &str, topic: &str, number: u64) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nats_peer"));
    tools::run(command.args([role, endpoint, topic, &number.to_string()]))
}

#[test]
fn everything_arrives_of_a_process_that_returns_from_main() {
    for count in [1, 100_000] {
        let topic = format!("exit-{count}");
        let subscriber = subscriber(&endpoint(), &topic);
        peer("publish", &topic, count);
        for number in 0..count {
            assert_eq!(next(&subscriber), number);
        }
        assert_eq!(subscriber.stats().lost, 0);
    }
}

#[test]
fn handles_work_to_the_very_end_of_the_process() {
    for role in ["thread_local", "kept", "atexit"] {
        let subscriber = subscriber(&endpoint(), role);
        peer(role, role, 1);
        assert_eq!(next(&subscriber), 7, "{role}");
    }
}

#[test]
fn handles_work_while_unwinding() {
    let subscriber = subscriber(&endpoint(), "unwinding");
    peer("unwinding", "unwinding", 1);
    assert_eq!([next(&subscriber), next(&subscriber)], [7, 7]);
}

#[test]
fn a_forked_child_knows_that_it_has_copies_and_opens_its_own() {
    peer("fork", "fork", 1);
}

/// More messages than a task of a runtime may send or receive before it must give way.
fn every_synchronous_call(topic: &str) {
    const COUNT: u64 = 1000;
    let subscriber = subscriber(&endpoint(), topic);
    let publisher = publisher(&endpoint(), topic);
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    for number in 0..COUNT {
        publisher.try_send(&note(number)).unwrap();
    }
    publisher.flush(PATIENCE).unwrap();
    for number in 0..COUNT {
        assert_eq!(next(&subscriber), number);
    }
    publisher.send(&note(COUNT)).unwrap();
    assert_eq!(subscriber.recv().unwrap().view().number(), COUNT);
    assert_eq!(subscriber.try_recv().unwrap_err(), TryRecvError::Empty);
    assert_eq!(subscriber.recv_timeout(Duration::from_millis(10)).unwrap_err(), RecvError::Timeout);
    assert_eq!((publisher.stats().messages, subscriber.stats().messages), (COUNT + 1, COUNT + 1));
}

#[test]
fn every_call_works_inside_a_runtime_of_one_thread() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { every_synchronous_call("one") });
    runtime.block_on(runtime.spawn(async { every_synchronous_call("one-task") })).unwrap();
}

#[test]
fn every_call_works_inside_a_runtime_of_many_threads() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { every_synchronous_call("many") });
    let tasks = [1, 2].map(|n| runtime.spawn(async move { every_synchronous_call(&format!("task-{n}")) }));
    tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
}

#[test]
fn opening_and_closing_leaves_nothing_behind() {
    let printed = peer("cycles", "cycles", many(1000));
    let mut more = printed.split_whitespace().map(|number| number.parse::<usize>().unwrap());
    // A thread of the runtime's pool may come late; memory is what an allocator keeps.
    let (threads, memory) = (more.next().unwrap(), more.next().unwrap());
    assert!(threads <= 2, "{threads} threads more");
    assert!(memory < 16 << 20, "{memory} bytes more");
}

#[test]
fn subscribers_that_wait_cost_less_than_a_hundredth_of_a_processor() {
    // Handles that come and go elsewhere announce themselves to all: here are none.
    let server = Server::nats(&[]);
    let endpoint = format!("nats;{}", server.address());
    let start = Instant::now();
    let micros: u64 = peer_at(&endpoint, "idle", "idle", many(10).max(2)).trim().parse().unwrap();
    assert!(start.elapsed() >= Duration::from_secs(2));
    assert!(micros < 10_000, "{micros} microseconds a second");
}
