//! The files of a segment: their names, their making, what their heads say, their end.
//!
//! Both files are made without a name, written whole, and then linked into place, the data file last: nobody ever
//! sees a half-made one, and whoever dies before that leaves nothing. Names change only under the lock of the readers
//! file's byte 128 (`NAMES_BYTE`), which the kernel frees when its holder dies.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::file::{self, Access};
use super::group;
use super::layout::{
    DataHeader, DataLayout, Geometry, MAGIC, MAX_HEADER_BYTES, PARTICIPANTS, Readers, VERSION, checksum,
    readers_head,
};
use super::options::{Description, Options};
use super::word::MAX_SLOTS;
use crate::error::{Error, ErrorKind};

/// Random, and the same in both files.
pub(super) type SegmentId = [u8; 16];

/// The paths of a segment, and who may use its files.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The channel and topic as an error says them.
    pub(super) label: String,
    pub(super) directory: PathBuf,
    pub(super) data: PathBuf,
    /// A data file on its way to replace the other.
    pub(super) fresh: PathBuf,
    pub(super) readers: PathBuf,
    group: Option<u32>,
}

impl Names {
    /// # Errors
    /// `InvalidTopic` for a bad channel or topic; `PermissionDenied` for a group that does not exist.
    pub(super) fn new(options: &Options) -> Result<Self, Error> {
        let Options { channel, topic, directory, .. } = options;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if !(1..=64).contains(&channel.len()) || !channel.bytes().all(allowed) {
            let text = format!("channel `{channel}` found, expected 1 to 64 of `A-Z a-z 0-9 _ -`");
            return Err(Error::new(ErrorKind::InvalidTopic, text));
        }
        if !(1..=255).contains(&topic.len()) {
            let text = format!("topic `{topic}` has {} bytes, expected 1 to 255", topic.len());
            return Err(Error::new(ErrorKind::InvalidTopic, text));
        }
        let group = options.group.as_deref().map(group_id).transpose()?;
        let owner = group.map_or_else(|| format!("u{}", file::user_id()), |group| format!("g{group}"));
        let directory = group.map_or_else(|| directory.clone(), |group| group::directory(directory, group));
        let stem = format!("msg.{owner}.{channel}.{:032x}", fnv128(topic.as_bytes()));
        let path = |end: &str| directory.join(format!("{stem}.{end}"));
        Ok(Self {
            label: format!("channel `{channel}`, topic `{topic}`"),
            data: path("data"),
            fresh: path("data.new"),
            readers: path("readers"),
            directory,
            group,
        })
    }

    /// Makes the directory of the group, if there is one, and refuses one that others could have put there.
    pub(super) fn make_directory(&self) -> Result<(), Error> {
        let (path, Some(group)) = (&self.directory, self.group) else { return Ok(()) };
        group::make_directory(path, group).map_err(|error| self.io_error("create", path, error))?;
        let found = path.symlink_metadata().map_err(|error| self.io_error("look at", path, error))?;
        let Some(complaint) = group::complaint(&found, group) else { return Ok(()) };
        let text = format!("`{}` {complaint}; remove it, or have its owner do so", path.display());
        Err(Error::new(ErrorKind::PermissionDenied, text))
    }

    /// Refuses a file that others could have put there.
    pub(super) fn check_owner(&self, path: &Path, found: &Metadata) -> Result<(), Error> {
        let refuse = |what: String| {
            let text = format!("`{}` {what}; remove it or use another channel", path.display());
            Err(Error::new(ErrorKind::PermissionDenied, text))
        };
        if !found.is_file() {
            return refuse("is not a regular file".into());
        }
        if found.mode() & 0o002 != 0 {
            return refuse("may be written by everybody".into());
        }
        match self.group {
            None if found.uid() != file::user_id() => refuse(format!("belongs to user {}", found.uid())),
            Some(group) if found.gid() != group => refuse(format!("belongs to group {}", found.gid())),
            _ => Ok(()),
        }
    }

    /// The permissions of both files.
    fn mode(&self) -> u32 {
        if self.group.is_some() { 0o660 } else { 0o600 }
    }

