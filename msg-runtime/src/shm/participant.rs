//! A handle's place in a segment: registration, who else lives, and what is done for the dead.
//!
//! Participant k is alive as long as some open file holds the lock on byte k of the readers file. The kernel frees it at
//! death, whatever the death was; no clock decides, and a stopped process is alive. Only a copy of the lock's file in
//! another process outlives its owner: so who holds a lock and whose process is known to have ended is dead as well
//! (see `process`).

use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;
use std::sync::atomic::AtomicU32 as PlainU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::attachment::Attachment;
use super::file::{self, Access, Mapping, Sight};
use super::fork::LockFile;
use super::layout::{LOCK_BYTES, MAX_PER_KIND, NAMES_BYTE, PARTICIPANTS, ReaderRecord, Readers};
use super::process::{Fate, Process, ProcessRecord};
use super::ring::free_record;
use super::segment::Names;
use super::wait::{EventCount, event_fence};
use super::watch::{Awaited, Watch};
use super::word::{Kind, Owner, State};
use crate::error::{Error, ErrorKind};

/// Which side a participant is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Subscriber,
    Publisher,
}

impl Role {
    /// The participants of this kind.
    pub(super) fn range(self) -> std::ops::Range<usize> {
        match self {
            Self::Subscriber => 0..MAX_PER_KIND,
            Self::Publisher => MAX_PER_KIND..PARTICIPANTS,
        }
    }

    /// How this kind maps the data file.
    pub(super) fn access(self) -> Access {
        match self {
            Self::Subscriber => Access::ReadOnly,
            Self::Publisher => Access::ReadWrite,
        }
    }

    pub(super) fn plural(self) -> &'static str {
        match self {
            Self::Subscriber => "subscribers",
            Self::Publisher => "publishers",
        }
    }
}

/// Who holds the locks of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Company {
    Living,
    /// Nobody but processes that end, and copies.
    Ending,
    /// Nobody but copies, whose owners are dead.
    Copies,
}

/// Looks at those who hold a lock on a readers file; a lock whose owner is not known counts as a living one.
pub(super) fn company(lock: &File) -> io::Result<Company> {
    let own = Process::own();
    let mut company = Company::Copies;
    for byte in 0..=NAMES_BYTE {
        if file::locked_bytes(lock, byte)? == 0 {
            continue;
        }
        let mut record = [0; size_of::<ProcessRecord>()];
        if byte < PARTICIPANTS {
            let offset = offset_of!(Readers, processes) + byte * record.len();
            lock.read_exact_at(&mut record, offset as u64)?;
        }
        match Process::from_bytes(record).fate(own) {
            Fate::Living => return Ok(Company::Living),
            Fate::Ending => company = Company::Ending,
            Fate::Gone => {}
        }
    }
    Ok(company)
}

/// A participant from registration to leaving. Whoever borrows a message keeps it alive.
#[derive(Debug)]
pub(super) struct Membership {
    pub(super) role: Role,
    /// 0 to 127, subscribers first.
    pub(super) index: usize,
    pub(super) names: Names,
    /// Bit k: hold k of our record is in use. Private to the process.
    pub(super) held: PlainU32,
    own: Process,
    readers: Arc<Mapping>,
    /// Last: its lock is what makes us alive.
    pub(super) lock: LockFile,
}

impl Membership {
    /// For a participant whose byte `lock` holds already.
    pub(super) fn new(role: Role, index: usize, names: Names, readers: Mapping, lock: LockFile) -> Self {
        let own = Process::own();
        let readers = Arc::new(readers);
        let membership = Self { role, index, names, held: PlainU32::new(0), own, readers, lock };
        // Before the state becomes active, so that whoever sees the state sees whose it is.
        own.store(&membership.readers().processes[index]);
        membership
    }

    #[inline]
    pub(super) fn readers(&self) -> &Readers {
        &self.readers.words::<Readers>(0, 1)[0]
    }

