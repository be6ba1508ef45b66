//! A session, shared by the handles of this process at an address, and the thread that owns it.
//!
//! The thread opens the session, does the jobs, and closes it when the last handle is gone. Opening, closing and
//! dropping never happen on a caller's thread: in a runtime of one thread they would panic.

use super::{
    super::network::{self, Inbox, Monitor},
    PATIENCE,
    config::{self, Scouting},
    jobs::Jobs,
    link::Link,
    lock,
    subscription::Subscription,
};
use crate::{
    endpoint::ZenohAddress,
    error::{Error, ErrorKind},
};
use std::{
    collections::VecDeque,
    fmt, mem, process,
    sync::{Arc, Condvar, Mutex, PoisonError, Weak, mpsc},
    thread::{self, ThreadId},
    time::{Duration, Instant},
};
use zenoh::{
    Wait,
    qos::{CongestionControl, Priority},
};

/// A key that nobody knows an answer for; that this is so is the answer.
const NOBODY_ANSWERS: &str = "msg.Close";
/// How long a session waits before it tries again to open.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(500);

/// A session, as the handles hold it.
pub(super) struct Session {
    address: ZenohAddress,
    /// Why nobody is found by multicast, where that is no error.
    warning: Option<String>,
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    thread: ThreadId,
    /// Says that the thread has closed the session.
    closed: Mutex<mpsc::Receiver<()>>,
    /// A forked child has the memory of a session, and no thread.
    process: u32,
}

/// What the handles and the thread share.
#[derive(Default)]
struct Shared {
    jobs: Jobs,
    client: Mutex<Client>,
    link: Link,
}

/// Zenoh's session, while it is open; until then, what waits for it.
#[derive(Default)]
struct Client {
    session: Option<zenoh::Session>,
    waiting: Vec<Declare>,
}

type Declare = Box<dyn FnOnce(&zenoh::Session) + Send>;

/// Sessions by address. A slot is made for an address's first handle.
static SLOTS: Mutex<Vec<Arc<Slot>>> = Mutex::new(Vec::new());

/// The place of an address's session: one at a time, as two cannot listen at one port.
struct Slot {
    process: u32,
    address: ZenohAddress,
    state: Mutex<SlotState>,
    freed: Condvar,
}

#[derive(Default)]
struct SlotState {
    /// A session is being opened, is there, or is being closed.
    occupied: bool,
    session: Weak<Session>,
}

impl Slot {
    fn of(address: &ZenohAddress) -> Arc<Self> {
        let process = process::id();
        let mut slots = lock(&SLOTS);
        let same = |slot: &&Arc<Self>| slot.process == process && slot.address == *address;
        if let Some(slot) = slots.iter().find(same) {
            return Arc::clone(slot);
        }
        // Those that only this list holds have no session and nobody who opens one.
        slots.retain(|slot| Arc::strong_count(slot) > 1);
        let slot = Arc::new(Self {
            process,
            address: address.clone(),
            state: Mutex::default(),
            freed: Condvar::new(),
        });
        slots.push(Arc::clone(&slot));
        slot
    }

    fn free(&self) {
        lock(&self.state).occupied = false;
        self.freed.notify_all();
    }
}

