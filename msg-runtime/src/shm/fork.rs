//! What a `fork` must not copy: the locks by which the others see that a process lives.
//!
//! An open file description lock belongs to parent and child alike, so that a child would keep its dead parent alive.
//! Handlers around `fork` close the lock files in the child, and count, so that a handle knows it is a copy.
//!
//! A child that was made without the C library's `fork` (`clone`, `vfork`) runs no handlers. It keeps its copies until it
//! executes a program, which closes them; meanwhile its parent's death is noticed by the other witness (`process`), and
//! only the place, one of 64, stays taken. Not covered: such a child does not know that its handles are copies and must
//! not use them; and its copy keeps alive who went without dying, by executing another program while it had a ring
//! open, or who cannot be judged, because it is in another PID or time namespace or `/proc` is not there.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// How many forks lie between this process and the one that first opened a handle.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// The lock files that are open; held during a fork, so that no file is open and not listed.
static OPEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());
/// The guard of `OPEN` while the process forks.
static DURING_FORK: DuringFork = DuringFork(std::cell::UnsafeCell::new(None));

struct DuringFork(std::cell::UnsafeCell<Option<MutexGuard<'static, Vec<RawFd>>>>);

// SAFETY: only the thread that holds `OPEN` reads or writes the cell: the one that forks, and its copy in the child.
unsafe impl Sync for DuringFork {}

/// Compare with the value at open: another one means that this is a forked child's copy.
#[inline(always)]
pub(super) fn generation() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

fn lock_files() -> MutexGuard<'static, Vec<RawFd>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn before_fork() {
    let guard = lock_files();
    // SAFETY: this thread holds `OPEN`, see `DuringFork`.
    unsafe { *DURING_FORK.0.get() = Some(guard) };
}

extern "C" fn after_fork_in_parent() {
    // SAFETY: `before_fork` ran in this thread and it still holds `OPEN`.
    let guard = unsafe { (*DURING_FORK.0.get()).take() };
    drop(guard);
}

extern "C" fn after_fork_in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: this is the copy of the thread that ran `before_fork` and holds `OPEN`.
    let guard = unsafe { (*DURING_FORK.0.get()).take() };
    // Nothing here allocates or frees: other threads' locks are frozen as they were.
    if let Some(mut files) = guard {
        for file in files.iter() {
            // SAFETY: the descriptor is the child's own copy; the `LockFile` that knows it never closes it here.
            unsafe { libc::close(*file) };
        }
        files.clear();
    }
}

/// A readers file, opened anew by each participant, through which it holds and probes locks.
#[derive(Debug)]
pub(super) struct LockFile {
    file: ManuallyDrop<File>,
    generation: u32,
}

impl LockFile {
    /// Opens with `open` and lists the file, as one step as far as a fork can see.
    pub(super) fn open(open: impl FnOnce() -> io::Result<File>) -> io::Result<Self> {
        static HANDLERS: Once = Once::new();
        HANDLERS.call_once(|| {
            // SAFETY: the handlers are functions of the program's whole life. Failing (no memory) leaves a child that
            // keeps its parent's lock until it ends, which no later step can mend.
            unsafe {
                libc::pthread_atfork(Some(before_fork), Some(after_fork_in_parent), Some(after_fork_in_child))
            };
        });
        let mut files = lock_files();
        let file = ManuallyDrop::new(open()?);
        files.push(file.as_raw_fd());
        Ok(Self { file, generation: generation() })
    }

    /// Whether this is a forked child's copy, whose descriptor is closed.
    pub(super) fn is_forked(&self) -> bool {
        self.generation != generation()
    }
}

impl std::ops::Deref for LockFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let mut files = lock_files();
        if self.is_forked() {
            return;
        }
        let own = self.file.as_raw_fd();
        files.retain(|file| *file != own);
        // SAFETY: dropped once, here, and not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.file) };
    }
}
