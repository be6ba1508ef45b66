//! The system calls on files, each as a safe function. It knows nothing of segments.

use std::ffi::CString;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::ptr::NonNull;

use super::layout::{PublisherRecord, Readers, SlotRecord};
use super::sync::AtomicU64;

/// Whether shared memory is mapped for looking only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    ReadOnly,
    ReadWrite,
}

/// Opens what exists; `None` if nothing has this name. A symbolic link is refused, a FIFO does not block.
pub(super) fn open(path: &Path, access: Access) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(access == Access::ReadWrite);
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens the same file a second time, as an open file of its own, whatever its name is by now.
pub(super) fn reopen(file: &File, access: Access) -> io::Result<File> {
    OpenOptions::new().read(true).write(access == Access::ReadWrite).open(own_descriptor(file))
}

fn own_descriptor(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// A file without a name: whoever dies before giving it one leaves nothing behind.
pub(super) fn create_nameless(directory: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(libc::O_TMPFILE).open(directory)
}

/// Opens a directory, to change what it is like. A symbolic link is refused.
pub(super) fn open_directory(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(path)
}

/// Gives something another name; fails with `AlreadyExists` if something has it.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (CString::new(from.as_os_str().as_bytes())?, CString::new(to.as_os_str().as_bytes())?);
    let here = libc::AT_FDCWD;
    // SAFETY: both strings are terminated and live through the call.
    check(unsafe { libc::renameat2(here, from.as_ptr(), here, to.as_ptr(), libc::RENAME_NOREPLACE) })
}

/// Sets the permission bits, whatever the umask is, and the group.
pub(super) fn set_access(file: &File, mode: u32, group: Option<u32>) -> io::Result<()> {
    if group.is_some() {
        std::os::unix::fs::fchown(file, None, group)?;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Gives a nameless file its name; fails with `AlreadyExists` if something has it.
pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
    let from = CString::new(own_descriptor(file))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both strings are terminated and live through the call.
    check(unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) })
}

/// Removes a name; that it is gone already is fine.
pub(super) fn unlink(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Which file this is, however it is named.
pub(super) fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// What a look at a name shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// The file that was asked for.
    Same,
    /// Another file on the same file system.
    Other,
    /// No file.
    Nothing,
    /// Nothing that can be relied on: the look failed, or went to another file system.
    Unclear,
}

/// Looks at which file a name leads to.
pub(super) fn look(path: &Path, file: (u64, u64)) -> Sight {
    match std::fs::symlink_metadata(path) {
        Ok(found) if identity(&found) == file => Sight::Same,
        Ok(found) if found.dev() == file.0 => Sight::Other,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Sight::Nothing,
        _ => Sight::Unclear,
    }
}

/// Whether the name leads to this file, for certain.
pub(super) fn is_named(path: &Path, file: (u64, u64)) -> bool {
    look(path, file) == Sight::Same
}

