//! Counts what pushing costs beside time, for `tests/realtime_cost.rs`: system calls (each one of the pushing thread is
//! trapped by seccomp), allocations (a counting allocator), page faults and switches (the kernel's own counts).
//!
//!     realtime_cost <deadline | spin | notify | direct | silent | control> [refuse | overwrite | latest]
//!
//! Prints `name value` lines.

use msg_runtime::{
    Message, Publisher, Subscriber, TrySendError,
    realtime::{RealtimePublisher, Waking, WhenFull},
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    env, hint,
    io::{self, Write},
    process,
    sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
    time::{Duration, Instant},
};

/// With every system call trapped.
const TRAPPED: u64 = 1_000_000;
/// Before that, with the kernel's and the allocator's counts.
const COUNTED: u64 = 200_000;
const WARM_UP: u64 = 10_000;
const SLOTS: u64 = 64;

#[derive(Message, Clone, Copy)]
#[message(namespace = "realtime_cost", plain)]
#[repr(C)]
struct Joints {
    number: u64,
    position: [f64; 7],
}

fn joints(number: u64) -> Joints {
    Joints { number, position: [number as f64; 7] }
}

/// The system's allocator, which counts what the thread under test asks of it.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static UNDER_TEST: Cell<bool> = const { Cell::new(false) };
}

fn count_allocation() {
    if UNDER_TEST.get() {
        ALLOCATIONS.fetch_add(1, Relaxed);
    }
}

// SAFETY: every call is the system allocator's, with the caller's promises.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        // SAFETY: the caller's promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_allocation();
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// System calls by seccomp: a filter turns each into a signal, whose handler counts it. It makes futex calls itself, with
/// a mark in the sixth argument that lets them through; the others it has made by the main thread, which is not
/// filtered.
mod trap {
    use super::{Acquire, AtomicU64, Relaxed, Release, UNDER_TEST};
    use std::{hint, io, mem, ptr, sync::atomic::AtomicU8};

    /// Of the thread under test.
    pub(super) static CALLS: AtomicU64 = AtomicU64::new(0);
    /// Sleeps of the other threads on this process's own futexes, which are the worker's.
    pub(super) static SLEEPS: AtomicU64 = AtomicU64::new(0);

    /// Futex calls of the thread under test.
    pub(super) static WAKES: AtomicU64 = AtomicU64::new(0);