    #[inline]
    pub(super) fn record(&self) -> &ReaderRecord {
        &self.readers().records[self.index]
    }

    /// Counts messages; subscribers sleep on it.
    #[inline]
    pub(super) fn wake(&self) -> EventCount<'_> {
        EventCount(&self.readers().wake.0)
    }

    /// Counts slots that became available; publishers sleep on it.
    #[inline]
    pub(super) fn space(&self) -> EventCount<'_> {
        EventCount(&self.readers().space.0)
    }

    /// Announces a sleeper that lets somebody else sleep for it.
    pub(super) fn watch(&self, awaited: Awaited, longest: Duration) -> Watch {
        Watch::announce(&self.readers, awaited, longest)
    }

    pub(super) fn wake_everybody(&self) {
        let fence = event_fence();
        self.wake().wake_after(fence);
        self.space().wake_after(fence);
    }

    /// Whether a participant lives whose state the caller has read. Our own lock looks free through our own file; if
    /// the system cannot say, it does.
    pub(super) fn is_alive(&self, participant: usize) -> bool {
        let locked = || file::locked_bytes(&self.lock, participant).map_or(true, |bytes| bytes > 0);
        // Of whoever has taken the place since, the state differs from the one that the caller acts on.
        let process = || Process::load(&self.readers().processes[participant]);
        participant == self.index || (locked() && process().fate(self.own) != Fate::Gone)
    }

    /// Living participants of a kind; who was evicted takes part no longer.
    pub(super) fn count(&self, role: Role) -> usize {
        let takes_part = |index: usize| matches!(self.state(index).kind(), Kind::Lossless | Kind::Latest);
        role.range().filter(|index| takes_part(*index) && self.is_alive(*index)).count()
    }

    pub(super) fn lock_memory(&self) -> std::io::Result<()> {
        self.readers.lock()
    }

    fn state(&self, participant: usize) -> State {
        State(self.readers().states[participant].load(super::sync::Ordering::Acquire))
    }

    /// Whether the readers file still has its name, for certain: enough to change names.
    pub(super) fn is_named(&self) -> bool {
        let metadata = self.lock.metadata();
        metadata.is_ok_and(|found| file::is_named(&self.names.readers, file::identity(&found)))
    }

    /// Whether one of the files lost its name, for certain: enough to send everybody away.
    ///
    /// Names are this process's own view: after a `chroot`, in another mount namespace, or when a look fails, they say
    /// nothing. How many names the open readers file has is the same for all; and only who sees that file by its name
    /// looks at the right place for the other one.
    pub(super) fn is_cut_off(&self, data: (u64, u64)) -> bool {
        let Ok(readers) = self.lock.metadata() else { return false };
        if readers.nlink() == 0 {
            return true;
        }
        match file::look(&self.names.readers, file::identity(&readers)) {
            Sight::Same => matches!(file::look(&self.names.data, data), Sight::Other | Sight::Nothing),
            Sight::Other => true,
            Sight::Nothing | Sight::Unclear => false,
        }
    }

    /// Takes the right to change the files' names, unless somebody has it.
    pub(super) fn try_lock_names(&self) -> bool {
        file::try_lock(&self.lock, NAMES_BYTE, 1).unwrap_or(false)
    }

    pub(super) fn unlock_names(&self) {
        // Failing would mean that the descriptor is no longer ours; there is nothing left to unlock then.
        let _ = file::unlock(&self.lock, NAMES_BYTE, 1);
    }

    /// If nobody else is here, removes the files. Two who leave at once must not rely on each other: each looks a
    /// second time without its own lock, and one of these looks is the last.
    fn remove_files_if_last(&self) {
        let all = || file::try_lock(&self.lock, 0, LOCK_BYTES).unwrap_or(false);
        let last = all() || (file::unlock(&self.lock, 0, LOCK_BYTES).is_ok() && all());
        if last && self.is_named() {
            // What cannot be removed is replaced by whoever opens the ring next.
            let _ = self.names.unlink();
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        // A forked child's copy: the place is the parent's.
        if self.lock.is_forked() {
            return;
        }
        free_record(&self.readers().states[self.index]);
        self.wake_everybody();
        self.remove_files_if_last();
    }
}

