//! What can go wrong: one opaque [`Error`] for setup, and for each hot operation the smallest enum that lists what
//! it can do.
//!
//! The hot-path enums live here and not beside their operation because the ring, the transports and the typed
//! handles share them.

pub use crate::frame::BadFrame;
use std::{borrow::Cow, error, fmt, io};

/// What kind of trouble a setup step met; the text of the [`Error`] says the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The endpoint string is malformed: unknown transport, option, unit or value.
    InvalidEndpoint,
    /// The topic or channel name has a character, a length or an empty part that is not allowed.
    InvalidTopic,
    /// This build or this platform does not have what was asked for.
    Unsupported,
    /// The other side carries another type under this topic.
    Incompatible,
    /// The other side's segment has another geometry or layout version than was asked for.
    Mismatch,
    /// There is not enough room for the segment.
    NoSpace,
    /// Every place for a participant of this kind is taken.
    NoRoom,
    /// The system or the server refused: permissions, ownership, a wrong login.
    PermissionDenied,
    /// The other side of the link cannot be reached, does not answer, or is not who it should be.
    Unreachable,
    /// What is there is not what its name says, or its contents make no sense.
    Corrupted,
    /// Any other failure of the system; see the source.
    Io,
}

/// Why something could not be set up: [`kind`](Error::kind) for programs, the text for people.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Error, ErrorKind};
/// let error = Error::new(ErrorKind::InvalidTopic, "topic `` is empty, expected 1 to 255 characters");
/// assert_eq!(error.kind(), ErrorKind::InvalidTopic);
/// assert_eq!(error.to_string(), "topic `` is empty, expected 1 to 255 characters");
/// ```
///
/// `Debug` prints the text too, with its cause: it is what a `main` that returns the error shows.
pub struct Error {
    kind: ErrorKind,
    message: Cow<'static, str>,
    source: Option<io::Error>,
}

impl Error {
    /// An error of this kind. The text says what was found, what was expected and what to do.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Adds the system's own error; it goes in `source()` and is not repeated in the text.
    pub fn with_source(mut self, source: io::Error) -> Self {
        self.source = Some(source);
        self
    }

    /// The same error, with where it comes from before its text.
    pub(crate) fn within(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message).into();
        self
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(f, "{self}: {source}"),
            None => write!(f, "{self}"),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// Why a message was not sent at once.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrySendError {
    /// Every slot is taken: by messages that a subscriber has not read, by held samples or by open loans.
    Full,
    /// The message is larger than a slot or the transport's limit, in bytes.
    TooLarge {
        /// Bytes of the message.
        len: usize,
        /// Bytes that fit.
        max: usize,
    },
    /// The message is one that every receiver would refuse.
    Invalid(Invalid),
    /// The channel's files were removed, or the link is gone: open a new publisher.
    Disconnected,
    /// The control words in shared memory make no sense: some process wrote where it must not.
    Corrupted,
    /// The handle was made before a `fork` and used in the child; open one there.
    Forked,
}

/// Why a message was not sent within the time given.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// No slot became free in time; see [`TrySendError::Full`].
    Timeout,
    /// The message is larger than a slot or the transport's limit, in bytes.
    TooLarge {
        /// Bytes of the message.
        len: usize,
        /// Bytes that fit.
        max: usize,
    },
    /// The message is one that every receiver would refuse.
    Invalid(Invalid),
    /// The channel's files were removed, or the link is gone: open a new publisher.
    Disconnected,
    /// The control words in shared memory make no sense: some process wrote where it must not.
    Corrupted,
    /// The handle was made before a `fork` and used in the child; open one there.
    Forked,
}

/// Why not everything that was sent is known to be with the other side.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlushError {
    /// The time was over before the link had taken everything.
    Timeout {
        /// Messages that it had not taken then.
        unsent: u64,
    },
    /// The transport's client cannot tell.
    Unsupported,
}

impl From<TrySendError> for SendError {
    fn from(error: TrySendError) -> Self {
        match error {
            TrySendError::Full => Self::Timeout,
            TrySendError::TooLarge { len, max } => Self::TooLarge { len, max },
            TrySendError::Invalid(invalid) => Self::Invalid(invalid),
            TrySendError::Disconnected => Self::Disconnected,
            TrySendError::Corrupted => Self::Corrupted,
            TrySendError::Forked => Self::Forked,
        }
    }
}

