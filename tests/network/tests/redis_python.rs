//! Another language's Redis client and FlatBuffers, with the frames as they are documented: it reads what we send, and we
//! read what it sends.
#![cfg(feature = "redis")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_runtime::{Message, Publisher, Subscriber};
use msg_tests::{
    conformance::Place,
    server::Server,
    tools::{Folder, flatc, python, run, schema_path},
};
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "msg_tests")]
struct Person {
    id: i32,
    name: String,
    email: String,
}

/// Python with the classes that flatc generates for a person, started on our script.
fn script(folder: &Folder) -> Command {
    let classes = folder.path().join("classes");
    let schema = schema_path("person.fbs");
    run(Command::new(flatc()).args(["--python", "--gen-object-api", "-o"]).arg(&classes).arg(schema));
    let mut command = python();
    let path = command.get_envs().find(|(key, _)| *key == "PYTHONPATH").and_then(|(_, path)| path);
    let mut path = path.unwrap().to_owned();
    path.push(":");
    path.push(classes);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/redis_person.py");
    command.env("PYTHONPATH", path).arg(script);
    command
}

#[test]
fn a_python_program_gets_and_sends_persons_with_every_compression() {
    let server = Server::redis(&[]);
    let folder = Folder::new();
    for codec in ["none", "lz4", "zstd"] {
        let Place { endpoint, topic, .. } =
            Place::new(format!("redis;{codec};{}?announce=off", server.address()));
        let answers =
            Subscriber::<Person>::builder(&endpoint).topic(format!("{topic}.from-python")).open().unwrap();
        let publisher =
            Publisher::<Person>::builder(&endpoint).topic(format!("{topic}.to-python")).open().unwrap();
        let mut script = script(&folder);
        script.args([&server.port().to_string(), &topic, codec]).stdout(Stdio::piped());
        let mut child = script.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(lines.next().unwrap(), "ready");
        let email = "grace@example.org ".repeat(30);
        publisher.send(&Person { id: -7, name: "Grace Hopper".into(), email: email.clone() }).unwrap();
        assert_eq!(lines.next().unwrap(), format!(r#"["{codec}", -7, "Grace Hopper", "{email}"]"#));
        let expected = Person { id: 8, name: "Ada Lovelace".into(), email: "ada@example.org ".repeat(30) };
        let sample = answers.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(sample.to_owned(), expected);
        let info = sample.info();
        assert_eq!((info.sequence, info.publisher, info.lost), (None, None, None), "Redis carries no stamp");
        assert!(child.wait().unwrap().success());
    }
}