    /// A call that the main thread shall make: its number, its arguments and then its result.
    static REQUEST: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];
    static STATE: AtomicU8 = AtomicU8::new(IDLE);
    const IDLE: u8 = 0;
    const ASKED: u8 = 1;
    const ANSWERED: u8 = 2;

    /// Makes the call that a handler waits for, if one does.
    pub(super) fn serve() {
        if STATE.load(Acquire) != ASKED {
            return;
        }
        let [number, a, b, c, d, e, f, _] = REQUEST.each_ref().map(|word| word.load(Relaxed));
        // SAFETY: the call that was trapped, with pointers of this process, whose maker waits for its end.
        let result = unsafe { libc::syscall(number as i64, a, b, c, d, e, f) };
        REQUEST[7].store(or_error(result) as u64, Relaxed);
        STATE.store(ANSWERED, Release);
    }

    fn ask(number: i64, arguments: [u64; 6]) -> i64 {
        REQUEST[0].store(number as u64, Relaxed);
        for (word, argument) in REQUEST[1..].iter().zip(arguments) {
            word.store(argument, Relaxed);
        }
        STATE.store(ASKED, Release);
        while STATE.load(Acquire) != ANSWERED {
            hint::spin_loop();
        }
        STATE.store(IDLE, Relaxed);
        REQUEST[7].load(Relaxed) as i64
    }

    /// What the kernel itself gives: an error is a negative number.
    fn or_error(result: i64) -> i64 {
        if result < 0 { -i64::from(io::Error::last_os_error().raw_os_error().unwrap_or(0)) } else { result }
    }

    /// To a wake it means nothing, to a wait that any wake ends it.
    const MARK: u32 = 0x7fff_ffff;

    pub(super) fn install_handler() {
        // SAFETY: zeros are a valid `sigaction`.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        action.sa_sigaction = on_trap as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        // SAFETY: the action is filled in, and its handler only counts and makes a system call.
        let result = unsafe { libc::sigaction(libc::SIGSYS, &raw const action, ptr::null_mut()) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
    }

    /// Traps every system call of this thread but the end of the handler.
    pub(super) fn every_call() {
        install(&mut [
            load(0),
            jump_if(libc::SYS_rt_sigreturn as u32, 4, 0),
            jump_if(libc::SYS_futex as u32, 0, 2),
            load(SIXTH_ARGUMENT),
            jump_if(MARK, 1, 0),
            answer(libc::SECCOMP_RET_TRAP),
            answer(libc::SECCOMP_RET_ALLOW),
        ]);
    }

    /// Traps the futex calls of this thread and of those it starts.
    pub(super) fn futex_calls() {
        install(&mut [
            load(0),
            jump_if(libc::SYS_futex as u32, 0, 3),
            load(SIXTH_ARGUMENT),
            jump_if(MARK, 1, 0),
            answer(libc::SECCOMP_RET_TRAP),
            answer(libc::SECCOMP_RET_ALLOW),
        ]);
    }

    /// Of `struct seccomp_data`, the lower half on a little-endian machine.
    const SIXTH_ARGUMENT: u32 = 16 + 5 * 8;

    fn load(offset: u32) -> libc::sock_filter {
        libc::sock_filter {
            code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16,
            jt: 0,
            jf: 0,
            k: offset,
        }
    }

    /// Skips `then` or `otherwise` instructions.
    fn jump_if(value: u32, then: u8, otherwise: u8) -> libc::sock_filter {
        let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        libc::sock_filter { code, jt: then, jf: otherwise, k: value }
    }

    fn answer(action: u32) -> libc::sock_filter {
        libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: action }
    }

    fn install(filter: &mut [libc::sock_filter]) {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: the call takes numbers.
        let result = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
        // SAFETY: the program points to `len` instructions, which the kernel checks and copies.
        let result =
            unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
    }

    extern "C" fn on_trap(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: with `SA_SIGINFO` the kernel passes the interrupted thread's context, which this handler alone uses.
        let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
        let (number, arguments) = registers::call(context);
        if UNDER_TEST.get() {
            CALLS.fetch_add(1, Relaxed);
        }
        let result = if number == libc::SYS_futex {
            let operation = arguments[1] as i32;
            let waits = matches!(operation & 0x7f, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET);
            if UNDER_TEST.get() {
                WAKES.fetch_add(1, Relaxed);
            } else if waits && operation & libc::FUTEX_PRIVATE_FLAG != 0 {
                SLEEPS.fetch_add(1, Relaxed);
            }
            let [a, b, c, d, e, _] = arguments;
            // SAFETY: the call that was trapped, by whoever made it, with the mark where it has no other effect.
            or_error(unsafe { libc::syscall(number, a, b, c, d, e, u64::from(MARK)) })
        } else {
            ask(number, arguments)
        };
        registers::set_result(context, result);
    }

    #[cfg(target_arch = "x86_64")]
    mod registers {
        pub(super) fn call(context: &libc::ucontext_t) -> (i64, [u64; 6]) {
            let register = |index: i32| context.uc_mcontext.gregs[index as usize];
            let arguments =
                [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9];
            (register(libc::REG_RAX), arguments.map(|index| register(index) as u64))
        }

        pub(super) fn set_result(context: &mut libc::ucontext_t, result: i64) {
            context.uc_mcontext.gregs[libc::REG_RAX as usize] = result;
        }
    }

    #[cfg(target_arch = "aarch64")]
    mod registers {
        pub(super) fn call(context: &libc::ucontext_t) -> (i64, [u64; 6]) {
            let registers = &context.uc_mcontext.regs;
            (registers[8] as i64, std::array::from_fn(|index| registers[index]))
        }

        pub(super) fn set_result(context: &mut libc::ucontext_t, result: i64) {
            context.uc_mcontext.regs[0] = result as u64;
        }
    }
}

