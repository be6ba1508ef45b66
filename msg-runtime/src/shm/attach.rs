//! Opening a ring: finding its files or making them, taking a place, and moving over when a ring gives way to another.
//!
//! Everything here may meet others who do the same at the same time, or who died in the middle of it. Each attempt
//! either succeeds, fails for a reason that stays, or finds that the files changed under its hands and starts over.
//!
//! ```text
//! no readers file            make both, link readers, then data
//! nobody holds a lock        all are dead: unlink, start over
//! only copies of locks left  all are dead: unlink, start over
//! all were killed just now   wait until they are dead, start over
//! no byte of our kind free   refused, unless somebody is removing the files: start over
//! data missing or not theirs somebody is making or removing it; if nobody is, unlink, start over
//! another type               refused, unless the options' check accepts it
//! another geometry           refused, unless nothing was published and nobody insists: seal, replace the data file
//! ```
//!
//! Replacing the data file keeps the readers file, and with it every subscriber's place: what is published in the new
//! ring waits for them, however long they take to look.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::attachment::Attachment;
use super::file::{self, Access, Mapping};
use super::fork::LockFile;
use super::layout::{LOCK_BYTES, NAMES_BYTE, REMOVAL_BYTE, Readers};
use super::options::Options;
use super::participant::{self, Company, Membership, Role};
use super::segment::{self, HeadError, Header, Names, SegmentId};
use super::sync::Ordering;
use super::wait::event_fence;
use super::wish::Wish;
use super::word::{Kind, State};
use crate::error::{Error, ErrorKind};

/// How long opening goes on while the files keep changing.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long opening waits for those who are ending: a killed process frees its memory before its locks.
const PATIENCE_WITH_THE_DYING: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(1);

/// An open ring, and what we are registered as.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) attachment: Attachment,
    pub(super) state: State,
    /// A subscriber's first sequence.
    pub(super) cursor: u64,
}

/// Opens a ring for reading or publishing.
pub(super) fn open(options: &Options, role: Role) -> Result<Opened, Error> {
    let waits_until = Instant::now() + PATIENCE_WITH_THE_DYING;
    let opening = Opening { options, role, names: Names::new(options)?, waits_until };
    segment::plan(options, opening.geometry_of_new(), [0; 16])?;
    opening.names.make_directory()?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(opened) = opening.attempt()? {
            return Ok(opened);
        }
        if Instant::now() >= deadline {
            let text = format!(
                "{}: the files were being changed for {} s; a stopped process may be in the middle of it: \
                 continue or end it",
                opening.names.label,
                PATIENCE.as_secs()
            );
            return Err(Error::new(ErrorKind::Io, text));
        }
        std::thread::sleep(PAUSE);
    }
}

/// Moves to the ring that a sealed one gave way to. `None`: it is not there yet.
///
/// # Errors
/// The files are another segment's by now, or are not what this handle was opened for.
pub(super) fn follow(options: &Options, old: &Attachment) -> Result<Option<Attachment>, Error> {
    let membership = &old.membership;
    let (role, names) = (membership.role, membership.names.clone());
    let opening = Opening { options, role, names, waits_until: Instant::now() };
    let Some((file, header)) = opening.data(membership, old.segment)? else { return Ok(None) };
    opening.check(&header)?;
    opening.check_shape(header.layout.geometry, header.evict)?;
    let found = opening.map(Arc::clone(membership), &file, header)?;
    if found.identity != old.identity {
        return Ok(Some(found));
    }
    // Whoever sealed it died before the other ring had the name.
    opening.replace(&found, opening.wished(&found))
}

/// One handle's wish to take part.
pub(super) struct Opening<'a> {
    pub(super) options: &'a Options,
    role: Role,
    pub(super) names: Names,
    /// Until then, a segment of processes that are ending is not entered.
    waits_until: Instant,
}

