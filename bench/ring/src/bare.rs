//! The limit: a ring for one sender and one receiver, without anything that makes one useful. No second sender or
//! receiver, no sample that outlives the call, nobody who may die, no lengths, no checks.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::link::{Peer, Receiver, Sender, Setting, Waits};
use crate::machine;

pub struct Bare;

impl Peer for Bare {
    type Sender = End;
    type Receiver = End;
    const NAME: &'static str = "bare";
    const SETTINGS: &'static str =
        "one sender, one receiver, two counters; a futex call for every message if it sleeps";
}

/// Counters on cache lines of their own, then the slots.
const SENT: usize = 0;
const RECEIVED: usize = 16;
const SLOTS: usize = 512;

pub struct End {
    words: &'static [AtomicU64],
    depth: u64,
    stride: usize,
    waits: Waits,
    own: u64,
    /// The other side's counter as last seen.
    other: u64,
}

impl End {
    fn open(setting: &Setting) -> Self {
        let stride = setting.bytes.next_multiple_of(64) / 8;
        let words = machine::shared(&setting.name, SLOTS + stride * setting.depth);
        Self { words, depth: setting.depth as u64, stride, waits: setting.waits, own: 0, other: 0 }
    }

    fn slot(&self) -> *mut u8 {
        self.words[SLOTS + (self.own % self.depth) as usize * self.stride].as_ptr().cast()
    }
}

impl Sender for End {
    fn open(setting: &Setting) -> Self {
        Self::open(setting)
    }

    fn send(&mut self, bytes: usize, fill: impl FnOnce(&mut [u8])) {
        while self.own - self.other == self.depth {
            self.other = self.words[RECEIVED].load(Acquire);
        }
        // SAFETY: inside the mapping; the receiver has let go of the slot, and sees it again after `SENT`.
        fill(unsafe { std::slice::from_raw_parts_mut(self.slot(), bytes) });
        self.own += 1;
        self.words[SENT].store(self.own, Release);
        if self.waits == Waits::Sleeps {
            machine::futex_wake(&self.words[SENT]);
        }
    }
}

impl Receiver for End {
    fn open(setting: &Setting) -> Self {
        Self::open(setting)
    }

    fn try_receive<R>(&mut self, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        if self.own == self.other {
            self.other = self.words[SENT].load(Acquire);
            if self.own == self.other {
                return None;
            }
        }
        // SAFETY: inside the mapping; the sender leaves the slot alone before `RECEIVED` says otherwise.
        let result = read(unsafe { std::slice::from_raw_parts(self.slot(), self.stride * 8) });
        self.own += 1;
        self.words[RECEIVED].store(self.own, Release);
        Some(result)
    }

    fn receive<R>(&mut self, read: impl FnOnce(&[u8]) -> R) -> R {
        while self.words[SENT].load(Relaxed) == self.own {
            if self.waits == Waits::Sleeps {
                machine::futex_wait(&self.words[SENT], self.own as u32);
            } else {
                std::hint::spin_loop();
            }
        }
        self.try_receive(read).expect("there is one")
    }
}
