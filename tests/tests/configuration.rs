//! Endpoints from the environment. Each case is a process of its own: the environment belongs to all threads of one.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::{Message, Publisher, Subscriber};
use std::{
    env,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
};

#[derive(Message)]
#[message(namespace = "configuration")]
struct Note {
    number: u32,
}

const OWN: &str = "MSG_ENDPOINT_CONFIGURATION_NOTE";
const ALL: &str = "MSG_ENDPOINT";
/// What the child sends to; `open_configured` must take it there.
const EXPECTED: &str = "MSG_TEST_EXPECTED";

/// Not a test by itself: opens as configured, and prints the error or whether a message arrived at the expected place.
#[test]
#[ignore = "run by the other tests"]
fn in_a_process_of_its_own() {
    let Ok(expected) = env::var(EXPECTED) else { return };
    let opened = Subscriber::<Note>::open_configured().and_then(|subscriber| {
        let publisher = Publisher::<Note>::open(&expected)?;
        publisher.send(&Note { number: 1 }).unwrap();
        let arrived = subscriber.try_recv().is_ok();
        Publisher::<Note>::open_configured()?.send(&Note { number: 2 }).unwrap();
        Ok((arrived, subscriber.try_recv().is_ok()))
    });
    match opened {
        Ok(arrived) => println!("<<arrived {arrived:?}>>"),
        Err(error) => println!("<<{error}>>"),
    }
}

/// Not a test by itself: two topics with one variable.
#[test]
#[ignore = "run by the other tests"]
fn two_topics_in_a_process_of_their_own() {
    if env::var(EXPECTED).is_err() {
        return;
    }
    let open = |topic: &str| Subscriber::<Note>::builder_configured().topic(topic).open();
    let _first = open("left.image").unwrap();
    let _again = open("left.image").unwrap();
    let error = open("left/image").unwrap_err();
    println!("<<{error}>>");
    Subscriber::<Note>::builder(&env::var(EXPECTED).unwrap()).topic("left/image").open().unwrap();
}

/// What the child printed.
fn run(test: &str, expected: &str, variables: &[(&str, &OsStr)]) -> String {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command.env_remove(OWN).env_remove(ALL).env(EXPECTED, expected);
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let (_, said) = text.split_once("<<").unwrap_or_else(|| panic!("it said nothing: {text}"));
    said.split_once(">>").unwrap().0.to_owned()
}

/// A channel that no other test has.
fn channel() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("shm;configuration-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn the_topics_own_variable_is_before_that_of_all() {
    let check = |expected: &str, variables: &[(&str, &str)]| {
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, OsStr::new(*value))).collect();
        assert_eq!(run("in_a_process_of_its_own", expected, &variables), "arrived (true, true)");
    };
    let (own, all) = (&channel(), &channel());
    check(own, &[(OWN, own), (ALL, all)]);
    check(all, &[(ALL, all)]);
    check(all, &[(OWN, ""), (ALL, all)]);
    check(own, &[(OWN, own), (ALL, "not;even;an?endpoint")]);
}

#[test]
fn errors_name_the_variable_that_was_read() {
    let check = |variable: &str, value: &OsStr, expected: &[&str]| {
        let said = run("in_a_process_of_its_own", &channel(), &[(variable, value)]);
        for text in expected.iter().chain([&variable]) {
            assert!(said.contains(text), "{said:?} lacks {text:?}");
        }
        assert!(!said.contains("hunter2"), "{said:?}");
    };
    check(ALL, OsStr::new("smh;x"), &["environment variable `MSG_ENDPOINT`: unknown transport `smh`", "^^^"]);
    check(OWN, OsStr::new("nats;nats://u:hunter2@h:0"), &["port `0`", "nats;nats://u:***@h:0"]);
    check(OWN, OsStr::new("shm;x?slots=1000,size=64MiB"), &["max"]);
    check(ALL, OsStr::from_bytes(b"shm;\xff"), &["is not utf-8"]);
}

#[test]
fn two_topics_with_one_variable_are_refused() {
    let channel = channel();
    let said = run("two_topics_in_a_process_of_their_own", &channel, &[(ALL, OsStr::new(&channel))]);
    assert!(said.contains("topics `left.image` and `left/image`"), "{said:?}");
    assert!(said.contains("`MSG_ENDPOINT_LEFT_IMAGE`"), "{said:?}");
}
