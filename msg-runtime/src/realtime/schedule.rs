//! How a thread is scheduled: policy, priority, processors, name, timer slack, stack.

use super::system;
use crate::error::{Error, ErrorKind};
use std::{fmt, hint, io, time::Duration};

/// Which thread the kernel runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// The usual time sharing, below every real-time thread.
    #[default]
    Other,
    /// Runs until it sleeps; priority 1 to 99, higher runs first.
    Fifo(u8),
    /// As [`Fifo`](Policy::Fifo), and takes turns with others of its priority.
    RoundRobin(u8),
    /// Gets `runtime` before `deadline` in each `period`, ahead of every priority; the kernel refuses what it could not
    /// keep.
    Deadline {
        /// The longest time of computing in one period.
        runtime: Duration,
        /// When it must be done, from the period's start.
        deadline: Duration,
        /// From one start to the next.
        period: Duration,
    },
}

impl Policy {
    /// Its place among the others: [`Other`](Policy::Other) lowest, [`Deadline`](Policy::Deadline) highest.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::Other => 0,
            Self::Fifo(priority) | Self::RoundRobin(priority) => priority,
            Self::Deadline { .. } => 100,
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => f.write_str("other"),
            Self::Fifo(priority) => write!(f, "fifo with priority {priority}"),
            Self::RoundRobin(priority) => write!(f, "round-robin with priority {priority}"),
            Self::Deadline { runtime, deadline, period } => {
                write!(f, "deadline with {runtime:?} of every {period:?} within {deadline:?}")
            }
        }
    }
}

/// How a thread is scheduled; what is not named is as usual: policy [`Other`](Policy::Other) and the starter's
/// processors, name and timer slack.
///
/// # Examples
///
/// ```
/// use msg_runtime::realtime::{Policy, Schedule};
/// use std::time::Duration;
///
/// let schedule = Schedule::new().name("imu-out").cpus([0]).timer_slack(Duration::from_micros(1));
/// schedule.apply()?; // to this thread; says what the system refused and how to allow it
///
/// let control = Schedule::new().policy(Policy::Fifo(80)).prefault_stack(256 * 1024);
/// if let Err(error) = control.apply() {
///     assert!(error.to_string().contains("fifo with priority 80"), "{error}");
/// }
/// # Ok::<(), msg_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    policy: Policy,
    cpus: Option<Vec<usize>>,
    name: Option<String>,
    timer_slack: Option<Duration>,
    stack_bytes: usize,
}

const MAX_NAME_BYTES: usize = 15;
/// A thread's stack is 2 MiB here unless its starter says otherwise, and the main thread's usually 8 MiB.
const MAX_STACK_BYTES: usize = 1 << 20;

impl Schedule {
    /// The usual.
    pub fn new() -> Self {
        Self::default()
    }

    /// The policy, with its priority or its times.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The processors on which the thread may run, by number.
    pub fn cpus(mut self, cpus: impl IntoIterator<Item = usize>) -> Self {
        self.cpus = Some(cpus.into_iter().collect());
        self
    }

    /// The thread's name as `top -H` and `ps -L` show it, 1 to 15 bytes.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How much later than asked the kernel may end a sleep, to save wake-ups: 50 us as a rule, 1 ns at least. It is
    /// without effect under a real-time policy, whose sleeps end on time.
    pub fn timer_slack(mut self, slack: Duration) -> Self {
        self.timer_slack = Some(slack);
        self
    }

    /// Touches this much of the thread's stack, at most 1 MiB, so that its pages are there before they are needed.
    pub fn prefault_stack(mut self, bytes: usize) -> Self {
        self.stack_bytes = bytes;
        self
    }

