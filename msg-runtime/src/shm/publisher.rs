//! Publishing: a slot on loan, filled in place, and sent.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU64 as PlainU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::attach;
use super::attachment::Attachment;
use super::file;
use super::fork;
use super::layout::{HOLDS, MAX_PER_KIND, PublisherRecord};
use super::options::Options;
use super::participant::{Membership, Role};
use super::ring::{CommitError, Snapshot, Taken};
use super::subscriber::Stats;
use super::wait::{Deadline, event_fence};
use super::word::Owner;
use crate::error::{Error, ErrorKind, SendError, TrySendError};

/// How long a blocked publisher tries again before it sleeps; a subscriber lets go of a small message within this.
const SPIN: u64 = 20_000;
/// The longest sleep of a blocked publisher: it is the one who finds out that a subscriber died.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);
/// Nanoseconds between two looks for the dead while the ring is full.
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
    options: Options,
    id: u64,
    forks: u32,
    /// When to look at the names of the files next.
    look_at: PlainU64,
    taker: Mutex<Taker>,
}

/// What is needed to take a slot, one thread at a time.
struct Taker {
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
        if self.snapshot.take_gave_back() {
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
        Ok(self.attachment.repair())
    }

    /// Moves to the ring that ours gave way to, if it did. Returns whether we moved.
    fn follow(&mut self, options: &Options) -> Result<bool, TrySendError> {
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

    fn taker(&self) -> MutexGuard<'_, Taker> {
        self.taker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attachment(&self) -> Arc<Attachment> {
        Arc::clone(&self.taker().attachment)
    }

    #[inline]
    fn is_forked(&self) -> bool {
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
        self.take(len).inspect_err(|error| {
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

    fn take(&self, len: usize) -> Result<Loan<'_>, TrySendError> {
        if self.is_forked() {
            return Err(TrySendError::Forked);
        }
        let mut taker = self.taker();
        let taken = match taker.take(len, &self.options) {
            Err(TrySendError::Full) => {
                self.look_around(file::monotonic(), &taker.attachment);
                let retry = taker.make_room(&self.options)?;
                if retry { taker.take(len, &self.options) } else { Err(TrySendError::Full) }
            }
            other => other,
        }?;
        let attachment = Arc::clone(&taker.attachment);
        drop(taker);
        Ok(Loan { publisher: self, attachment, taken: Some(taken), len, header_byte: 0 })
    }

    #[cold]
    fn wait_for_room(&self, len: usize, deadline: Deadline) -> Result<Loan<'_>, SendError> {
        let started = file::monotonic();
        loop {
            match self.take(len) {
                Err(TrySendError::Full) if deadline.remaining().is_none() => return Err(SendError::Timeout),
                Err(TrySendError::Full) if file::monotonic() - started < SPIN => std::hint::spin_loop(),
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

fn own_record(attachment: &Attachment) -> &PublisherRecord {
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

/// A slot on loan: its bytes are whatever they were, and become a message when it is sent. Dropping it sends nothing.
pub struct Loan<'a> {
    publisher: &'a ShmPublisher,
    attachment: Arc<Attachment>,
    /// `None` once sent.
    taken: Option<Taken>,
    len: usize,
    header_byte: u8,
}

impl Loan<'_> {
    /// Makes the message shorter; longer does nothing.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Sets the frame's header byte, which travels beside the payload; 0 unless set.
    pub fn header_byte(&mut self, byte: u8) {
        self.header_byte = byte;
    }

    /// Publishes the message. Returns its sequence in the ring.
    ///
    /// # Errors
    /// As [`ShmPublisher::send`]; nothing is published then.
    pub fn send(mut self) -> Result<u64, SendError> {
        self.commit(self.publisher.options.timeout)
    }

    fn commit(&mut self, timeout: Duration) -> Result<u64, SendError> {
        if self.publisher.is_forked() {
            return Err(SendError::Forked);
        }
        let mut deadline = None;
        loop {
            let taken = self.taken.ok_or(SendError::Disconnected)?;
            let sent = file::monotonic();
            self.write_record(&taken, sent);
            match self.attachment.ring().commit(taken.slot) {
                Ok(sequence) => {
                    self.taken = None;
                    self.finish(&taken, sequence, sent);
                    return Ok(sequence);
                }
                Err(CommitError::Corrupted) => return Err(SendError::Corrupted),
                Err(error) => {
                    let deadline = *deadline.get_or_insert_with(|| Deadline::after(timeout));
                    if error == CommitError::Sealed {
                        self.move_over(deadline)?;
                    } else if deadline.remaining().is_none() {
                        return Err(SendError::Timeout);
                    }
                }
            }
        }
    }

    /// What a reader needs to know about the slot. Seen with the commit.
    fn write_record(&self, taken: &Taken, sent: u64) {
        let record = self.attachment.record(taken.slot);
        record.offset.store(0, Relaxed);
        record.len.store(self.len as u64, Relaxed);
        record.publisher.store(self.publisher.id, Relaxed);
        record.sent.store(sent, Relaxed);
        record.header_byte.store(u64::from(self.header_byte), Relaxed);
    }

    fn finish(&self, taken: &Taken, sequence: u64, sent: u64) {
        self.attachment.ring().mark(taken, sequence);
        let membership = &self.attachment.membership;
        let fence = event_fence();
        membership.wake().wake_after(fence);
        // Other publishers may wait for this very slot to say whose message it has.
        membership.space().wake_after(fence);
        let statistics = own_record(&self.attachment);
        statistics.sent.fetch_add(1, Relaxed);
        statistics.bytes.fetch_add(self.len as u64, Relaxed);
        self.publisher.look_around(sent, &self.attachment);
    }

    /// The ring gave way to another one while we filled the slot: takes the bytes along.
    #[cold]
    fn move_over(&mut self, deadline: Deadline) -> Result<(), SendError> {
        let publisher = self.publisher;
        loop {
            publisher.taker().follow(&publisher.options)?;
            if !Arc::ptr_eq(&publisher.attachment(), &self.attachment) {
                break;
            }
            if deadline.remaining().is_none() {
                return Err(SendError::Timeout);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut loan = publisher.wait_for_room(self.len, deadline)?;
        loan.copy_from_slice(self);
        loan.header_byte = self.header_byte;
        // The old loan ends with the value that goes out of scope here.
        std::mem::swap(self, &mut loan);
        Ok(())
    }
}

impl Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let Some(taken) = self.taken else { return &[] };
        let first = self.attachment.payload(taken.slot, 0, self.len);
        // SAFETY: LOANED (shm/mod.rs): these bytes are ours alone until the loan ends; `len` is at most a slot's.
        unsafe { std::slice::from_raw_parts(first.as_ptr(), self.len) }
    }
}

impl DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        let Some(taken) = self.taken else { return &mut [] };
        let first = self.attachment.payload(taken.slot, 0, self.len);
        // SAFETY: LOANED (shm/mod.rs), and the mutable borrow of `self` keeps other borrows of the bytes away.
        unsafe { std::slice::from_raw_parts_mut(first.as_ptr(), self.len) }
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        let Some(taken) = self.taken.take() else { return };
        // A forked child's copy: the loan is the parent's.
        if self.publisher.is_forked() {
            return;
        }
        self.attachment.ring().abort(&taken);
        self.attachment.membership.space().wake_after(event_fence());
    }
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("len", &self.len).finish_non_exhaustive()
    }
}
