//! Choices that are known to hurt.

use super::{
    report,
    schedule::{Policy, Schedule},
    system,
    worker::Waking,
};
use std::{fmt, time::Duration};

/// A choice that works and is known to hurt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A worker that spins under a real-time policy is stopped for a part of every period.
    SpinIsThrottled {
        /// What real-time threads get.
        runtime: Duration,
        /// Of how much.
        period: Duration,
    },
    /// A worker that spins under a real-time policy takes its processor from everything else.
    SpinTakesProcessor,
    /// The worker can only run on the one processor of the calling thread, and goes before it.
    WorkerBeforePusher {
        /// The processor.
        cpu: usize,
    },
    /// The worker spins on the one processor of the calling thread, so each waits for the other's time slice.
    SpinBesidePusher {
        /// The processor.
        cpu: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SpinIsThrottled { runtime, period } => write!(
                f,
                "the worker spins under a real-time policy, of which the kernel gives {runtime:?} of every {period:?}: \
                 it stands still for the rest; use the policy other, or another waking"
            ),
            Self::SpinTakesProcessor => f.write_str(
                "the worker spins under a real-time policy and nothing limits it: other threads never run on its \
                 processor, the kernel's own among them; use the policy other, or another waking",
            ),
            Self::WorkerBeforePusher { cpu } => write!(
                f,
                "the worker can only run on processor {cpu}, as this thread, and has the higher priority: each message \
                 it publishes holds this thread up; give it a lower priority or another processor"
            ),
            Self::SpinBesidePusher { cpu } => write!(
                f,
                "the worker spins on processor {cpu}, the only one of this thread: it takes half of it; use another \
                 waking or another processor"
            ),
        }
    }
}

/// What is known to hurt when the calling thread pushes and a worker publishes like this.
pub(super) fn warnings(schedule: &Schedule, waking: Waking) -> Vec<Warning> {
    let own_cpus = system::current_cpus().unwrap_or_default();
    let own_policy = system::current_policy().ok().flatten().unwrap_or_default();
    let (policy, cpus) = schedule.policy_and_cpus();
    let shared_cpu = match (own_cpus.as_slice(), cpus.unwrap_or(&own_cpus)) {
        ([own], [workers]) if own == workers => Some(*own),
        _ => None,
    };
    judge(policy, waking, own_policy, shared_cpu, report::throttling())
}

fn judge(
    policy: Policy,
    waking: Waking,
    pusher: Policy,
    shared_cpu: Option<usize>,
    throttling: Option<(Duration, Duration)>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let spins = waking == Waking::Spin;
    if spins && policy.rank() > 0 {
        warnings.push(match throttling {
            Some((runtime, period)) => Warning::SpinIsThrottled { runtime, period },
            None => Warning::SpinTakesProcessor,
        });
    }
    if let Some(cpu) = shared_cpu {
        if policy.rank() > pusher.rank() {
            warnings.push(Warning::WorkerBeforePusher { cpu });
        } else if spins && policy.rank() == pusher.rank() {
            warnings.push(Warning::SpinBesidePusher { cpu });
        }
    }
    warnings
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_hurts_is_named_and_what_does_not_is_not() {
        let deadline = Waking::default();
        let (runtime, period) = (Duration::from_millis(950), Duration::from_secs(1));
        let throttled = Some((runtime, period));
        let check = |policy, waking, pusher, cpu, throttling, expected: &[Warning]| {
            assert_eq!(judge(policy, waking, pusher, cpu, throttling), expected);
        };
        check(Policy::Other, deadline, Policy::Fifo(80), None, throttled, &[]);
        check(Policy::Other, Waking::Spin, Policy::Fifo(80), None, throttled, &[]);
        check(Policy::Fifo(9), deadline, Policy::Fifo(80), Some(1), throttled, &[]);
        let hurts = [Warning::SpinIsThrottled { runtime, period }];
        check(Policy::Fifo(9), Waking::Spin, Policy::Fifo(80), None, throttled, &hurts);
        check(
            Policy::RoundRobin(9),
            Waking::Spin,
            Policy::Fifo(80),
            None,
            None,
            &[Warning::SpinTakesProcessor],
        );
        let hurts = [Warning::WorkerBeforePusher { cpu: 1 }];
        check(Policy::Fifo(90), deadline, Policy::Fifo(80), Some(1), throttled, &hurts);
        check(Policy::Fifo(90), deadline, Policy::Fifo(80), None, throttled, &[]);
        let hurts = [Warning::SpinBesidePusher { cpu: 0 }];
        check(Policy::Other, Waking::Spin, Policy::Other, Some(0), throttled, &hurts);
    }

    #[test]
    fn the_calling_thread_is_the_one_compared_with() {
        let cpu = system::current_cpus().unwrap()[0];
        let warnings = std::thread::spawn(move || {
            system::set_cpus(&[cpu]).unwrap();
            warnings(&Schedule::new(), Waking::Spin)
        });
        assert_eq!(warnings.join().unwrap(), [Warning::SpinBesidePusher { cpu }]);
    }
}
