//! A peer that runs under our eyes: instruction by instruction, or system call by system call.

use std::io;

use super::{Directory, Peer};

/// A peer that has stopped, at a mark of its own or wherever it was let go to.
pub(crate) struct Traced(pub(crate) Peer);

/// What a traced peer did when it was let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It has come to its next mark.
    Mark,
    /// It has run one instruction, or has come to the begin or the end of a system call.
    Step,
}

impl Traced {
    /// Starts a peer that asks to be traced, and waits for its first mark; nothing if the system refuses.
    pub(crate) fn start(directory: &Directory, channel: &str, what: &[&str]) -> Option<Self> {
        let mut peer = Peer::start(directory, channel, what);
        let line = peer.line();
        if let Some(reason) = line.strip_prefix("refused ") {
            super::not_run(&format!(
                "the system refuses ptrace ({reason}): allow it with --cap-add=SYS_PTRACE or yama's ptrace_scope"
            ));
            return None;
        }
        assert_eq!(line, "traced", "the peer has failed");
        let traced = Self(peer);
        assert_eq!(traced.wait(), Stop::Mark);
        // Calls stop in a way that no signal does.
        traced.ask(libc::PTRACE_SETOPTIONS, libc::PTRACE_O_TRACESYSGOOD as usize).unwrap();
        Some(traced)
    }

    fn ask(&self, request: libc::c_uint, data: usize) -> io::Result<()> {
        // SAFETY: these requests take numbers.
        let result = unsafe { libc::ptrace(request, self.0.id() as i32, 0, data) };
        if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn wait(&self) -> Stop {
        let mut status = 0;
        // SAFETY: `status` lives through the call.
        let found = unsafe { libc::waitpid(self.0.id() as i32, &raw mut status, libc::__WALL) };
        assert_eq!(found, self.0.id() as i32);
        assert!(libc::WIFSTOPPED(status), "the peer has ended: status {status:#x}");
        match libc::WSTOPSIG(status) {
            libc::SIGSTOP => Stop::Mark,
            number if number & 0x7f == libc::SIGTRAP => Stop::Step,
            number => panic!("the peer met signal {number}"),
        }
    }

    fn go(&self, request: libc::c_uint) -> Stop {
        self.ask(request, 0).unwrap();
        self.wait()
    }

    /// Lets it run one instruction.
    pub(crate) fn step(&self) -> Stop {
        self.go(libc::PTRACE_SINGLESTEP)
    }

    /// Lets it run so many instructions, but not beyond its next mark. Returns how many it were.
    pub(crate) fn steps(&self, most: u64) -> u64 {
        (0..most).find(|_| self.step() == Stop::Mark).unwrap_or(most)
    }

    /// Lets it run to its next mark.
    pub(crate) fn to_mark(&self) {
        assert_eq!(self.go(libc::PTRACE_CONT), Stop::Mark);
    }

    /// Lets it run to where its next system call begins; nothing if it comes to its next mark.
    pub(crate) fn to_call(&self) -> Option<Call> {
        loop {
            if self.go(libc::PTRACE_SYSCALL) == Stop::Mark {
                return None;
            }
            let mut info = std::mem::MaybeUninit::<libc::ptrace_syscall_info>::zeroed();
            let (process, size) = (self.0.id() as i32, size_of_val(&info));
            let request = libc::PTRACE_GET_SYSCALL_INFO;
            // SAFETY: the call writes so many bytes at most.
            let written = unsafe { libc::ptrace(request, process, size, info.as_mut_ptr()) };
            assert!(written > 0, "{}", io::Error::last_os_error());
            // SAFETY: all zeros is a value of the struct, and so is what the call wrote.
            let info = unsafe { info.assume_init() };
            if info.op == libc::PTRACE_SYSCALL_INFO_ENTRY {
                // SAFETY: this is what there is at a call's begin.
                let entry = unsafe { info.u.entry };
                return Some(Call { number: entry.nr as libc::c_long, arguments: entry.args });
            }
        }
    }

    /// Makes the call at whose begin it is fail, instead of being made.
    pub(crate) fn fail_call(&self, error: i32) {
        // There is no call with this number.
        self.set_register(|registers| registers.orig_rax = u64::MAX);
        assert_eq!(self.go(libc::PTRACE_SYSCALL), Stop::Step);
        self.set_register(|registers| registers.rax = -i64::from(error) as u64);
    }

    fn set_register(&self, change: impl FnOnce(&mut libc::user_regs_struct)) {
        let mut registers = std::mem::MaybeUninit::<libc::user_regs_struct>::zeroed();
        let (process, nowhere) = (self.0.id() as i32, std::ptr::null_mut::<libc::c_void>());
        // SAFETY: there is room for all registers.
        let result = unsafe { libc::ptrace(libc::PTRACE_GETREGS, process, nowhere, registers.as_mut_ptr()) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
        // SAFETY: all zeros is a value of the struct, and so is what the call wrote.
        let mut registers = unsafe { registers.assume_init() };
        change(&mut registers);
        // SAFETY: the registers live through the call.
        let result = unsafe { libc::ptrace(libc::PTRACE_SETREGS, process, nowhere, &raw mut registers) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
    }
}

/// A system call at its begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    number: libc::c_long,
    arguments: [u64; 6],
}

impl Call {
    /// Whether it may change what others see of us: files, names, locks, memory that we share.
    pub(crate) fn changes_something(self) -> bool {
        match self.number {
            libc::SYS_fcntl => self.arguments[1] as i32 != libc::F_OFD_GETLK,
            number => [
                libc::SYS_openat,
                libc::SYS_fallocate,
                libc::SYS_pwrite64,
                libc::SYS_mmap,
                libc::SYS_munmap,
                libc::SYS_close,
                libc::SYS_linkat,
                libc::SYS_rename,
                libc::SYS_unlink,
                libc::SYS_fchmod,
                libc::SYS_futex,
                libc::SYS_tgkill,
            ]
            .contains(&number),
        }
    }

    /// The errors with which the system may refuse it; none for those that only a broken program sees fail.
    pub(crate) fn errors(self) -> &'static [i32] {
        match self.number {
            libc::SYS_openat => &[libc::EMFILE, libc::ENOMEM, libc::EINTR, libc::EIO],
            libc::SYS_fallocate => &[libc::ENOSPC, libc::EINTR, libc::EIO],
            // Without a file it is the allocator's.
            libc::SYS_mmap if self.arguments[4] as i32 >= 0 => &[libc::ENOMEM],
            libc::SYS_fcntl => &[libc::ENOLCK, libc::EINTR],
            libc::SYS_linkat | libc::SYS_rename => &[libc::ENOSPC, libc::EIO],
            libc::SYS_unlink | libc::SYS_fchmod => &[libc::EIO],
            libc::SYS_pread64 | libc::SYS_pwrite64 | libc::SYS_read => &[libc::EINTR, libc::EIO],
            libc::SYS_statx | libc::SYS_fstat | libc::SYS_newfstatat | libc::SYS_lstat => {
                &[libc::ENOMEM, libc::EIO]
            }
            libc::SYS_stat | libc::SYS_readlink | libc::SYS_getrandom | libc::SYS_kill => &[libc::EIO],
            _ => &[],
        }
    }
}