    /// An error of the system about one of the files.
    pub(super) fn io_error(&self, what: &str, path: &Path, error: io::Error) -> Error {
        let kind = match error.kind() {
            io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
            _ if error.raw_os_error() == Some(libc::ELOOP) => ErrorKind::PermissionDenied,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::NoSpace,
            _ => ErrorKind::Io,
        };
        let text = format!("{}: cannot {what} `{}`", self.label, path.display());
        Error::new(kind, text).with_source(error)
    }

    /// What the data files of all topics of the channel are called, but for the topic's number and what follows it.
    pub(super) fn stem(&self) -> Option<String> {
        let name = self.data.file_name()?.to_str()?;
        name.rsplitn(3, '.').last().map(|stem| format!("{stem}."))
    }

    /// The same segment, as far as who may use it, with another data file.
    pub(super) fn with_data(&self, data: PathBuf) -> Self {
        Self { data, ..self.clone() }
    }

    /// Removes all names. The caller holds the right to.
    pub(super) fn unlink(&self) -> Result<(), Error> {
        for path in [&self.data, &self.fresh, &self.readers] {
            file::unlink(path).map_err(|error| self.io_error("remove", path, error))?;
        }
        Ok(())
    }
}

fn group_id(name: &str) -> Result<u32, Error> {
    let unknown = || Error::new(ErrorKind::PermissionDenied, format!("group `{name}` does not exist"));
    file::group_id(name).map_err(|error| unknown().with_source(error))?.ok_or_else(unknown)
}

/// 128-bit FNV-1a.
fn fnv128(bytes: &[u8]) -> u128 {
    let step = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(0x1000000000000000000013b);
    bytes.iter().fold(0x6c62272e07bb014262b821756295c58d, step)
}

/// What a data file's head says, checked.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) segment: SegmentId,
    pub(super) layout: DataLayout,
    /// How old what a subscriber has not received may be when the ring is full.
    pub(super) evict: Option<Duration>,
    pub(super) topic: String,
    pub(super) description: Description,
}

/// Why a file's head was not believed.
#[derive(Debug)]
pub(super) enum HeadError {
    /// Not one of ours at all.
    Foreign,
    /// Of another layout version.
    Version(u32),
    /// One of ours once.
    Damaged,
    Io(io::Error),
}

impl HeadError {
    pub(super) fn explain(self, names: &Names, path: &Path) -> Error {
        let shown = path.display();
        match self {
            Self::Foreign => Error::new(
                ErrorKind::Corrupted,
                format!("`{shown}` is not a segment of ours: move it away or use another channel"),
            ),
            Self::Version(found) => Error::new(
                ErrorKind::Mismatch,
                format!(
                    "`{shown}` has layout version {found}, expected {VERSION}: \
                     end its participants, or build all with one version of msg-runtime"
                ),
            ),
            Self::Damaged => Error::new(
                ErrorKind::Corrupted,
                format!("the head of `{shown}` is damaged: end its participants and open it again"),
            ),
            Self::Io(error) => names.io_error("read", path, error),
        }
    }
}

/// Fills `bytes` from the file's start on; `false`: the file is shorter.
fn read(file: &File, bytes: &mut [u8], offset: u64) -> Result<bool, HeadError> {
    match file.read_exact_at(bytes, offset) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(HeadError::Io(error)),
    }
}

fn check_magic(head: &[u8]) -> Result<(), HeadError> {
    if head[..8] != MAGIC {
        return Err(HeadError::Foreign);
    }
    let version = u32::from_ne_bytes([head[8], head[9], head[10], head[11]]);
    if version == VERSION { Ok(()) } else { Err(HeadError::Version(version)) }
}

/// Reads the segment id of a readers file.
pub(super) fn read_readers_head(file: &File) -> Result<SegmentId, HeadError> {
    let mut head = readers_head([0; 16]);
    if !read(file, &mut head, 0)? {
        return Err(HeadError::Foreign);
    }
    check_magic(&head)?;
    let right_size = file.metadata().map_err(HeadError::Io)?.len() == size_of::<Readers>() as u64;
    let mut segment = [0; 16];
    segment.copy_from_slice(&head[16..]);
    if right_size { Ok(segment) } else { Err(HeadError::Damaged) }
}