impl Opening<'_> {
    fn io_error(&self, what: &str, error: std::io::Error) -> Error {
        self.names.io_error(what, &self.names.readers, error)
    }

    /// One attempt; `None`: start over.
    fn attempt(&self) -> Result<Option<Opened>, Error> {
        let Some(lock) = self.open_readers()? else { return self.create() };
        if !self.is_in_company(&lock)? {
            return Ok(None);
        }
        let Some(index) = self.take_place(&lock)? else { return Ok(None) };
        let segment = segment::read_readers_head(&lock)
            .map_err(|error| error.explain(&self.names, &self.names.readers))?;
        let membership = self.membership(lock, index)?;
        // Only now that nobody can find us dead: is this still the ring that others will find?
        let removed = file::locked_bytes(&membership.lock, REMOVAL_BYTE);
        let removed = removed.map_err(|error| self.io_error("look at the locks of", error))? > 0;
        if removed || !membership.is_named() {
            return Ok(None);
        }
        let Some((file, header)) = self.data(&membership, segment)? else { return Ok(None) };
        self.enter(membership, &file, header)
    }

    /// Whether somebody takes part in the segment. If not, it is removed; if all are about to end, they are waited for.
    fn is_in_company(&self, lock: &LockFile) -> Result<bool, Error> {
        let failed = |error| self.io_error("look at the locks of", error);
        if file::try_lock(lock, 0, LOCK_BYTES).map_err(failed)? {
            self.remove_leftovers(lock)?;
            return Ok(false);
        }
        match participant::company(lock).map_err(failed)? {
            Company::Living => Ok(true),
            Company::Ending => Ok(Instant::now() >= self.waits_until),
            Company::Copies => {
                // A second look, now that whoever takes a place sees that we may be removing it.
                if file::try_lock(lock, REMOVAL_BYTE, 1).map_err(failed)?
                    && participant::company(lock).map_err(failed)? == Company::Copies
                {
                    self.remove_leftovers(lock)?;
                }
                Ok(false)
            }
        }
    }

    fn open_readers(&self) -> Result<Option<LockFile>, Error> {
        let path = &self.names.readers;
        let opened = LockFile::open(|| {
            file::open(path, Access::ReadWrite)?.ok_or_else(|| std::io::ErrorKind::NotFound.into())
        });
        let lock = match opened {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|error| self.io_error("open", error))?,
        };
        let metadata = lock.metadata().map_err(|error| self.io_error("look at", error))?;
        self.names.check_owner(path, &metadata)?;
        Ok(Some(lock))
    }

    fn membership(&self, lock: LockFile, index: usize) -> Result<Arc<Membership>, Error> {
        // Through another open file: a mapping keeps its open file, and thereby its locks, alive in a forked child.
        let readers = file::reopen(&lock, Access::ReadWrite)
            .and_then(|file| Mapping::new(&file, size_of::<Readers>(), Access::ReadWrite));
        let readers = readers.map_err(|error| self.io_error("map", error))?;
        Ok(Arc::new(Membership::new(self.role, index, self.names.clone(), readers, lock)))
    }

    /// Removes the files of a segment whose participants are all dead; the caller has locked out everybody else.
    fn remove_leftovers(&self, lock: &LockFile) -> Result<(), Error> {
        let metadata = lock.metadata().map_err(|error| self.io_error("look at", error))?;
        if !file::is_named(&self.names.readers, file::identity(&metadata)) {
            return Ok(());
        }
        if let Err(HeadError::Foreign) = segment::read_readers_head(lock) {
            return Err(HeadError::Foreign.explain(&self.names, &self.names.readers));
        }
        self.refuse_foreign_data()?;
        self.names.unlink()
    }

    /// An error if something that is not ours has the data file's name.
    fn refuse_foreign_data(&self) -> Result<(), Error> {
        let path = &self.names.data;
        let Some(found) = segment::open_checked(&self.names, path, Access::ReadOnly)? else { return Ok(()) };
        match Header::read(&found) {
            Err(HeadError::Foreign) => Err(HeadError::Foreign.explain(&self.names, path)),
            _ => Ok(()),
        }
    }

    /// Locks the first free byte of our kind; `None`: somebody is, or was, removing the files.
    fn take_place(&self, lock: &LockFile) -> Result<Option<usize>, Error> {
        for byte in self.role.range() {
            if file::try_lock(lock, byte, 1).map_err(|error| self.io_error("lock", error))? {
                return Ok(Some(byte));
            }
        }
        // Whoever leaves last locks all bytes for a moment, and looks like a crowd. Only places that are locked one by
        // one are taken.
        for byte in self.role.range() {
            let locked = file::locked_bytes(lock, byte);
            if locked.map_err(|error| self.io_error("look at the locks of", error))? != 1 {
                return Ok(None);
            }
        }
        let (label, plural, most) = (&self.names.label, self.role.plural(), self.role.range().len());
        let text = format!("{label} has {most} {plural} already, the most there can be: close one");
        Err(Error::new(ErrorKind::NoRoom, text))
    }

    /// Makes a segment of our own; `None`: somebody else was faster.
    fn create(&self) -> Result<Option<Opened>, Error> {
        self.refuse_foreign_data()?;
        let id = file::random().map_err(|error| self.io_error("make an id for", error))?;
        let header = segment::plan(self.options, self.geometry_of_new(), id)?;
        let lock = LockFile::open(|| segment::make_readers(&self.names, id))
            .map_err(|error| segment::creation_error(&self.names, size_of::<Readers>() as u64, error))?;
        let index = self.role.range().start;
        for byte in [index, NAMES_BYTE] {
            file::try_lock(&lock, byte, 1).map_err(|error| self.io_error("lock", error))?;
        }
        // First all that can fail while nothing has a name.
        let membership = self.membership(lock, index)?;
        match file::link(&membership.lock, &self.names.readers) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(None),
            other => other.map_err(|error| self.io_error("create", error))?,
        }
        // From here on the names are ours; leaving the membership removes them again.
        let file = segment::make_data(&self.names, &header)?;
        self.link_data(&file)?;
        membership.unlock_names();
        self.enter(membership, &self.as_found(&file)?, header)
    }

    /// Gives a data file its name. One that has it has lost its readers file: nobody finds its participants.
    fn link_data(&self, file: &File) -> Result<(), Error> {
        let path = &self.names.data;
        let failed = |error| self.names.io_error("create", path, error);
        match file::link(file, path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                self.refuse_foreign_data()?;
                file::unlink(path).map_err(failed)?;
                file::link(file, path).map_err(failed)
            }
            other => other.map_err(failed),
        }
    }

    /// A data file that we made, opened as if we had found it: through a file that is open for writing, a mapping for
    /// reading could be made one for writing.
    fn as_found(&self, file: &File) -> Result<File, Error> {
        file::reopen(file, self.role.access())
            .map_err(|error| self.names.io_error("open", &self.names.data, error))
    }

    /// The data file that goes with our readers file. `None`: start over.
    fn data(&self, membership: &Membership, segment: SegmentId) -> Result<Option<(File, Header)>, Error> {
        let (path, access) = (&self.names.data, self.role.access());
        if let Some(file) = segment::open_checked(&self.names, path, access)? {
            let header = Header::read(&file).map_err(|error| error.explain(&self.names, path))?;
            if header.segment == segment {
                return Ok(Some((file, header)));
            }
        }
        // Somebody is at it; or nobody is, and one of the files was removed by hand.
        if membership.try_lock_names() {
            let abandoned = membership.is_named() && !self.is_whole(segment);
            let removed = if abandoned { self.names.unlink() } else { Ok(()) };
            membership.unlock_names();
            removed?;
        }
        Ok(None)
    }

    /// Whether the data file that has the name now is this segment's.
    fn is_whole(&self, segment: SegmentId) -> bool {
        let found = file::open(&self.names.data, Access::ReadOnly).ok().flatten();
        found.is_some_and(|file| Header::read(&file).is_ok_and(|header| header.segment == segment))
    }

    fn enter(
        &self,
        membership: Arc<Membership>,
        file: &File,
        header: Header,
    ) -> Result<Option<Opened>, Error> {
        self.check(&header)?;
        let mut attachment = self.map(membership, file, header)?;
        let wished = self.wished(&attachment);
        let unwanted = self.role == Role::Publisher
            && !wished.is_met_by(&attachment)
            && attachment.ring().is_untouched();
        if unwanted {
            // Before those who are here are moved to a ring in which we have no room.
            attachment.check_room(wished.geometry.slots, 1)?;
        }
        if unwanted || attachment.ring().is_sealed() {
            match self.replace(&attachment, wished)? {
                Some(replaced) => attachment = replaced,
                // Somebody published in it, and it stays.
                None if !attachment.ring().is_untouched() => {}
                None => return Ok(None),
            }
        }
        self.check_shape(attachment.layout.geometry, attachment.evict)?;
        let Options { slots, slot_bytes, evict, .. } = self.options;
        if slots.is_some() || slot_bytes.is_some() || evict.is_some() {
            attachment.membership.readers().flags.named.store(1, Ordering::Release);
        }
        self.register(attachment)
    }

    fn register(&self, attachment: Attachment) -> Result<Option<Opened>, Error> {
        let index = attachment.membership.index;
        let kind = if self.options.latest_only { Kind::Latest } else { Kind::Lossless };
        let (cursor, state) = match self.role {
            Role::Publisher => (0, attachment.ring().enlist(index)),
            Role::Subscriber => match attachment.ring().join(index, kind) {
                Some(joined) => joined,
                None => return Ok(None),
            },
        };
        attachment.repair();
        // Only now that whoever comes next counts us; leaving takes it back.
        let slots = attachment.layout.geometry.slots;
        attachment.check_room(slots, 0)?;
        // Whoever waits for subscribers looks again.
        attachment.membership.space().wake_after(event_fence());
        Ok(Some(Opened { attachment, state, cursor }))
    }

    /// Maps a data file, and locks what is mapped if that is asked for.
    fn map(&self, membership: Arc<Membership>, file: &File, header: Header) -> Result<Attachment, Error> {
        let attachment = Attachment::new(membership, file, header)?;
        if self.options.locks_memory {
            attachment.lock_memory()?;
        }
        Ok(attachment)
    }
}

