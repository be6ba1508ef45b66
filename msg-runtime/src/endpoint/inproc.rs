//! The address of a channel inside this process.

use super::{
    network::NetworkOptions,
    options,
    text::{Complaint, Part},
};
use std::fmt;

/// A channel between threads of this process, `<channel>?queue=64MiB,...`.
///
/// | option | default | means |
/// | --- | --- | --- |
/// | `queue=64MiB` | 64 MiB | bytes of messages that wait for a subscriber |
/// | `on_full=drop`, `on_full=block` | `drop` | when a subscriber's queue is full: drop its oldest message and count it, or let publishers wait |
/// | `max=64MiB` | 64 MiB | the largest payload |
/// | `timeout=1s` | 1 s | how long `send` waits for room |
///
/// # Examples
///
/// ```
/// use msg_runtime::{Address, Endpoint, OnFull};
///
/// let endpoint: Endpoint = "inproc;camera?queue=1MiB,on_full=block".parse()?;
/// let Address::Inproc(address) = endpoint.address else { panic!("it begins with inproc") };
/// assert_eq!(address.channel, "camera");
/// assert_eq!((address.options.queue_bytes, address.options.on_full), (1 << 20, OnFull::Block));
/// # Ok::<(), msg_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InprocAddress {
    /// Letters, digits, `_` and `-`, 1 to 64 characters.
    pub channel: String,
    /// What network transports have in common, as far as it means something here.
    pub options: NetworkOptions,
}

pub(super) const OPTIONS: &[&str] = &["queue", "on_full", "max", "timeout"];

impl InprocAddress {
    pub(super) fn parse(channel: Part<'_>, options: Option<Part<'_>>) -> Result<Self, Complaint> {
        let channel = channel.channel()?;
        let mut common = NetworkOptions::new(false);
        options::each(options, "inproc", OPTIONS, |name, value| common.set(name, value).map(drop))?;
        Ok(Self { channel, options: common })
    }
}

impl fmt::Display for InprocAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.channel, options::print(self.options.print(&NetworkOptions::new(false))))
    }
}
