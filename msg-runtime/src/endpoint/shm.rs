//! The address of a shared-memory channel: its name and its options.

use super::{
    options::{self, one_of},
    quantity::{self, Size, Time},
    text::{Complaint, Part, suggestion},
};
use std::{fmt, time::Duration};

/// A channel of shared memory, `<channel>?slots=8,size=4MiB,timeout=1s`.
///
/// What is not named is taken from the segment if there is one, else from the defaults of `msg_runtime::shm`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShmAddress {
    /// Letters, digits, `_` and `-`, 1 to 64 characters.
    pub channel: String,
    /// `slots=`: messages that may be under way at once, 1 to 1024.
    pub slots: Option<usize>,
    /// `size=`: bytes of one slot.
    pub slot_bytes: Option<usize>,
    /// `timeout=`: how long `send` waits for a free slot.
    pub timeout: Option<Duration>,
    /// `group=`: the group whose members may publish and subscribe.
    pub group: Option<String>,
    /// `max=`: most bytes that a segment may take.
    pub max_bytes: Option<u64>,
    /// `evict=`: how far a subscriber may be behind before publishers that find no free slot go on without it.
    pub evict: Option<Duration>,
    /// `wait=`: how long a waiting call looks by itself before it sleeps; `spin` is [`Duration::MAX`], `sleep` zero.
    pub spin: Option<Duration>,
    /// `wake=never`: publishers wake nobody and make no system call.
    pub wakes_nobody: bool,
    /// `lock=on`: the segment's memory is brought in and locked at open.
    pub locks_memory: bool,
    /// `copy=on`: subscribers copy each message before they verify it.
    pub copies: bool,
}

pub(super) const OPTIONS: &[&str] =
    &["slots", "size", "timeout", "group", "max", "evict", "wait", "wake", "lock", "copy"];
const MAX_SLOTS: usize = 1024;

impl ShmAddress {
    pub(super) fn parse(channel: Part<'_>, options: Option<Part<'_>>) -> Result<Self, Complaint> {
        let mut address = Self { channel: channel.channel()?, ..Self::default() };
        options::each(options, "shm", OPTIONS, |name, value| address.set(name, value))?;
        Ok(address)
    }

    fn set(&mut self, name: Part<'_>, value: Part<'_>) -> Result<(), Complaint> {
        match name.text {
            "slots" => self.slots = Some(slots(value)?),
            "size" => self.slot_bytes = Some(quantity::bytes(name, value)?),
            "timeout" => self.timeout = Some(quantity::duration(value)?),
            "group" => self.group = Some(group(value)?),
            "max" => self.max_bytes = Some(quantity::size(value)?),
            "evict" => self.evict = Some(evict(value)?),
            "wait" => self.spin = Some(spin(value)?),
            "wake" => self.wakes_nobody = one_of(name, value, ["always", "never"])?,
            "lock" => self.locks_memory = one_of(name, value, ["off", "on"])?,
            "copy" => self.copies = one_of(name, value, ["off", "on"])?,
            _ => unreachable!("`options::each` lets only these through"),
        }
        Ok(())
    }
}

fn slots(value: Part<'_>) -> Result<usize, Complaint> {
    match value.text.parse() {
        Ok(slots @ 1..=MAX_SLOTS) => Ok(slots),
        _ if value.text.contains(['&', ';']) => {
            Err(value.complain(format!("slots `{}`: options are separated by `,`", value.text)))
        }
        _ => Err(value.complain(format!("slots `{}`, expected 1 to {MAX_SLOTS}", value.text))),
    }
}

fn group(value: Part<'_>) -> Result<String, Complaint> {
    if value.text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
        return Ok(value.text.to_owned());
    }
    Err(value.complain(format!("group `{}`, expected the name or number of a group", value.text)))
}

fn evict(value: Part<'_>) -> Result<Duration, Complaint> {
    match quantity::duration(value)? {
        Duration::ZERO => {
            Err(value.complain("evict `0s` would evict everybody; write a longer time, as in `5s`"))
        }
        age => Ok(age),
    }
}

fn spin(value: Part<'_>) -> Result<Duration, Complaint> {
    match value.text {
        "spin" => Ok(Duration::MAX),
        "sleep" => Ok(Duration::ZERO),
        text if text.starts_with(|c: char| c.is_ascii_digit()) => quantity::duration(value),
        text => Err(value.complain(format!(
            "wait `{text}`, expected `spin`, `sleep` or a time, as in `50us`{}",
            suggestion(text, &["spin", "sleep"])
        ))),
    }
}

/// What `spin` read.
fn print_spin(time: Duration) -> String {
    match time {
        Duration::MAX => "wait=spin".to_owned(),
        Duration::ZERO => "wait=sleep".to_owned(),
        time => format!("wait={}", Time(time)),
    }
}

impl fmt::Display for ShmAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = [
            self.slots.map(|slots| format!("slots={slots}")),
            self.slot_bytes.map(|bytes| format!("size={}", Size(bytes as u64))),
            self.timeout.map(|timeout| format!("timeout={}", Time(timeout))),
            self.group.as_ref().map(|group| format!("group={group}")),
            self.max_bytes.map(|bytes| format!("max={}", Size(bytes))),
            self.evict.map(|age| format!("evict={}", Time(age))),
            self.spin.map(print_spin),
            self.wakes_nobody.then(|| "wake=never".to_owned()),
            self.locks_memory.then(|| "lock=on".to_owned()),
            self.copies.then(|| "copy=on".to_owned()),
        ];
        write!(f, "{}{}", self.channel, options::print(options))
    }
}
