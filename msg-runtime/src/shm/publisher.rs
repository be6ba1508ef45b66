//! Publishing: a slot on loan, filled in place, and sent.

use std::fmt;
use std::sync::atomic::AtomicU64 as PlainU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::attach;
use super::attachment::Attachment;
use super::file;
use super::fork;
use super::layout::{HOLDS, MAX_PER_KIND, PublisherRecord};
use super::loan::{Loan, LoanUninit};
use super::options::Options;
use super::participant::{Membership, Role};
use super::ring::{Snapshot, Taken};
use super::subscriber::Stats;
use super::wait::{Deadline, event_fence, has_passed};
use super::watch::{Awaited, Watch};
use super::word::Owner;
use crate::error::{Error, ErrorKind, SendError, TrySendError};

/// How long a blocked publisher tries again before it sleeps; a subscriber lets go of a small message within this.
const SPIN: Duration = Duration::from_micros(20);
/// The most pauses between two tries, well under a microsecond: a try reads what every subscriber writes, so that trying
/// at once slows down those who make room, and finds room for a single message.
const MOST_PAUSES: u32 = 16;
/// The longest sleep of a blocked publisher: it is the one who finds out that a subscriber died.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);
/// Nanoseconds between two looks for the dead while the ring is full, of all publishers together.
const REPAIR_EVERY: u64 = 20_000_000;
/// Nanoseconds between two looks at the names of the files.
const LOOK_EVERY: u64 = 500_000_000;

/// A handle that publishes to a ring, from any number of threads.
///
/// Sending without subscribers succeeds and discards. A subscriber that does not keep up holds the publishers back as
/// soon as every slot has a message that it needs.
///
/// # Examples
///
/// ```
/// use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};
/// # let channel = format!("doc-publisher-{}", std::process::id());
/// let options = Options::new(&channel, "demo.Text");
/// let subscriber = ShmSubscriber::open(&options)?;
/// let publisher = ShmPublisher::open(&options)?;
/// publisher.send(b"copied")?;
/// let mut loan = publisher.loan(8)?;
/// loan.copy_from_slice(b"in place");
/// loan.send()?;
/// assert_eq!(&*subscriber.recv()?, b"copied");
/// assert_eq!(&*subscriber.recv()?, b"in place");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ShmPublisher {
    pub(super) options: Options,
    pub(super) id: u64,
    forks: u32,
    /// When to look at the names of the files next.
    look_at: PlainU64,
    taker: Mutex<Taker>,
}

/// What is needed to take a slot, one thread at a time.
pub(super) struct Taker {
    attachment: Arc<Attachment>,
    owner: Owner,
    snapshot: Snapshot,
    repair_at: u64,
}

impl Taker {
    fn new(attachment: Attachment, owner: Owner) -> Self {
        let snapshot = Snapshot::new(owner, MAX_PER_KIND * HOLDS);
        Self { attachment: Arc::new(attachment), owner, snapshot, repair_at: 0 }
    }

    fn take(&mut self, len: usize, options: &Options) -> Result<Taken, TrySendError> {
        if self.attachment.is_closed() {
            return Err(TrySendError::Disconnected);
        }
        let max = self.attachment.layout.geometry.slot_bytes;
        if len > max {
            return if self.follow(options)? {
                self.take(len, options)
            } else {
                Err(TrySendError::TooLarge { len, max })
            };
        }
        let taken = self.attachment.ring().loan(&mut self.snapshot);
        if self.snapshot.take_gave_back() && !options.wakes_nobody {
            self.attachment.membership.space().wake_after(event_fence());
        }
        taken.ok_or(TrySendError::Full)
    }

    /// Looks for room that the dead still have. Returns whether it is worth trying again.
    #[cold]
    fn make_room(&mut self, options: &Options) -> Result<bool, TrySendError> {
        if self.follow(options)? {
            return Ok(true);
        }
        let now = file::monotonic();
        if now < self.repair_at {
            return Ok(false);
        }
        self.repair_at = now + REPAIR_EVERY;
        let repaired = self.attachment.repair_for_all(now, REPAIR_EVERY);
        Ok(self.attachment.evict_late() || repaired)
    }