impl Header {
    /// Reads and checks the head of a data file, texts included.
    pub(super) fn read(file: &File) -> Result<Self, HeadError> {
        let mut head = [0; DataHeader::BYTES];
        if !read(file, &mut head, 0)? {
            return Err(HeadError::Foreign);
        }
        check_magic(&head)?;
        let header = DataHeader::from_bytes(head);
        let layout = Self::layout(&header).ok_or(HeadError::Damaged)?;
        let right_size = file.metadata().map_err(HeadError::Io)?.len() == header.file_bytes;
        let lens = [header.topic_bytes, header.type_bytes, header.schema_bytes].map(|len| len as usize);
        let mut texts = vec![0; lens.iter().sum()];
        if !right_size || !read(file, &mut texts, DataHeader::BYTES as u64)? {
            return Err(HeadError::Damaged);
        }
        let covered = [&head[DataHeader::CHECKED_FROM..], &texts].concat();
        if checksum(&covered) != header.checksum {
            return Err(HeadError::Damaged);
        }
        let schema = texts.split_off(lens[0] + lens[1]);
        let type_name = texts.split_off(lens[0]);
        let text = |bytes| String::from_utf8(bytes).map_err(|_| HeadError::Damaged);
        let (topic, type_name) = (text(texts)?, text(type_name)?);
        let description = Description { type_name, fingerprint: header.fingerprint, schema };
        let evict = Some(Duration::from_nanos(header.evict)).filter(|age| !age.is_zero());
        Ok(Self { segment: header.segment, layout, evict, topic, description })
    }

    /// The layout, if everything that the header says about it is what we compute.
    fn layout(header: &DataHeader) -> Option<DataLayout> {
        let slots = header.slots as usize;
        let slot_bytes = usize::try_from(header.slot_bytes).ok()?;
        let texts = [header.topic_bytes, header.type_bytes, header.schema_bytes];
        let texts: u64 = texts.iter().map(|len| u64::from(*len)).sum();
        if !(1..=MAX_SLOTS).contains(&slots) || slot_bytes == 0 || texts > MAX_HEADER_BYTES {
            return None;
        }
        let layout = DataLayout::new(Geometry { slots, slot_bytes }, texts as usize)?;
        let agrees = layout.entries == header.entries as usize
            && layout.header_bytes as u64 == header.header_bytes
            && layout.file_bytes as u64 == header.file_bytes;
        agrees.then_some(layout)
    }

    /// The head of a new data file, and its texts.
    fn to_bytes(&self) -> Vec<u8> {
        let Self { layout, description, .. } = self;
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut header = DataHeader {
            magic: MAGIC,
            version: VERSION,
            segment: self.segment,
            header_bytes: layout.header_bytes as u64,
            file_bytes: layout.file_bytes as u64,
            slots: layout.geometry.slots as u32,
            entries: layout.entries as u32,
            slot_bytes: layout.geometry.slot_bytes as u64,
            fingerprint: description.fingerprint,
            created: since_1970.as_nanos() as u64,
            creator_pid: std::process::id(),
            topic_bytes: self.topic.len() as u32,
            type_bytes: description.type_name.len() as u32,
            schema_bytes: description.schema.len() as u32,
            evict: self.evict.map_or(0, |age| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX).max(1)),
            ..DataHeader::default()
        };
        let texts = [self.topic.as_bytes(), description.type_name.as_bytes(), &description.schema].concat();
        header.checksum = checksum(&[&header.to_bytes()[DataHeader::CHECKED_FROM..], &texts].concat());
        [&header.to_bytes()[..], &texts].concat()
    }
}

