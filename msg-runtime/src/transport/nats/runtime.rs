//! The runtime that the NATS client runs on, which nobody sees: every call works on any thread, inside another runtime too.

use super::{super::network, lock};
use crate::error::Error;
use std::{
    future::Future,
    pin::pin,
    process,
    sync::{Mutex, mpsc},
    task::{Context, Poll, Waker},
    time::Duration,
};
use tokio::{
    runtime::{Builder, Runtime},
    task,
};

/// The future's result, if it is there without waiting.
pub(super) fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
    // Inside a task of the user's runtime, whose share of time may be used up, it would never be there.
    match pin!(task::unconstrained(future)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// Runs a future on our runtime and waits for it on this thread, whatever runtime that may belong to; `None` if the
/// time is over first.
pub(super) fn run<T: Send + 'static>(
    limit: Duration,
    future: impl Future<Output = T> + Send + 'static,
) -> Result<Option<T>, Error> {
    let (sender, result) = mpsc::channel();
    let task = runtime()?.spawn(async move { sender.send(future.await) });
    let result = result.recv_timeout(limit).ok();
    task.abort();
    Ok(result)
}

/// The runtime of this process. It is never dropped, so that handles work from wherever they are, to the very end.
pub(super) fn runtime() -> Result<&'static Runtime, Error> {
    static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);
    let mut known = lock(&RUNTIME);
    let process = process::id();
    if let Some((owner, runtime)) = *known
        && owner == process
    {
        return Ok(runtime);
    }
    let mut builder = Builder::new_multi_thread();
    let built = builder.worker_threads(1).thread_name("msg nats").enable_all().build();
    let runtime: &'static Runtime = Box::leak(Box::new(built.map_err(network::no_thread)?));
    *known = Some((process, runtime));
    Ok(runtime)
}