    /// Moves to the ring that ours gave way to, if it did. Returns whether we moved.
    pub(super) fn follow(&mut self, options: &Options) -> Result<bool, TrySendError> {
        if !self.attachment.ring().is_sealed() {
            return Ok(false);
        }
        let found = attach::follow(options, &self.attachment).map_err(|_| TrySendError::Disconnected)?;
        let Some(found) = found else { return Ok(false) };
        *self = Self::new(found, self.owner);
        Ok(true)
    }
}

impl ShmPublisher {
    /// Opens the ring, or makes it if nobody has it open.
    ///
    /// # Errors
    /// `InvalidTopic`, `InvalidEndpoint`: a name or figure in the options is not allowed. `NoSpace`: the directory has
    /// not enough room. `NoRoom`: there are 64 publishers. `Mismatch`, `Incompatible`: the ring is in use with another
    /// geometry or type. `PermissionDenied`, `Corrupted`: what has the ring's name is not ours.
    pub fn open(options: &Options) -> Result<Self, Error> {
        let opened = attach::open(options, Role::Publisher)?;
        let owner = Owner::new(opened.attachment.membership.index, opened.state.generation());
        let id = file::random::<8>().map(u64::from_ne_bytes);
        let id = id.map_err(|error| Error::new(ErrorKind::Io, "no random id").with_source(error))?.max(1);
        let publisher = Self {
            options: options.clone(),
            id,
            forks: fork::generation(),
            look_at: PlainU64::new(file::monotonic() + LOOK_EVERY),
            taker: Mutex::new(Taker::new(opened.attachment, owner)),
        };
        let attachment = publisher.attachment();
        let record = own_record(&attachment);
        for figure in [&record.sent, &record.bytes, &record.full] {
            figure.store(0, Relaxed);
        }
        record.id.store(id, Relaxed);
        Ok(publisher)
    }

    pub(super) fn taker(&self) -> MutexGuard<'_, Taker> {
        self.taker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn attachment(&self) -> Arc<Attachment> {
        Arc::clone(&self.taker().attachment)
    }

    #[inline]
    pub(super) fn is_forked(&self) -> bool {
        self.forks != fork::generation()
    }

    /// Copies the payload into a free slot and sends it.
    ///
    /// # Errors
    /// `Full` if no slot is free, and what else [`TrySendError`] lists.
    pub fn try_send(&self, payload: &[u8]) -> Result<(), TrySendError> {
        self.try_publish(payload.len(), |slot| slot.copy_from_slice(payload))
    }

    /// As [`try_send`](Self::try_send), waiting for room for at most the options' timeout.
    ///
    /// # Errors
    /// `Timeout` if no slot became free in time, and what else [`SendError`] lists.
    pub fn send(&self, payload: &[u8]) -> Result<(), SendError> {
        self.send_timeout(payload, self.options.timeout)
    }