/// What a segment is made of, decided before any of it is made.
pub(super) fn plan(options: &Options, geometry: Geometry, segment: SegmentId) -> Result<Header, Error> {
    let Geometry { slots, slot_bytes } = geometry;
    let bad = |kind, text: String| Err(Error::new(kind, text));
    if !(1..=MAX_SLOTS).contains(&slots) {
        return bad(ErrorKind::InvalidEndpoint, format!("slots={slots} found, expected 1 to {MAX_SLOTS}"));
    }
    if slot_bytes == 0 {
        return bad(ErrorKind::InvalidEndpoint, "a slot size of 0 found, expected 1 byte or more".into());
    }
    let Description { type_name, schema, .. } = &options.description;
    let texts = options.topic.len() + type_name.len() + schema.len();
    if texts as u64 > MAX_HEADER_BYTES {
        return bad(
            ErrorKind::Unsupported,
            format!("type name and schema have {texts} bytes, expected at most {MAX_HEADER_BYTES}"),
        );
    }
    let layout = DataLayout::new(geometry, texts);
    let Some(layout) = layout.filter(|layout| layout.file_bytes as u64 <= options.max_bytes) else {
        let total = layout.map_or_else(|| "too many".into(), |layout| layout.file_bytes.to_string());
        let text = format!(
            "{slots} slots of {slot_bytes} bytes take {total} bytes, allowed are {}: fewer, smaller, or a larger `max=`",
            options.max_bytes
        );
        return bad(ErrorKind::InvalidEndpoint, text);
    };
    let (topic, description) = (options.topic.clone(), options.description.clone());
    Ok(Header { segment, layout, evict: options.evict, topic, description })
}

/// Makes a readers file that has no name yet.
pub(super) fn make_readers(names: &Names, segment: SegmentId) -> io::Result<File> {
    let file = file::create_nameless(&names.directory)?;
    file::set_access(&file, names.mode(), names.group)?;
    file::reserve(&file, size_of::<Readers>() as u64)?;
    file.write_all_at(&readers_head(segment), 0)?;
    Ok(file)
}

/// Makes a data file that has no name yet.
///
/// # Errors
/// `NoSpace` says how much is needed, how much is there, and where.
pub(super) fn make_data(names: &Names, header: &Header) -> Result<File, Error> {
    let bytes = header.layout.file_bytes as u64;
    let make = || {
        let file = file::create_nameless(&names.directory)?;
        file::set_access(&file, names.mode(), names.group)?;
        file::reserve(&file, bytes)?;
        file.write_all_at(&header.to_bytes(), 0)?;
        Ok(file)
    };
    make().map_err(|error| creation_error(names, bytes, error))
}

/// Why a file could not be made.
pub(super) fn creation_error(names: &Names, need: u64, error: io::Error) -> Error {
    let directory = names.directory.display();
    if error.raw_os_error() == Some(libc::EFBIG) {
        let text = format!(
            "{}: the segment needs a file of {need} bytes and this process may have {}: \
             fewer or smaller slots, or raise the limit (`ulimit -f`, RLIMIT_FSIZE)",
            names.label,
            file::longest_file()
        );
        return Error::new(ErrorKind::NoSpace, text).with_source(error);
    }
    let short = [Some(libc::ENOSPC), Some(libc::EDQUOT)].contains(&error.raw_os_error());
    if short {
        let free =
            file::free_bytes(&names.directory).map_or_else(|_| "unknown".into(), |free| free.to_string());
        let text = format!(
            "{}: the segment needs {need} bytes and `{directory}` has {free} free: \
             fewer or smaller slots, or more room there",
            names.label
        );
        return Error::new(ErrorKind::NoSpace, text).with_source(error);
    }
    if error.raw_os_error() == Some(libc::EOPNOTSUPP) {
        let text = format!("the file system of `{directory}` has no nameless files (O_TMPFILE): use a tmpfs");
        return Error::new(ErrorKind::Unsupported, text).with_source(error);
    }
    names.io_error("create a segment in", &names.directory, error)
}

/// Opens one of the two files, if it is there, and refuses what others could have put there.
pub(super) fn open_checked(names: &Names, path: &Path, access: Access) -> Result<Option<File>, Error> {
    let found = file::open(path, access).map_err(|error| names.io_error("open", path, error))?;
    if let Some(found) = &found {
        let metadata = found.metadata().map_err(|error| names.io_error("look at", path, error))?;
        names.check_owner(path, &metadata)?;
    }
    Ok(found)
}

