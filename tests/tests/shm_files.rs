//! The ring's files: who may use them, what happens when they change under running processes, and who is found dead.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod peer;

use std::fs::{self, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use msg_runtime::ErrorKind;
use msg_runtime::shm::{ShmPublisher, ShmSubscriber};
use msg_tests::shm::{self, Directory};
use peer::{Peer, not_run};

#[test]
fn a_subscriber_that_cannot_see_the_files_disturbs_nobody() {
    let directory = Directory::new();
    let options = shm::options(directory.path(), "c");
    let publisher = ShmPublisher::open(&options).unwrap();
    let other = ShmSubscriber::open(&options).unwrap();
    let mut peer = Peer::start(&directory, "c", &["elsewhere"]);
    let line = peer.line();
    if let Some(reason) = line.strip_prefix("refused ") {
        return not_run(&format!("no chroot ({reason}); run as root"));
    }
    assert_eq!((&*line, &*peer.line()), ("ready", "waited"));
    publisher.send(b"x").unwrap();
    assert_eq!(&*other.try_recv().unwrap(), b"x");
    peer.ends_well();
}

/// Two users and the group that they share.
const USERS: [u32; 2] = [12_345, 12_346];
const GROUP: u32 = 12_400;

/// A directory that everybody may write to and where only the owner may remove, as `/dev/shm` is.
fn open_to_all() -> Directory {
    let directory = Directory::new();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o1777)).unwrap();
    directory
}

fn may_be_others() -> bool {
    // SAFETY: touches no memory.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        not_run("no second user; run as root");
    }
    root
}

fn group_directory(directory: &Directory) -> PathBuf {
    Path::new(directory.path()).join(format!("msg.g{GROUP}"))
}

fn do_all(steps: &[(usize, &str)], users: &mut [Peer; 2]) {
    for (number, (user, step)) in steps.iter().enumerate() {
        assert_eq!(users[*user].ask(step), "ok", "step {number}: user {user}, {step}");
    }
}

#[test]
fn two_users_of_a_group_share_a_ring_whoever_comes_first_and_last() {
    if !may_be_others() {
        return;
    }
    let directory = open_to_all();
    let mut users = USERS.map(|user| Peer::start_as(user, GROUP, GROUP, &directory));
    for (a, b) in [(0, 1), (1, 0)] {
        let pass = [(b, "send"), (a, "receive")];
        // Whoever subscribes comes first, or last; whoever made the ring leaves first, or last.
        do_all(&[(a, "subscribe"), (b, "publish"), pass[0], pass[1], (a, "leave"), (b, "leave")], &mut users);
        do_all(&[(b, "publish"), (a, "subscribe"), pass[0], pass[1], (b, "leave"), (a, "leave")], &mut users);
        // A larger ring in the place of one that nobody named.
        do_all(&[(a, "subscribe"), (b, "publish larger"), pass[0], pass[1]], &mut users);
        assert_eq!(fs::read_dir(group_directory(&directory)).unwrap().count(), 2);
        do_all(&[(b, "leave"), (a, "leave")], &mut users);
        assert_eq!(
            fs::read_dir(group_directory(&directory)).unwrap().count(),
            0,
            "the last one out cleans up"
        );
    }
    let made = fs::symlink_metadata(group_directory(&directory)).unwrap();
    assert_eq!((made.mode() & 0o7777, made.gid()), (0o2770, GROUP));
    assert_eq!(
        fs::read_dir(directory.path()).unwrap().count(),
        1,
        "nothing but the group's directory is left"
    );
}

#[test]
fn what_a_killed_user_of_a_group_leaves_is_replaced_by_the_other() {
    if !may_be_others() {
        return;
    }
    let directory = open_to_all();
    let mut users = USERS.map(|user| Peer::start_as(user, GROUP, GROUP, &directory));
    do_all(&[(0, "publish"), (1, "subscribe")], &mut users);
    users[1].kill();
    users[0].kill();
    users[1] = Peer::start_as(USERS[1], GROUP, GROUP, &directory);
    do_all(&[(1, "publish"), (1, "subscribe"), (1, "send"), (1, "receive"), (1, "leave")], &mut users);
    assert_eq!(fs::read_dir(group_directory(&directory)).unwrap().count(), 0);
}