/// Page faults and voluntary switches of this thread so far.
fn kernel_counts() -> (i64, i64) {
    // SAFETY: zeros are a valid `rusage`.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel fills in the struct it is given.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
    (usage.ru_minflt + usage.ru_majflt, usage.ru_nvcsw)
}

static RECEIVED: AtomicU64 = AtomicU64::new(0);
static NOTICED: AtomicU64 = AtomicU64::new(0);
static PUSHED: AtomicU64 = AtomicU64::new(0);
static ACCOUNTED: AtomicU64 = AtomicU64::new(0);
static PUBLISHED: AtomicU64 = AtomicU64::new(0);
static FAULTS: AtomicU64 = AtomicU64::new(0);
static SWITCHES: AtomicU64 = AtomicU64::new(0);
static MILLISECONDS: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicBool = AtomicBool::new(false);

/// Measures `step` on this thread: first with the kernel's counts, then with every system call trapped. The trap cannot be
/// taken off again, so this thread never returns: it spins until the process ends.
fn measure(mut step: impl FnMut(u64), finish: impl FnOnce()) -> ! {
    (0..WARM_UP).for_each(&mut step);
    let before = kernel_counts();
    UNDER_TEST.set(true);
    (WARM_UP..WARM_UP + COUNTED).for_each(&mut step);
    UNDER_TEST.set(false);
    let after = kernel_counts();
    FAULTS.store((after.0 - before.0) as u64, Relaxed);
    SWITCHES.store((after.1 - before.1) as u64, Relaxed);
    trap::every_call();
    for counter in [&trap::CALLS, &trap::WAKES] {
        counter.store(0, Relaxed);
    }
    let start = Instant::now();
    UNDER_TEST.set(true);
    (WARM_UP + COUNTED..WARM_UP + COUNTED + TRAPPED).for_each(&mut step);
    finish();
    UNDER_TEST.set(false);
    MILLISECONDS.store(start.elapsed().as_millis() as u64, Relaxed);
    DONE.store(true, Release);
    loop {
        hint::spin_loop();
    }
}

fn realtime(mut publisher: RealtimePublisher<Joints>) -> ! {
    publisher.start().expect("the usual schedule is always allowed");
    let publisher = std::cell::RefCell::new(publisher);
    let step = |number| {
        // Full is one of the answers that cost nothing.
        let _ = publisher.borrow_mut().push(&joints(number));
        // Now and then long enough for a worker that is done to sleep.
        if number % 256 == 0 {
            (0..1000).for_each(|_| hint::spin_loop());
        }
        if number % 16_384 == 0 {
            while publisher.borrow().stats().left > 0 {
                hint::spin_loop();
            }
            (0..20_000).for_each(|_| hint::spin_loop());
        }
    };
    measure(step, || {
        while publisher.borrow().stats().left > 0 {
            hint::spin_loop();
        }
        let stats = publisher.borrow().stats();
        PUSHED.store(stats.pushed, Relaxed);
        PUBLISHED.store(stats.published, Relaxed);
        ACCOUNTED.store(stats.published + stats.refused + stats.overwritten, Relaxed);
    })
}

fn direct(publisher: &Publisher<Joints>) -> ! {
    let published = Cell::new(0);
    let step = |number| {
        // A publisher that finds no room looks whether the subscribers live, which takes system calls.
        while published.get() - RECEIVED.load(Relaxed) >= SLOTS / 2 {
            hint::spin_loop();
        }
        publisher.try_send(&joints(number)).expect("there is room");
        published.set(published.get() + 1);
    };
    measure(step, || PUBLISHED.store(published.get(), Relaxed))
}

