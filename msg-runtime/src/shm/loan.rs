//! A slot on loan: filled in place, and sent.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::attachment::Attachment;
use super::file;
use super::publisher::{ShmPublisher, own_record};
use super::ring::{CommitError, Taken};
use super::wait::{Deadline, event_fence};
use crate::error::SendError;

/// A slot on loan: its bytes are whatever they were, and become a message when it is sent. Dropping it sends nothing.
pub struct Loan<'a> {
    publisher: &'a ShmPublisher,
    attachment: Arc<Attachment>,
    /// `None` once sent.
    taken: Option<Taken>,
    len: usize,
    header_byte: u8,
    /// Publisher and number of a message that came from elsewhere.
    origin: Option<(u64, u64)>,
    /// Somebody else wakes the subscribers that sleep, or nobody does.
    wakes_nobody: bool,
}

impl<'a> Loan<'a> {
    pub(super) fn new(
        publisher: &'a ShmPublisher,
        attachment: Arc<Attachment>,
        taken: Taken,
        len: usize,
    ) -> Self {
        let wakes_nobody = publisher.options.wakes_nobody;
        Self { publisher, attachment, taken: Some(taken), len, header_byte: 0, origin: None, wakes_nobody }
    }
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

    /// The message came from elsewhere, from this publisher and with this number there.
    pub(crate) fn origin(&mut self, publisher: u64, sequence: u64) {
        self.origin = Some((publisher, sequence));
    }

    /// Publishes the message. Returns its sequence in the ring.
    ///
    /// # Errors
    /// As [`ShmPublisher::send`]; nothing is published then.
    pub fn send(mut self) -> Result<u64, SendError> {
        self.commit(self.publisher.options.timeout)
    }

    /// As [`send`](Self::send), with a timeout of its own: who may not wait gives none.
    pub(crate) fn send_timeout(mut self, timeout: Duration) -> Result<u64, SendError> {
        self.commit(timeout)
    }

    /// Leaves waking those who sleep to a later [`ShmPublisher::wake_subscribers`].
    pub(crate) fn wake_nobody(&mut self) {
        self.wakes_nobody = true;
    }

    pub(super) fn commit(&mut self, timeout: Duration) -> Result<u64, SendError> {
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
        let (publisher, number) = match self.origin {
            Some((publisher, sequence)) => (publisher, sequence.wrapping_add(1)),
            None => (self.publisher.id, 0),
        };
        record.publisher.store(publisher, Relaxed);
        record.origin.store(number, Relaxed);
        record.sent.store(sent, Relaxed);
        record.header_byte.store(u64::from(self.header_byte), Relaxed);
    }

    fn finish(&self, taken: &Taken, sequence: u64, sent: u64) {
        self.attachment.ring().mark(taken, sequence);
        let statistics = own_record(&self.attachment);
        statistics.sent.fetch_add(1, Relaxed);
        statistics.bytes.fetch_add(self.len as u64, Relaxed);
        if !self.wakes_nobody {
            self.publisher.wake_all(sent, &self.attachment);
        }
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
        (loan.header_byte, loan.origin) = (self.header_byte, self.origin);
        loan.wakes_nobody = self.wakes_nobody;
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
        if !self.publisher.options.wakes_nobody {
            self.attachment.membership.space().wake_after(event_fence());
        }
    }
}

/// A slot on loan whose bytes nobody has read or cleared: written first, it becomes a [`Loan`]. Dropping it sends nothing.
///
/// # Examples
///
/// ```
/// use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};
/// # let channel = format!("doc-uninit-{}", std::process::id());
/// let options = Options::new(&channel, "demo.Text");
/// let subscriber = ShmSubscriber::open(&options)?;
/// let publisher = ShmPublisher::open(&options)?;
/// let loan = publisher.loan_uninit(100)?;
/// let loan = loan.init(|bytes| bytes[..5].write_copy_of_slice(b"hello")); // what was written is the message
/// loan.send()?;
/// assert_eq!(&*subscriber.recv()?, b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LoanUninit<'a> {
    /// `None` once initialized.
    loan: Option<Loan<'a>>,
}

impl<'a> LoanUninit<'a> {
    pub(super) fn new(loan: Loan<'a>) -> Self {
        Self { loan: Some(loan) }
    }

    /// Lets `fill` write the message. What it returns, the slot or the front of it, is the proof that it did.
    ///
    /// # Panics
    /// If `fill` returns other bytes than the slot's. Nothing is sent then.
    pub fn init<F>(mut self, fill: F) -> Loan<'a>
    where
        F: for<'slot> FnOnce(&'slot mut [MaybeUninit<u8>]) -> &'slot mut [u8],
    {
        let (slot, room) = (self.as_ptr().addr(), self.len());
        let written = fill(&mut self);
        let (start, len) = (written.as_ptr().addr(), written.len());
        assert!(start == slot && len <= room, "`fill` returns the slot that it was given, or its front");
        let mut loan = self.loan.take().expect("only this takes it, and ends with it");
        loan.truncate(len);
        loan
    }
}

impl Deref for LoanUninit<'_> {
    type Target = [MaybeUninit<u8>];

    fn deref(&self) -> &[MaybeUninit<u8>] {
        let bytes: &[u8] = self.loan.as_deref().unwrap_or_default();
        // SAFETY: the same bytes, which ask for less than before and are only lent for reading.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
    }
}

impl DerefMut for LoanUninit<'_> {
    fn deref_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        let bytes: &mut [u8] = self.loan.as_deref_mut().unwrap_or_default();
        // SAFETY: the same bytes, lent uniquely. Uninitialized ones that are written here are never read: `init` has the
        // proof that they were written over, and `drop` writes over them. A loan that is forgotten ends when its
        // publisher does; from then on every publisher may have written the slot before we see it again.
        unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
    }
}

impl Drop for LoanUninit<'_> {
    fn drop(&mut self) {
        self.fill(MaybeUninit::new(0));
    }
}

impl fmt::Debug for LoanUninit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoanUninit").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("len", &self.len).finish_non_exhaustive()
    }
}
