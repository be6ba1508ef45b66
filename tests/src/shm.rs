//! What the tests of shared memory and their peers share: where their rings are, and what their messages look like.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use msg_runtime::shm::Options;

/// The counter of the last message.
pub const END: u64 = u64::MAX;

/// A directory on shared memory, removed with everything in it.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// A new one, of this test alone.
    ///
    /// # Panics
    /// If it cannot be made.
    #[expect(clippy::new_without_default, reason = "it makes a directory, which is no default")]
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!("/dev/shm/msg-test-{}-{count}", std::process::id()));
        std::fs::create_dir(&path).expect("/dev/shm takes a directory");
        Self(path)
    }

    /// Its path, as an argument.
    ///
    /// # Panics
    /// Never: the path is ASCII.
    pub fn path(&self) -> &str {
        self.0.to_str().expect("the path is ASCII")
    }

    /// The names of the ring files in it.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.0).expect("the directory is ours");
        let paths = entries.map(|entry| entry.expect("the directory is ours").path());
        let mut files: Vec<_> = paths.filter(|path| name(path).starts_with("msg.")).collect();
        files.sort();
        files
    }
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or("")
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What is left shows in the directory; a panic here would hide the test's own.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The files of a channel in `/dev/shm` whose processes end without closing it, removed when dropped.
#[derive(Debug)]
pub struct Leftovers(pub String);

impl Drop for Leftovers {
    fn drop(&mut self) {
        let owned_by_channel = format!(".{}.", self.0);
        let Ok(entries) = std::fs::read_dir("/dev/shm") else { return };
        for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
            if name(&path).starts_with("msg.") && name(&path).contains(&owned_by_channel) {
                // What is left shows in the directory; a panic here would hide the test's own.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// The ring of a channel in a directory.
pub fn options(directory: &str, channel: &str) -> Options {
    Options::new(channel, "test").directory(directory)
}

/// The file in which a publishing peer writes how many messages it has sent.
pub fn acknowledged(directory: &str, publisher: u64) -> PathBuf {
    Path::new(directory).join(format!("sent.{publisher}"))
}

/// A message that shows when it is torn.
pub fn message(publisher: u64, counter: u64) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (k, word) in bytes.chunks_exact_mut(8).enumerate() {
        let value = match k {
            0 => publisher,
            1 => counter,
            _ => publisher.wrapping_mul(31).wrapping_add(counter).wrapping_mul(k as u64),
        };
        word.copy_from_slice(&value.to_ne_bytes());
    }
    bytes
}

/// Publisher and counter of a message.
///
/// # Panics
/// If it is torn.
pub fn parse(bytes: &[u8]) -> (u64, u64) {
    let word =
        |k: usize| bytes.get(8 * k..).and_then(|rest| rest.first_chunk()).copied().map(u64::from_ne_bytes);
    let (publisher, counter) = (word(0).unwrap_or(0), word(1).unwrap_or(0));
    assert_eq!(bytes, message(publisher, counter), "torn");
    (publisher, counter)
}
