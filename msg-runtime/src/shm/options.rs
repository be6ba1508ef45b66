//! What a handle is opened with.

use std::path::PathBuf;
use std::time::Duration;

/// What the messages of a ring are, as far as somebody said. The ring keeps it and hands it back; it knows no types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The name of the message type.
    pub type_name: String,
    /// A number that is equal for equal types; 0 = unspecified, goes with everything.
    pub fingerprint: u64,
    /// The type's binary schema.
    pub schema: Vec<u8>,
}

/// Whether who says what its messages are (ours) may take part in a ring that carries these (theirs); if not, why.
pub type Check = fn(ours: &Description, theirs: &Description) -> Result<(), String>;

impl Description {
    /// Whether both say what they are, and do not say the same.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        self.fingerprint != 0 && other.fingerprint != 0 && self != other
    }

    /// The check of those who know no more of types than the ring does: equal names and fingerprints.
    fn check_equal(&self, theirs: &Self) -> Result<(), String> {
        if self.fingerprint == theirs.fingerprint && self.type_name == theirs.type_name {
            return Ok(());
        }
        Err(format!(
            "it carries `{}` (fingerprint {:016x}), asked for `{}` (fingerprint {:016x}): \
             use one type everywhere, or another channel",
            theirs.type_name, theirs.fingerprint, self.type_name, self.fingerprint
        ))
    }
}

/// Which ring to open, and how. A plain value: make it with [`new`](Self::new), then set what differs from the defaults.
///
/// # Examples
///
/// ```
/// use msg_runtime::shm::Options;
/// let options = Options::new("camera", "demo.Image").slots(4).slot_bytes(4 << 20);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) channel: String,
    pub(super) topic: String,
    pub(super) slots: Option<usize>,
    pub(super) slot_bytes: Option<usize>,
    pub(super) default_slot_bytes: Option<usize>,
    pub(super) timeout: Duration,
    pub(super) spin: Option<Duration>,
    pub(super) evict: Option<Duration>,
    pub(super) latest_only: bool,
    pub(super) copies: bool,
    pub(super) wakes_nobody: bool,
    pub(super) locks_memory: bool,
    pub(super) group: Option<String>,
    pub(super) max_bytes: u64,
    pub(super) directory: PathBuf,
    pub(super) description: Description,
    pub(super) check: Check,
}

impl Options {
    pub(super) const DEFAULT_SLOTS: usize = 16;
    pub(super) const DEFAULT_SLOT_BYTES: usize = 64 << 10;

    /// The ring of this topic in this channel. A channel is 1 to 64 of `A-Z a-z 0-9 _ -`, a topic 1 to 255 bytes.
    pub fn new(channel: &str, topic: &str) -> Self {
        Self {
            channel: channel.into(),
            topic: topic.into(),
            slots: None,
            slot_bytes: None,
            default_slot_bytes: None,
            timeout: Duration::from_secs(1),
            spin: None,
            evict: None,
            latest_only: false,
            copies: false,
            wakes_nobody: false,
            locks_memory: false,
            group: None,
            max_bytes: 1 << 30,
            directory: "/dev/shm".into(),
            description: Description::default(),
            check: Description::check_equal,
        }
    }

    /// How many messages the ring has room for, 1 to 1024. Unset: as many as the ring has, or 16.
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = Some(slots);
        self
    }

    /// How long a message may be. Unset: what the ring has, or [`default_slot_bytes`](Self::default_slot_bytes).
    pub fn slot_bytes(mut self, bytes: usize) -> Self {
        self.slot_bytes = Some(bytes);
        self
    }

    /// The slot size of a ring that is created because nobody named one; 64 KiB. It does not insist: a ring that is
    /// there is taken as it is, unless a publisher needs more and nothing was published yet.
    pub fn default_slot_bytes(mut self, bytes: usize) -> Self {
        self.default_slot_bytes = Some(bytes);
        self
    }

    /// How long `send` and `loan` wait for room; one second.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long a call that waits looks again and again before it sleeps: zero sleeps at once, [`Duration::MAX`] never
    /// sleeps and takes a processor for itself. Unset: a subscriber looks for up to 50 us while messages come that
    /// fast, a publisher for 20 us.
    pub fn spin(mut self, time: Duration) -> Self {
        self.spin = Some(time);
        self
    }

    /// How old the oldest message that a subscriber has not received may be when a publisher finds the ring full: a
    /// subscriber that is further behind is evicted, and publishers go on. It belongs to the ring, as its slots do.
    /// Unset: what the ring has, or never.
    pub fn evict(mut self, age: Duration) -> Self {
        self.evict = Some(age);
        self
    }

    /// Subscribes to the newest message only: what comes too fast is lost and counted, and no publisher ever waits.
    /// A sample lies in its slot; what is received while an earlier sample lives is a copy.
    pub fn latest_only(mut self) -> Self {
        self.latest_only = true;
        self
    }

    /// A subscriber copies each message before it looks at it: nothing that a publisher writes later reaches a sample.
    pub fn copy_messages(mut self) -> Self {
        self.copies = true;
        self
    }

    /// A publisher wakes nobody and does not watch its files, so that sending makes no system call: for real-time
    /// threads whose subscribers look by themselves (a subscriber that sleeps looks ten times a second). `try_` calls
    /// do not look for the dead either when the ring is full; calls that wait do, and subscribers do for each other.
    pub fn wake_nobody(mut self) -> Self {
        self.wakes_nobody = true;
        self
    }

    /// Touches the ring's memory at opening and locks it, so that no later access waits for the system.
    pub fn lock_memory(mut self) -> Self {
        self.locks_memory = true;
        self
    }

    /// The group, by name or number, whose members may publish and subscribe. Unset: the user alone.
    pub fn group(mut self, group: &str) -> Self {
        self.group = Some(group.into());
        self
    }

    /// The most bytes that the ring may take; 1 GiB.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Where the ring's files are; `/dev/shm`.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }

    /// What the messages are.
    pub fn description(mut self, description: Description) -> Self {
        self.description = description;
        self
    }

    /// Who may take part in a ring with another description than ours; it is called when both are specified and differ.
    /// Unset: names and fingerprints have to be equal. The ring keeps the description that it was made with.
    pub fn check(mut self, check: Check) -> Self {
        self.check = check;
        self
    }
}