    /// Applies it to the calling thread: also for the thread that pushes.
    ///
    /// # Errors
    ///
    /// What the system refused, and how to allow it. What was applied before that stays applied.
    pub fn apply(&self) -> Result<(), Error> {
        self.check()?;
        if let Some(name) = &self.name {
            system::set_name(name)
                .map_err(|error| refused(format!("name `{name}`"), "see the source", error))?;
        }
        if let Some(cpus) = &self.cpus {
            system::set_cpus(cpus).map_err(|error| cpus_refused(cpus, error))?;
        }
        if let Some(slack) = self.timer_slack {
            system::set_timer_slack(slack)
                .map_err(|error| refused(format!("timer slack {slack:?}"), "see the source", error))?;
        }
        prefault(self.stack_bytes);
        // Last, so that the steps before it are not done at the expense of others.
        system::set_policy(self.policy).map_err(|error| policy_refused(self.policy, error))
    }

    pub(super) fn policy_and_cpus(&self) -> (Policy, Option<&[usize]>) {
        (self.policy, self.cpus.as_deref())
    }

    /// What can be said without asking the system.
    fn check(&self) -> Result<(), Error> {
        let wrong = |text| Err(Error::new(ErrorKind::Unsupported, text));
        if let Policy::Fifo(priority) | Policy::RoundRobin(priority) = self.policy
            && !(1..=99).contains(&priority)
        {
            return wrong(format!("real-time priority {priority}, expected 1 to 99"));
        }
        if let Some(name) = &self.name
            && (!(1..=MAX_NAME_BYTES).contains(&name.len()) || name.contains('\0'))
        {
            let len = name.len();
            return wrong(format!(
                "thread name `{}` of {len} bytes, expected 1 to {MAX_NAME_BYTES}, none of them zero",
                name.escape_default()
            ));
        }
        if self.cpus.as_ref().is_some_and(Vec::is_empty) {
            return wrong(
                "an empty set of processors, expected at least one; leave `cpus` out to allow all".into(),
            );
        }
        if self.stack_bytes > MAX_STACK_BYTES {
            return wrong(format!(
                "{} bytes of stack to touch, expected at most {MAX_STACK_BYTES}",
                self.stack_bytes
            ));
        }
        Ok(())
    }
}

/// Keeps every page of the process in memory from now on, those it has and those it will get, so that no access waits
/// for a page to be read back. Call it once, before the threads are started.
///
/// # Errors
///
/// The limit that is in the way, and how to raise it.
pub fn lock_memory() -> Result<(), Error> {
    system::lock_memory().map_err(|error| {
        let limit = system::memory_limit().unwrap_or(0);
        let advice = format!(
            "this process may lock {limit} bytes (RLIMIT_MEMLOCK): raise it with `ulimit -l unlimited`, `memlock` in \
             /etc/security/limits.conf or `LimitMEMLOCK=infinity` in a systemd unit, or grant CAP_IPC_LOCK"
        );
        refused("locking the process's memory".into(), &advice, error)
    })
}

const PAGE_BYTES: usize = 4096;

fn prefault(bytes: usize) {
    #[inline(never)]
    fn touch(pages: usize) {
        let page = hint::black_box([0_u8; PAGE_BYTES]);
        if pages > 1 {
            touch(pages - 1);
        }
        // After the call, so that it is no tail call and the pages lie one below the other.
        hint::black_box(&page);
    }
    if bytes > 0 {
        touch(bytes.div_ceil(PAGE_BYTES));
    }
}

fn refused(what: String, advice: &str, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => ErrorKind::Unsupported,
        _ => ErrorKind::Io,
    };
    Error::new(kind, format!("{what} was refused: {advice}")).with_source(error)
}

fn cpus_refused(cpus: &[usize], error: io::Error) -> Error {
    let allowed = system::current_cpus().unwrap_or_default();
    let advice = format!(
        "expected some of {allowed:?}, on which this thread may run now; more may be allowed by the cpuset of the \
         container or the systemd unit (`AllowedCPUs=`), and a deadline thread must keep them all"
    );
    refused(format!("the set of processors {cpus:?}"), &advice, error)
}

