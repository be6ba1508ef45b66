//! Zenoh's own Python package publishes to us and receives from us: the same bytes in other hands.
#![cfg(feature = "zenoh")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_network_tests::zenoh::Process;
use msg_runtime::{Message, Publisher, Subscriber};
use msg_tests::{
    server::free_port,
    tools::{Folder, flatc, python, run, schema_path},
};
use std::{
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// The twin of `schemas/person.fbs`.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "msg_tests")]
struct Person {
    id: i32,
    name: String,
    email: String,
}

fn person() -> Person {
    Person { id: -7, name: "Grace Hopper ".repeat(100), email: "grace@example.org".into() }
}

/// `zenoh_person.py` with the classes that flatc generates.
fn script(folder: &Folder, verb: &str, port: u16) -> Command {
    let classes = folder.path().join("classes");
    let schema = schema_path("person.fbs");
    run(Command::new(flatc()).args(["--python", "--gen-object-api", "-o"]).arg(&classes).arg(schema));
    let mut command = python();
    let path = command.get_envs().find(|(key, _)| *key == "PYTHONPATH").and_then(|(_, path)| path);
    let mut path = path.expect("python() sets it").to_owned();
    path.push(":");
    path.push(classes);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/zenoh_person.py");
    command.env("PYTHONPATH", path).arg(script).arg(verb).arg(port.to_string()).arg(format!("{verb}-{port}"));
    command
}

fn endpoint(compression: &str, port: u16) -> String {
    format!("zenoh;{compression};peer?listen=tcp://127.0.0.1:{port},iface=lo")
}

#[test]
fn python_publishes_to_us() {
    let port = free_port();
    let people =
        Subscriber::<Person>::builder(&endpoint("none", port)).topic(format!("send-{port}")).open().unwrap();
    let folder = Folder::new();
    run(&mut script(&folder, "send", port));
    for _ in ["none", "lz4", "zstd"] {
        let sample = people.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(sample.to_owned(), person());
        assert_eq!((sample.info().sequence, sample.info().lost), (None, None), "it has no stamp");
    }
    assert_eq!(people.stats().invalid, 0);
}

#[test]
fn python_receives_from_us() {
    let port = free_port();
    let open = |compression| {
        Publisher::<Person>::builder(&endpoint(compression, port))
            .topic(format!("receive-{port}"))
            .open()
            .unwrap()
    };
    let publishers = ["none", "lz4", "zstd:19"].map(open);
    let folder = Folder::new();
    let mut python = Process::start(&mut script(&folder, "receive", port));
    let ended = AtomicBool::new(false);
    let mut shown: Vec<String> = thread::scope(|scope| {
        // A foreign subscriber announces nothing: it is sent to until it has what it wants.
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                publishers.iter().for_each(|publisher| publisher.send(&person()).unwrap());
                thread::sleep(Duration::from_millis(10));
            }
        });
        let lines = (0..3).map(|_| python.line()).collect::<Option<Vec<_>>>();
        ended.store(true, Ordering::Relaxed);
        lines.expect("a line for each compression")
    });
    python.finish();
    shown.sort();
    let line = |codec: &str| {
        let name = person().name;
        format!(r#"["{codec}", -7, "{name}", "grace@example.org", true, true]"#)
    };
    assert_eq!(shown, [line("lz4"), line("none"), line("zstd")]);
}
