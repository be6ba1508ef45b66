//! The directory in which the rings of a group lie.
//!
//! In `/dev/shm` only a file's owner may remove or replace it. So a ring that several users share has its files in a
//! directory of their group, where every member may: `msg.g<gid>`, mode 2770. It is made by whoever needs it first, and
//! stays. All members may publish as well as subscribe, and both files have mode 0660: with less for whoever comes
//! second, it would depend on the order of start who may publish. Subscribers still map the data file for reading only.

use std::fs::{DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::file;

/// Set-group-id, so that what is made in it belongs to the group; nothing for others; not sticky.
const MODE: u32 = 0o2770;

/// Where the rings of a group in this directory are.
pub(super) fn directory(parent: &Path, group: u32) -> PathBuf {
    parent.join(format!("msg.g{group}"))
}

/// Makes the directory unless it is there.
pub(super) fn make_directory(path: &Path, group: u32) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    // Under another name until it is as it shall be, so that nobody meets it half-made.
    let suffix = u64::from_ne_bytes(file::random()?);
    let fresh = path.with_extension(format!("g{group}.new.{suffix:016x}"));
    DirBuilder::new().mode(0o700).create(&fresh)?;
    let made = file::open_directory(&fresh)
        .and_then(|directory| file::set_access(&directory, MODE, Some(group)))
        .and_then(|()| file::rename_new(&fresh, path));
    match made {
        Ok(()) => Ok(()),
        Err(error) => {
            // It is empty, and its name is known to nobody; what cannot be removed is in nobody's way.
            let _ = std::fs::remove_dir(&fresh);
            if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
        }
    }
}

/// What is wrong with a directory that has the name, if anything.
pub(super) fn complaint(found: &Metadata, group: u32) -> Option<String> {
    let mode = found.mode() & 0o7777;
    if !found.is_dir() {
        return Some("is not a directory".into());
    }
    // Only a member can have made one that belongs to the group.
    if found.gid() != group {
        return Some(format!("belongs to group {}, expected {group}", found.gid()));
    }
    if mode & 0o3772 != MODE {
        return Some(format!("has mode {mode:04o}, expected {MODE:04o}"));
    }
    None
}
