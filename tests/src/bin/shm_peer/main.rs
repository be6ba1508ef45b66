//! The other process of the tests `tests/shm_*.rs`: `shm_peer COMMAND DIRECTORY CHANNEL [NUMBER]`.
//!
//! It says a line when it has come to the point that its test waits for, and ends by itself after a minute.

#![allow(clippy::print_stdout, reason = "lines on the output are how it answers its test")]
#![allow(clippy::unwrap_used, reason = "a panic is how it tells its test that something is wrong")]

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use msg_runtime::error::{RecvError, SendError, TryRecvError, TrySendError};
use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};
use msg_tests::shm::{self, END};

mod load;
mod tight;
mod traced;

fn main() {
    end_in_a_minute();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, directory, channel, rest @ ..] = &arguments[..] else { panic!("too few arguments") };
    let number = rest.first().map_or(0, |text| text.parse().unwrap());
    let options = shm::options(directory, channel);
    let options = match std::env::var("PEER_GROUP") {
        Ok(group) => options.group(&group),
        Err(_) => options,
    };
    match &**command {
        "receive" => receive(&options),
        "latest" => receive_latest(&options.latest_only()),
        "silent" => silent(&options.wake_nobody()),
        "unlocked" => tight::unlocked(&options.lock_memory()),
        "hog" => hog(&options),
        "hold" => hold(&options, number),
        "publish" => publish(&options, directory, number),
        "send" => send(&options, number),
        "loan" => loan(&options, number),
        "orphan" => orphan(&options),
        "forked" => forked(&options),
        "tiny" => tight::tiny(directory, channel),
        "named" => named(&options, number),
        "copied" => copied(&options, number),
        "churn" => churn(&options, number),
        "visit" => visit(&options),
        "paced" => load::paced(&options, directory, number),
        "witness" => load::witness(&options, directory),
        "obey" => load::obey(&options, number),
        "meet" => load::meet(&options, number),
        "tight" => tight::tight(directory, channel),
        "small" => tight::small(&options),
        "traced-send" => traced::send(&options),
        "traced-open" => traced::open(&options, number),
        "traced-fail" => traced::fail(&options, number),
        "elsewhere" => elsewhere(&options),
        other => panic!("unknown command `{other}`"),
    }
}

/// A minute beyond the time that the longer tests take.
fn end_in_a_minute() {
    let longer = std::env::var("MSG_TEST_SECONDS").map_or(0, |text| text.parse().unwrap());
    // SAFETY: sets a timer, whose signal ends the process.
    unsafe { libc::alarm(60 + longer) };
}

fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}

fn wait_forever() -> ! {
    loop {
        std::thread::park();
    }
}

/// Receives until the end, and sees to it that nothing is lost, torn, twice or out of order.
fn receive(options: &Options) {
    let subscriber = ShmSubscriber::open(options).unwrap();
    say("ready");
    let (mut next, mut counters) = (None, HashMap::new());
    loop {
        let sample = subscriber.recv().unwrap();
        let sequence = sample.info().sequence;
        assert_eq!(*next.get_or_insert(sequence), sequence, "lost or twice");
        next = Some(sequence + 1);
        let (publisher, counter) = shm::parse(&sample);
        if counter == END {
            return say("end");
        }
        let last = counters.insert(publisher, counter);
        assert!(last.is_none_or(|last| last + 1 == counter), "out of order");
    }
}

/// Receives the newest until the end; whole messages, and all that are missing counted.
fn receive_latest(options: &Options) {
    let subscriber = ShmSubscriber::open(options).unwrap();
    say("ready");
    let mut next = None;
    loop {
        let sample = subscriber.recv().unwrap();
        let info = sample.info();
        let expected = *next.get_or_insert(info.sequence - info.lost) + info.lost;
        assert_eq!(expected, info.sequence, "lost messages are not counted exactly");
        next = Some(info.sequence + 1);
        if shm::parse(&sample).1 == END {
            return say("end");
        }
    }
}