/// For a call that did not wait.
impl From<SendError> for TrySendError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Timeout => Self::Full,
            SendError::TooLarge { len, max } => Self::TooLarge { len, max },
            SendError::Invalid(invalid) => Self::Invalid(invalid),
            SendError::Disconnected => Self::Disconnected,
            SendError::Corrupted => Self::Corrupted,
            SendError::Forked => Self::Forked,
        }
    }
}

/// Why no message was received at once.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryRecvError {
    /// Nothing new.
    Empty,
    /// A message arrived that is not what its topic says; it was dropped and counted, the next call goes on.
    Invalid(Invalid),
    /// More samples are held than a subscriber may hold; drop some.
    TooManyHeld {
        /// The most samples that may be held.
        max: usize,
    },
    /// The channel's files were removed, or the link is gone: open a new subscriber.
    Disconnected,
    /// The publishers' patience (`evict=`) ended: the subscriber was too slow and is out.
    Evicted,
    /// The control words in shared memory make no sense: some process wrote where it must not.
    Corrupted,
    /// The handle was made before a `fork` and used in the child; open one there.
    Forked,
}

/// Why no message was received, within the time given where there is one.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecvError {
    /// Nothing arrived in time.
    Timeout,
    /// A message arrived that is not what its topic says; it was dropped and counted, the next call goes on.
    Invalid(Invalid),
    /// More samples are held than a subscriber may hold; drop some.
    TooManyHeld {
        /// The most samples that may be held.
        max: usize,
    },
    /// The channel's files were removed, or the link is gone: open a new subscriber.
    Disconnected,
    /// The publishers' patience (`evict=`) ended: the subscriber was too slow and is out.
    Evicted,
    /// The control words in shared memory make no sense: some process wrote where it must not.
    Corrupted,
    /// The handle was made before a `fork` and used in the child; open one there.
    Forked,
}

impl From<TryRecvError> for RecvError {
    fn from(error: TryRecvError) -> Self {
        match error {
            TryRecvError::Empty => Self::Timeout,
            TryRecvError::Invalid(invalid) => Self::Invalid(invalid),
            TryRecvError::TooManyHeld { max } => Self::TooManyHeld { max },
            TryRecvError::Disconnected => Self::Disconnected,
            TryRecvError::Evicted => Self::Evicted,
            TryRecvError::Corrupted => Self::Corrupted,
            TryRecvError::Forked => Self::Forked,
        }
    }
}

/// For a call that did not wait.
impl From<RecvError> for TryRecvError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Timeout => Self::Empty,
            RecvError::Invalid(invalid) => Self::Invalid(invalid),
            RecvError::TooManyHeld { max } => Self::TooManyHeld { max },
            RecvError::Disconnected => Self::Disconnected,
            RecvError::Evicted => Self::Evicted,
            RecvError::Corrupted => Self::Corrupted,
            RecvError::Forked => Self::Forked,
        }
    }
}

/// Why a payload is not a valid message of its type.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Invalid {
    /// An offset, a length or a size points outside the payload.
    OutOfRange,
    /// Something stands at an address that its alignment does not allow.
    Unaligned,
    /// A string is not UTF-8.
    Utf8,
    /// A string lacks its final zero byte.
    MissingTerminator,
    /// A required field is absent.
    MissingField,
    /// A union's type and value do not go together.
    Union,
    /// Tables are nested deeper than 64.
    TooDeep,
    /// There are more than a million tables.
    TooManyTables,
    /// The parts of the message add up to more than its limit (shared or overlapping offsets).
    TooMuch,
    /// A `bool` or a closed enum has a number that is none of its values.
    UnknownValue,
    /// The payload of a plain message has another size, in bytes.
    WrongSize {
        /// Bytes received.
        len: usize,
        /// Bytes of the type.
        expected: usize,
    },
    /// The file identifier is another than the type's.
    WrongIdentifier,
    /// An array field has another number of elements than its type.
    WrongLength,
    /// The frame around the payload cannot be read.
    Frame(BadFrame),
}

impl From<BadFrame> for Invalid {
    fn from(bad: BadFrame) -> Self {
        Self::Frame(bad)
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfRange => "an offset or length points outside the payload",
            Self::Unaligned => "a value stands at an address that its alignment does not allow",
            Self::Utf8 => "a string is not utf-8",
            Self::MissingTerminator => "a string lacks its final zero byte",
            Self::MissingField => "a required field is absent",
            Self::Union => "a union's type and value do not go together",
            Self::TooDeep => "tables are nested deeper than 64",
            Self::TooManyTables => "the message has more than a million tables",
            Self::TooMuch => "the parts of the message add up to more than its limit",
            Self::UnknownValue => "a bool or closed enum has a number that is none of its values",
            Self::WrongSize { len, expected } => {
                return write!(f, "the payload has {len} bytes, expected the {expected} of the plain type");
            }
            Self::WrongIdentifier => "the file identifier is another than the type's",
            Self::WrongLength => "an array has another number of elements than its type",
            Self::Frame(bad) => return bad.fmt(f),
        })
    }
}

