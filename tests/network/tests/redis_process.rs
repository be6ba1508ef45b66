//! Redis in processes that end, idle, open and close, and run other people's runtimes.
#![cfg(feature = "redis")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::{Publisher, Subscriber};
use msg_tests::{
    conformance::{Note, Place},
    server::Server,
    tools::run,
};
use std::{panic, process::Command, sync::Mutex, time::Duration};

const PATIENCE: Duration = Duration::from_secs(30);

fn peer(command: &str, place: &Place, number: u32) -> Command {
    let mut peer = Command::new(env!("CARGO_BIN_EXE_redis_peer"));
    peer.args([command, &place.endpoint, &place.topic]).arg(number.to_string());
    peer
}

fn place(server: &Server) -> Place {
    Place::new(format!("redis;{}", server.address()))
}

fn note(number: u32) -> Note {
    Note { number, text: String::new(), bytes: vec![] }
}

/// A pair, one message, and the end of both.
fn exchange(place: &Place) {
    let subscriber = place.subscriber::<Note>();
    let publisher = place.publisher(1);
    publisher.send(&note(7)).unwrap();
    assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), 7);
    publisher.flush(PATIENCE).unwrap();
}

#[test]
fn a_hundred_thousand_messages_arrive_from_a_process_that_ends_after_the_last() {
    const COUNT: u32 = 100_000;
    let server = Server::redis(&[]);
    let place = place(&server);
    let subscriber = place.subscriber::<Note>();
    let mut peer = peer("publish", &place, COUNT).spawn().unwrap();
    for number in 0..COUNT {
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), number);
    }
    assert!(peer.wait().unwrap().success());
}

#[test]
fn one_message_arrives_from_a_process_that_ends_after_it() {
    let server = Server::redis(&[]);
    let place = place(&server);
    let subscriber = place.subscriber::<Note>();
    for _ in 0..5 {
        run(&mut peer("publish", &place, 1));
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), 0);
    }
}

#[test]
fn every_call_works_inside_of_both_runtimes() {
    let server = Server::redis(&[]);
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    one.block_on(async { exchange(&place(&server)) });
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let inside = place(&server);
    many.block_on(async { tokio::spawn(async move { exchange(&inside) }).await.unwrap() });
}

#[test]
fn every_call_works_in_drop_and_while_unwinding() {
    struct Ends(Place);
    impl Drop for Ends {
        fn drop(&mut self) {
            exchange(&self.0);
        }
    }
    let server = Server::redis(&[]);
    drop(Ends(place(&server)));
    let unwound = panic::catch_unwind(|| {
        let _publisher = place(&server).publisher::<Note>(0);
        let _ends = Ends(place(&server));
        panic::resume_unwind(Box::new(7));
    });
    assert_eq!(*unwound.unwrap_err().downcast::<i32>().unwrap(), 7);
}

#[test]
fn a_process_ends_with_handles_in_a_static() {
    let server = Server::redis(&[]);
    run(&mut peer("static", &place(&server), 0));
}

#[test]
fn handles_may_be_dropped_by_their_own_events() {
    type Pair = (Publisher<Note>, Subscriber<Note>);
    static HANDLES: Mutex<Option<Pair>> = Mutex::new(None);
    let mut server = Server::redis(&[]);
    let place = Place::new(format!("redis;{}?announce=off", server.address()));
    let (sender, dropped) = std::sync::mpsc::channel();
    let subscriber = Subscriber::builder(&place.endpoint)
        .topic(&place.topic)
        .on_event(move |event| {
            if matches!(event, msg_runtime::Event::Disconnected(_)) {
                drop(HANDLES.lock().unwrap().take());
                sender.send(()).unwrap();
            }
        })
        .open()
        .unwrap();
    let publisher = Publisher::builder(&place.endpoint).topic(&place.topic).open().unwrap();
    *HANDLES.lock().unwrap() = Some((publisher, subscriber));
    server.kill();
    dropped.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn three_idle_subscribers_use_less_than_a_hundredth_of_a_core() {
    let server = Server::redis(&[]);
    let ticks: u32 = run(&mut peer("idle", &place(&server), 0)).trim().parse().unwrap();
    assert!(ticks < 10, "{ticks} hundredths of a second in ten seconds");
}

#[test]
fn opening_and_closing_leaves_nothing_behind() {
    let server = Server::redis(&[]);
    let more = run(&mut peer("cycles", &place(&server), 300));
    let more: Vec<i64> = more.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [threads, files, memory] = more[..] else { panic!("{more:?}") };
    assert!(threads <= 0 && files <= 0, "{threads} threads and {files} files more");
    assert!(memory < 4096, "{memory} KiB more");
}
