//! The system calls of scheduling and memory, through safe wrappers; every one is about the calling thread or process.

use super::schedule::Policy;
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    sys::{
        mman::{MlockAllFlags, mlockall},
        prctl,
        resource::{Resource, getrlimit},
    },
    unistd::Pid,
};
use std::{ffi::CString, fs, io, time::Duration};
use thread_priority::{
    DeadlineFlags, NormalThreadSchedulePolicy as Normal, RealtimeThreadSchedulePolicy as Realtime, ThreadId,
    ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id, thread_schedule_policy_param,
};

/// To `sched_setattr` number 0 is the calling thread.
const THIS_THREAD: ThreadId = 0;

pub(super) fn set_policy(policy: Policy) -> io::Result<()> {
    let fixed = |policy, priority| {
        let priority = ThreadPriorityValue::try_from(priority).map_err(|_| io::ErrorKind::InvalidInput)?;
        let priority = ThreadPriority::Crossplatform(priority);
        set_thread_priority_and_policy(thread_native_id(), priority, ThreadSchedulePolicy::Realtime(policy))
            .map_err(system_error)
    };
    match policy {
        Policy::Other => leave_realtime(),
        Policy::Fifo(priority) => fixed(Realtime::Fifo, priority),
        Policy::RoundRobin(priority) => fixed(Realtime::RoundRobin, priority),
        Policy::Deadline { runtime, deadline, period } => {
            let priority =
                ThreadPriority::Deadline { runtime, deadline, period, flags: DeadlineFlags::RESET_ON_FORK };
            set_thread_priority_and_policy(
                THIS_THREAD,
                priority,
                ThreadSchedulePolicy::Realtime(Realtime::Deadline),
            )
            .map_err(system_error)
        }
    }
}

/// A thread inherits the policy of the one that starts it, so a worker that a real-time thread starts has to leave it.
fn leave_realtime() -> io::Result<()> {
    if current_policy()? == Some(Policy::Other) {
        return Ok(());
    }
    // The middle of the wrapper's scale, which is niceness 0.
    const NICE_0: u8 = 47;
    let priority = ThreadPriorityValue::try_from(NICE_0).map_err(|_| io::ErrorKind::InvalidInput)?;
    set_thread_priority_and_policy(
        thread_native_id(),
        ThreadPriority::Crossplatform(priority),
        ThreadSchedulePolicy::Normal(Normal::Other),
    )
    .map_err(system_error)
}

/// The policy of the calling thread; the times of a deadline cannot be read and are zero. `None` for a policy that has
/// no name here (batch, idle).
pub(super) fn current_policy() -> io::Result<Option<Policy>> {
    let (policy, parameters) = thread_schedule_policy_param(thread_native_id()).map_err(system_error)?;
    let priority = u8::try_from(parameters.sched_priority).unwrap_or(u8::MAX);
    Ok(match policy {
        ThreadSchedulePolicy::Normal(Normal::Other) => Some(Policy::Other),
        ThreadSchedulePolicy::Normal(_) => None,
        ThreadSchedulePolicy::Realtime(Realtime::Fifo) => Some(Policy::Fifo(priority)),
        ThreadSchedulePolicy::Realtime(Realtime::RoundRobin) => Some(Policy::RoundRobin(priority)),
        ThreadSchedulePolicy::Realtime(Realtime::Deadline) => Some(Policy::Deadline {
            runtime: Duration::ZERO,
            deadline: Duration::ZERO,
            period: Duration::ZERO,
        }),
    })
}

fn system_error(error: thread_priority::Error) -> io::Error {
    match error {
        // The wrapper hands out the call's result and leaves the reason where the call put it.
        thread_priority::Error::OS(-1) => io::Error::last_os_error(),
        thread_priority::Error::OS(code) => io::Error::from_raw_os_error(code),
        other => io::Error::new(io::ErrorKind::InvalidInput, other),
    }
}

pub(super) fn set_cpus(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu)?;
    }
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

/// The processors on which the calling thread may run.
pub(super) fn current_cpus() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect())
}

pub(super) fn set_timer_slack(slack: Duration) -> io::Result<()> {
    // Zero would mean "back to the default".
    let nanoseconds = slack.as_nanos().clamp(1, 1_000_000_000) as u32;
    Ok(prctl::set_timerslack(nanoseconds.into())?)
}

pub(super) fn timer_slack() -> io::Result<Duration> {
    Ok(Duration::from_nanos(prctl::get_timerslack()?.try_into().unwrap_or_default()))
}

pub(super) fn set_name(name: &str) -> io::Result<()> {
    Ok(prctl::set_name(&CString::new(name)?)?)
}

/// Keeps every page of the process in memory, those of now and those to come.
pub(super) fn lock_memory() -> io::Result<()> {
    Ok(mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE)?)
}

/// The highest real-time priority that the process may use without a capability.
pub(super) fn priority_limit() -> io::Result<u64> {
    Ok(getrlimit(Resource::RLIMIT_RTPRIO)?.0)
}

/// Bytes that the process may lock without a capability; [`u64::MAX`] is no limit.
pub(super) fn memory_limit() -> io::Result<u64> {
    Ok(getrlimit(Resource::RLIMIT_MEMLOCK)?.0)
}

/// The capability to set policies and priorities at will.
pub(super) const CAP_SYS_NICE: u32 = 23;
/// The capability to lock any amount of memory.
pub(super) const CAP_IPC_LOCK: u32 = 14;

/// True if the calling thread has the capability in effect.
pub(super) fn has_capability(number: u32) -> bool {
    let status = read("/proc/thread-self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    (bits >> number) & 1 == 1
}

/// A file of `/proc` or `/sys`, trimmed; `None` where the kernel does not have it.
pub(super) fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}
