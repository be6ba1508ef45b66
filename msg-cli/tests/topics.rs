//! Commands that look at topics, as their users run them, beside a program that has topics open.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    path::Path,
    process::{Command, Output, Stdio, id},
    thread,
    time::Duration,
};

use msg_runtime::{Message, Publisher, Subscriber};

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Message)]
#[message(namespace = "cli")]
struct Led {
    on: bool,
    name: String,
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_msg"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// What a successful run prints for programs.
fn printed(arguments: &[&str]) -> String {
    let output = command(arguments).output().unwrap();
    let (printed, errors) = text(&output);
    assert!(output.status.success(), "{arguments:?}\n{printed}{errors}");
    printed
}

fn endpoint(name: &str) -> String {
    format!("shm;cli-{name}-{}", id())
}

fn led(on: bool) -> Led {
    Led { on, name: "left \"one\"".to_owned() }
}

#[test]
fn topics_are_listed_in_columns() {
    let endpoint = endpoint("list");
    assert!(printed(&["list", &endpoint]).starts_with("nobody has a topic open at `shm;none;cli-list-"));
    let _subscriber = Subscriber::<Led>::open(&endpoint).unwrap();
    let publisher = Publisher::<Led>::open(&endpoint).unwrap();
    publisher.send(&led(true)).unwrap();
    let listed = printed(&["list", &endpoint]);
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 4, "{listed}");
    assert!(lines[1].starts_with("cli.Led") && lines[1].ends_with("cli.Led"), "{listed}");
    assert!(lines[2].starts_with("  publisher") && lines[3].starts_with("  subscriber"), "{listed}");
    let at = lines[0].find("MESSAGES").unwrap() + "MESSAGES".len();
    assert_eq!(&lines[2][at - 2..at], " 1", "{listed}");
    assert!(lines[2].contains(&id().to_string()), "{listed}");
}

#[test]
fn messages_are_shown_as_json_lines() {
    let endpoint = endpoint("echo");
    let publisher = Publisher::<Led>::open(&endpoint).unwrap();
    let echo = command(&["echo", "--count", "2", &endpoint]).spawn().unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.send(&led(true)).unwrap();
    publisher.send(&led(false)).unwrap();
    let output = echo.wait_with_output().unwrap();
    let (printed, errors) = text(&output);
    let lines = "{\"on\":true,\"name\":\"left \\\"one\\\"\"}\n{\"on\":false,\"name\":\"left \\\"one\\\"\"}\n";
    assert_eq!(printed, lines, "{errors}");
    assert!(errors.contains("topic `cli.Led` of type `cli.Led`"), "{errors}");
}

#[test]
fn a_message_is_published_from_json() {
    let endpoint = endpoint("pub");
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/person.fbs");
    let subscriber = Subscriber::<Led>::open(&endpoint).unwrap();
    let done = printed(&["pub", &endpoint, "cli.Led", r#"{"on":true,"name":"x"}"#]);
    assert!(done.starts_with("published "), "{done}");
    let sample = subscriber.recv_timeout(PATIENCE).unwrap();
    assert_eq!((sample.view().on(), sample.view().name()), (true, "x"));

    let check = |arguments: &[&str], code: i32, expected: &str| {
        let output = command(arguments).output().unwrap();
        let (printed, errors) = text(&output);
        assert_eq!(output.status.code(), Some(code), "{printed}{errors}");
        assert!(errors.contains(expected), "{errors}");
    };
    check(&["pub", &endpoint, "cli.Led", r#"{"of":true}"#], 1, "error: the JSON: ");
    check(&["pub", &endpoint, "cli.Other", "{}"], 2, "give `--schema FILE`");
    // Another type on the topic than those have who use it.
    let schema = schema.to_str().unwrap();
    check(&["pub", "--schema", schema, &endpoint, "cli.Led", "{}"], 2, "in use with type `cli.Led`");
    check(&["pub", "--schema", schema, &endpoint, "nobody", "{}"], 0, "nobody is known to subscribe");
}

#[test]
fn rates_and_bridges_are_shown_in_columns() {
    let (from, to) = (endpoint("from"), endpoint("to"));
    let publisher = Publisher::<Led>::open(&from).unwrap();
    let subscriber = Subscriber::<Led>::open(&to).unwrap();
    let rate = command(&["rate", "--count", "2", &from]).spawn().unwrap();
    let bridge = command(&["bridge", "--count", "1", &from, &to]).spawn().unwrap();
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    publisher.send(&led(true)).unwrap();
    assert!(subscriber.recv_timeout(PATIENCE).unwrap().view().on());
    let sender = thread::spawn(move || {
        while publisher.wait_for_subscribers(1, Duration::ZERO) {
            // Nobody there any more is what ends it.
            let _ = publisher.send(&led(true));
            thread::yield_now();
        }
    });
    let (printed, errors) = text(&rate.wait_with_output().unwrap());
    assert_eq!(printed.lines().count(), 4, "{printed}{errors}");
    assert!(printed.contains("  MEAN SIZE  "), "{printed}");
    let (printed, errors) = text(&bridge.wait_with_output().unwrap());
    assert!(printed.contains("end with Ctrl-C\n\nTOPIC    TYPE     FORWARDED  "), "{printed}{errors}");
    drop(subscriber);
    sender.join().unwrap();
}

#[test]
fn passwords_are_not_shown() {
    for arguments in [["list", "nats;ada:secret@127.0.0.1:1"], ["echo", "redis;ada:secret@127.0.0.1:1"]] {
        let output = command(&arguments).output().unwrap();
        let (printed, errors) = text(&output);
        assert_eq!(output.status.code(), Some(2), "{printed}{errors}");
        assert!(!printed.contains("secret") && !errors.contains("secret"), "{printed}{errors}");
    }
}
