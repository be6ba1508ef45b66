//! Which process a participant is, as a second witness beside its lock.
//!
//! A copy of the lock's file, in a child that was made behind the C library's back, keeps the lock when its owner is
//! dead. Whether the process that took the place is there still, the system says by its number and the time of its
//! start. This witness only ever speaks against a lock: it never makes anybody alive whose lock is free.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Where a participant says which process it is, before its state becomes active. All zeros: it does not say.
#[repr(C)]
#[derive(Debug)]
pub(super) struct ProcessRecord {
    /// Its number.
    pub(super) pid: AtomicU32,
    /// In which namespaces the other two figures mean something.
    pub(super) namespaces: AtomicU32,
    /// Since the host was started, in the unit of `/proc/PID/stat`.
    pub(super) started: AtomicU64,
}

/// A process; the number 0 stands for one that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Process {
    pid: u32,
    namespaces: u32,
    started: u64,
}

/// What is known of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It lives, as far as we can tell.
    Living,
    /// It was told to end and cannot refuse, but has not ended.
    Ending,
    /// It has ended.
    Gone,
}

impl Process {
    /// This process; the unknown one if `/proc` does not show us as we see ourselves.
    pub(super) fn own() -> Self {
        let pid = std::process::id();
        let inode = |path: &str| std::fs::metadata(path).map(|found| found.ino() as u32);
        let (Ok(of_numbers), Ok(stat)) = (inode("/proc/self/ns/pid"), Stat::read(pid)) else {
            return Self::default();
        };
        if !shows_itself(pid) {
            return Self::default();
        }
        // Times are shown by the clock of the time namespace; kernels without them have one clock.
        let of_times = inode("/proc/self/ns/time").unwrap_or(0);
        Self { pid, namespaces: of_numbers ^ of_times.rotate_left(16), started: stat.started }
    }

    pub(super) fn store(self, record: &ProcessRecord) {
        record.pid.store(self.pid, Relaxed);
        record.namespaces.store(self.namespaces, Relaxed);
        record.started.store(self.started, Relaxed);
    }

    pub(super) fn load(record: &ProcessRecord) -> Self {
        Self {
            pid: record.pid.load(Relaxed),
            namespaces: record.namespaces.load(Relaxed),
            started: record.started.load(Relaxed),
        }
    }

    /// The record's bytes as they lie in the file.
    pub(super) fn from_bytes(bytes: [u8; 16]) -> Self {
        let [a, b, c, d, e, f, g, h, started @ ..] = bytes;
        Self {
            pid: u32::from_ne_bytes([a, b, c, d]),
            namespaces: u32::from_ne_bytes([e, f, g, h]),
            started: u64::from_ne_bytes(started),
        }
    }

    /// Its number, if it means something to `own`.
    pub(super) fn number(self, own: Self) -> Option<u32> {
        (self.pid != 0 && self.namespaces == own.namespaces).then_some(self.pid)
    }

    /// What has become of this process, as `own` sees it. Whatever is in doubt lives.
    pub(super) fn fate(self, own: Self) -> Fate {
        if self.pid == 0 || own.pid == 0 || self.namespaces != own.namespaces || self.pid > i32::MAX as u32 {
            return Fate::Living;
        }
        // Asked first: files of `/proc` may be hidden from us.
        // SAFETY: signal 0 is not delivered.
        let answer = unsafe { libc::kill(self.pid as i32, 0) };
        if answer != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH) {
            return Fate::Gone;
        }
        let Ok(stat) = Stat::read(self.pid) else { return Fate::Living };
        if stat.started != self.started {
            // Another process has the number by now, if this `/proc` counts as we do.
            return if shows_itself(own.pid) { Fate::Gone } else { Fate::Living };
        }
        match stat.state {
            // A first thread that has ended, of a process that goes on, looks like a zombie and has company.
            b'X' => Fate::Gone,
            b'Z' if stat.threads <= 1 => Fate::Gone,
            _ if stat.exiting || is_killed(self.pid) => Fate::Ending,
            _ => Fate::Living,
        }
    }
}

/// Whether `/proc` counts processes as we do: it may be another namespace's.
fn shows_itself(pid: u32) -> bool {
    let shown = std::fs::read_link("/proc/self").ok();
    shown.and_then(|path| path.to_str().and_then(|text| text.parse().ok())) == Some(pid)
}

