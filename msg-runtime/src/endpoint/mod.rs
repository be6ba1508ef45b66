//! Where a publisher or subscriber meets the others, as one string.
//!
//! ```text
//! <transport>;<compression>;<address>?<option>=<value>,...        shm;none;camera?slots=8,size=4MiB
//! <transport>;<address>?<option>=<value>,...                      shm;camera
//! ```
//!
//! Pure values: parsing opens nothing and touches no system. Options follow the last `?`.

mod quantity;
mod shm;
mod text;

pub use shm::ShmAddress;

use crate::error::{Error, ErrorKind};
use std::{fmt, str::FromStr};
use text::{Complaint, Part, suggestion};

/// A parsed endpoint.
///
/// # Examples
///
/// ```
/// use msg_runtime::Endpoint;
/// let endpoint: Endpoint = "shm;none;iq-stream?slots=8,size=4MiB,timeout=1s".parse()?;
/// assert_eq!(endpoint.to_string(), "shm;none;iq-stream?slots=8,size=4MiB,timeout=1s");
///
/// let error = "shm;camera?size=4MB".parse::<Endpoint>().expect_err("MB is no unit");
/// assert_eq!(
///     error.to_string(),
///     "unknown unit `MB`, expected `B`, `KiB`, `MiB` or `GiB`; did you mean `MiB`?\n  \
///      shm;camera?size=4MB\n  \
///      ---------------- ^^"
///         .replace('-', " ")
/// );
/// # Ok::<(), msg_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// How payloads are compressed by a publisher; a subscriber recognizes each message by itself.
    pub compression: Compression,
    /// The transport and its address.
    pub address: Address,
}

/// A transport with its address and options.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// Shared memory on this host.
    Shm(ShmAddress),
}

/// How a publisher compresses payloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// One lz4 block.
    Lz4,
    /// One zstd frame.
    Zstd {
        /// 1 (fastest) to 22 (smallest); 3 unless given.
        level: u8,
    },
}

const TRANSPORTS: [&str; 1] = ["shm"];
/// Transports that are meant for this place in the string, and that this version does not have.
const LATER: [&str; 5] = ["udp", "zenoh", "nats", "redis", "inproc"];
const COMPRESSIONS: [&str; 3] = ["none", "lz4", "zstd"];
const DEFAULT_ZSTD_LEVEL: u8 = 3;

impl FromStr for Endpoint {
    type Err = Error;

    /// # Errors
    ///
    /// [`ErrorKind::InvalidEndpoint`], with a caret under the part that is wrong; [`ErrorKind::Unsupported`] for a
    /// transport that this version does not have.
    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).map_err(|complaint| {
            let kind =
                if complaint.unsupported { ErrorKind::Unsupported } else { ErrorKind::InvalidEndpoint };
            Error::new(kind, complaint.render(text))
        })
    }
}

fn parse(text: &str) -> Result<Endpoint, Complaint> {
    let whole = Part::whole(text);
    let Some((transport, rest)) = whole.split_once(';') else {
        return Err(whole.complain(
            "an endpoint is `<transport>;<address>` or `<transport>;<compression>;<address>`, as in `shm;camera`; \
             here is no `;`",
        ));
    };
    check_transport(transport)?;
    // Only a `;` before the options separates a compression: an option's value may hold one.
    let (before_options, options) = match rest.rsplit_once('?') {
        Some((before, options)) => (before, Some(options)),
        None => (rest, None),
    };
    let (compression, address) = match before_options.split_once(';') {
        Some((compression, address)) => (parse_compression(compression)?, address),
        None => (Compression::None, before_options),
    };
    Ok(Endpoint { compression, address: Address::Shm(ShmAddress::parse(address, options)?) })
}

fn check_transport(part: Part<'_>) -> Result<(), Complaint> {
    if TRANSPORTS.contains(&part.text) {
        return Ok(());
    }
    if LATER.contains(&part.text) {
        let mut complaint = part.complain(format!(
            "transport `{}` is not in this version, which has `shm` (between processes of one host)",
            part.text
        ));
        complaint.unsupported = true;
        return Err(complaint);
    }
    Err(part.complain(format!(
        "unknown transport `{}`, expected `shm`{}",
        part.text,
        suggestion(part.text, &TRANSPORTS)
    )))
}