/// How long a file of this process may be.
pub(super) fn longest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` lives through the call.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0;
    if known { limit.rlim_cur } else { u64::MAX }
}

/// Gives the file its length and reserves every byte of it, so that no later write can fail.
pub(super) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    // The kernel would not only refuse, but end the process by a signal.
    if bytes > longest_file() {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    let bytes = libc::off_t::try_from(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    loop {
        // SAFETY: works on an open descriptor alone.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
            0 => return Ok(()),
            libc::EINTR => {}
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// Free bytes in a directory's file system.
pub(super) fn free_bytes(directory: &Path) -> io::Result<u64> {
    let path = CString::new(directory.as_os_str().as_bytes())?;
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the string is terminated, and `found` has room for the answer.
    check(unsafe { libc::statvfs(path.as_ptr(), found.as_mut_ptr()) })?;
    // SAFETY: all zeros is a value of the struct, and so is what the call wrote.
    let found = unsafe { found.assume_init() };
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Takes the lock on some bytes unless another open file has one of them.
pub(super) fn try_lock(file: &File, from: usize, bytes: usize) -> io::Result<bool> {
    match lock_call(file, libc::F_OFD_SETLK, libc::F_WRLCK, from, bytes) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Lets go of the locks on some bytes.
pub(super) fn unlock(file: &File, from: usize, bytes: usize) -> io::Result<()> {
    lock_call(file, libc::F_OFD_SETLK, libc::F_UNLCK, from, bytes).map(|_| ())
}

/// Bytes of the lock that another open file has on this byte; 0 = nobody has one.
pub(super) fn locked_bytes(file: &File, byte: usize) -> io::Result<usize> {
    let found = lock_call(file, libc::F_OFD_GETLK, libc::F_WRLCK, byte, 1)?;
    let free = libc::c_int::from(found.l_type) == libc::F_UNLCK;
    Ok(if free { 0 } else { found.l_len.max(1) as usize })
}

fn lock_call(file: &File, call: i32, kind: i32, from: usize, bytes: usize) -> io::Result<libc::flock> {
    let mut lock = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: from as libc::off_t,
        l_len: bytes as libc::off_t,
        l_pid: 0,
    };
    // SAFETY: `lock` lives through the call.
    check(unsafe { libc::fcntl(file.as_raw_fd(), call, &raw mut lock) })?;
    Ok(lock)
}

/// The number of a group given by name or number.
pub(super) fn group_id(name: &str) -> io::Result<Option<u32>> {
    if let Ok(number) = name.parse() {
        // The last number is no group's: to the system it means "leave it as it is".
        return Ok(Some(number).filter(|number| *number != u32::MAX));
    }
    let name = CString::new(name)?;
    let mut buffer = vec![0; 16384];
    let mut group = std::mem::MaybeUninit::<libc::group>::zeroed();
    let mut found = std::ptr::null_mut();
    // SAFETY: the string is terminated, and all places for the answer have the sizes given.
    let error = unsafe {
        libc::getgrnam_r(name.as_ptr(), group.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &raw mut found)
    };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    if found.is_null() {
        return Ok(None);
    }
    // SAFETY: all zeros is a value of the struct, and so is what the call wrote.
    Ok(Some(unsafe { group.assume_init() }.gr_gid))
}

/// The user whose files the process makes.
pub(super) fn user_id() -> u32 {
    // SAFETY: cannot fail and touches no memory.
    unsafe { libc::geteuid() }
}

/// Bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    // SAFETY: the buffer has N bytes. Up to 256 bytes are delivered whole.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), N, 0) };
    if got == N as isize { Ok(bytes) } else { Err(io::Error::last_os_error()) }
}

/// Nanoseconds by `CLOCK_MONOTONIC`, the same in all processes.
#[inline]
pub(super) fn monotonic() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` lives through the call, which cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What may be borrowed from shared memory.
///
/// # Safety
/// Consists of atomics only, so that every pattern of bytes is a value and others may write it at any time.
pub(super) unsafe trait Shared {}

// SAFETY: an atomic.
unsafe impl Shared for AtomicU64 {}
// SAFETY: atomics only.
unsafe impl Shared for SlotRecord {}
// SAFETY: atomics only.
unsafe impl Shared for PublisherRecord {}
// SAFETY: atomics only.
unsafe impl Shared for Readers {}

/// A file's bytes in our address space.
#[derive(Debug)]
pub(super) struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread.
unsafe impl Send for Mapping {}
// SAFETY: as above; it hands out atomics and raw pointers only.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(super) fn new(file: &File, len: usize, access: Access) -> io::Result<Self> {
        let protection = match access {
            Access::ReadOnly => libc::PROT_READ,
            Access::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
        };
        let (anywhere, fd) = (std::ptr::null_mut(), file.as_raw_fd());
        // SAFETY: a new mapping at an address that the kernel chooses; nothing of ours is replaced.
        let base = unsafe { libc::mmap(anywhere, len, protection, libc::MAP_SHARED, fd, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Self { base, len })
    }

    /// Brings every page in and keeps it there.
    pub(super) fn lock(&self) -> io::Result<()> {
        // SAFETY: maps exactly these bytes.
        check(unsafe { libc::mlock(self.base.as_ptr().cast(), self.len) })
    }

    /// The address of some bytes.
    ///
    /// # Panics
    /// If they are not all inside the mapping. Offsets come from a layout that was compared with the file's length.
    #[inline]
    pub(super) fn bytes(&self, offset: usize, len: usize) -> NonNull<u8> {
        assert!(offset.checked_add(len).is_some_and(|end| end <= self.len), "outside of the mapping");
        // SAFETY: inside the mapping, as asserted.
        unsafe { self.base.add(offset) }
    }

    /// Some shared words.
    ///
    /// # Panics
    /// If they are not all inside the mapping, or not aligned; see `bytes`.
    #[inline]
    pub(super) fn words<T: Shared>(&self, offset: usize, count: usize) -> &[T] {
        let bytes = count.saturating_mul(size_of::<T>());
        let first = self.bytes(offset, bytes).cast::<T>();
        assert!(first.is_aligned(), "unaligned words");
        // SAFETY: mapped as long as `self` is borrowed, aligned, and any bytes are a value (`Shared`).
        unsafe { std::slice::from_raw_parts(first.as_ptr(), count) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: maps exactly these bytes, and whoever borrowed from them is gone.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}
