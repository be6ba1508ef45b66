//! Who is there: publishers and subscribers tell each other over the endpoint that they use, on topic `msg.Announce`.
//!
//! Each announces itself in full when it opens, when it ends and when somebody asks, and every ten seconds with its
//! counts. So topics and their schemas are found, and subscribers counted, on every network without a service.
//! `schemas/announce.fbs` is the message for other languages.

mod announcer;
mod conflict;
mod local;
mod message;
mod own;

pub(crate) use message::{Announce, AnnounceDirection};

use crate::{
    Open,
    endpoint::{Address, Endpoint},
    error::{Error, ErrorKind},
    event::Event,
    stats::Stats,
    topic::Topic,
    transport::{self, Stream},
};
use announcer::Announcer;
use message::AnnounceKind;
use own::{Own, OwnStats};
use std::{
    fs,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Announces a publisher until the result is dropped, where its transport wants that.
pub(crate) fn publisher(
    endpoint: &Endpoint,
    stream: &Stream,
    stats: impl Fn() -> Stats + Send + Sync + 'static,
) -> Result<Option<Announced>, Error> {
    announce(endpoint, facts(stream, AnnounceDirection::Publisher), Box::new(stats))
}

/// Announces a subscriber until the result is dropped, where its transport wants that.
pub(crate) fn subscriber(
    endpoint: &Endpoint,
    stream: &Stream,
    stats: impl Fn() -> Stats + Send + Sync + 'static,
) -> Result<Option<Announced>, Error> {
    announce(endpoint, facts(stream, AnnounceDirection::Subscriber), Box::new(stats))
}

/// Announces one end of a bridge, with where the other end is.
pub(crate) fn bridge(
    endpoint: &Endpoint,
    stream: &Stream,
    direction: AnnounceDirection,
    other_end: String,
    stats: impl Fn() -> Stats + Send + Sync + 'static,
) -> Result<Option<Announced>, Error> {
    let facts = Announce { bridge: other_end, ..facts(stream, direction) };
    announce(endpoint, facts, Box::new(stats))
}

fn announce(endpoint: &Endpoint, facts: Announce, stats: OwnStats) -> Result<Option<Announced>, Error> {
    let handle = facts.handle;
    if let Address::Inproc(address) = &endpoint.address {
        local::add(&address.channel, Own::new(facts, stats));
        return Ok(Some(Announced { place: Place::Inproc(address.channel.clone()), handle }));
    }
    if !transport::announces(&endpoint.address) {
        return Ok(None);
    }
    let announcer = Announcer::of(endpoint)?;
    announcer.add(Own::new(facts, stats));
    Ok(Some(Announced { place: Place::Network(announcer), handle }))
}

/// What a handle of this process tells of itself.
fn facts(stream: &Stream, direction: AnnounceDirection) -> Announce {
    Announce {
        direction: direction.into(),
        handle: transport::random(),
        topic: stream.topic.as_str().to_owned(),
        type_name: stream.type_name.clone().into_owned(),
        encoding: stream.encoding.clone().into_owned(),
        fingerprint: stream.fingerprint,
        schema: stream.schema.to_vec(),
        host: host(),
        program: program(),
        ..Announce::new(AnnounceKind::Here)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks leaves what they guard whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Keeps a handle announced.
#[derive(Debug)]
pub(crate) struct Announced {
    place: Place,
    handle: u64,
}

#[derive(Debug)]
enum Place {
    Network(Arc<Announcer>),
    /// A channel.
    Inproc(String),
}

impl Announced {
    /// Asks, and waits until so many subscribers of the topic have answered; false if fewer have when the time is over.
    pub(crate) fn wait_for_subscribers(&self, topic: &Topic, count: usize, timeout: Duration) -> bool {
        let subscribes = |announce: &Announce| {
            announce.topic == topic.as_str()
                && announce.direction == Open::from(AnnounceDirection::Subscriber)
        };
        match &self.place {
            Place::Network(announcer) => announcer.wait_for(subscribes, count, timeout),
            Place::Inproc(channel) => {
                local::all(channel).iter().filter(|announce| subscribes(announce)).count() >= count
            }
        }
    }

    /// Tells the handle's user of each handle of the topic, there or to come, whose type does not go with ours.
    pub(crate) fn compare(&self, tell: impl Fn(&Event) + Send + Sync + 'static) {
        match &self.place {
            Place::Network(announcer) => announcer.compare(self.handle, Arc::new(tell)),
            Place::Inproc(channel) => local::compare(channel, self.handle, Arc::new(tell)),
        }
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        match &self.place {
            Place::Network(announcer) => {
                announcer.remove(self.handle);
                announcer.release();
            }
            Place::Inproc(_) => local::remove(self.handle),
        }
    }
}

/// Hears who is there, and announces nothing.
#[derive(Debug)]
pub(crate) struct Listener {
    place: Place,
}

impl Listener {
    /// # Errors
    ///
    /// What opening handles there fails with, and `Unsupported` with `announce=off`.
    pub(crate) fn open(endpoint: &Endpoint) -> Result<Self, Error> {
        if let Address::Inproc(address) = &endpoint.address {
            return Ok(Self { place: Place::Inproc(address.channel.clone()) });
        }
        if !transport::announces(&endpoint.address) {
            let text =
                "who is there is known from announcements, which `announce=off` turns off; leave it out";
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        Ok(Self { place: Place::Network(Announcer::of(endpoint)?) })
    }

    /// Asks everybody, and gives the time for answers.
    pub(crate) fn ask(&self, wait: Duration) {
        if let Place::Network(announcer) = &self.place {
            announcer.wait_for(|_| false, usize::MAX, wait);
        }
    }

    /// Everybody who was heard of.
    pub(crate) fn handles(&self) -> Vec<Announce> {
        match &self.place {
            Place::Network(announcer) => announcer.handles(),
            Place::Inproc(channel) => local::all(channel),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Place::Network(announcer) = &self.place {
            announcer.release();
        }
    }
}