    /// As [`send`](Self::send), with a timeout of its own.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_timeout(&self, payload: &[u8], timeout: Duration) -> Result<(), SendError> {
        let mut loan = self.loan_timeout(payload.len(), timeout)?;
        loan.copy_from_slice(payload);
        loan.commit(timeout).map(|_| ())
    }

    /// Lets `fill` write a message of this length in place, and sends it. If `fill` panics, nothing is sent.
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send); `fill` is not called then.
    pub fn try_publish<R>(&self, len: usize, fill: impl FnOnce(&mut [u8]) -> R) -> Result<R, TrySendError> {
        let mut loan = self.try_loan(len)?;
        let result = fill(&mut loan);
        loan.commit(Duration::ZERO).map_err(TrySendError::from)?;
        Ok(result)
    }

    /// Borrows a free slot, to fill and [`send`](Loan::send) it. It may be kept for as long as it takes: other loans and
    /// publishers go on meanwhile.
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send).
    pub fn try_loan(&self, len: usize) -> Result<Loan<'_>, TrySendError> {
        // Whoever wakes nobody shall not make system calls either.
        let taken = if self.options.wakes_nobody { self.take_free(len) } else { self.take(len) };
        taken.inspect_err(|error| {
            if *error == TrySendError::Full && !self.is_forked() {
                own_record(&self.attachment()).full.fetch_add(1, Relaxed);
            }
        })
    }

    /// As [`try_loan`](Self::try_loan), waiting for room for at most the options' timeout.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn loan(&self, len: usize) -> Result<Loan<'_>, SendError> {
        self.loan_timeout(len, self.options.timeout)
    }

    /// As [`loan`](Self::loan), for who writes every byte and wants the compiler to see to it.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn loan_uninit(&self, len: usize) -> Result<LoanUninit<'_>, SendError> {
        self.loan(len).map(LoanUninit::new)
    }

    /// As [`loan`](Self::loan), with a timeout of its own.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn loan_timeout(&self, len: usize, timeout: Duration) -> Result<Loan<'_>, SendError> {
        match self.try_loan(len) {
            // Only now is the time looked at: it costs as much as all else that sending a small message does.
            Err(TrySendError::Full) => self.wait_for_room(len, Deadline::after(timeout)),
            other => Ok(other?),
        }
    }

    /// Takes a slot; if there is none, looks for what the dead and the late still have.
    fn take(&self, len: usize) -> Result<Loan<'_>, TrySendError> {
        match self.take_free(len) {
            Err(TrySendError::Full) => {}
            other => return other,
        }
        let mut taker = self.taker();
        self.look_around(file::monotonic(), &taker.attachment);
        let retry = taker.make_room(&self.options)?;
        drop(taker);
        if retry { self.take_free(len) } else { Err(TrySendError::Full) }
    }

    /// Takes a slot that is free now.
    fn take_free(&self, len: usize) -> Result<Loan<'_>, TrySendError> {
        if self.is_forked() {
            return Err(TrySendError::Forked);
        }
        let mut taker = self.taker();
        let taken = taker.take(len, &self.options)?;
        let attachment = Arc::clone(&taker.attachment);
        drop(taker);
        Ok(Loan::new(self, attachment, taken, len))
    }

    #[cold]
    pub(super) fn wait_for_room(&self, len: usize, deadline: Deadline) -> Result<Loan<'_>, SendError> {
        let (started, spin) = (file::monotonic(), self.options.spin.unwrap_or(SPIN));
        let mut pauses = 1;
        loop {
            match self.take(len) {
                Err(TrySendError::Full) if deadline.remaining().is_none() => return Err(SendError::Timeout),
                Err(TrySendError::Full) if !has_passed(started, spin) => {
                    (0..pauses).for_each(|_| std::hint::spin_loop());
                    pauses = (2 * pauses).min(MOST_PAUSES);
                }
                Err(TrySendError::Full) => break,
                other => return Ok(other?),
            }
        }
        loop {
            let attachment = self.attachment();
            let space = attachment.membership.space();
            let ticket = space.announce();
            match self.take(len) {
                Err(TrySendError::Full) => {}
                other => return Ok(other?),
            }
            let Some(left) = deadline.remaining() else { return Err(SendError::Timeout) };
            space.sleep(ticket, left.min(LONGEST_SLEEP));
        }
    }

    /// As [`try_loan`](Self::try_loan), where it was counted already that there was no room at once.
    pub(crate) fn retry_loan(&self, len: usize) -> Result<Loan<'_>, TrySendError> {
        self.take(len)
    }

    /// Announces a sleeper for room, who tries once more before it lets somebody sleep for it.
    pub(crate) fn watch(&self) -> Watch {
        self.attachment().membership.watch(Awaited::Room, LONGEST_SLEEP)
    }

    /// Wakes the subscribers that sleep, after messages that woke nobody.
    pub(crate) fn wake_subscribers(&self) {
        if !self.is_forked() && !self.options.wakes_nobody {
            self.wake_all(file::monotonic(), &self.attachment());
        }
    }

    /// Wakes whoever sleeps, after a message.
    pub(super) fn wake_all(&self, now: u64, attachment: &Attachment) {
        let (membership, fence) = (&attachment.membership, event_fence());
        membership.wake().wake_after(fence);
        // Other publishers may wait for this very slot to say whose message it has.
        membership.space().wake_after(fence);
        self.look_around(now, attachment);
    }

    /// Now and then, sees whether the files still have their names: if not, whoever subscribes now misses us.
    fn look_around(&self, now: u64, attachment: &Attachment) {
        if now < self.look_at.load(Relaxed) {
            return;
        }
        self.look_at.store(now + LOOK_EVERY, Relaxed);
        if attachment.is_cut_off() {
            attachment.close();
        }
    }

    /// How many messages the ring has room for.
    pub fn slots(&self) -> usize {
        self.taker().attachment.layout.geometry.slots
    }

    /// How long a message may be.
    pub fn slot_bytes(&self) -> usize {
        self.taker().attachment.layout.geometry.slot_bytes
    }

    /// A number that no other ring has.
    pub(crate) fn ring_id(&self) -> u64 {
        self.taker().attachment.id()
    }

    /// How many subscribers live.
    pub fn subscribers(&self) -> usize {
        self.attachment().membership.count(Role::Subscriber)
    }

    /// Waits until at least this many subscribers live. Returns whether they do.
    pub fn wait_for_subscribers(&self, n: usize, timeout: Duration) -> bool {
        let deadline = Deadline::after(timeout);
        loop {
            let attachment = self.attachment();
            let membership: &Membership = &attachment.membership;
            let ticket = membership.space().announce();
            if membership.count(Role::Subscriber) >= n {
                return true;
            }
            let Some(left) = deadline.remaining().filter(|_| !self.is_forked()) else { return false };
            membership.space().sleep(ticket, left.min(LONGEST_SLEEP));
        }
    }

    /// This publisher's figures, as everybody can read them in the segment.
    pub fn stats(&self) -> Stats {
        let attachment = self.attachment();
        let record = own_record(&attachment);
        Stats {
            sent: record.sent.load(Relaxed),
            bytes: record.bytes.load(Relaxed),
            full: record.full.load(Relaxed),
            ..Stats::default()
        }
    }
}

