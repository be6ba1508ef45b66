//! Threads of one process: frames go from a publisher straight into the queues of its channel's subscribers.
//!
//! Nothing is copied: a subscriber reads the very buffer that its publisher wrote.

use super::{
    Delivery, OnEvent, PublisherLink, Registration, Stream, SubscriberLink,
    network::{self, Inbox, Inlet, Monitor, Outlet, SharedBytes, Stamp},
    wakers::WakerList,
};
use crate::{
    endpoint::{Compression, InprocAddress},
    error::{Error, FlushError, TrySendError},
};
use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    task::Waker,
    time::{Duration, Instant},
};

/// Largest frame: what a process can hold is bounded by the queues.
const MAX_LEN: usize = u32::MAX as usize;

type Key = (String, String);

/// Who is there, by channel and topic.
static CHANNELS: Mutex<Option<HashMap<Key, Weak<Channel>>>> = Mutex::new(None);

/// The subscribers of one topic of a channel.
#[derive(Debug, Default)]
struct Channel {
    subscribers: Mutex<Vec<(Arc<Inbox>, Arc<Monitor>)>>,
    joined: Condvar,
    /// Publishers that wait for room in any of the queues.
    room: Arc<WakerList>,
}

impl Channel {
    /// The one that the others of this process have, or a new one.
    fn of(address: &InprocAddress, stream: &Stream) -> Arc<Self> {
        let key = (address.channel.clone(), stream.topic.as_str().to_owned());
        let mut channels = CHANNELS.lock().unwrap_or_else(PoisonError::into_inner);
        let channels = channels.get_or_insert_default();
        if let Some(channel) = channels.get(&key).and_then(Weak::upgrade) {
            return channel;
        }
        channels.retain(|_, channel| channel.strong_count() > 0);
        let channel = Arc::default();
        channels.insert(key, Arc::downgrade(&channel));
        channel
    }

    fn subscribers(&self) -> MutexGuard<'_, Vec<(Arc<Inbox>, Arc<Monitor>)>> {
        // A panic under the lock leaves the list as it was.
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn open_publisher(
    address: &InprocAddress,
    compression: Compression,
    stream: &Stream,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn PublisherLink>, Error> {
    let monitor = Arc::new(Monitor::new(&stream.topic, on_event));
    network::publisher(&address.options, compression, Arc::clone(&monitor), || {
        monitor.connected();
        Ok(Box::new(Sender { channel: Channel::of(address, stream) }))
    })
}

pub(super) fn open_subscriber(
    address: &InprocAddress,
    stream: &Stream,
    delivery: Delivery,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn SubscriberLink>, Error> {
    let monitor = Arc::new(Monitor::new(&stream.topic, on_event));
    network::subscriber(&address.options, delivery, Arc::clone(&monitor), |inbox| {
        let channel = Channel::of(address, stream);
        inbox.wake_for_room(&channel.room);
        channel.subscribers().push((Arc::clone(inbox), Arc::clone(&monitor)));
        channel.joined.notify_all();
        monitor.connected();
        Ok(Box::new(Membership { channel, inbox: Arc::clone(inbox) }))
    })
}

#[derive(Debug)]
struct Sender {
    channel: Arc<Channel>,
}

impl Outlet for Sender {
    fn max_len(&self) -> usize {
        MAX_LEN
    }

    /// All subscribers get it or none: one that blocks when it is full holds the others back.
    fn try_send(&self, frame: &SharedBytes, stamp: Option<Stamp>) -> Result<(), TrySendError> {
        let subscribers = self.channel.subscribers();
        if !subscribers.iter().all(|(inbox, _)| inbox.has_room(frame.len())) {
            return Err(TrySendError::Full);
        }
        for (inbox, monitor) in subscribers.iter() {
            inbox.push(frame.clone(), stamp, monitor);
        }
        Ok(())
    }

    fn wait_for_room(&self, len: usize, deadline: Instant) {
        let full = self.channel.subscribers().iter().find(|(inbox, _)| !inbox.has_room(len)).cloned();
        if let Some((inbox, _)) = full {
            inbox.wait_for_room(len, deadline);
        }
    }

    fn watch(&self, waker: &Waker) -> Registration {
        self.channel.room.enter(waker)
    }

    /// A frame is in the queues when it was taken.
    fn flush(&self, _: Instant) -> Result<(), FlushError> {
        Ok(())
    }

    fn queued(&self) -> u64 {
        0
    }

    fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> Option<bool> {
        let subscribers = self.channel.subscribers();
        let missing = |subscribers: &mut Vec<_>| subscribers.len() < count;
        let waited = self.channel.joined.wait_timeout_while(subscribers, timeout, missing);
        Some(!waited.unwrap_or_else(PoisonError::into_inner).1.timed_out())
    }
}

#[derive(Debug)]
struct Membership {
    channel: Arc<Channel>,
    inbox: Arc<Inbox>,
}

impl Inlet for Membership {}

impl Drop for Membership {
    fn drop(&mut self) {
        self.channel.subscribers().retain(|(inbox, _)| !Arc::ptr_eq(inbox, &self.inbox));
        self.channel.room.wake_all();
    }
}
