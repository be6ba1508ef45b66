//! The shared-memory ring by itself: raw bytes between the processes of one host, without a lock, a broker or a thread.
//!
//! One ring belongs to one topic of one channel. Up to 64 publishers and 64 subscribers share it. A publisher borrows a
//! slot, fills it in place for as long as it likes, and publishes it with one compare-and-swap; all subscribers see all
//! messages in one order, and read them where they were written. Whoever is killed, at whatever instruction, stops
//! nobody and loses nothing that was published.
//!
//! ```text
//! handles         publisher  subscriber
//! their place     attach (open, replace, follow)   attachment   participant (registration, liveness, repair)
//! looking on      list
//! protocol        ring (+ reader, repair)   word
//! memory, kernel  layout  segment  group  file  fork  process  wait  watch  sync
//! ```
//!
//! The ring knows bytes and slots: no messages, no endpoints, no compression. It never starts a thread.
//!
//! # Invariants
//!
//! The `SAFETY` comments of this folder name them.
//!
//! - **MAPPED**: an `Attachment` owns both mappings of its segment (one through its membership) and the words that it
//!   lends are lent with its own lifetime. No file is ever made shorter, and every byte was reserved when it was made.
//! - **WORDS**: live shared memory is only reached through atomics, and through slot payloads under the two rules
//!   below. Geometry is read once, checked and kept in private memory; every index, length and sequence that is read
//!   from a segment is checked against it before it is used.
//! - **LOANED**: the bytes of a slot whose word is LOAN(participant, generation) belong to the loan of that incarnation
//!   alone. Takers exchange only words that are not loans; others change a LOAN only when its owner is dead.
//! - **BORROWED**: a slot is not taken while a lossless reader's cursor has not passed its message, or while a hold
//!   or a reading names it; so its bytes do not change between the reader's look and its letting go.
//! - **INTEGERS**: a header is `repr(C)` of integers and arrays of integers without padding.
//!
//! They hold among participants that run this code. A segment is one trust domain: a process that writes into a slot
//! after it has published it is outside of them.

#![allow(unsafe_code)]

mod attach;
mod attachment;
mod file;
mod fork;
mod group;
mod layout;
mod list;
mod loan;
mod options;
mod participant;
mod process;
mod publisher;
mod receiver;
mod ring;
mod sample;
mod segment;
mod subscriber;
mod sync;
mod wait;
mod watch;
mod wish;
mod word;

pub use list::{Listed, Participant, list};
pub use loan::{Loan, LoanUninit};
pub use options::{Check, Description, Options};
pub use publisher::ShmPublisher;
pub use sample::{Info, ShmSample};
pub use segment::open_description;
pub use subscriber::{ShmSubscriber, Stats};
pub(crate) use watch::{Bell, Watch};

/// The time on the clock that stamps messages ([`Info::sent`]): since the host was started.
pub fn now() -> std::time::Duration {
    std::time::Duration::from_nanos(file::monotonic())
}
