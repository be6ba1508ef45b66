//! The address of a shared-memory channel: its name and its options.

use super::{
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
}

const OPTIONS: [&str; 5] = ["slots", "size", "timeout", "group", "max"];
const MAX_CHANNEL_LEN: usize = 64;
const MAX_SLOTS: usize = 1024;

impl ShmAddress {
    pub(super) fn parse(channel: Part<'_>, options: Option<Part<'_>>) -> Result<Self, Complaint> {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !(1..=MAX_CHANNEL_LEN).contains(&channel.text.len()) || !channel.text.chars().all(word) {
            return Err(channel.complain(format!(
                "channel `{}`, expected 1 to {MAX_CHANNEL_LEN} letters, digits, `_` or `-`",
                channel.text
            )));
        }
        let mut address = Self { channel: channel.text.to_owned(), ..Self::default() };
        let mut seen = Vec::new();
        for option in options.into_iter().flat_map(|options| options.split(',')) {
            let (name, value) = name_and_value(option)?;
            if seen.contains(&name.text) {
                return Err(name.complain(format!("option `{}` is given twice; keep one", name.text)));
            }
            seen.push(name.text);
            address.set(name, value)?;
        }
        Ok(address)
    }

    fn set(&mut self, name: Part<'_>, value: Part<'_>) -> Result<(), Complaint> {
        match name.text {
            "slots" => match value.text.parse() {
                Ok(slots @ 1..=MAX_SLOTS) => self.slots = Some(slots),
                _ if value.text.contains(['&', ';']) => {
                    return Err(
                        value.complain(format!("slots `{}`: options are separated by `,`", value.text))
                    );
                }
                _ => {
                    return Err(value.complain(format!("slots `{}`, expected 1 to {MAX_SLOTS}", value.text)));
                }
            },
            "size" => self.slot_bytes = Some(bytes(value)?),
            "timeout" => self.timeout = Some(quantity::duration(value)?),
            "group" => {
                let good = !value.text.is_empty()
                    && value.text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
                if !good {
                    return Err(value.complain(format!(
                        "group `{}`, expected the name or number of a group",
                        value.text
                    )));
                }
                self.group = Some(value.text.to_owned());
            }
            "max" => self.max_bytes = Some(quantity::size(value)?),
            _ => unreachable!("`name_and_value` lets only these through"),
        }
        Ok(())
    }
}

fn name_and_value(option: Part<'_>) -> Result<(Part<'_>, Part<'_>), Complaint> {
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    };
    if !OPTIONS.contains(&name.text) {
        let names = OPTIONS.map(|option| format!("`{option}`")).join(", ");
        return Err(name.complain(format!(
            "unknown option `{}` of `shm`, expected one of {names}{}",
            name.text,
            suggestion(name.text, &OPTIONS)
        )));
    }
    match value {
        Some(value) if !value.text.is_empty() => Ok((name, value)),
        _ => Err(name.complain(format!("option `{}` has no value; write `{0}=...`", name.text))),
    }
}

fn bytes(value: Part<'_>) -> Result<usize, Complaint> {
    match usize::try_from(quantity::size(value)?) {
        Ok(0) => Err(value.complain(format!("size `{}`, expected at least 1 B", value.text))),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(value.complain(format!("size `{}` is too large", value.text))),
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
        ];
        let options: Vec<String> = options.into_iter().flatten().collect();
        let separator = if options.is_empty() { "" } else { "?" };
        write!(f, "{}{separator}{}", self.channel, options.join(","))
    }
}
