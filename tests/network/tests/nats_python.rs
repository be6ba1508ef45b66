//! NATS with a foreign peer: a Python program with that project's own client publishes to us and receives from us. And
//! frames as bytes, so that nothing changes them unseen.
#![cfg(feature = "nats")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_network_tests::PATIENCE;
use msg_runtime::{Message, Publisher, Subscriber};
use msg_tests::{
    server::Server,
    tools::{self, Folder},
};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
};

/// The twin of `schemas/person.fbs`.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "msg_tests")]
struct Person {
    id: i32,
    name: String,
    email: String,
}

fn grace(id: i32) -> Person {
    Person { id, name: "Grace Hopper ".repeat(20), email: "grace@example.org".to_owned() }
}

/// Our script, with the classes that flatc generates.
fn python(folder: &Folder, verb: &str, server: &Server) -> Command {
    let classes = folder.path().join("classes");
    let mut flatc = Command::new(tools::flatc());
    flatc.args(["--python", "--gen-object-api", "-o"]).arg(&classes).arg(tools::schema_path("person.fbs"));
    tools::run(&mut flatc);
    let mut command = tools::python();
    let path = command.get_envs().find(|(key, _)| *key == "PYTHONPATH").and_then(|(_, path)| path);
    let mut path = path.unwrap().to_owned();
    path.push(":");
    path.push(classes);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/nats_peer.py");
    let url = format!("nats://{}", server.address());
    command.env("PYTHONPATH", path).arg(script).args([verb, &url, "msg_tests.Person"]);
    command
}

#[test]
fn a_python_program_publishes_to_us() {
    let server = Server::nats(&[]);
    let subscriber = Subscriber::<Person>::open(&format!("nats;{}", server.address())).unwrap();
    tools::run(&mut python(&Folder::new(), "publish", &server));
    for id in 0..3 {
        let sample = subscriber.recv_timeout(PATIENCE).unwrap();
        assert_eq!(sample.to_owned(), grace(id));
        assert_eq!((sample.info().sequence, sample.info().lost), (None, None), "it has no stamps");
    }
    assert_eq!(subscriber.stats().invalid, 0);
}

#[test]
fn a_python_program_receives_from_us() {
    let server = Server::nats(&[]);
    let folder = Folder::new();
    let mut child = python(&folder, "receive", &server).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "ready");
    for (id, compression) in (0..).zip(["none", "lz4", "zstd:19"]) {
        let endpoint = format!("nats;{compression};{}", server.address());
        let publisher = Publisher::<Person>::open(&endpoint).unwrap();
        publisher.send(&grace(id)).unwrap();
        publisher.flush(PATIENCE).unwrap();
        let line: serde_json::Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
        let codec = compression.split(':').next().unwrap();
        assert_eq!(line["compression"], codec);
        let Person { name, email, .. } = grace(id);
        assert_eq!(line["person"], serde_json::json!({ "id": id, "name": name, "email": email }));
        assert_eq!(line["stamp"].as_str().unwrap().len(), 48);
    }
    assert!(child.wait().unwrap().success());
}

/// What the server passes on to a subscriber, without any client in between.
#[test]
fn a_frame_on_the_wire_is_these_bytes() {
    let server = Server::nats(&[]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"CONNECT {\"verbose\":false,\"headers\":true}\r\nSUB p 1\r\nPING\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while !line.starts_with("PONG") {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    let ada = Person { id: 1, name: "Ada".to_owned(), email: "ada@x".to_owned() };
    let endpoint = format!("nats;{}?announce=off", server.address());
    let (bare, stamped) = (format!("{endpoint},stamp=off"), endpoint);
    for (endpoint, headers) in [(bare, false), (stamped, true)] {
        let publisher = Publisher::<Person>::builder(&endpoint).topic("p").open().unwrap();
        publisher.send(&ada).unwrap();
        publisher.flush(PATIENCE).unwrap();
        line.clear();
        reader.read_line(&mut line).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let (verb, lens) = (words[0], &words[3..]);
        let lens: Vec<usize> = lens.iter().map(|len| len.parse().unwrap()).collect();
        assert_eq!(verb, if headers { "HMSG" } else { "MSG" });
        let mut bytes = vec![0; lens.last().unwrap() + 2];
        reader.read_exact(&mut bytes).unwrap();
        let (head, body) = bytes.split_at(if headers { lens[0] } else { 0 });
        if headers {
            let head = std::str::from_utf8(head).unwrap();
            assert!(head.starts_with("NATS/1.0\r\nMsg: ") && head.ends_with("\r\n\r\n"), "{head:?}");
            assert_eq!(head.len(), 67);
            // The first message of its publisher.
            assert_eq!(&head[31..47], "0000000000000000");
        }
        let hexadecimal: String = body.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hexadecimal, FRAME);
    }
}

/// The header byte of an uncompressed message, the person, and the end of NATS' line.
const FRAME: &str = "00\
    100000000a001000040008000c0000000c00000001000000080000000c000000030000004164610005000000616461407800\
    0d0a";