fn parse_compression(part: Part<'_>) -> Result<Compression, Complaint> {
    let (name, level) = match part.split_once(':') {
        Some((name, level)) => (name, Some(level)),
        None => (part, None),
    };
    match (name.text, level) {
        ("none", None) => Ok(Compression::None),
        ("lz4", None) => Ok(Compression::Lz4),
        ("zstd", None) => Ok(Compression::Zstd { level: DEFAULT_ZSTD_LEVEL }),
        ("zstd", Some(level)) => match level.text.parse() {
            Ok(number @ 1..=22) => Ok(Compression::Zstd { level: number }),
            _ => Err(level.complain(format!("zstd level `{}`, expected 1 to 22", level.text))),
        },
        ("none" | "lz4", Some(level)) => {
            Err(level.complain(format!("compression `{}` has no level; write `{0}` alone", name.text)))
        }
        _ => Err(name.complain(format!(
            "unknown compression `{}`, expected `none`, `lz4` or `zstd:<1 to 22>`{}",
            name.text,
            suggestion(name.text, &COMPRESSIONS)
        ))),
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Address::Shm(address) => write!(f, "shm;{};{address}", self.compression),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Lz4 => f.write_str("lz4"),
            Self::Zstd { level } => write!(f, "zstd:{level}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints() {
        let check = |text: &str, printed: &str| {
            let endpoint: Endpoint = text.parse().unwrap();
            assert_eq!(endpoint.to_string(), printed);
            assert_eq!(printed.parse::<Endpoint>().unwrap(), endpoint, "what is printed parses to the same");
        };
        check("shm;demo", "shm;none;demo");
        check("shm;none;demo", "shm;none;demo");
        check("shm;zstd;demo", "shm;zstd:3;demo");
        check("shm;zstd:22;demo", "shm;zstd:22;demo");
        check("shm;lz4;demo?timeout=250ms", "shm;lz4;demo?timeout=250ms");
        check(
            "shm;demo?slots=8,size=4MiB,timeout=1s,group=robots,max=2GiB",
            "shm;none;demo?slots=8,size=4MiB,timeout=1s,group=robots,max=2GiB",
        );
        check("shm;demo?size=1536B", "shm;none;demo?size=1536B");
        check("shm;demo?size=1536KiB", "shm;none;demo?size=1536KiB");
        check("shm;demo?timeout=1500us", "shm;none;demo?timeout=1500us");
        check("shm;demo?timeout=0ns", "shm;none;demo?timeout=0s");
        let all = "shm;none;demo?evict=5s,wait=50us,wake=never,lock=on,copy=on";
        check(all, all);
        check("shm;demo?wait=spin", "shm;none;demo?wait=spin");
        check("shm;demo?wait=sleep", "shm;none;demo?wait=sleep");
        check("shm;demo?wait=0s", "shm;none;demo?wait=sleep");
        check("shm;demo?wake=always,lock=off,copy=off", "shm;none;demo");
    }

    /// The text, and what the caret points at.
    #[test]
    fn complains_at_the_right_place() {
        let check = |endpoint: &str, text: &str, marked: &str| {
            let error = endpoint.parse::<Endpoint>().unwrap_err().to_string();
            let lines: Vec<&str> = error.lines().collect();
            let [message, quoted, carets] = lines[..] else { panic!("three lines: {error}") };
            assert!(message.contains(text), "{message:?} lacks {text:?}");
            let start = carets.find('^').unwrap();
            assert_eq!(
                &quoted[start..start + carets.matches('^').count().max(1).min(quoted.len() - start)],
                marked
            );
        };
        check("smh;demo", "unknown transport `smh`, expected `shm`; did you mean `shm`?", "smh");
        check("nats;127.0.0.1:4222", "`nats` is not in this version", "nats");
        check("shm", "here is no `;`", "shm");
        check("shm;gzip;demo", "unknown compression `gzip`", "gzip");
        check("shm;zst;demo", "did you mean `zstd`?", "zst");
        check("shm;zstd:23;demo", "expected 1 to 22", "23");
        check("shm;lz4:3;demo", "has no level", "3");
        check("shm;a b", "channel `a b`", "a b");
        check("shm;demo?slot=8", "unknown option `slot` of `shm`", "slot");
        check("shm;demo?slot=8", "did you mean `slots`?", "slot");
        check("shm;demo?slots", "option `slots` has no value", "slots");
        check("shm;demo?slots=0", "slots `0`, expected 1 to 1024", "0");
        check("shm;demo?slots=1025", "expected 1 to 1024", "1025");
        check("shm;demo?slots=8,slots=9", "option `slots` is given twice", "slots");
        check("shm;demo?slots=4&size=1KiB", "options are separated by `,`", "4&size=1KiB");
        check("shm;demo?size=4MB", "unknown unit `MB`", "MB");
        check("shm;demo?size=4mib", "did you mean `MiB`?", "mib");
        check("shm;demo?size=4", "has no unit", "4");
        check("shm;demo?size=MiB", "has no number", "MiB");
        check("shm;demo?size=99999999999999GiB", "too large", "99999999999999GiB");
        check("shm;demo?size=0B", "at least 1 B", "0B");
        check("shm;demo?timeout=1sec", "unknown unit `sec`, expected `ns`, `us`, `ms` or `s`", "sec");
        check("shm;demo?timeout=1.5s", "unknown unit `.5s`", ".5s");
        check("shm;demo?group=a/b", "group `a/b`", "a/b");
        check("shm;demo?evict=0s", "evict `0s` would evict everybody", "0s");
        check("shm;demo?evict=5", "time `5` has no unit", "5");
        check("shm;demo?wait=spinn", "wait `spinn`, expected `spin`, `sleep` or a time", "spinn");
        check("shm;demo?wait=50", "time `50` has no unit", "50");
        check("shm;demo?wait=50uS", "unknown unit `uS`", "uS");
        check("shm;demo?wake=off", "wake `off`, expected `always` or `never`", "off");
        check("shm;demo?lock=yes", "lock `yes`, expected `off` or `on`", "yes");
        check("shm;demo?copy=On", "copy `On`, expected `off` or `on`", "On");
        check("shm;demo?wakes=never", "did you mean `wake`?", "wakes");
        check("shm;none;x;y", "channel `x;y`", "x;y");
    }

    #[test]
    fn strange_strings_are_errors() {
        for text in [
            "",
            ";",
            ";;",
            ";;;",
            "shm;",
            "shm;;",
            "shm;?",
            "shm;demo?",
            "shm;demo?,",
            "shm;demo?=",
            "shm;\u{1F980}",
        ] {
            assert!(text.parse::<Endpoint>().is_err(), "{text:?}");
        }
    }
}
