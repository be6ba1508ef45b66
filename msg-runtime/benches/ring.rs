//! How fast the ring is, beside what it cannot beat, measured in the same run.
//!
//! `cargo bench -p msg-runtime --bench ring [-- throughput | wakeups]`. Two processes, each on a processor of its own: messages per second
//! against copying the same bytes within one process, and the time to wake a sleeping subscriber against waking a
//! process by a bare futex. Without `--bench` (as under `cargo test --benches`) it runs briefly.

#![allow(clippy::print_stdout, reason = "a benchmark reports on its output")]
#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

#[cfg(all(feature = "shm", target_os = "linux"))]
mod linux {
    use std::hint::black_box;
    use std::process::{Child, Command};
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};

    const SLOTS: usize = 64;
    /// What can be asked for alone.
    const NAMES: [&str; 2] = ["throughput", "wakeups"];

    /// How much is measured.
    struct Effort {
        runs: usize,
        messages: u64,
        wakeups: usize,
    }

    pub(crate) fn main() {
        let arguments: Vec<String> = std::env::args().collect();
        if let Some(peer) = arguments.iter().position(|argument| argument == "--peer") {
            return be_peer(&arguments[peer + 1..]);
        }
        let full = arguments.iter().any(|argument| argument == "--bench");
        let effort = if full {
            Effort { runs: 7, messages: 4_000_000, wakeups: 1000 }
        } else {
            Effort { runs: 1, messages: 20_000, wakeups: 20 }
        };
        pin(0);
        let wanted = |name: &str| !arguments.iter().any(|other| NAMES.contains(&&**other) && other != name);
        if wanted("throughput") {
            for bytes in [64, 1024] {
                report_throughput(&effort, bytes);
            }
        }
        if wanted("wakeups") {
            report_wakeups(&effort);
        }
    }

    fn be_peer(arguments: &[String]) {
        pin(1);
        let number = |at: usize| arguments[at].parse::<usize>().unwrap();
        match &*arguments[0] {
            "receive" => receive(&arguments[1], number(2), number(3) as u64),
            "sleep" => receive_late(&arguments[1], number(2)),
            "futex" => futex_peer(&arguments[1], number(2)),
            other => panic!("unknown peer `{other}`"),
        }
    }

    fn peer(arguments: &[&str]) -> Child {
        Command::new(std::env::current_exe().unwrap()).arg("--peer").args(arguments).spawn().unwrap()
    }

    fn pin(processor: usize) {
        // SAFETY: all zeros is an empty set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: two processors are within a set's size.
        unsafe { libc::CPU_SET(processor, &mut set) };
        // SAFETY: the set lives through the call. On a machine with one processor it fails, and nothing is pinned.
        unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    }

    fn monotonic() -> u64 {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `now` lives through the call.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    fn median(mut figures: Vec<f64>) -> f64 {
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    }

    fn channel(name: &str) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        format!("bench-{name}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
    }

    fn options(channel: &str, bytes: usize) -> Options {
        Options::new(channel, "bench").slots(SLOTS).slot_bytes(bytes).timeout(Duration::from_secs(20))
    }

    // ---- throughput

    fn report_throughput(effort: &Effort, bytes: usize) {
        let (mut ring, mut copied) = (Vec::new(), Vec::new());
        for _ in 0..effort.runs {
            ring.push(throughput(effort.messages, bytes));
            copied.push(copies(effort.messages, bytes));
        }
        let (ring, copied) = (median(ring), median(copied));
        println!(
            "{bytes:5} B  ring {:6.2} M msg/s ({:6.0} MB/s)   copying in and out {:6.2} M/s   ratio {:.2}",
            ring / 1e6,
            ring * bytes as f64 / 1e6,
            copied / 1e6,
            ring / copied
        );
    }

    /// Messages per second that another process receives and copies out.
    fn throughput(messages: u64, bytes: usize) -> f64 {
        let channel = channel("throughput");
        let publisher = ShmPublisher::open(&options(&channel, bytes)).unwrap();
        let mut child = peer(&["receive", &channel, &bytes.to_string(), &messages.to_string()]);
        assert!(publisher.wait_for_subscribers(1, Duration::from_secs(10)));
        let mut payload = vec![7; bytes];
        let started = Instant::now();
        for sequence in 0..messages {
            payload[..8].copy_from_slice(&sequence.to_ne_bytes());
            publisher.send(black_box(&payload)).unwrap();
        }
        assert!(child.wait().unwrap().success());
        messages as f64 / started.elapsed().as_secs_f64()
    }

    fn receive(channel: &str, bytes: usize, messages: u64) {
        let subscriber = ShmSubscriber::open(&options(channel, bytes)).unwrap();
        let mut copy = vec![0; bytes];
        for sequence in 0..messages {
            let sample = subscriber.recv().unwrap();
            copy.copy_from_slice(&sample);
            assert_eq!(black_box(&copy)[..8], sequence.to_ne_bytes());
        }
    }

    /// Copies per second of the same bytes into slots and out of them, within one process.
    fn copies(messages: u64, bytes: usize) -> f64 {
        let (payload, mut slots, mut copy) = (vec![7; bytes], vec![0; SLOTS * bytes], vec![0; bytes]);
        let started = Instant::now();
        for sequence in 0..messages as usize {
            let slot = &mut slots[sequence % SLOTS * bytes..][..bytes];
            slot.copy_from_slice(black_box(&payload));
            copy.copy_from_slice(black_box(slot));
            black_box(&mut copy);
        }
        messages as f64 / started.elapsed().as_secs_f64()
    }

    // ---- waking

    /// Between two messages: long enough that a subscriber sleeps, and not a divisor of anything.
    const PAUSE: Duration = Duration::from_micros(1130);

    fn report_wakeups(effort: &Effort) {
        let (mut ring, mut futex) = (Vec::new(), Vec::new());
        for _ in 0..effort.runs {
            ring.push(ring_wakeups(effort.wakeups));
            futex.push(futex_wakeups(effort.wakeups));
        }
        let at = |runs: &[(f64, f64)]| {
            (median(runs.iter().map(|run| run.0).collect()), median(runs.iter().map(|run| run.1).collect()))
        };
        let (ring, futex) = (at(&ring), at(&futex));
        println!(
            "waking a sleeper  ring p50 {:.2} us, p99 {:.2} us   futex p50 {:.2} us, p99 {:.2} us   ratio of p50 {:.2}",
            ring.0,
            ring.1,
            futex.0,
            futex.1,
            ring.0 / futex.0
        );
    }

    /// The 50th and 99th percentile, in microseconds, of times in nanoseconds.
    fn percentiles(times: &[AtomicU64]) -> (f64, f64) {
        let mut times: Vec<u64> = times.iter().map(|time| time.load(Ordering::Relaxed)).collect();
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)] as f64 / 1e3;
        (at(50), at(99))
    }

    /// Words in a file that two processes map.
    fn shared(path: &str, words: usize) -> &'static [AtomicU64] {
        let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.unwrap();
        file.set_len(words as u64 * 8).unwrap();
        let (fd, protection) = (std::os::fd::AsRawFd::as_raw_fd(&file), libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a new mapping of as many bytes as the file has.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), words * 8, protection, libc::MAP_SHARED, fd, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        // SAFETY: mapped for the rest of the process's life, aligned to a page; any bytes are atomics.
        unsafe { std::slice::from_raw_parts(base.cast(), words) }
    }

    fn path(channel: &str) -> String {
        format!("/dev/shm/{channel}")
    }

    fn ring_wakeups(n: usize) -> (f64, f64) {
        let channel = channel("wake");
        let times = shared(&path(&channel), n);
        let publisher = ShmPublisher::open(&options(&channel, 64)).unwrap();
        let mut child = peer(&["sleep", &channel, &n.to_string()]);
        assert!(publisher.wait_for_subscribers(1, Duration::from_secs(10)));
        for _ in 0..n {
            std::thread::sleep(PAUSE);
            publisher.send(&monotonic().to_ne_bytes()).unwrap();
        }
        assert!(child.wait().unwrap().success());
        std::fs::remove_file(path(&channel)).unwrap();
        percentiles(times)
    }

    fn receive_late(channel: &str, n: usize) {
        let times = shared(&path(channel), n);
        let subscriber = ShmSubscriber::open(&options(channel, 64)).unwrap();
        for time in times {
            let sample = subscriber.recv().unwrap();
            let sent = u64::from_ne_bytes(sample[..8].try_into().unwrap());
            time.store(monotonic() - sent, Ordering::Relaxed);
        }
    }

    /// The floor: the same with nothing but a word and a futex.
    fn futex_wakeups(n: usize) -> (f64, f64) {
        let channel = channel("futex");
        let words = shared(&path(&channel), n + 2);
        let mut child = peer(&["futex", &channel, &n.to_string()]);
        for round in 0..n as u64 {
            std::thread::sleep(PAUSE);
            // The peer has answered the last round, so that it sleeps or is about to.
            while words[1].load(Ordering::Acquire) != round + 1 {
                std::thread::sleep(PAUSE);
            }
            words[2 + round as usize].store(monotonic(), Ordering::Relaxed);
            words[0].store(round + 1, Ordering::Release);
            futex(&words[0], libc::FUTEX_WAKE, 1);
        }
        assert!(child.wait().unwrap().success());
        std::fs::remove_file(path(&channel)).unwrap();
        percentiles(&words[2..])
    }

    fn futex_peer(channel: &str, n: usize) {
        let words = shared(&path(channel), n + 2);
        for round in 0..n as u64 {
            words[1].store(round + 1, Ordering::Release);
            while words[0].load(Ordering::Acquire) == round {
                futex(&words[0], libc::FUTEX_WAIT, round as u32);
            }
            let time = &words[2 + round as usize];
            time.store(monotonic() - time.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    fn futex(word: &AtomicU64, operation: i32, value: u32) {
        let no_timeout = std::ptr::null::<libc::timespec>();
        // SAFETY: the word's low half is mapped and aligned; no timeout is given.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, no_timeout) };
    }
}

fn main() {
    #[cfg(all(feature = "shm", target_os = "linux"))]
    linux::main();
}