/// Sends, and finds the ring full, where the kernel ends whoever makes a system call other than `write` or `exit`.
fn silent(options: &Options) {
    let publisher = ShmPublisher::open(&options.clone().slots(4).slot_bytes(64)).unwrap();
    say("ready");
    // Until somebody sleeps on the ring.
    std::io::stdin().read_line(&mut String::new()).unwrap();
    allow_only(&[libc::SYS_write, libc::SYS_exit]);
    let (started, mut sent, mut full) = (Instant::now(), 0, 0);
    // Longer than the time between two looks at the files, or for the dead.
    while started.elapsed() < Duration::from_millis(700) {
        match publisher.try_send(&shm::message(1, sent)) {
            Ok(()) => sent += 1,
            Err(TrySendError::Full) => full += 1,
            Err(error) => panic!("{error}"),
        }
    }
    // A panic would make system calls.
    say(&if sent > 4 && full > 1000 { "silent".into() } else { format!("{sent} sent, {full} times full") });
    // SAFETY: ends the thread, and with it the process; `exit_group` is not allowed any more.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
}

/// From here on any other system call of this thread kills the process.
fn allow_only(calls: &[libc::c_long]) {
    let step = |code: u32, k: u32, jt: u8| libc::sock_filter { code: code as u16, jt, jf: 0, k };
    let give = libc::BPF_RET | libc::BPF_K;
    // The call's number is the first word that a filter sees.
    let mut filter = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for (at, call) in calls.iter().enumerate() {
        filter.push(step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            *call as u32,
            (calls.len() - at) as u8,
        ));
    }
    filter.push(step(give, libc::SECCOMP_RET_KILL_PROCESS, 0));
    filter.push(step(give, libc::SECCOMP_RET_ALLOW, 0));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: only forbids gaining rights, which a filter asks for.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: the program lives through the call, which copies it.
    let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(set, 0);
}

fn shm_directory() -> String {
    std::env::args().nth(2).unwrap()
}

/// Subscribes and never receives.
fn hog(options: &Options) {
    let _subscriber = ShmSubscriber::open(options).unwrap();
    say("ready");
    wait_forever();
}

/// Keeps as many samples as it can, or is told.
fn hold(options: &Options, samples: u64) {
    let subscriber = ShmSubscriber::open(options).unwrap();
    say("ready");
    let _held: Vec<_> = (0..samples).map(|_| subscriber.recv().unwrap()).collect();
    say("holding");
    wait_forever();
}

