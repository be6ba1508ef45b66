//! Zenoh routers for the tests, and the other processes of theirs.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_tests::{server::free_port, tools};
use std::{
    io::{BufRead, BufReader, Lines},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

/// A process that answers by lines; killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts it. It lives no longer than its standard input, which ends with us.
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next line that it says; `None` if it has ended.
    pub fn line(&mut self) -> Option<String> {
        self.lines.next().map(Result::unwrap)
    }

    /// Waits for this line.
    pub fn expect(&mut self, line: &str) {
        assert_eq!(self.line().as_deref(), Some(line));
    }

    /// Waits for its end, which is a success.
    pub fn finish(mut self) {
        assert!(self.child.wait().unwrap().success());
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: i32) {
        let pid = i32::try_from(self.child.id()).unwrap();
        // SAFETY: sends a signal to a child that we have not waited for.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A router in a process of its own.
#[derive(Debug)]
pub struct Router {
    port: u16,
    connect: Vec<u16>,
    process: Option<Process>,
}

impl Router {
    /// A router that is connected to others.
    pub fn start(others: &[&Self]) -> Self {
        let connect = others.iter().map(|router| router.port).collect();
        let mut router = Self { port: 0, connect, process: None };
        // Somebody else may take a free port before the router has it.
        for _ in 0..10 {
            router.port = free_port();
            if router.run() {
                return router;
            }
        }
        panic!("no Zenoh router starts");
    }

    /// `tcp://127.0.0.1:<port>`.
    pub fn address(&self) -> String {
        format!("tcp://127.0.0.1:{}", self.port)
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it again, on the same port.
    pub fn restart(&mut self) {
        self.kill();
        assert!(self.run(), "the router does not start again");
    }

    fn run(&mut self) -> bool {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/zenoh_router.py");
        let ports = [self.port].into_iter().chain(self.connect.iter().copied());
        let mut command = tools::python();
        command.arg(script).args(ports.map(|port| port.to_string()));
        let mut process = Process::start(&mut command);
        let ready = process.line().is_some();
        self.process = ready.then_some(process);
        ready
    }
}