#[test]
fn a_groups_files_are_the_groups_alone() {
    if !may_be_others() {
        return;
    }
    let directory = open_to_all();
    let options = shm::options(directory.path(), "c").group(&GROUP.to_string());
    let _ring = ShmPublisher::open(&options).unwrap();
    let files = fs::read_dir(group_directory(&directory)).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<_> = files.map(|path| fs::metadata(path).unwrap()).collect();
    assert_eq!(found.len(), 2);
    for file in found {
        assert_eq!((file.mode() & 0o7777, file.gid()), (0o660, GROUP));
    }
    // Somebody who is in another group: neither that ring nor one of his making.
    for target in [directory, open_to_all()] {
        let mut stranger = Peer::start_as(USERS[0], GROUP + 1, GROUP, &target);
        for step in ["subscribe", "publish"] {
            let answer = stranger.ask(step);
            assert!(answer.starts_with("PermissionDenied"), "{answer}");
        }
        assert!(fs::read_dir(target.path()).unwrap().count() <= 1, "he leaves nothing");
    }
}

#[test]
fn a_groups_directory_that_others_may_have_put_there_is_refused() {
    if !may_be_others() {
        return;
    }
    let directory = open_to_all();
    let options = shm::options(directory.path(), "c").group(&GROUP.to_string());
    let path = group_directory(&directory);
    let refused = |text: &str| {
        for error in [ShmPublisher::open(&options).unwrap_err(), ShmSubscriber::open(&options).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            assert!(error.to_string().contains(text), "{error}");
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        }
    };
    symlink("/tmp", &path).unwrap();
    refused("is not a directory");
    fs::remove_file(&path).unwrap();
    fs::write(&path, "").unwrap();
    refused("is not a directory");
    fs::remove_file(&path).unwrap();
    fs::DirBuilder::new().mode(0o700).create(&path).unwrap();
    refused("belongs to group 0, expected 12400");
    chown(&path, None, Some(GROUP)).unwrap();
    for mode in [0o770, 0o2750, 0o2772, 0o3770, 0o2700] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        refused(&format!("has mode {mode:04o}, expected 2770"));
    }
    fs::set_permissions(&path, Permissions::from_mode(0o2770)).unwrap();
    assert!(ShmPublisher::open(&options).is_ok());
}

#[test]
fn files_of_another_user_or_group_are_refused() {
    if !may_be_others() {
        return;
    }
    let directory = open_to_all();
    for group in [None, Some(GROUP.to_string())] {
        let mut options = shm::options(directory.path(), "c");
        if let Some(group) = &group {
            options = options.group(group);
        }
        let _alive = ShmPublisher::open(&options).unwrap();
        let (place, uid, gid, text) = match group {
            None => (PathBuf::from(directory.path()), Some(USERS[0]), None, "belongs to user 12345"),
            Some(_) => (group_directory(&directory), None, Some(GROUP + 1), "belongs to group 12401"),
        };
        let files = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<_> = files.filter(|path| path.is_file()).collect();
        assert_eq!(files.len(), 2);
        for file in files {
            chown(&file, uid, gid).unwrap();
            for error in
                [ShmPublisher::open(&options).unwrap_err(), ShmSubscriber::open(&options).unwrap_err()]
            {
                assert_eq!(error.kind(), ErrorKind::PermissionDenied);
                assert!(error.to_string().contains(text), "{error}");
                assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
            }
            chown(&file, Some(0), Some(group.as_ref().map_or(0, |_| GROUP))).unwrap();
        }
    }
}

