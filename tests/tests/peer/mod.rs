//! The processes that the tests of shared memory start.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::print_stdout, reason = "a test says what it could not run")]

pub(crate) mod trace;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};

use msg_tests::shm::Directory;

/// What a test needs that is not here; it must be where CI is set.
pub(crate) fn not_run(reason: &str) {
    println!("not run: {reason}");
    assert!(std::env::var_os("CI").is_none(), "must run where CI is set");
}

/// Another process, killed when dropped.
pub(crate) struct Peer {
    pub(crate) child: Child,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts one; `what` is its command and number.
    pub(crate) fn start(directory: &Directory, channel: &str, what: &[&str]) -> Self {
        Self::spawn(Self::command(directory, channel, what))
    }

    /// Starts one and waits for its first line.
    pub(crate) fn ready(directory: &Directory, channel: &str, what: &[&str]) -> Self {
        let mut peer = Self::start(directory, channel, what);
        assert!(!peer.line().is_empty(), "the peer has failed");
        peer
    }

    /// Starts one that listens, as another user, who is in `own` and opens a ring of `group`.
    pub(crate) fn start_as(user: u32, own: u32, group: u32, directory: &Directory) -> Self {
        let mut command = Self::command(directory, "c", &["visit"]);
        command.env("PEER_GROUP", group.to_string());
        let become_user = move || {
            // SAFETY: the list has the length given.
            check(unsafe { libc::setgroups(1, &raw const own) })?;
            // SAFETY: takes a number.
            check(unsafe { libc::setgid(user) })?;
            // SAFETY: takes a number.
            check(unsafe { libc::setuid(user) })
        };
        // SAFETY: the closure makes system calls only.
        unsafe { command.pre_exec(become_user) };
        Self::spawn(command)
    }

    fn command(directory: &Directory, channel: &str, what: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shm_peer"));
        command.args([what[0], directory.path(), channel]).args(&what[1..]).stdin(Stdio::piped());
        command
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// The next line that it says; empty when it has ended.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Tells a peer that listens to do something.
    pub(crate) fn tell(&self, line: &str) {
        writeln!(self.child.stdin.as_ref().unwrap(), "{line}").unwrap();
    }

    /// Tells a peer that listens to do something; returns what it answers.
    pub(crate) fn ask(&mut self, line: &str) -> String {
        self.tell(line);
        self.line()
    }

    /// Tells a peer that listens that there is no more, and sees it end well.
    pub(crate) fn hang_up(mut self) {
        drop(self.child.stdin.take());
        self.ends_well();
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, number: i32) {
        signal(self.child.id() as i32, number);
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn ends_well(mut self) {
        assert!(self.child.wait().unwrap().success(), "the peer found something wrong");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn check(result: i32) -> std::io::Result<()> {
    if result == -1 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// Sends a signal to a process that the test has started and not waited for.
pub(crate) fn signal(process: i32, number: i32) {
    // SAFETY: takes numbers.
    assert_eq!(unsafe { libc::kill(process, number) }, 0);
}
