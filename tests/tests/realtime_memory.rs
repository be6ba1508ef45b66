//! Locking the memory of a process, in a process of its own: it changes what page faults every other thread has.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
#![allow(clippy::print_stdout, reason = "what is not run is listed")]

use msg_runtime::realtime::{lock_memory, report};
use std::{env, fs};

#[test]
fn locked_memory_is_locked() {
    let report = report();
    if !report.may_lock_any_memory {
        let reason = "not run: needs CAP_IPC_LOCK (run as root, or `setcap cap_ipc_lock+ep`)";
        assert!(env::var_os("CI").is_none(), "{reason}");
        println!("{reason}");
        return;
    }
    lock_memory().unwrap();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap();
    assert!(locked.trim() != "0 kB", "{locked}");
}