/// The same without a look at anybody: no room is an answer, too.
fn silent(publisher: &Publisher<Joints>) -> ! {
    let (published, full) = (Cell::new(0), Cell::new(0));
    let step = |number| {
        let sent = if number % 2 == 0 {
            publisher.try_send(&joints(number))
        } else {
            publisher.try_loan().and_then(|mut loan| {
                *loan = joints(number);
                loan.send().map_err(TrySendError::from)
            })
        };
        match sent {
            Ok(()) => published.set(published.get() + 1),
            Err(TrySendError::Full) => full.set(full.get() + 1),
            Err(error) => panic!("{error}"),
        }
    };
    measure(step, || {
        PUSHED.store(WARM_UP + COUNTED + TRAPPED, Relaxed);
        PUBLISHED.store(published.get(), Relaxed);
        ACCOUNTED.store(published.get() + full.get(), Relaxed);
    })
}

/// Sleeps until there is a message, again and again: whoever wakes anybody wakes this one.
fn sleep_until_noticed(endpoint: &str) {
    let endpoint = format!("{endpoint},wait=sleep");
    let sleeper = Subscriber::<Joints>::builder(&endpoint).latest_only().open();
    let sleeper = sleeper.expect("the name is this process's own");
    thread::spawn(move || {
        while sleeper.recv().is_ok() {
            NOTICED.fetch_add(1, Relaxed);
        }
    });
}

/// Receives everything without sleeping, as the readers of a thread that publishes itself shall.
fn poll(subscriber: Subscriber<Joints>) {
    thread::spawn(move || {
        loop {
            match subscriber.try_recv() {
                Ok(_) => _ = RECEIVED.fetch_add(1, Relaxed),
                Err(_) => thread::yield_now(),
            }
        }
    });
}

/// What the counters must see: a system call and an allocation each time.
fn control() -> ! {
    measure(
        |number| {
            if number % 1000 == 0 {
                // SAFETY: it takes nothing and changes nothing.
                unsafe { libc::syscall(libc::SYS_getppid) };
                hint::black_box(Box::new(number));
            }
        },
        || {},
    )
}

fn main() {
    let argument = |index| env::args().nth(index).unwrap_or_default();
    let (way, when_full) = (argument(1), argument(2));
    trap::install_handler();
    if way == "notify" {
        trap::futex_calls();
    }
    let wake = if way == "silent" { "never" } else { "always" };
    let endpoint = format!("shm;realtime-cost-{}?slots={SLOTS},wake={wake}", process::id());
    let subscriber = Subscriber::<Joints>::open(&endpoint).expect("the name is this process's own");
    let publisher = Publisher::<Joints>::open(&endpoint).expect("the name is this process's own");
    if way == "silent" {
        sleep_until_noticed(&endpoint);
    }
    poll(subscriber);
    thread::spawn(move || {
        let when_full = match when_full.as_str() {
            "overwrite" => WhenFull::OverwriteOldest,
            "latest" => WhenFull::LatestOnly,
            _ => WhenFull::RefuseNewest,
        };
        let waking = match way.as_str() {
            "direct" => direct(&publisher),
            "silent" => silent(&publisher),
            "control" => control(),
            "notify" => Waking::Notify,
            "spin" => Waking::Spin,
            _ => Waking::default(),
        };
        let builder = publisher.realtime().capacity(1024).when_full(when_full).waking(waking);
        realtime(builder.build().expect("the settings are in range"))
    });
    while !DONE.load(Acquire) {
        trap::serve();
        thread::sleep(Duration::from_micros(200));
    }
    let mut out = io::stdout();
    for (name, counter) in [
        ("calls", &trap::CALLS),
        ("wakes", &trap::WAKES),
        ("sleeps", &trap::SLEEPS),
        ("allocations", &ALLOCATIONS),
        ("faults", &FAULTS),
        ("switches", &SWITCHES),
        ("pushed", &PUSHED),
        ("accounted", &ACCOUNTED),
        ("published", &PUBLISHED),
        ("noticed", &NOTICED),
        ("milliseconds", &MILLISECONDS),
    ] {
        writeln!(out, "{name} {}", counter.load(Relaxed)).expect("the test reads it");
    }
    process::exit(0);
}