fn policy_refused(policy: Policy, error: io::Error) -> Error {
    let what = format!("the scheduling policy {policy}");
    let allowed = system::has_capability(system::CAP_SYS_NICE);
    let advice = match (policy, error.kind()) {
        (Policy::Fifo(priority) | Policy::RoundRobin(priority), io::ErrorKind::PermissionDenied) if !allowed => {
            let limit = system::priority_limit().unwrap_or(0);
            format!(
                "this process may use priorities up to {limit} (RLIMIT_RTPRIO): raise it with `ulimit -r {priority}`, \
                 `rtprio {priority}` in /etc/security/limits.conf or `LimitRTPRIO={priority}` in a systemd unit, or \
                 grant CAP_SYS_NICE (`setcap cap_sys_nice+ep`, `--cap-add=SYS_NICE` for a container)"
            )
        }
        (Policy::Deadline { .. }, io::ErrorKind::PermissionDenied) if !allowed => {
            "deadline threads need CAP_SYS_NICE: `setcap cap_sys_nice+ep`, or `--cap-add=SYS_NICE` for a container"
                .to_owned()
        }
        (Policy::Deadline { .. }, io::ErrorKind::PermissionDenied) => {
            "deadline threads may not be kept on some of the processors: leave `cpus` out, or give the processor a \
             cpuset of its own"
                .to_owned()
        }
        (_, io::ErrorKind::PermissionDenied) => {
            "the control group has no real-time budget: give it one (`cpu.rt_runtime_us`), or move the process to \
             the root group"
                .to_owned()
        }
        (Policy::Deadline { .. }, io::ErrorKind::ResourceBusy) => format!(
            "the kernel could not keep it beside what it has promised already: all real-time threads together may \
             take /proc/sys/kernel/sched_rt_runtime_us, now {} us of a second; ask for less runtime or a longer period",
            system::read("/proc/sys/kernel/sched_rt_runtime_us").unwrap_or_default()
        ),
        (Policy::Deadline { .. }, _) => {
            "expected at least 1024 ns of runtime, runtime <= deadline <= period, and a period of 100 us to 4 s"
                .to_owned()
        }
        _ => "see the source".to_owned(),
    };
    refused(what, &advice, error)
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
mod tests {
    use super::*;
    use std::{error::Error as _, thread};

    /// On a thread of its own, since what is applied stays.
    fn apply(schedule: Schedule) -> Result<(), Error> {
        thread::spawn(move || schedule.apply()).join().unwrap()
    }

    #[test]
    fn what_makes_no_sense_is_said_without_asking_the_system() {
        let check = |schedule: Schedule, expected: &str| {
            let error = apply(schedule).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(error.source().is_none());
        };
        check(Schedule::new().policy(Policy::Fifo(0)), "priority 0, expected 1 to 99");
        check(Schedule::new().policy(Policy::RoundRobin(100)), "priority 100, expected 1 to 99");
        check(Schedule::new().name("a-name-of-20-letters"), "of 20 bytes, expected 1 to 15");
        check(Schedule::new().name("a\0b"), "`a\\u{0}b`");
        check(Schedule::new().cpus([]), "an empty set of processors");
        check(Schedule::new().prefault_stack(2 << 20), "2097152 bytes of stack");
    }

    #[test]
    fn what_the_system_refuses_is_named_with_what_it_allows() {
        let error = apply(Schedule::new().cpus([1023])).unwrap_err();
        assert!(
            error.to_string().starts_with("the set of processors [1023] was refused: expected some of ["),
            "{error}"
        );
        assert!(error.source().is_some());
    }

    #[test]
    fn what_is_applied_can_be_read_back() {
        let cpu = system::current_cpus().unwrap()[0];
        thread::spawn(move || {
            let slack = Duration::from_nanos(1234);
            Schedule::new()
                .name("read-back")
                .cpus([cpu])
                .timer_slack(slack)
                .prefault_stack(100_000)
                .apply()
                .unwrap();
            assert_eq!(system::current_cpus().unwrap(), [cpu]);
            assert_eq!(system::timer_slack().unwrap(), slack);
            assert_eq!(system::read("/proc/thread-self/comm").unwrap(), "read-back");
            assert_eq!(system::current_policy().unwrap(), Some(Policy::Other));
        })
        .join()
        .unwrap();
    }
}
