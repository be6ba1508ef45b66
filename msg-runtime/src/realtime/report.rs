//! What the system lets a real-time thread do, in one place to look at.

use super::system;
use std::{fmt, time::Duration};

/// What this system gives real-time threads, as far as it can be read; print it at the start of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The kernel's release.
    pub kernel: String,
    /// Whether the kernel is fully preemptible (`PREEMPT_RT`).
    pub fully_preemptible: bool,
    /// How much of each period real-time threads may take, as runtime and period; `None` when they may take all.
    pub throttling: Option<(Duration, Duration)>,
    /// Whether this thread may set any policy and priority (CAP_SYS_NICE).
    pub may_set_any_priority: bool,
    /// The highest real-time priority without that (RLIMIT_RTPRIO).
    pub priority_limit: u64,
    /// Whether this thread may lock any amount of memory (CAP_IPC_LOCK).
    pub may_lock_any_memory: bool,
    /// Bytes that may be locked without that (RLIMIT_MEMLOCK); `None` is no limit.
    pub memory_limit: Option<u64>,
    /// How much later than asked a sleep of this thread may end.
    pub timer_slack: Duration,
    /// The processors on which this thread may run.
    pub cpus: Vec<usize>,
    /// The processors that the scheduler leaves alone (`isolcpus=`), as the kernel writes them.
    pub isolated_cpus: String,
    /// What decides the clock of the first processor; other than `performance`, the first steps after a pause are slow.
    pub frequency_governor: Option<String>,
}

/// Reads what this system gives real-time threads.
///
/// # Examples
///
/// ```
/// println!("{}", msg_runtime::realtime::report());
/// ```
pub fn report() -> Report {
    Report {
        kernel: system::read("/proc/sys/kernel/osrelease").unwrap_or_default(),
        fully_preemptible: system::read("/sys/kernel/realtime").as_deref() == Some("1")
            || system::read("/proc/sys/kernel/version").is_some_and(|version| version.contains("PREEMPT_RT")),
        throttling: throttling(),
        may_set_any_priority: system::has_capability(system::CAP_SYS_NICE),
        priority_limit: system::priority_limit().unwrap_or(0),
        may_lock_any_memory: system::has_capability(system::CAP_IPC_LOCK),
        memory_limit: system::memory_limit().ok().filter(|limit| *limit != u64::MAX),
        timer_slack: system::timer_slack().unwrap_or_default(),
        cpus: system::current_cpus().unwrap_or_default(),
        isolated_cpus: system::read("/sys/devices/system/cpu/isolated").unwrap_or_default(),
        frequency_governor: system::read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }
}

/// How much of each period real-time threads may take; `None` when they may take all.
pub(super) fn throttling() -> Option<(Duration, Duration)> {
    let read = |name| system::read(&format!("/proc/sys/kernel/{name}"))?.parse::<i64>().ok();
    let runtime = u64::try_from(read("sched_rt_runtime_us")?).ok()?;
    let period = u64::try_from(read("sched_rt_period_us")?).ok()?;
    (runtime < period).then(|| (Duration::from_micros(runtime), Duration::from_micros(period)))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let preemption = if self.fully_preemptible { "fully preemptible" } else { "not fully preemptible" };
        writeln!(f, "kernel          {}, {preemption}", self.kernel)?;
        match self.throttling {
            Some((runtime, period)) => {
                writeln!(f, "throttling      real-time threads get at most {runtime:?} of every {period:?}")?;
            }
            None => writeln!(
                f,
                "throttling      off: a real-time thread that spins takes its processor for good"
            )?,
        }
        match (self.may_set_any_priority, self.priority_limit) {
            (true, _) => writeln!(f, "priorities      any (CAP_SYS_NICE)")?,
            (false, 0) => writeln!(f, "priorities      none: no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0")?,
            (false, limit) => writeln!(f, "priorities      1 to {limit} (RLIMIT_RTPRIO)")?,
        }
        match (self.may_lock_any_memory, self.memory_limit) {
            (true, _) => writeln!(f, "locked memory   any (CAP_IPC_LOCK)")?,
            (false, None) => writeln!(f, "locked memory   any (RLIMIT_MEMLOCK)")?,
            (false, Some(limit)) => writeln!(f, "locked memory   {limit} bytes (RLIMIT_MEMLOCK)")?,
        }
        writeln!(f, "timer slack     {:?}", self.timer_slack)?;
        let isolated = if self.isolated_cpus.is_empty() { "none" } else { &self.isolated_cpus };
        writeln!(f, "processors      {:?}, isolated: {isolated}", self.cpus)?;
        write!(
            f,
            "clock           {}",
            self.frequency_governor.as_deref().unwrap_or("not scaled by the kernel")
        )
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_report_says_what_is_there() {
        let report = report();
        assert_eq!(report.kernel, system::read("/proc/sys/kernel/osrelease").unwrap());
        assert!(!report.cpus.is_empty() && report.timer_slack > Duration::ZERO, "{report:?}");
        let text = report.to_string();
        assert_eq!(text.lines().count(), 7, "{text}");
        assert!(text.contains(&report.kernel), "{text}");
    }
}
