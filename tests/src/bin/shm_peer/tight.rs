//! Rings where there is too little of something: room in the file system, memory, or what a process may use.

use msg_runtime::ErrorKind;
use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};
use msg_tests::shm;

use super::{say, shm_directory};

/// Opens a ring with locked memory where no memory may be locked.
pub(crate) fn unlocked(options: &Options) {
    let nothing = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit lives through the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const nothing) }, 0);
    // SAFETY: becomes nobody; whoever is not root has no right to lose.
    unsafe { libc::setuid(65534) };
    let error = ShmPublisher::open(options).unwrap_err();
    say(&format!("{:?} {error}", error.kind()));
    say(&format!("{} files", std::fs::read_dir(shm_directory()).unwrap().count()));
}

/// Gives this process mounts of its own, or says why not.
fn have_own_mounts() -> bool {
    // SAFETY: gives this process a mount namespace of its own.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        say(&format!("refused {}", std::io::Error::last_os_error()));
        return false;
    }
    mount(c"none", c"/", c"", libc::MS_REC | libc::MS_PRIVATE, c"");
    true
}

fn mount_tmpfs(directory: &str, flags: libc::c_ulong, limits: &str) {
    let text = |text: &str| std::ffi::CString::new(text).unwrap();
    mount(c"tmpfs", &text(directory), c"tmpfs", flags, &text(limits));
}

/// Opens a ring that is larger than the file system it shall be on.
pub(crate) fn tiny(directory: &str, channel: &str) {
    if !have_own_mounts() {
        return;
    }
    mount_tmpfs(directory, 0, "size=16m");
    let options = shm::options(directory, channel).slots(8).slot_bytes(4 << 20);
    let error = ShmPublisher::open(&options).unwrap_err();
    say(&format!("{:?} {error}", error.kind()));
    say(&format!("{} files", std::fs::read_dir(directory).unwrap().count()));
    let fits = ShmPublisher::open(&options.slots(2)).unwrap();
    for _ in 0..4 {
        fits.try_publish(4 << 20, |slot| slot.fill(1)).unwrap();
    }
    say("fits");
}

/// Opens a ring where there is one page more each time, then one file more each time, until it fits.
pub(crate) fn tight(directory: &str, channel: &str) {
    if !have_own_mounts() {
        return;
    }
    mount_tmpfs(directory, 0, "size=4k");
    let options = shm::options(directory, channel).slots(4).slot_bytes(8192);
    let failed = |limits: String| {
        mount_tmpfs(directory, libc::MS_REMOUNT, &limits);
        for subscribes in [true, false] {
            let opened = if subscribes {
                ShmSubscriber::open(&options).map(|_| ())
            } else {
                ShmPublisher::open(&options).map(|ring| {
                    (0..9).for_each(|_| ring.try_publish(8192, |slot| slot.fill(1)).unwrap());
                })
            };
            assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0, "{limits}: a file is left");
            match opened {
                Ok(()) => return false,
                Err(error) => assert_eq!(error.kind(), ErrorKind::NoSpace, "{limits}: {error}"),
            }
        }
        true
    };
    let pages = (1..100).take_while(|pages| failed(format!("size={}k", 4 * pages))).count();
    let files = (1..100).take_while(|files| failed(format!("size=1m,nr_inodes={files}"))).count();
    say(&format!("{pages} {files}"));
}

/// Sets a limit of this process.
fn limit(what: libc::__rlimit_resource_t, most: u64) {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the limit lives through the call.
    assert_eq!(unsafe { libc::setrlimit(what, &raw const limit) }, 0);
}

/// Opens a ring that is larger than a file, or than the address space, may be.
pub(crate) fn small(options: &Options) {
    let options = options.clone().slots(4).slot_bytes(16 << 20);
    let refused = |what: &str| {
        for error in [ShmPublisher::open(&options).unwrap_err(), ShmSubscriber::open(&options).unwrap_err()] {
            say(&format!("{what} {:?} {error}", error.kind()));
            assert_eq!(std::fs::read_dir(shm_directory()).unwrap().count(), 0);
        }
    };
    limit(libc::RLIMIT_FSIZE, 1 << 20);
    refused("file");
    limit(libc::RLIMIT_FSIZE, 4096);
    refused("small file");
    limit(libc::RLIMIT_FSIZE, libc::RLIM_INFINITY);
    // All that is mapped now, and room for what an error needs.
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    limit(libc::RLIMIT_AS, pages * 4096 + (8 << 20));
    refused("memory");
    limit(libc::RLIMIT_AS, libc::RLIM_INFINITY);
    ShmPublisher::open(&options).unwrap().try_publish(16 << 20, |slot| slot.fill(1)).unwrap();
    say("fits");
}

fn mount(
    source: &std::ffi::CStr,
    target: &std::ffi::CStr,
    kind: &std::ffi::CStr,
    flags: u64,
    data: &std::ffi::CStr,
) {
    let data = data.as_ptr().cast();
    // SAFETY: all strings are terminated.
    let result = unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, data) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}
