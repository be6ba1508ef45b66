//! Looking at the rings of a channel without taking part in them.
//!
//! Files are read, and nothing is mapped, written or locked. What is no segment of ours, damaged, half-made or about to
//! go is passed over: the files belong to those who use them.

use std::fs::File;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;

use super::file::{self, Access};
use super::layout::{MAX_PER_KIND, PARTICIPANTS, PublisherRecord, ReaderRecord, ReaderStatistics, Readers};
use super::options::{Description, Options};
use super::process::{Fate, Process, ProcessRecord};
use super::segment::{self, Header, Names};
use super::word::{Kind, State};
use crate::error::Error;

/// A ring that somebody has open.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Its topic.
    pub topic: String,
    /// What its messages are, as far as somebody said.
    pub description: Description,
    /// Who takes part, subscribers first.
    pub participants: Vec<Participant>,
}

/// A publisher or subscriber of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Participant {
    /// A publisher; otherwise a subscriber.
    pub publishes: bool,
    /// Its process, unless it is one of another container.
    pub pid: Option<u32>,
    /// Messages that it has sent or received.
    pub messages: u64,
    /// Their bytes in the ring.
    pub bytes: u64,
}

/// All rings of the options' channel that somebody has open, whatever topic the options name. Disturbs nobody.
///
/// # Errors
/// A channel or group that is not allowed, or a directory that cannot be read.
///
/// # Examples
///
/// ```
/// use msg_runtime::shm::{self, Options, ShmPublisher};
/// # let channel = format!("doc-list-{}", std::process::id());
/// let options = Options::new(&channel, "demo.Text");
/// let publisher = ShmPublisher::open(&options)?;
/// publisher.send(b"three")?;
/// let [ring] = &shm::list(&options)?[..] else { panic!("there is one ring") };
/// assert_eq!((&*ring.topic, ring.participants.len()), ("demo.Text", 1));
/// assert_eq!((ring.participants[0].messages, ring.participants[0].bytes), (1, 5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn list(options: &Options) -> Result<Vec<Listed>, Error> {
    let names = Names::new(options)?;
    let Some(stem) = names.stem() else { return Ok(Vec::new()) };
    let entries = match std::fs::read_dir(&names.directory) {
        Ok(entries) => entries,
        // Nobody of the group has made it yet.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(names.io_error("look into", &names.directory, error)),
    };
    let mut found: Vec<Listed> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?;
            if !name.starts_with(&stem) || !name.ends_with(".data") {
                return None;
            }
            look(options, &names.with_data(path))
        })
        .collect();
    found.sort_by(|a, b| a.topic.cmp(&b.topic));
    Ok(found)
}

/// What there is to see of a segment; `None`: it is none, or nobody has it open.
fn look(options: &Options, found: &Names) -> Option<Listed> {
    let data = segment::open_checked(found, &found.data, Access::ReadOnly).ok()??;
    let header = Header::read(&data).ok()?;
    let names = Names::new(&Options { topic: header.topic.clone(), ..options.clone() }).ok()?;
    // A file that somebody renamed is nobody's ring.
    if names.data != found.data {
        return None;
    }
    let readers = segment::open_checked(&names, &names.readers, Access::ReadOnly).ok()??;
    if segment::read_readers_head(&readers).ok()? != header.segment {
        return None;
    }
    let own = Process::own();
    let seen = |index| participant(&data, &readers, &header, index, own);
    let participants: Vec<Participant> = (0..PARTICIPANTS).filter_map(seen).collect();
    if participants.is_empty() {
        return None;
    }
    Some(Listed { topic: header.topic, description: header.description, participants })
}

/// What a participant says of itself, if it lives.
fn participant(
    data: &File,
    readers: &File,
    header: &Header,
    index: usize,
    own: Process,
) -> Option<Participant> {
    let locked = file::locked_bytes(readers, index).ok()? > 0;
    let state = State(read_word(readers, offset_of!(Readers, states) + 8 * index)?);
    if !locked || !matches!(state.kind(), Kind::Lossless | Kind::Latest) {
        return None;
    }
    let mut record = [0; size_of::<ProcessRecord>()];
    let at = offset_of!(Readers, processes) + index * record.len();
    readers.read_exact_at(&mut record, at as u64).ok()?;
    let process = Process::from_bytes(record);
    if process.fate(own) == Fate::Gone {
        return None;
    }
    let publishes = index >= MAX_PER_KIND;
    let (file, messages, bytes) = if publishes {
        let record = header.layout.publishers + size_of::<PublisherRecord>() * (index - MAX_PER_KIND);
        (data, record + offset_of!(PublisherRecord, sent), record + offset_of!(PublisherRecord, bytes))
    } else {
        let record = offset_of!(Readers, records) + size_of::<ReaderRecord>() * index;
        let figures = record + offset_of!(ReaderRecord, statistics);
        let (received, bytes) = (offset_of!(ReaderStatistics, received), offset_of!(ReaderStatistics, bytes));
        (readers, figures + received, figures + bytes)
    };
    Some(Participant {
        publishes,
        pid: process.number(own),
        messages: read_word(file, messages)?,
        bytes: read_word(file, bytes)?,
    })
}

fn read_word(file: &File, offset: usize) -> Option<u64> {
    let mut word = [0; 8];
    file.read_exact_at(&mut word, offset as u64).ok()?;
    Some(u64::from_ne_bytes(word))
}
