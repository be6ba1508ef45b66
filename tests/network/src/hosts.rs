//! Networks of a test's own, with hosts in them.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
#![allow(clippy::print_stdout, reason = "what is not run is listed")]

use std::{env, process::Command, sync::mpsc, thread};

/// Set in a process that was started in a network of its own.
const INSIDE: &str = "MSG_TEST_OWN_NETWORK";

/// Says that a test is not run, why, and how to allow it; fails where everything must run.
pub fn not_run(reason: &str, remedy: &str) {
    let text = format!("not run: {reason}; {remedy} allows it");
    assert!(env::var_os("CI").is_none(), "{text}");
    println!("{text}");
}

/// True inside a network with nothing but `lo`. Outside it runs the named test, which calls this, once more in such a
/// network, passes on its failure, and gives false.
pub fn in_a_network_of_its_own(test: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        ip("link set lo up");
        return true;
    }
    // Root makes one as it is; anybody else as root of a user namespace.
    let Some(flags) = ["-n", "-Urn"].into_iter().find(|flags| {
        let probe = Command::new("unshare").args([flags, "ip", "link", "set", "lo", "up"]).output();
        probe.is_ok_and(|output| output.status.success())
    }) else {
        let remedy = "`sysctl -w kernel.unprivileged_userns_clone=1`, or being root, with `unshare` and `ip` installed,";
        not_run("the system gives no network namespace", remedy);
        return false;
    };
    let mut command = Command::new("unshare");
    command.arg(flags).arg(env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    let output = command.env(INSIDE, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "in a network of its own:\n{text}");
    assert!(text.contains("1 passed"), "no test is called {test}:\n{text}");
    false
}

/// Runs `ip` in the network of the calling thread.
pub fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

type Job = Box<dyn FnOnce() + Send>;

/// A host with a network of its own: a thread whose sockets, and those of threads that it starts, are there.
#[derive(Debug)]
pub struct Host {
    jobs: mpsc::Sender<Job>,
    thread: i32,
}

impl Host {
    /// A host that is connected to the caller's network by a cable: its end is called `end` there and `eth0` here, with
    /// the addresses 10.`number`.0.1 and 10.`number`.0.2.
    pub fn new(end: &str, number: u8) -> Self {
        let (jobs, to_do) = mpsc::channel::<Job>();
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            // SAFETY: changes the network of this thread and nothing in memory.
            let left = unsafe { libc::unshare(libc::CLONE_NEWNET) };
            assert_eq!(left, 0, "{}", std::io::Error::last_os_error());
            // SAFETY: takes nothing, gives a number.
            tell.send(unsafe { libc::gettid() }).unwrap();
            to_do.into_iter().for_each(|job| job());
        });
        let host = Self { jobs, thread: told.recv().unwrap() };
        ip(&format!("link add {end} type veth peer name eth0 netns {}", host.thread));
        ip(&format!("address add 10.{number}.0.1/24 dev {end}"));
        ip(&format!("link set {end} up"));
        host.run(move || {
            ip("link set lo up");
            ip(&format!("address add 10.{number}.0.2/24 dev eth0"));
            ip("link set eth0 up");
        });
        host
    }

    /// Runs something on the host, and gives its result.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> T {
        let (tell, told) = mpsc::channel();
        self.jobs.send(Box::new(move || tell.send(job()).unwrap())).unwrap();
        told.recv().expect("the job has not panicked")
    }
}
