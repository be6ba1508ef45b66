//! Starts real-time publishers without any right to do so, for `tests/realtime_schedule.rs`.
//!
//!     realtime_rights
//!
//! Gives up what rights it has and prints why each start was refused, a line each.

use msg_runtime::{
    Message, Publisher,
    realtime::{Policy, Schedule, lock_memory, report},
};
use std::{
    io::{self, Write},
    process,
    time::Duration,
};

#[derive(Message, Clone, Copy)]
#[message(namespace = "realtime_rights", plain)]
#[repr(C)]
struct Beat {
    number: u64,
}

/// Whoever has none of these is `nobody` already.
fn give_up_rights() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    for limit in [libc::RLIMIT_RTPRIO, libc::RLIMIT_MEMLOCK] {
        // SAFETY: the struct lives through the call.
        unsafe { libc::setrlimit(limit, &raw const none) };
    }
    // SAFETY: the call takes a number.
    unsafe { libc::setuid(65_534) };
}

fn main() {
    let endpoint = format!("shm;realtime-rights-{}", process::id());
    let publisher = Publisher::<Beat>::open(&endpoint).expect("the name is this process's own");
    give_up_rights();
    let deadline = Policy::Deadline {
        runtime: Duration::from_micros(100),
        deadline: Duration::from_millis(1),
        period: Duration::from_millis(1),
    };
    let mut out = io::stdout();
    for policy in [Policy::Fifo(20), Policy::RoundRobin(30), deadline] {
        let builder = publisher.realtime().schedule(Schedule::new().policy(policy));
        let mut realtime = builder.build().expect("the settings are in range");
        realtime.push(&Beat { number: 1 }).expect("there is room");
        let error = realtime.start().expect_err("this process has no right to it");
        let left = realtime.stop(Duration::ZERO).left;
        writeln!(out, "{:?}, {left} left: {error}", error.kind()).expect("the test reads it");
    }
    let error = lock_memory().expect_err("this process has no right to it");
    writeln!(out, "{:?}: {error}", error.kind()).expect("the test reads it");
    writeln!(out, "{}", report()).expect("the test reads it");
}
