//! Sleeping until another process has done something, and waking those who sleep.
//!
//! An [`EventCount`] is one word in shared memory: bit 0 says that somebody sleeps, the rest counts events.
//!
//! ```text
//! sleeper   announce: set bit 0, remember the word · fence · look again · sleep while the word is the remembered one
//! waker     do what they wait for · fence · if bit 0 is set: count up and clear it in one exchange, then wake all
//! ```
//!
//! Remembering the word after looking again, or clearing the bit after waking, would lose wake-ups. A waker that is
//! killed between the exchange and the system call costs the sleepers at most the longest sleep.

use std::time::{Duration, Instant};

use super::file;
use super::sync::{AtomicU32, Ordering, fence};

/// Nobody sleeps longer without looking around.
pub(super) const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// Whether this much time has passed since some nanoseconds by the monotonic clock.
#[inline]
pub(super) fn has_passed(since: u64, time: Duration) -> bool {
    u128::from(file::monotonic().saturating_sub(since)) >= time.as_nanos()
}

/// When to stop waiting; never, if the time is further off than clocks go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    pub(super) const NEVER: Self = Self(None);

    pub(super) fn after(time: Duration) -> Self {
        Self(Instant::now().checked_add(time))
    }

    /// What is left, up to the longest sleep. `None`: it is over.
    pub(super) fn remaining(self) -> Option<Duration> {
        let Some(end) = self.0 else { return Some(LONGEST_SLEEP) };
        let left = end.saturating_duration_since(Instant::now());
        (!left.is_zero()).then(|| left.min(LONGEST_SLEEP))
    }
}

const SOMEBODY_SLEEPS: u32 = 1;
const ONE_EVENT: u32 = 2;

/// Counts one kind of event, for those who sleep until the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventCount<'a>(pub(super) &'a AtomicU32);

/// What the word was when a sleeper announced itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket(u32);

impl EventCount<'_> {
    /// Announces a sleeper, who looks once more for what it waits for and then calls `sleep`.
    pub(super) fn announce(self) -> Ticket {
        let before = self.0.fetch_or(SOMEBODY_SLEEPS, Ordering::AcqRel);
        // Pairs with the fence of `wake_after`: either the event is seen by the look that follows, or the bit by its waker.
        fence(Ordering::SeqCst);
        Ticket(before | SOMEBODY_SLEEPS)
    }

    /// Sleeps until an event later than the ticket, or for at most this long.
    pub(super) fn sleep(self, ticket: Ticket, longest: Duration) {
        kernel::sleep(self.0, ticket.0, longest);
    }

    /// Whether there was an event later than the ticket.
    pub(super) fn is_later_than(self, ticket: Ticket) -> bool {
        // Acquire: pairs with the exchange in `wake_after`; what is waited for is seen by who saw its event.
        self.0.load(Ordering::Acquire) != ticket.0
    }

    /// Wakes all who sleep. The caller has passed `event_fence` after the event.
    #[inline]
    pub(super) fn wake_after(self, _fence: EventFence) {
        let word = self.0.load(Ordering::Relaxed);
        if word & SOMEBODY_SLEEPS == 0 {
            return;
        }
        let counted = word.wrapping_add(ONE_EVENT) & !SOMEBODY_SLEEPS;
        // Failing means that another waker takes care of it, or that a sleeper came who sees the event.
        if self.0.compare_exchange(word, counted, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            kernel::wake_all(self.0);
        }
    }
}