impl Attachment {
    /// Frees the records of those who died, and if we publish, what they had on loan. Returns whether anything changed.
    pub(super) fn repair(&self) -> bool {
        let (ring, membership) = (self.ring(), &self.membership);
        let mut changed = false;
        for participant in 0..PARTICIPANTS {
            let state = membership.state(participant);
            if state.kind() != Kind::Free && !membership.is_alive(participant) {
                changed |= ring.retire_incarnation(participant, state);
            }
        }
        if membership.role == Role::Publisher {
            changed |= ring.repair(|owner| self.is_dead(owner));
        }
        if changed {
            membership.space().wake_after(event_fence());
        }
        changed
    }

    /// As `repair`, unless somebody has done so in the last `every` nanoseconds: of many publishers that wait for room,
    /// one looks for all. It asks the system about each participant, which 64 at once must not.
    pub(super) fn repair_for_all(&self, now: u64, every: u64) -> bool {
        let looked = &self.membership.readers().looked;
        let last = looked.load(Relaxed);
        // A time that has not come yet is garbage, or by the clock of another time namespace.
        let recently = last <= now && now - last < every;
        if recently || looked.compare_exchange(last, now, Relaxed, Relaxed).is_err() {
            return false;
        }
        self.repair()
    }

    /// Whether no publisher can come to wait for a latest-only subscriber, counting those who are about to publish.
    ///
    /// Such a subscriber pins two slots at most: a sample that is kept, and what it copies meanwhile. Beside them are
    /// the newest message and a loan of each publisher.
    ///
    /// # Errors
    /// `NoRoom`, with the number of slots that would do.
    pub(super) fn check_room(&self, slots: usize, more_publishers: usize) -> Result<(), Error> {
        let membership = &self.membership;
        let is_latest =
            |index: &usize| membership.state(*index).kind() == Kind::Latest && membership.is_alive(*index);
        let latest = Role::Subscriber.range().filter(is_latest).count();
        let publishers = membership.count(Role::Publisher) + more_publishers;
        let needed = 2 * latest + publishers.max(1) + 1;
        if latest == 0 || needed <= slots {
            return Ok(());
        }
        let text = format!(
            "{} has {slots} slots, and {latest} latest-only subscribers with {publishers} publishers need {needed}: \
             write `slots={needed}` or more",
            membership.names.label
        );
        Err(Error::new(ErrorKind::NoRoom, text))
    }

    /// Evicts the subscribers whose oldest unread message is older than the ring allows. Returns whether there were any.
    pub(super) fn evict_late(&self) -> bool {
        let Some(patience) = self.evict else { return false };
        let (ring, now) = (self.ring(), file::monotonic());
        let is_late = |index: &usize| {
            let unread = ring.oldest_unread(*index);
            let sent = unread.map(|slot| self.record(slot).sent.load(Relaxed));
            sent.is_some_and(|sent| u128::from(now.saturating_sub(sent)) > patience.as_nanos())
        };
        let late: Vec<usize> = Role::Subscriber.range().filter(is_late).collect();
        late.iter().for_each(|index| ring.evict(*index));
        !late.is_empty()
    }

    /// Whether a loan's owner is gone: by now its record belongs to another incarnation or to nobody.
    fn is_dead(&self, owner: Owner) -> bool {
        let state = self.membership.state(owner.participant);
        state.kind() == Kind::Free || Owner::new(owner.participant, state.generation()) != owner
    }

    /// Samples that the handle has given out and that still live.
    pub(super) fn samples_held(&self) -> u32 {
        self.membership.held.load(Relaxed)
    }
}