/// The start of a file about a process. Reads without allocating: this may happen while a publisher waits for room.
fn read(pid: u32, name: &str, text: &mut [u8]) -> std::io::Result<usize> {
    let mut path = [0; 32];
    let mut rest = &mut path[..];
    write!(rest, "/proc/{pid}/{name}")?;
    let unused = rest.len();
    let path =
        std::str::from_utf8(&path[..path.len() - unused]).map_err(|_| std::io::ErrorKind::InvalidData)?;
    let (mut file, mut len) = (File::open(Path::new(path))?, 0);
    while len < text.len() {
        match file.read(&mut text[len..])? {
            0 => break,
            more => len += more,
        }
    }
    Ok(len)
}

/// What we need of `/proc/PID/stat`.
struct Stat {
    state: u8,
    exiting: bool,
    threads: u32,
    started: u64,
}

impl Stat {
    fn read(pid: u32) -> std::io::Result<Self> {
        let mut text = [0; 1024];
        let len = read(pid, "stat", &mut text)?;
        Self::parse(&text[..len]).ok_or_else(|| std::io::ErrorKind::InvalidData.into())
    }

    fn parse(text: &[u8]) -> Option<Self> {
        /// The kernel's `PF_EXITING`.
        const EXITING: u32 = 4;
        // The name stands in brackets and may contain anything.
        let after_name = text.iter().rposition(|byte| *byte == b')')? + 1;
        let text = std::str::from_utf8(&text[after_name..]).ok()?;
        let mut fields = text.split_ascii_whitespace();
        let state = *fields.next()?.as_bytes().first()?;
        let flags: u32 = fields.nth(5)?.parse().ok()?;
        let threads = fields.nth(10)?.parse().ok()?;
        let started = fields.nth(1)?.parse().ok()?;
        Some(Self { state, exiting: flags & EXITING != 0, threads, started })
    }
}

/// Whether a `SIGKILL` is on its way to a process: also what the kernel makes of any signal that ends one.
fn is_killed(pid: u32) -> bool {
    let mut text = [0; 4096];
    let Ok(len) = read(pid, "status", &mut text) else { return false };
    let text = String::from_utf8_lossy(&text[..len]);
    let pending =
        text.lines().filter_map(|line| line.strip_prefix("SigPnd:").or(line.strip_prefix("ShdPnd:")));
    let mut masks = pending.filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    masks.any(|mask| mask >> (libc::SIGKILL - 1) & 1 == 1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_line_about_a_process_is_read_whatever_its_name_is() {
        let line = b"7 (a) Z 1 (b)) S 1 7 7 0 -1 4194308 5 6 7 8 9 10 11 12 20 0 3 0 991 44 5\n";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.state, stat.exiting, stat.threads, stat.started), (b'S', true, 3, 991));
        for len in 0..line.len() - 8 {
            assert!(Stat::parse(&line[..len]).is_none_or(|stat| stat.started != 991));
        }
    }

    #[test]
    fn a_process_lives_until_it_has_ended_and_another_with_its_number_is_not_it() {
        let own = Process::own();
        assert_ne!(own.pid, 0);
        assert_eq!(own.fate(own), Fate::Living);
        let mut child = Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().unwrap();
        let started = Stat::read(child.id()).unwrap().started;
        let other = Process { pid: child.id(), started, ..own };
        assert_eq!(other.fate(own), Fate::Living);
        assert_eq!(Process { started: started + 1, ..other }.fate(own), Fate::Gone);
        // What we cannot judge.
        let elsewhere = Process { namespaces: own.namespaces ^ 1, started: started + 1, ..other };
        assert_eq!(elsewhere.fate(own), Fate::Living);
        assert_eq!(Process { started: 1, ..other }.fate(Process::default()), Fate::Living);
        assert_eq!(Process::default().fate(own), Fate::Living);
        assert_eq!(Process { pid: u32::MAX, ..other }.fate(own), Fate::Living);
        // A zombie has ended, whether or not anybody has asked how.
        child.kill().unwrap();
        while other.fate(own) != Fate::Gone {
            assert_ne!(other.fate(own), Fate::Living, "it was killed");
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert_eq!(other.fate(own), Fate::Gone);
    }
}
