//! The other process of the tests of Zenoh: `zenoh_peer COMMAND ENDPOINT TOPIC [COUNT]`.
//!
//! It says a line when it has come to the point that its test waits for, and ends by itself after two minutes.

#![allow(clippy::print_stdout, reason = "lines on the output are how it answers its test")]
#![allow(clippy::unwrap_used, reason = "a panic is how it tells its test that something is wrong")]

use msg_runtime::{Publisher, Subscriber};
use msg_tests::conformance::Note;
use std::{
    io::{Read, Write},
    sync::Mutex,
    time::Duration,
};

const PATIENCE: Duration = Duration::from_secs(60);
/// The number of the last message.
const LAST: u32 = u32::MAX;

fn main() {
    // SAFETY: sets a timer, whose signal ends the process.
    unsafe { libc::alarm(120) };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, endpoint, topic, rest @ ..] = &arguments[..] else { panic!("too few arguments") };
    let count = rest.first().map_or(0, |text| text.parse().unwrap());
    match &**command {
        "open" => open(endpoint, topic),
        "publish" => drop(publish(endpoint, topic, count)),
        "exit" => exit(endpoint, topic, count),
        "receive" => receive(endpoint, topic),
        "take" => take(endpoint, topic, count),
        other => panic!("unknown command `{other}`"),
    }
}

fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}

/// Says how opening ends.
fn open(endpoint: &str, topic: &str) {
    match Subscriber::<Note>::builder(endpoint).topic(topic).open() {
        Ok(_) => say("open"),
        Err(error) => say(&error.to_string()),
    }
}

/// Sends `count` messages and returns right after.
fn publish(endpoint: &str, topic: &str, count: u32) -> Publisher<Note> {
    let publisher = Publisher::<Note>::builder(endpoint).topic(topic).open().unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    for number in 0..count {
        let note = Note { number, text: String::new(), bytes: Vec::new() };
        publisher.send_timeout(&note, PATIENCE).unwrap();
    }
    publisher
}

/// The same, and the publisher is dropped when the process exits.
fn exit(endpoint: &str, topic: &str, count: u32) {
    static KEPT: Mutex<Option<Publisher<Note>>> = Mutex::new(None);
    extern "C" fn release() {
        drop(KEPT.lock().unwrap().take());
    }
    *KEPT.lock().unwrap() = Some(publish(endpoint, topic, count));
    // SAFETY: registers a function that touches nothing but a static.
    assert_eq!(unsafe { libc::atexit(release) }, 0);
}

/// Receives until the last message, and says what came and what is missing.
fn receive(endpoint: &str, topic: &str) {
    let subscriber = Subscriber::<Note>::builder(endpoint).topic(topic).open().unwrap();
    say("ready");
    while subscriber.recv_timeout(PATIENCE).unwrap().view().number() != LAST {}
    let stats = subscriber.stats();
    say(&format!("{} {}", stats.messages, stats.lost));
    // Alive until its test has seen what it wants to see.
    _ = std::io::stdin().read(&mut [0]);
}

/// Receives the first `count` messages and says how many came.
fn take(endpoint: &str, topic: &str, count: u32) {
    let subscriber = Subscriber::<Note>::builder(endpoint).topic(topic).open().unwrap();
    for number in 0..count {
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), number);
    }
    say(&count.to_string());
}
