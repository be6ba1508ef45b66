//! Waiting without a thread: what `send_async`, `recv_async` and `into_stream` have in common, with no runtime.
//!
//! Each attempt is one that never waits. If it comes too early, the transport is asked to wake us, and a second attempt
//! sees what came before that. Nothing is taken or sent by a future that is not ready: dropping it loses no message.

use crate::{
    error::{RecvError, SendError, TryRecvError},
    transport::{PublisherLink, Registration, SubscriberLink, Wait},
};
use std::{
    future,
    task::{Context, Poll, Waker},
};

/// What a second attempt gives at the latest, or the waker is where it will be woken.
fn poll<R>(
    place: &mut Registration,
    context: &Context<'_>,
    watch: impl FnOnce(&Waker) -> Registration,
    mut attempt: impl FnMut() -> Poll<R>,
) -> Poll<R> {
    let mut result = attempt();
    if result.is_pending() {
        *place = watch(context.waker());
        // What came before the waker was there.
        result = attempt();
    }
    if result.is_ready() {
        *place = Registration::default();
    }
    result
}

/// Sends when there is room. `attempt` never waits; `is_full` tells its error that there was none.
pub(crate) async fn send<E>(
    link: &dyn PublisherLink,
    mut attempt: impl FnMut(Wait) -> Result<(), E>,
    is_full: impl Fn(&E) -> bool,
) -> Result<(), E> {
    let (mut place, mut wait) = (Registration::default(), Wait::No);
    future::poll_fn(move |context| {
        let attempt = || match attempt(std::mem::replace(&mut wait, Wait::Again)) {
            Err(error) if is_full(&error) => Poll::Pending,
            result => Poll::Ready(result),
        };
        poll(&mut place, context, |waker| link.watch(waker), attempt)
    })
    .await
}

/// Whether a send that does not wait found no room.
pub(crate) fn is_full(error: &SendError) -> bool {
    *error == SendError::Timeout
}

/// Receives when there is something. `attempt` gives `Pending` where there is nothing.
pub(crate) async fn receive<R>(link: &dyn SubscriberLink, mut attempt: impl FnMut() -> Poll<R>) -> R {
    let mut place = Registration::default();
    future::poll_fn(move |context| poll(&mut place, context, |waker| link.watch(waker), &mut attempt)).await
}

/// What came, unless there was nothing.
pub(crate) fn received<T>(result: Result<T, TryRecvError>) -> Poll<Result<T, RecvError>> {
    match result {
        Err(TryRecvError::Empty) => Poll::Pending,
        other => Poll::Ready(other.map_err(RecvError::from)),
    }
}

/// The messages of a subscriber as a [`Stream`](futures_core::Stream): every message, and every error, up to one that
/// stays. Made by the subscribers' `into_stream`.
#[derive(Debug)]
#[must_use = "a stream does nothing unless it is polled"]
pub struct MessageStream<S> {
    /// Dropped before the subscriber.
    place: Registration,
    /// `None` after an error that stays.
    subscriber: Option<S>,
}

impl<S> MessageStream<S> {
    pub(crate) fn new(subscriber: S) -> Self {
        Self { place: Registration::default(), subscriber: Some(subscriber) }
    }

    /// The subscriber, for its counts; none once the stream has ended.
    pub fn subscriber(&self) -> Option<&S> {
        self.subscriber.as_ref()
    }

    /// The subscriber again; none if the stream has ended.
    pub fn into_subscriber(self) -> Option<S> {
        self.subscriber
    }

    pub(crate) fn poll_next_with<T, E>(
        &mut self,
        context: &Context<'_>,
        link: impl Fn(&S) -> &dyn SubscriberLink,
        attempt: impl Fn(&S) -> Poll<Result<T, E>>,
        is_last: impl Fn(&E) -> bool,
    ) -> Poll<Option<Result<T, E>>> {
        let Some(subscriber) = &self.subscriber else { return Poll::Ready(None) };
        let watch = |waker: &Waker| link(subscriber).watch(waker);
        let result = poll(&mut self.place, context, watch, || attempt(subscriber));
        if let Poll::Ready(Err(error)) = &result
            && is_last(error)
        {
            self.subscriber = None;
        }
        result.map(Some)
    }
}