impl error::Error for Invalid {}

/// `Debug` prints the text for people: a `main` that returns the error shows it that way.
macro_rules! debug_as_display {
    ($($error:ty),*) => {$(
        impl fmt::Debug for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

debug_as_display!(TrySendError, SendError, FlushError, TryRecvError, RecvError, Invalid);

const DISCONNECTED: &str = "the channel is gone: its files were removed or its link ended; open it again";
const CORRUPTED: &str =
    "the control words in shared memory make no sense; end every participant and open again";
const FORKED: &str = "the handle was opened before a fork; open one in the child";
const EVICTED: &str = "evicted: the subscriber was slower than the topic's `evict` allows; open it again";

fn too_large(f: &mut fmt::Formatter<'_>, len: usize, max: usize) -> fmt::Result {
    write!(f, "the message has {len} bytes and at most {max} fit; write `size={}` in the endpoint", size(len))
}

fn refused(f: &mut fmt::Formatter<'_>, invalid: Invalid) -> fmt::Result {
    write!(f, "not sent, since every receiver would refuse it: {invalid}")
}

/// The smallest power of two in endpoint units that holds `len` bytes.
fn size(len: usize) -> String {
    let bytes = len.checked_next_power_of_two().unwrap_or(usize::MAX);
    match bytes {
        1_073_741_824.. => format!("{}GiB", bytes >> 30),
        1_048_576.. => format!("{}MiB", bytes >> 20),
        1024.. => format!("{}KiB", bytes >> 10),
        _ => format!("{bytes}B"),
    }
}

impl fmt::Display for TrySendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Full => f.write_str("full: every slot holds a message that some subscriber still needs"),
            Self::TooLarge { len, max } => too_large(f, len, max),
            Self::Invalid(invalid) => refused(f, invalid),
            Self::Disconnected => f.write_str(DISCONNECTED),
            Self::Corrupted => f.write_str(CORRUPTED),
            Self::Forked => f.write_str(FORKED),
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Timeout => f.write_str(
                "timeout: no slot became free; a subscriber is too slow or stopped (more `slots=` or `timeout=`?)",
            ),
            Self::TooLarge { len, max } => too_large(f, len, max),
            Self::Invalid(invalid) => refused(f, invalid),
            Self::Disconnected => f.write_str(DISCONNECTED),
            Self::Corrupted => f.write_str(CORRUPTED),
            Self::Forked => f.write_str(FORKED),
        }
    }
}

impl fmt::Display for FlushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Timeout { unsent } => {
                write!(f, "timeout: the link has not taken {unsent} messages; is the other side there?")
            }
            Self::Unsupported => f.write_str(
                "this transport cannot tell when messages have arrived; wait for an answer instead",
            ),
        }
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => f.write_str("empty: no new message"),
            other => RecvError::from(other).fmt(f),
        }
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Timeout => f.write_str("timeout: no message arrived"),
            Self::Invalid(invalid) => write!(f, "a message was dropped because it is invalid: {invalid}"),
            Self::TooManyHeld { max } => write!(f, "{max} samples are held already; drop one first"),
            Self::Disconnected => f.write_str(DISCONNECTED),
            Self::Evicted => f.write_str(EVICTED),
            Self::Corrupted => f.write_str(CORRUPTED),
            Self::Forked => f.write_str(FORKED),
        }
    }
}

impl error::Error for TrySendError {}
impl error::Error for SendError {}
impl error::Error for FlushError {}
impl error::Error for TryRecvError {}
impl error::Error for RecvError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_is_the_text_for_people() {
        let error = Error::new(ErrorKind::Io, "two\nlines").with_source(io::Error::other("why"));
        assert_eq!(format!("{error:?}"), "two\nlines: why");
        assert_eq!(format!("{:?}", SendError::Timeout), SendError::Timeout.to_string());
    }

    #[test]
    fn too_large_says_what_to_write() {
        let check = |len, expected: &str| {
            let text = TrySendError::TooLarge { len, max: 8 }.to_string();
            assert!(text.ends_with(&format!("write `size={expected}` in the endpoint")), "{text}");
        };
        check(9, "16B");
        check(1025, "2KiB");
        check(3 << 20, "4MiB");
    }
}