/// Whether a process has begun to end, or has ended.
fn is_ending(pid: u32) -> bool {
    const PF_EXITING: u32 = 4;
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    fields[0] == "Z" || fields[6].parse::<u32>().unwrap() & PF_EXITING != 0
}

#[test]
fn whoever_opens_what_the_killed_left_gets_a_ring_of_its_own() {
    let directory = Directory::new();
    let options = shm::options(directory.path(), "c");
    for round in 0..24 {
        // The kernel takes its time with a large process, and frees its memory before its locks.
        let memory = ["0", "64", "256"][round % 3];
        let dying = Peer::ready(&directory, "c", &["named", memory]);
        dying.signal(if round % 2 == 0 { libc::SIGKILL } else { libc::SIGINT });
        // On a busy machine it takes its time to notice, and is alive as long.
        while !is_ending(dying.id()) {
            std::thread::yield_now();
        }
        // Nobody has waited for its end.
        let publisher = ShmPublisher::open(&options).unwrap();
        assert_eq!(publisher.slot_bytes(), 65536, "round {round}: the size of a dead one");
    }
    assert!(directory.files().is_empty());
}

#[test]
fn a_copy_of_a_dead_process_keeps_nothing_alive() {
    let directory = Directory::new();
    let options = shm::options(directory.path(), "c").slots(2);
    let publisher = ShmPublisher::open(&options).unwrap();
    let mut parent = Peer::start(&directory, "c", &["copied", "0"]);
    let child = parent.line().parse().unwrap();
    assert_eq!(publisher.subscribers(), 1);
    (0..2).for_each(|_| publisher.try_send(b"x").unwrap());
    assert!(publisher.try_send(b"x").is_err());
    parent.kill();
    publisher.send_timeout(b"x", Duration::from_secs(10)).unwrap();
    assert_eq!(publisher.subscribers(), 0);
    drop(publisher);
    // Nor the files: what only a copy has open is replaced.
    let mut named = Peer::start(&directory, "c", &["copied", "1"]);
    let second = named.line().parse().unwrap();
    named.kill();
    let publisher = ShmPublisher::open(&options).unwrap();
    assert_eq!(publisher.slot_bytes(), 65536);
    drop(publisher);
    assert!(directory.files().is_empty());
    for child in [child, second] {
        peer::signal(child, libc::SIGKILL);
    }
}

/// How long the longer tests take: by a variable, in seconds.
fn seconds(otherwise: u64) -> u64 {
    std::env::var("MSG_TEST_SECONDS").map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn thirty_two_processes_come_and_go_and_are_killed_and_none_meets_an_error() {
    let directory = Directory::new();
    let milliseconds = (1000 * seconds(3)).to_string();
    let start = || Peer::start(&directory, "c", &["churn", &milliseconds]);
    let mut peers: Vec<Peer> = (0..32).map(|_| start()).collect();
    let (started, mut dice) = (Instant::now(), 0x9e37_79b9_7f4a_7c15_u64);
    while started.elapsed() < Duration::from_secs(seconds(3)) / 2 {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        std::thread::sleep(Duration::from_micros(dice % 50_000));
        let victim = dice as usize / 7 % peers.len();
        peers[victim].kill();
        peers[victim] = start();
    }
    let rounds: u64 = peers.iter_mut().map(|peer| rounds(&peer.line())).sum();
    println!("{rounds} rounds");
    peers.into_iter().for_each(Peer::ends_well);
    drop(ShmPublisher::open(&shm::options(directory.path(), "c")).unwrap());
    assert!(directory.files().is_empty());
}

fn rounds(line: &str) -> u64 {
    line.strip_prefix("rounds ").expect("the peer found something wrong").parse().unwrap()
}

#[test]
fn subscribers_cannot_write_what_publishers_write() {
    let directory = Directory::new();
    let options = shm::options(directory.path(), "c");
    // One that made the ring, one that found it, and one that has moved to another.
    let early = [(); 2].map(|()| ShmSubscriber::open(&options).unwrap());
    read_only_mappings(&directory, 2);
    let publisher = Peer::ready(&directory, "c", &["named", "0"]);
    early.iter().for_each(|subscriber| assert!(subscriber.try_recv().is_err()));
    read_only_mappings(&directory, 2);
    drop(publisher);
}

/// Sees to it that this process has mapped the data file so many times, and never so that it could write there.
fn read_only_mappings(directory: &Directory, count: usize) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let inode = inodes(directory)[0].to_string();
    let of_data = maps.lines().filter(|line| line.split(' ').nth(4) == Some(&inode));
    let of_data: Vec<_> = of_data.filter(|line| line.contains(directory.path())).collect();
    assert_eq!(of_data.len(), count, "{maps}");
    for line in of_data {
        assert_eq!(line.split(' ').nth(1), Some("r--s"), "{line}");
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let [from, to] = [from, to].map(|text| usize::from_str_radix(text, 16).unwrap());
        let wanted = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: asks for more rights on bytes that are mapped; nothing of what they are used for needs fewer.
        let result = unsafe { libc::mprotect(from as *mut _, to - from, wanted) };
        let error = std::io::Error::last_os_error().raw_os_error();
        assert_eq!((result, error), (-1, Some(libc::EACCES)), "{line}");
    }
}