pub(super) fn own_record(attachment: &Attachment) -> &PublisherRecord {
    &attachment.publishers()[attachment.membership.index - MAX_PER_KIND]
}

impl Drop for ShmPublisher {
    fn drop(&mut self) {
        if self.is_forked() {
            return;
        }
        // Loans that were forgotten instead of dropped; nobody else has to find that we are gone.
        let (attachment, own) = (self.attachment(), self.taker().owner);
        if attachment.ring().repair(|owner| owner == own) {
            attachment.membership.space().wake_after(event_fence());
        }
    }
}

impl fmt::Debug for ShmPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attachment = self.attachment();
        f.debug_struct("ShmPublisher")
            .field("ring", &attachment.membership.names.label)
            .field("geometry", &attachment.layout.geometry)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;
    use crate::shm::ShmSubscriber;

    #[test]
    fn who_is_blocked_by_a_borrowed_slot_does_not_wake_itself_again_and_again() {
        let name = format!("pinned-{}", std::process::id());
        let options = Options::new(&name, "t").slots(4).slot_bytes(8);
        let publisher = ShmPublisher::open(&options).unwrap();
        let lossless = ShmSubscriber::open(&options).unwrap();
        let newest = ShmSubscriber::open(&options.clone().latest_only()).unwrap();
        let send = |number: u8| publisher.try_send(&[number]);
        (0..2).for_each(|number| send(number).unwrap());
        let kept = newest.recv().unwrap();
        (2..4).for_each(|number| send(number).unwrap());
        (0..2).for_each(|_| drop(lossless.recv().unwrap()));
        // The first slot is free, the second is borrowed, the others are unread.
        send(4).unwrap();
        let mut taker = publisher.taker();
        let ring_says = |taker: &mut Taker| {
            let Taker { attachment, snapshot, .. } = taker;
            (attachment.ring().loan(snapshot).is_some(), snapshot.take_gave_back())
        };
        assert_eq!(ring_says(&mut taker), (false, true));
        assert_eq!(ring_says(&mut taker), (false, false));
        assert_eq!(kept[..], [1]);
        drop(kept);
        assert_eq!(ring_says(&mut taker), (true, false));
    }
}
