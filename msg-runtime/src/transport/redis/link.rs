//! A thread that keeps one connection: makes it, serves it, and makes it again until it is told to stop.

use super::{
    super::network,
    resp::Reader,
    stream::{self, Input, Stream},
};
use crate::{endpoint::RedisAddress, error::Error};
use std::{
    io, process,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// How long a lost link rests before it is made again; doubled each time it fails.
const FIRST_REST: Duration = Duration::from_millis(10);
const LONGEST_REST: Duration = Duration::from_secs(1);

/// What a connection is for. All of it runs on the link's thread.
pub(super) trait Service: Send + Sync + 'static {
    /// Says what has to be said before the connection can be used, within the time that its reader has.
    fn greet(&self, stream: &Arc<Stream>, reader: &mut Reader<Input>) -> Result<(), Error>;
    /// The connection can be used.
    fn up(self: &Arc<Self>, stream: &Arc<Stream>, reader: &mut Reader<Input>) -> io::Result<()>;
    /// Reads until the connection ends, and says why it did.
    fn serve(&self, reader: &mut Reader<Input>) -> io::Error;
    /// The connection is gone. The reason holds no secret.
    fn down(&self, reason: String);
    /// There is no connection, for a reason without secrets.
    fn failed(&self, reason: String);
    /// Nothing comes any more.
    fn ended(&self) {}
}

/// A running link. Dropping it ends the link, and waits for nothing.
#[derive(Debug)]
pub(super) struct Link {
    life: Arc<Life>,
}

#[derive(Debug, Default)]
struct Life {
    state: Mutex<State>,
    changed: Condvar,
    process: u32,
}

#[derive(Debug, Default)]
struct State {
    /// What is served now.
    stream: Option<Arc<Stream>>,
    /// How the first attempt ended.
    opened: Option<Result<(), Error>>,
    stopped: bool,
}

impl Link {
    /// Starts the thread, and waits until there is a connection or, if that is how the endpoint wants it, a first attempt.
    pub(super) fn open(
        name: &str,
        address: &RedisAddress,
        service: &Arc<impl Service>,
    ) -> Result<Self, Error> {
        let options = &address.options;
        let deadline = Instant::now() + options.connect_timeout;
        let life = Arc::new(Life { process: process::id(), ..Life::default() });
        let link = Self { life: Arc::clone(&life) };
        let run = {
            let (address, service) = (address.clone(), Arc::clone(service));
            move || life.run(&address, &service, deadline)
        };
        thread::Builder::new().name(name.to_owned()).spawn(run).map_err(network::no_thread)?;
        let opened = link.life.wait_until(deadline, |state| state.opened.is_some()).opened.take();
        match opened {
            Some(Err(error)) if !options.retry => Err(error),
            None if !options.retry => Err(stream::silent(address)),
            _ => Ok(link),
        }
    }

    /// Whether this process is the one that has the link's thread: a forked child has not.
    pub(super) fn is_ours(&self) -> bool {
        self.life.process == process::id()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The connection of a forked child is its parent's.
        if !self.is_ours() {
            return;
        }
        let mut state = self.life.lock();
        state.stopped = true;
        if let Some(stream) = state.stream.take() {
            stream.shut_down();
        }
        drop(state);
        self.life.changed.notify_all();
    }
}

impl Life {
    fn run<S: Service>(&self, address: &RedisAddress, service: &Arc<S>, deadline: Instant) {
        let mut deadline = deadline;
        let mut rest = FIRST_REST;
        loop {
            match self.connect(address, &**service, deadline) {
                Ok((stream, mut reader)) => {
                    let since = Instant::now();
                    let up = service.up(&stream, &mut reader);
                    self.opened(Ok(()));
                    let error = up.err().unwrap_or_else(|| service.serve(&mut reader));
                    stream.shut_down();
                    if since.elapsed() > LONGEST_REST {
                        rest = FIRST_REST;
                    }
                    if !self.stopped() {
                        let place = stream::place(address);
                        service.down(format!("the connection to {place} is lost: {error}"));
                    }
                }
                Err(error) => {
                    service.failed(error.to_string());
                    self.opened(Err(error));
                }
            }
            if self.wait_until(Instant::now() + rest, |state| state.stopped).stopped {
                break;
            }
            rest = (rest * 2).min(LONGEST_REST);
            deadline = Instant::now() + address.options.connect_timeout;
        }
        service.ended();
    }

    fn connect(
        &self,
        address: &RedisAddress,
        service: &impl Service,
        deadline: Instant,
    ) -> Result<(Arc<Stream>, Reader<Input>), Error> {
        let (stream, mut reader) = stream::connect(address, deadline)?;
        service.greet(&stream, &mut reader)?;
        let mut state = self.lock();
        if state.stopped {
            stream.shut_down();
        } else {
            state.stream = Some(Arc::clone(&stream));
        }
        Ok((stream, reader))
    }

    /// The first attempt has ended like this. Of an attempt that fails after the handle was opened all the same, the handle
    /// has heard.
    fn opened(&self, how: Result<(), Error>) {
        self.lock().opened.get_or_insert(how);
        self.changed.notify_all();
    }

    fn stopped(&self) -> bool {
        self.lock().stopped
    }

    fn wait_until(&self, deadline: Instant, done: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let time = deadline.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(self.lock(), time, |state| !done(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change under the lock leaves the state whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
