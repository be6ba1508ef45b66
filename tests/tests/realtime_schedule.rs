//! The worker's thread runs as it was asked to when `start` returns, or the error says what was refused and how to allow it.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
#![allow(clippy::print_stdout, reason = "what is not run is listed")]
#![cfg(target_os = "linux")]

use msg_runtime::{
    Message, Publisher,
    realtime::{Policy, RealtimePublisher, Schedule, report},
};
use msg_tests::shm::Leftovers;
use std::{
    env, fs, hint, mem,
    process::{self, Command, Stdio},
    sync::{
        Barrier,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

#[derive(Message, Clone, Copy)]
#[message(namespace = "realtime_schedule", plain)]
#[repr(C)]
struct Beat {
    number: u64,
}

fn started(schedule: Schedule) -> RealtimePublisher<Beat> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let endpoint = format!("shm;realtime-schedule-{}-{}", process::id(), NEXT.fetch_add(1, Relaxed));
    let publisher = Publisher::<Beat>::open(&endpoint).unwrap();
    let mut realtime = publisher.realtime().schedule(schedule).build().unwrap();
    realtime.start().unwrap();
    realtime
}

/// What `/proc` says of the thread with this name: its folder, and the fields of `stat` from the third on.
fn find_thread(name: &str) -> (String, Vec<String>) {
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let folder = task.unwrap().path().to_str().unwrap().to_owned();
        // Others come and go meanwhile.
        let Ok(stat) = fs::read_to_string(format!("{folder}/stat")) else { continue };
        let (before, after) = stat.rsplit_once(')').unwrap();
        if before.split_once('(').unwrap().1 == name {
            return (folder, after.split_whitespace().map(str::to_owned).collect());
        }
    }
    panic!("no thread is called `{name}`");
}

/// Policy (`SCHED_*`) and real-time priority, fields 41 and 40.
fn policy(name: &str) -> (u32, u32) {
    let (_, fields) = find_thread(name);
    (fields[41 - 3].parse().unwrap(), fields[40 - 3].parse().unwrap())
}

/// True if real-time threads may be started here. Where they may not, a test of them is not run: it says so, and fails
/// under CI.
fn realtime_is_allowed() -> bool {
    let report = report();
    let allowed = report.may_set_any_priority;
    if !allowed {
        let reason =
            format!("not run: needs CAP_SYS_NICE (run as root, or `setcap cap_sys_nice+ep`)\n{report}");
        assert!(env::var_os("CI").is_none(), "{reason}");
        println!("{reason}");
    }
    allowed
}

#[test]
fn the_worker_has_its_name_processors_and_slack_when_start_returns() {
    let cpu = *report().cpus.last().unwrap();
    let schedule = Schedule::new().name("rt-names").cpus([cpu]).timer_slack(Duration::from_nanos(4321));
    let _realtime = started(schedule.prefault_stack(64 << 10));
    let (folder, fields) = find_thread("rt-names");
    let status = fs::read_to_string(format!("{folder}/status")).unwrap();
    let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    assert_eq!((cpus.trim(), fields[41 - 3].as_str()), (cpu.to_string().as_str(), "0"));
    // The slack is under the process's list of threads, not under the process.
    let id = folder.rsplit('/').next().unwrap();
    assert_eq!(fs::read_to_string(format!("/proc/{id}/timerslack_ns")).unwrap().trim(), "4321");
}

#[test]
fn the_worker_is_called_msg_realtime_unless_it_is_given_a_name() {
    let _realtime = started(Schedule::new());
    find_thread("msg-realtime");
}

#[test]
fn the_worker_has_its_policy_and_priority_when_start_returns() {
    if !realtime_is_allowed() {
        return;
    }
    let _fifo = started(Schedule::new().name("rt-fifo").policy(Policy::Fifo(12)));
    assert_eq!(policy("rt-fifo"), (libc::SCHED_FIFO as u32, 12));
    let _round_robin = started(Schedule::new().name("rt-robin").policy(Policy::RoundRobin(7)));
    assert_eq!(policy("rt-robin"), (libc::SCHED_RR as u32, 7));
    let (runtime, deadline) = (Duration::from_micros(200), Duration::from_millis(2));
    let schedule = Schedule::new().policy(Policy::Deadline { runtime, deadline, period: deadline });
    let _deadline = started(schedule.name("rt-deadline"));
    assert_eq!(policy("rt-deadline"), (libc::SCHED_DEADLINE as u32, 0));
}