/// Publishes without end, and writes down which message was sent last.
fn publish(options: &Options, directory: &str, publisher: u64) {
    let sent = File::create(shm::acknowledged(directory, publisher)).unwrap();
    let handle = ShmPublisher::open(options).unwrap();
    say("ready");
    for counter in 0.. {
        match handle.send_timeout(&shm::message(publisher, counter), Duration::from_secs(10)) {
            Ok(()) => sent.write_all_at(&(counter + 1).to_ne_bytes(), 0).unwrap(),
            Err(SendError::Disconnected) => return say("disconnected"),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Sends some messages and ends like any program.
fn send(options: &Options, messages: u64) {
    let publisher = ShmPublisher::open(options).unwrap();
    for counter in 0..messages {
        publisher.send(&shm::message(1, counter)).unwrap();
    }
    say("sent");
    wait_forever();
}

/// Publishes with a size of its own, and has so much memory (in MiB) that it takes a while to die.
fn named(options: &Options, memory: u64) {
    let _publisher = ShmPublisher::open(&options.clone().slot_bytes(1024)).unwrap();
    let memory = vec![1_u8; (memory as usize) << 20];
    say("ready");
    std::hint::black_box(&memory);
    wait_forever();
}

/// Takes part, as subscriber (0) or as publisher with a size of its own (1), and copies itself behind the C library's
/// back.
fn copied(options: &Options, role: u64) {
    let named = options.clone().slot_bytes(1024);
    let _subscriber = (role == 0).then(|| ShmSubscriber::open(options).unwrap());
    let _publisher = (role == 1).then(|| ShmPublisher::open(&named).unwrap());
    // SAFETY: as `fork`, without its handlers; the child has a copy of all memory, and only waits.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    if child == 0 {
        end_in_a_minute();
    } else {
        say(&child.to_string());
    }
    wait_forever();
}

/// Comes and goes for so many milliseconds, sending and receiving each time.
fn churn(options: &Options, milliseconds: u64) {
    let options = options.clone().slots(4).slot_bytes(64);
    let (started, patience) = (std::time::Instant::now(), Duration::from_secs(20));
    let mut rounds = 0;
    while started.elapsed() < Duration::from_millis(milliseconds) {
        let subscriber = ShmSubscriber::open(&options).unwrap();
        let publisher = ShmPublisher::open(&options).unwrap();
        while let Err(error) = publisher.try_send(b"x") {
            // It may be our own doing: our subscriber has read nothing yet.
            assert_eq!(error, TrySendError::Full);
            while subscriber.try_recv().is_ok() {}
            std::thread::yield_now();
            assert!(started.elapsed() < patience, "no room");
        }
        assert_eq!(&*subscriber.recv_timeout(patience).unwrap(), b"x");
        rounds += 1;
    }
    say(&format!("rounds {rounds}"));
}

/// Does what the lines of its input say, and says how each went.
fn visit(options: &Options) {
    let (mut publisher, mut subscriber) = (None, None);
    let failed = |error: msg_runtime::Error| format!("{:?}: {error}", error.kind());
    for line in std::io::stdin().lines() {
        let done = match &*line.unwrap() {
            "publish" => ShmPublisher::open(options).map(|opened| publisher = Some(opened)).map_err(failed),
            "publish larger" => ShmPublisher::open(&options.clone().slots(4).slot_bytes(1 << 20))
                .map(|opened| publisher = Some(opened))
                .map_err(failed),
            "subscribe" => {
                ShmSubscriber::open(options).map(|opened| subscriber = Some(opened)).map_err(failed)
            }
            "send" => publisher.as_ref().unwrap().send(b"x").map_err(|error| error.to_string()),
            "receive" => {
                let received = subscriber.as_ref().unwrap().recv_timeout(Duration::from_secs(5));
                received.map(|sample| assert_eq!(&*sample, b"x")).map_err(|error| error.to_string())
            }
            "leave" => {
                (publisher, subscriber) = (None, None);
                Ok(())
            }
            other => panic!("unknown line `{other}`"),
        };
        say(&done.map_or_else(|error| error, |()| "ok".into()));
    }
}

/// Borrows slots, writes half a message into each, and keeps them.
fn loan(options: &Options, loans: u64) {
    let publisher = ShmPublisher::open(options).unwrap();
    let mut held: Vec<_> = (0..loans).map(|_| publisher.loan(64).unwrap()).collect();
    for loan in &mut held {
        loan[..32].fill(0xaa);
    }
    say("loaned");
    wait_forever();
}

/// Subscribes and forks; the child lives on when this process is killed.
fn orphan(options: &Options) {
    let _subscriber = ShmSubscriber::open(options).unwrap();
    // SAFETY: there is one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        end_in_a_minute();
    } else {
        say(&child.to_string());
    }
    wait_forever();
}

/// Uses handles in a forked child, where each must refuse and leave the parent's alone.
fn forked(options: &Options) {
    let publisher = ShmPublisher::open(options).unwrap();
    let subscriber = ShmSubscriber::open(options).unwrap();
    publisher.send(b"one").unwrap();
    let (sample, mut loan) = (subscriber.recv().unwrap(), publisher.loan(3).unwrap());
    // SAFETY: there is one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        assert_eq!(publisher.try_send(b"x"), Err(TrySendError::Forked));
        assert_eq!(publisher.send(b"x"), Err(SendError::Forked));
        assert_eq!(loan.send(), Err(SendError::Forked));
        assert_eq!(subscriber.try_recv().err(), Some(TryRecvError::Forked));
        assert_eq!(subscriber.recv().err(), Some(RecvError::Forked));
        assert!(!publisher.wait_for_subscribers(9, Duration::from_secs(9)));
        assert_eq!(&*sample, b"one");
        let own = ShmSubscriber::open(options).unwrap();
        assert_eq!(own.try_recv().err(), Some(TryRecvError::Empty));
        return;
    }
    let mut status = 0;
    // SAFETY: `status` lives through the call.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "the child found something wrong");
    assert_eq!(&*sample, b"one");
    loan.copy_from_slice(b"two");
    loan.send().unwrap();
    assert_eq!(&*subscriber.recv().unwrap(), b"two");
    assert_eq!(publisher.subscribers(), 1);
    say("ok");
}

/// Subscribes, goes where its files have no names, and goes on receiving.
fn elsewhere(options: &Options) {
    let subscriber = ShmSubscriber::open(options).unwrap();
    // SAFETY: the string is terminated.
    if unsafe { libc::chroot(c"/proc".as_ptr()) } != 0 {
        return say(&format!("refused {}", std::io::Error::last_os_error()));
    }
    say("ready");
    // Longer than a subscriber goes without a look at its files.
    assert_eq!(subscriber.recv_timeout(Duration::from_millis(1200)).err(), Some(RecvError::Timeout));
    say("waited");
    assert_eq!(&*subscriber.recv_timeout(Duration::from_secs(10)).unwrap(), b"x");
}
