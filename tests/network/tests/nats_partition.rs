//! NATS between two hosts, made of a network namespace and a pair of virtual cables: the cable is cut, and mended.
#![cfg(target_os = "linux")]
#![cfg(feature = "nats")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what failed by panicking")]

use msg_network_tests::{PATIENCE, eventually, note, publisher};
use msg_tests::server::Server;
use std::{
    env,
    io::{BufRead, BufReader},
    process::{self, Child, Command, Stdio},
    time::Duration,
};

/// A host beside this one, and the cable to it; both end when dropped.
struct Host {
    name: String,
    cable: String,
    /// The first three numbers of both addresses.
    network: String,
}

impl Host {
    /// `None` where the system refuses.
    fn new() -> Option<Self> {
        let pid = process::id();
        let (name, cable) = (format!("msg-{pid}"), format!("msg{pid}"));
        if !ip(&format!("netns add {name}")) {
            return None;
        }
        // In the range for tests between hosts, by the process, so that two runs do not meet.
        let network = format!("198.18.{}", pid % 256);
        let host = Self { name, cable, network };
        let (name, cable, network) = (&host.name, &host.cable, &host.network);
        let made = [
            format!("link add {cable} type veth peer name eth0 netns {name}"),
            format!("addr add {network}.1/24 dev {cable}"),
            format!("link set {cable} up"),
            format!("-n {name} addr add {network}.2/24 dev eth0"),
            format!("-n {name} link set eth0 up"),
            format!("-n {name} link set lo up"),
        ];
        made.iter().all(|command| ip(command)).then_some(host)
    }

    /// Starts our peer there.
    fn peer(&self, role: &str, endpoint: &str, topic: &str) -> Child {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, env!("CARGO_BIN_EXE_nats_peer"), role, endpoint, topic]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        ip(&format!("netns del {}", self.name));
    }
}

fn ip(command: &str) -> bool {
    let output = Command::new("ip").args(command.split(' ')).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn a_partition_is_found_and_heals_and_what_was_missed_is_counted() {
    let Some(host) = Host::new() else {
        println!("not run: no network namespace: run as root, or allow CAP_NET_ADMIN and CAP_SYS_ADMIN");
        assert!(env::var_os("CI").is_none(), "must run where CI is set");
        return;
    };
    let server = Server::nats(&["--addr", "0.0.0.0"]);
    let there = format!("nats;{}.1:{}", host.network, server.port());
    let mut peer = host.peer("report", &there, "partition");
    let mut lines = BufReader::new(peer.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut expect = |expected: &str| {
        let line = lines.next().unwrap_or_default();
        assert!(line.starts_with(expected), "`{line}`, expected `{expected}`");
        line
    };
    expect("ready");
    expect("connected");
    let publisher = publisher(&format!("nats;{}", server.address()), "partition");
    let send = |count| (0..count).for_each(|number| publisher.send(&note(number)).unwrap());
    send(100);
    publisher.flush(PATIENCE).unwrap();
    expect("received 100");
    assert!(ip(&format!("link set {} down", host.cable)));
    send(100);
    expect("disconnected");
    assert!(ip(&format!("link set {} up", host.cable)));
    expect("reconnected");
    // Only what comes later shows what is missing, and the subscription takes its way to the server.
    eventually("a message crosses the cable again", || {
        publisher.send(&note(u64::MAX)).unwrap();
        publisher.flush(PATIENCE).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        peer.try_wait().unwrap().is_some()
    });
    let result = expect("end ");
    let numbers: Vec<u64> = result.split(' ').skip(1).map(|number| number.parse().unwrap()).collect();
    let [received, lost, last] = numbers[..] else { panic!("{result}") };
    assert_eq!(received + lost, last + 1, "{result}");
    assert!(lost <= 100 + publisher.stats().messages - 200, "{result}");
    assert!(peer.wait().unwrap().success());
}