/// Sleeps until one of the events is later than its ticket, or for at most this long. False: the kernel cannot wait for so
/// many words, and did not.
pub(super) fn sleep_any(words: &[(EventCount<'_>, Ticket)], longest: Duration) -> bool {
    kernel::sleep_any(words, longest)
}

/// Proof that a fence stands between an event and the look at who sleeps; one may serve several counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventFence(());

/// The waker's half of the pair with `announce`.
#[inline(always)]
pub(super) fn event_fence() -> EventFence {
    fence(Ordering::SeqCst);
    EventFence(())
}

#[cfg(not(any(loom, shuttle)))]
mod kernel {
    use core::ptr;
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::{AtomicU32, EventCount, Ticket, file};

    pub(super) fn sleep(word: &AtomicU32, expected: u32, longest: Duration) {
        let timeout = libc::timespec {
            tv_sec: longest.as_secs() as libc::time_t,
            tv_nsec: libc::c_long::from(longest.subsec_nanos() as i32),
        };
        // Not private: the sleepers are in other processes. A signal, a change of the word and the time's end all
        // return, and the caller looks again.
        // SAFETY: WORDS (shm/mod.rs): the word stays mapped while it is borrowed; `timeout` lives through the call.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT,
                expected,
                ptr::from_ref(&timeout),
                ptr::null::<u32>(),
                0,
            )
        };
    }

    /// As the kernel has it (`struct futex_waitv`).
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Waited {
        value: u64,
        address: u64,
        flags: u32,
        reserved: u32,
    }

    /// The most words that the kernel waits for at once.
    const MOST: usize = 128;
    /// A word of 32 bits, of any process (`FUTEX2_SIZE_U32`).
    const SIZE_32: u32 = 2;

    pub(super) fn sleep_any(words: &[(EventCount<'_>, Ticket)], longest: Duration) -> bool {
        /// Linux before 5.16, or a sandbox that knows no newer.
        static UNKNOWN: AtomicBool = AtomicBool::new(false);
        if words.len() > MOST || UNKNOWN.load(Ordering::Relaxed) {
            return false;
        }
        let mut waited = [Waited::default(); MOST];
        for (waited, (count, ticket)) in waited.iter_mut().zip(words) {
            let address = count.0.as_ptr().expose_provenance() as u64;
            *waited = Waited { value: ticket.0.into(), address, flags: SIZE_32, reserved: 0 };
        }
        let end = Duration::from_nanos(file::monotonic()).saturating_add(longest);
        let end = libc::timespec {
            tv_sec: libc::time_t::try_from(end.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: libc::c_long::from(end.subsec_nanos() as i32),
        };
        // SAFETY: WORDS (shm/mod.rs): every word stays mapped while it is borrowed; array and time live through the call.
        let result = unsafe {
            libc::syscall(
                libc::SYS_futex_waitv,
                waited.as_ptr(),
                words.len() as libc::c_uint,
                0,
                ptr::from_ref(&end),
                libc::CLOCK_MONOTONIC,
            )
        };
        // A signal, a word that had changed and the time's end are fine: the caller looks again.
        let error = io::Error::last_os_error().raw_os_error();
        let unknown = result < 0 && matches!(error, Some(libc::ENOSYS | libc::EPERM | libc::EINVAL));
        if unknown {
            UNKNOWN.store(true, Ordering::Relaxed);
        }
        !unknown
    }

    pub(super) fn wake_all(word: &AtomicU32) {
        // SAFETY: FUTEX_WAKE takes any address and reads nothing there.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }
}

/// Under random schedules nobody sleeps: whoever would looks again.
#[cfg(shuttle)]
mod kernel {
    use std::time::Duration;

    use super::{AtomicU32, EventCount, Ticket};

    pub(super) fn sleep(_word: &AtomicU32, _expected: u32, _longest: Duration) {
        shuttle::thread::yield_now();
    }

    pub(super) fn sleep_any(_words: &[(EventCount<'_>, Ticket)], _longest: Duration) -> bool {
        shuttle::thread::yield_now();
        true
    }

    pub(super) fn wake_all(_word: &AtomicU32) {}
}

/// Loom has no futex: the same promise from what it has, in which a lost wake-up is a deadlock that loom reports.
#[cfg(loom)]
mod kernel {
    use std::time::Duration;

    use loom::sync::{Condvar, Mutex};

    use super::{AtomicU32, EventCount, Ordering, Ticket};

    loom::lazy_static! {
        static ref SLEEPERS: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
    }

    pub(super) fn sleep(word: &AtomicU32, expected: u32, _longest: Duration) {
        let (queue, woken) = &*SLEEPERS;
        let guard = queue.lock().unwrap();
        if word.load(Ordering::SeqCst) == expected {
            drop(woken.wait(guard).unwrap());
        }
    }

    pub(super) fn sleep_any(words: &[(EventCount<'_>, Ticket)], _longest: Duration) -> bool {
        let (queue, woken) = &*SLEEPERS;
        let guard = queue.lock().unwrap();
        if words.iter().all(|(count, ticket)| count.0.load(Ordering::SeqCst) == ticket.0) {
            drop(woken.wait(guard).unwrap());
        }
        true
    }

    pub(super) fn wake_all(_word: &AtomicU32) {
        let (queue, woken) = &*SLEEPERS;
        let _guard = queue.lock().unwrap();
        woken.notify_all();
    }
}
