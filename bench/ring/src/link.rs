//! What every peer offers, so that one workload drives them all.

/// How a receiver waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    Spins,
    Sleeps,
}

/// What is opened; the same on both sides and for every peer.
#[derive(Clone, Debug)]
pub struct Setting {
    pub name: String,
    /// The longest message.
    pub bytes: usize,
    /// Messages that may be under way.
    pub depth: usize,
    pub waits: Waits,
}

pub trait Sender: Sized {
    fn open(setting: &Setting) -> Self;
    /// Sends a message that is written in place; waits for room.
    fn send(&mut self, bytes: usize, fill: impl FnOnce(&mut [u8]));
}

pub trait Receiver: Sized {
    fn open(setting: &Setting) -> Self;
    /// The next message if there is one now, read in place.
    fn try_receive<R>(&mut self, read: impl FnOnce(&[u8]) -> R) -> Option<R>;
    /// The next message, waiting for it as the setting says.
    fn receive<R>(&mut self, read: impl FnOnce(&[u8]) -> R) -> R;
}

/// A library under test.
pub trait Peer {
    type Sender: Sender;
    type Receiver: Receiver;
    const NAME: &'static str;
    /// What a reader of the figures has to know about how it was opened.
    const SETTINGS: &'static str;
}

/// Writes every byte.
pub fn write(message: &mut [u8], sequence: u64) {
    message.as_chunks_mut().0.iter_mut().for_each(|word| *word = sequence.to_ne_bytes());
}

/// Reads every byte.
pub fn read(message: &[u8]) -> u64 {
    message.as_chunks().0.iter().fold(0, |sum: u64, word| sum.wrapping_add(u64::from_ne_bytes(*word)))
}

/// Reads a byte of every page.
pub fn read_pages(message: &[u8]) -> u64 {
    message.iter().step_by(4096).fold(0, |sum, byte| sum + u64::from(*byte))
}

/// The sequence or the time at the head of a message.
pub fn head(message: &[u8]) -> u64 {
    message.first_chunk().map_or(0, |word| u64::from_ne_bytes(*word))
}