/// Replacing the data file.
impl Opening<'_> {
    /// Puts another data file in the place of one in which nothing was published. `None`: something was, or somebody
    /// else is changing the files.
    fn replace(&self, old: &Attachment, wish: Wish) -> Result<Option<Attachment>, Error> {
        let membership = &old.membership;
        if !membership.try_lock_names() {
            return Ok(None);
        }
        let Wish { geometry, evict, description } = wish;
        let options = Options { evict, description, ..self.options.clone() };
        let replaced = segment::plan(&options, geometry, old.segment).and_then(|header| {
            let named = membership.is_named() && file::is_named(&self.names.data, old.identity);
            if named { self.replace_locked(old, header) } else { Ok(None) }
        });
        membership.unlock_names();
        replaced
    }

    fn replace_locked(&self, old: &Attachment, header: Header) -> Result<Option<Attachment>, Error> {
        // First all that can fail: a sealed ring without a successor serves nobody.
        let file = segment::make_data(&self.names, &header)?;
        let sealed = old.ring().is_sealed() || (self.role == Role::Publisher && old.ring().seal());
        if !sealed {
            return Ok(None);
        }
        let (fresh, data) = (&self.names.fresh, &self.names.data);
        let renamed = file::unlink(fresh)
            .and_then(|()| file::link(&file, fresh))
            .and_then(|()| std::fs::rename(fresh, data));
        renamed.map_err(|error| self.names.io_error("replace", data, error))?;
        // Subscribers that sleep move over; those that do not, when they look next.
        old.membership.wake_everybody();
        self.map(Arc::clone(&old.membership), &self.as_found(&file)?, header).map(Some)
    }
}