/// What anybody may see of a living ring without taking part in it.
///
/// Returns what the messages are, or nothing if nobody has the ring open.
///
/// # Errors
/// As [`ShmSubscriber::open`](super::ShmSubscriber::open), where it concerns the names and the files.
pub fn open_description(options: &Options) -> Result<Option<Description>, Error> {
    let names = Names::new(options)?;
    let Some(readers) = open_checked(&names, &names.readers, Access::ReadWrite)? else { return Ok(None) };
    let alive = (0..PARTICIPANTS).any(|byte| file::locked_bytes(&readers, byte).is_ok_and(|bytes| bytes > 0));
    if !alive {
        return Ok(None);
    }
    let Some(data) = open_checked(&names, &names.data, Access::ReadOnly)? else { return Ok(None) };
    let header = Header::read(&data).map_err(|error| error.explain(&names, &names.data))?;
    Ok(Some(header.description))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_checked_parts() {
        assert_eq!(fnv128(b""), 0x6c62272e07bb014262b821756295c58d);
        assert_eq!(fnv128(b"a"), 0xd228cb696f1a8caf78912b704e4a8964);
        let names = Names::new(&Options::new("cam-1", "a/b")).unwrap();
        let uid = file::user_id();
        let stem = format!("/dev/shm/msg.u{uid}.cam-1.{:032x}", fnv128(b"a/b"));
        assert_eq!(names.data.to_str(), Some(&*format!("{stem}.data")));
        assert_eq!(names.readers.to_str(), Some(&*format!("{stem}.readers")));
        let grouped = Names::new(&Options::new("cam", "t").group("7")).unwrap();
        assert!(grouped.data.to_str().unwrap().starts_with("/dev/shm/msg.g7/msg.g7.cam."));
    }

    #[test]
    fn bad_names_are_refused_with_the_name() {
        let check = |channel: &str, topic: &str, expected: &str| {
            let error = Names::new(&Options::new(channel, topic)).unwrap_err();
            assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::InvalidTopic, expected));
        };
        check("", "t", "channel `` found, expected 1 to 64 of `A-Z a-z 0-9 _ -`");
        check("a/b", "t", "channel `a/b` found, expected 1 to 64 of `A-Z a-z 0-9 _ -`");
        check("a", "", "topic `` has 0 bytes, expected 1 to 255");
    }

    fn header(slots: usize, slot_bytes: usize) -> Result<Header, Error> {
        let schema = vec![9; 5000];
        let description = Description { type_name: "demo.Imu".into(), fingerprint: 5, schema };
        plan(&Options::new("c", "top").description(description), Geometry { slots, slot_bytes }, [3; 16])
    }

    #[test]
    fn a_written_head_is_read_back_and_any_flipped_byte_is_noticed() {
        let header = header(4, 100).unwrap();
        let bytes = header.to_bytes();
        let file = file::create_nameless(&std::env::temp_dir()).unwrap();
        file.set_len(header.layout.file_bytes as u64).unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        let read = Header::read(&file).unwrap();
        assert_eq!((&read.topic[..], &read.description), ("top", &header.description));
        assert_eq!((read.segment, read.layout), (header.segment, header.layout));
        for at in (0..200).chain([bytes.len() - 1]) {
            file.write_all_at(&[bytes[at] ^ 0x40], at as u64).unwrap();
            assert!(Header::read(&file).is_err(), "byte {at}");
            file.write_all_at(&bytes[at..=at], at as u64).unwrap();
        }
        file.set_len(100).unwrap();
        assert!(matches!(Header::read(&file), Err(HeadError::Foreign)));
    }

    #[test]
    fn impossible_geometries_are_refused_with_the_figures() {
        let check = |slots, slot_bytes, expected: &str| {
            let error = header(slots, slot_bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidEndpoint);
            assert!(error.to_string().contains(expected), "{error}");
        };
        check(0, 1, "slots=0 found, expected 1 to 1024");
        check(1025, 1, "slots=1025 found, expected 1 to 1024");
        check(1, 0, "a slot size of 0 found");
        check(1024, 2 << 20, "allowed are 1073741824");
        check(1024, usize::MAX, "take too many bytes");
    }
}