#[test]
fn a_worker_started_by_a_real_time_thread_is_an_ordinary_one_unless_asked() {
    if !realtime_is_allowed() {
        return;
    }
    thread::spawn(|| {
        Schedule::new().policy(Policy::Fifo(5)).name("rt-starter").apply().unwrap();
        assert_eq!(policy("rt-starter"), (libc::SCHED_FIFO as u32, 5));
        let _realtime = started(Schedule::new().name("rt-ordinary"));
        assert_eq!(policy("rt-ordinary"), (libc::SCHED_OTHER as u32, 0));
        let (_, fields) = find_thread("rt-ordinary");
        assert_eq!(fields[19 - 3], "0", "niceness");
    })
    .join()
    .unwrap();
}

#[test]
fn a_refused_deadline_says_what_the_kernel_can_keep() {
    if !realtime_is_allowed() {
        return;
    }
    let refusal = |policy| Schedule::new().policy(policy).apply().err().map(|error| error.to_string());
    let all = Duration::from_millis(10);
    let senseless = Policy::Deadline { runtime: all * 2, deadline: all, period: all };
    let text = thread::spawn(move || refusal(senseless)).join().unwrap().unwrap();
    assert!(text.contains("runtime <= deadline <= period"), "{text}");

    // Nine tenths of a processor for one thread more than there are processors; each holds what it got until the end.
    if report().throttling.is_none() {
        return;
    }
    let threads = report().cpus.len() + 1;
    let end = Barrier::new(threads);
    let policy = Policy::Deadline { runtime: all * 9, deadline: all * 10, period: all * 10 };
    let hold = || {
        let refusal = refusal(policy);
        end.wait();
        refusal
    };
    let refusals: Vec<_> = thread::scope(|scope| {
        let held: Vec<_> = (0..threads).map(|_| scope.spawn(hold)).collect();
        held.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(
        !refusals.is_empty() && refusals.iter().all(|text| text.contains("sched_rt_runtime_us")),
        "{refusals:?}"
    );
}

/// Page faults of going 256 KiB deep into the stack of a new thread.
fn faults_of_a_deep_call(schedule: Schedule) -> i64 {
    #[inline(never)]
    fn go_deep(pages: usize) {
        let page = hint::black_box([1_u8; 4096]);
        if pages > 1 {
            go_deep(pages - 1);
        }
        hint::black_box(&page);
    }
    fn faults() -> i64 {
        // SAFETY: zeros are a valid `rusage`.
        let mut usage: libc::rusage = unsafe { mem::zeroed() };
        // SAFETY: the kernel fills in the struct it is given.
        assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) }, 0);
        usage.ru_minflt
    }
    thread::spawn(move || {
        schedule.apply().unwrap();
        let before = faults();
        go_deep(64);
        faults() - before
    })
    .join()
    .unwrap()
}

#[test]
fn a_stack_that_was_touched_has_no_faults_later() {
    let without = faults_of_a_deep_call(Schedule::new());
    let with = faults_of_a_deep_call(Schedule::new().prefault_stack(512 << 10));
    assert!(with == 0 && without > 0, "{with} faults with, {without} without");
}

#[test]
fn a_start_without_rights_says_how_to_get_them_and_keeps_what_was_pushed() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_realtime_rights"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _leftovers = Leftovers(format!("realtime-rights-{}", child.id()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let check = |line: &str, parts: &[&str]| {
        for part in parts {
            assert!(line.contains(part), "{line:?} lacks {part:?}");
        }
    };
    check(
        lines[0],
        &["PermissionDenied, 1 left", "fifo with priority 20", "up to 0 (RLIMIT_RTPRIO)", "ulimit -r 20"],
    );
    check(lines[0], &["rtprio 20", "LimitRTPRIO=20", "CAP_SYS_NICE", "--cap-add=SYS_NICE"]);
    check(lines[1], &["PermissionDenied, 1 left", "round-robin with priority 30", "ulimit -r 30"]);
    check(lines[2], &["PermissionDenied, 1 left", "deadline with 100µs of every 1ms", "CAP_SYS_NICE"]);
    check(
        lines[3],
        &["locking the process's memory was refused", "may lock 0 bytes (RLIMIT_MEMLOCK)", "ulimit -l"],
    );
    check(
        &text,
        &["priorities      none: no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0", "locked memory   0 bytes"],
    );
}