impl Session {
    /// The session of this process at an address, which is opened for its first handle.
    pub(super) fn of(address: &ZenohAddress) -> Result<Arc<Self>, Error> {
        let slot = Slot::of(address);
        let mut state = lock(&slot.state);
        while state.occupied {
            if let Some(session) = state.session.upgrade() {
                return Ok(session);
            }
            // Another thread opens it, or its last handle closes it; both end by themselves.
            state = slot.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.occupied = true;
        drop(state);
        match Self::open(address, &slot) {
            Ok(session) => {
                let session = Arc::new(session);
                lock(&slot.state).session = Arc::downgrade(&session);
                slot.freed.notify_all();
                Ok(session)
            }
            Err(error) => {
                slot.free();
                Err(error)
            }
        }
    }

    fn open(address: &ZenohAddress, slot: &Arc<Slot>) -> Result<Self, Error> {
        let (scouting, warning) = scouting(address)?;
        let deadline = Instant::now() + address.options.connect_timeout;
        let shared = Arc::new(Shared::default());
        let (opened, answer) = mpsc::channel();
        let (closing, closed) = mpsc::channel();
        let (of_thread, of_address) = (Arc::clone(&shared), address.clone());
        let thread = thread::Builder::new()
            .name("msg zenoh".to_owned())
            .spawn(move || {
                serve(&of_thread, &of_address, scouting, &opened);
                drop(of_thread);
                drop(closing);
            })
            .map_err(network::no_thread)?
            .thread()
            .id();
        let left = deadline.saturating_duration_since(Instant::now());
        let alone = address.options.retry || address.connect.is_empty();
        match answer.recv_timeout(left) {
            Ok(Err(error)) => return Err(error),
            Ok(Ok(())) if alone || shared.link.wait(deadline) => {}
            Err(_) if address.options.retry => {}
            _ => {
                shared.jobs.close();
                return Err(silent(address));
            }
        }
        Ok(Self {
            address: address.clone(),
            warning,
            shared,
            slot: Arc::clone(slot),
            thread,
            closed: Mutex::new(closed),
            process: process::id(),
        })
    }

    pub(super) fn jobs(&self) -> &Jobs {
        &self.shared.jobs
    }

    /// Whether the session is open, and not only a copy of its memory in a forked child: what is sent leaves.
    pub(super) fn is_open(&self) -> bool {
        self.process == process::id() && lock(&self.shared.client).session.is_some()
    }

    /// Tells a handle what happens to the link, from now on.
    pub(super) fn tell(&self, monitor: &Arc<Monitor>) {
        self.shared.link.watch(monitor);
        if let Some(warning) = &self.warning {
            monitor.failed(warning.clone());
        }
    }

    /// Fills a queue with what is published under a topic.
    pub(super) fn subscribe(
        &self,
        topic: &str,
        inbox: &Arc<Inbox>,
        monitor: &Arc<Monitor>,
    ) -> Result<Subscription, Error> {
        let (subscription, declare) = Subscription::new(topic, inbox, monitor);
        let mut client = lock(&self.shared.client);
        let Some(session) = client.session.clone() else {
            client.waiting.push(Box::new(move |session| drop(declare(session))));
            return Ok(subscription);
        };
        drop(client);
        let declared = aside(move || declare(&session).map_err(|error| error.to_string()))?;
        declared.map_err(|error| {
            let place = config::place(&self.address);
            Error::new(ErrorKind::Unreachable, format!("{place} takes no subscriber: {error}"))
        })?;
        Ok(subscription)
    }
}

impl Drop for Session {
    /// Waits until what Zenoh has taken is on its way, as far as the link lets it.
    fn drop(&mut self) {
        let open = self.is_open();
        self.shared.jobs.close();
        if open && thread::current().id() != self.thread {
            // The thread's end closes the channel. After that time it goes on alone.
            _ = lock(&self.closed).recv_timeout(PATIENCE);
        }
        self.slot.free();
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The thread's life.
fn serve(
    shared: &Arc<Shared>,
    address: &ZenohAddress,
    scouting: Scouting,
    opened: &mpsc::Sender<Result<(), Error>>,
) {
    let session = loop {
        match connect(address, scouting) {
            Ok(session) => break session,
            Err(_) if address.options.retry && !shared.jobs.is_closed() => {
                // Who opens need not wait for the next attempt. Nobody listens to the second answer.
                _ = opened.send(Ok(()));
                thread::sleep(BETWEEN_ATTEMPTS);
            }
            Err(error) => {
                _ = opened.send(Err(error));
                return;
            }
        }
    };
    let lost = format!("the link of {} is lost", config::place(address));
    let of_events = Arc::clone(shared);
    let watched = session
        .info()
        .transport_events_listener()
        .history(true)
        .callback(move |event| of_events.link.changes(*event.transport().zid(), event.kind(), &lost))
        .background()
        .wait();
    let waiting = {
        let mut client = lock(&shared.client);
        client.session = Some(session.clone());
        mem::take(&mut client.waiting)
    };
    waiting.into_iter().for_each(|declare| declare(&session));
    _ = opened.send(watched.map_err(|error| {
        let text = format!("{} does not say who connects: {error}", config::place(address));
        Error::new(ErrorKind::Unreachable, text)
    }));
    let mut jobs = VecDeque::new();
    while shared.jobs.take(&mut jobs) {
        for job in jobs.drain(..) {
            job.run(&session, address.connect.is_empty() || shared.link.is_up());
        }
    }
    drop(lock(&shared.client).session.take());
    settle(&session);
    _ = session.close().wait();
}

/// Waits until a router or peer that we are a client of has read what was sent: it answers a question after that, since
/// the question is less urgent than any message. Were the link closed before, the system would throw away what
/// is on its way as soon as something arrives that nobody reads any more.
fn settle(session: &zenoh::Session) {
    let asked = session
        .get(NOBODY_ANSWERS)
        .priority(Priority::Background)
        .congestion_control(CongestionControl::Block)
        .timeout(PATIENCE)
        .wait();
    if let Ok(answers) = asked {
        // The channel ends with the question.
        while answers.recv().is_ok() {}
    }
}

/// One attempt to open a session.
fn connect(address: &ZenohAddress, scouting: Scouting) -> Result<zenoh::Session, Error> {
    zenoh::open(config::config(address, scouting)?).wait().map_err(|error| {
        let text = format!(
            "cannot open {}: {error}; is somebody listening there? (`retry=true` opens anyway)",
            config::place(address)
        );
        Error::new(ErrorKind::Unreachable, text)
    })
}

/// Whether others are looked for, and why not if that may surprise; an error where nobody would ever be found.
fn scouting(address: &ZenohAddress) -> Result<(Scouting, Option<String>), Error> {
    if !address.connect.is_empty() {
        return Ok((Scouting::Off, None));
    }
    match config::no_multicast(address) {
        None => Ok((Scouting::On, None)),
        Some(why) if !address.listen.is_empty() && address.interface.is_none() => {
            Ok((Scouting::Off, Some(why)))
        }
        Some(why) => Err(Error::new(ErrorKind::Unreachable, why)),
    }
}

fn silent(address: &ZenohAddress) -> Error {
    let text = format!(
        "nobody answers for {} within {:?}; is somebody listening there? (`retry=true` opens anyway)",
        config::place(address),
        address.options.connect_timeout
    );
    Error::new(ErrorKind::Unreachable, text)
}

/// Does something on a thread of its own, and waits for it.
fn aside<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let thread =
        thread::Builder::new().name("msg zenoh".to_owned()).spawn(what).map_err(network::no_thread)?;
    thread.join().map_err(|_| Error::new(ErrorKind::Unreachable, "zenoh has panicked"))
}
