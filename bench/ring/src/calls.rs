//! Counts a process's system calls between two marks, by tracing it.

use std::process::{Command, Stdio};

/// No such call: the kernel refuses it, and the tracer sees it.
const MARK: i64 = 100_000;

/// Marks the beginning and the end.
pub fn marked<R>(run: impl FnOnce() -> R) -> R {
    mark();
    let result = run();
    mark();
    result
}

fn mark() {
    // SAFETY: there is no call of this number.
    unsafe { libc::syscall(MARK) };
}

fn ptrace(request: libc::c_uint, pid: libc::pid_t, data: usize) -> i64 {
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: none of the requests made here reads or writes our memory.
    unsafe { libc::ptrace(request, pid, none, data) }
}

/// Runs a command and counts its main thread's system calls between the marks.
pub fn count(command: &mut Command) -> u64 {
    use std::os::unix::process::CommandExt;
    let traced = || {
        ptrace(libc::PTRACE_TRACEME, 0, 0);
        Ok(())
    };
    // SAFETY: one system call, which is allowed between fork and exec.
    let mut child = unsafe { command.pre_exec(traced) }.stdout(Stdio::null()).spawn().unwrap();
    let pid = child.id() as libc::pid_t;
    let (mut calls, mut marks, mut entering) = (0, 0, true);
    let mut status = 0;
    // SAFETY: `status` lives through the call. The first stop is that of `exec`.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    ptrace(libc::PTRACE_SETOPTIONS, pid, libc::PTRACE_O_TRACESYSGOOD as usize);
    let mut signal = 0;
    loop {
        ptrace(libc::PTRACE_SYSCALL, pid, signal);
        // SAFETY: as above.
        unsafe { libc::waitpid(pid, &raw mut status, 0) };
        if !libc::WIFSTOPPED(status) {
            break;
        }
        signal = 0;
        if libc::WSTOPSIG(status) != libc::SIGTRAP | 0x80 {
            signal = libc::WSTOPSIG(status) as usize;
            continue;
        }
        if entering {
            if number(pid) == MARK {
                marks += 1;
            } else if marks == 1 {
                calls += 1;
            }
        }
        entering = !entering;
    }
    assert_eq!(marks, 2, "the run came to its end");
    drop(child.wait());
    calls
}

/// The system call that a stopped process is about to make.
fn number(pid: libc::pid_t) -> i64 {
    // SAFETY: all zeros is a value of the struct.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let size = size_of_val(&info);
    // SAFETY: the kernel writes at most `size` bytes.
    unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size, &raw mut info) };
    // SAFETY: at a call's entry the kernel fills this part of the union.
    unsafe { info.u.entry.nr as i64 }
}