#[test]
fn two_files_that_do_not_belong_together_are_no_ring() {
    let (directory, other) = (Directory::new(), Directory::new());
    let options = shm::options(directory.path(), "c");
    let subscriber = ShmSubscriber::open(&options).unwrap();
    let _stranger = ShmSubscriber::open(&shm::options(other.path(), "c")).unwrap();
    let before = inodes(&directory);
    fs::copy(&other.files()[0], directory.path().to_owned() + "/copy").unwrap();
    fs::rename(directory.path().to_owned() + "/copy", &directory.files()[0]).unwrap();
    // The ring that is made in their place is empty until the subscriber has looked and moved.
    let publisher = ShmPublisher::open(&options).unwrap();
    assert!(inodes(&directory).iter().all(|inode| !before.contains(inode)));
    assert_eq!(publisher.subscribers(), 0);
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| subscriber.recv_timeout(Duration::from_secs(10)));
        assert!(publisher.wait_for_subscribers(1, Duration::from_secs(10)));
        publisher.send(b"x").unwrap();
        assert_eq!(&*receiving.join().unwrap().unwrap(), b"x");
    });
}

fn inodes(directory: &Directory) -> Vec<u64> {
    directory.files().iter().map(|path| fs::metadata(path).unwrap().ino()).collect()
}

/// Allows so many open files beside those that are open now.
fn allow_files(more: u64) {
    let limit = |files| {
        let limit = libc::rlimit { rlim_cur: files, rlim_max: 4096 };
        // SAFETY: `limit` lives through the call.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    };
    limit(4096);
    let next = fs::File::open("/dev/null").unwrap().as_raw_fd();
    limit(next as u64 + more);
}

/// However early it runs out of file descriptors.
#[test]
fn an_open_that_fails_leaves_no_file() {
    let directory = Directory::new();
    // A channel for each attempt: one that succeeds would remove what an earlier one left.
    let options: Vec<_> = (0..16).map(|more| shm::options(directory.path(), &format!("c{more}"))).collect();
    // A process of its own, since the limit is a process's.
    // SAFETY: the child uses nothing that another thread may have had under way but the allocator, which survives.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let fails = |more: &usize| {
            allow_files(*more as u64);
            ShmSubscriber::open(&options[*more]).is_err()
        };
        let failed = std::panic::catch_unwind(|| (0..16).filter(fails).count());
        let right = failed.is_ok_and(|failed| (3..16).contains(&failed));
        // SAFETY: ends the child without what a test program does at its end.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    let mut status = -1;
    // SAFETY: `status` lives through the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "some attempts fail, and some do not");
    assert_eq!(directory.files(), Vec::<PathBuf>::new());
}
