//! NATS: one connection for all handles of a process at an address, served by one thread.
//!
//! The client library is `async-nats`, on a [`runtime`] of our own. What is sent waits in the client's queue, bounded here in
//! bytes; `flush` is a round trip to the server. The stamp travels in one header, `Msg`, as 48 hexadecimal digits.

mod runtime;

use super::{
    Delivery, OnEvent, PublisherLink, Registration, Stream, SubscriberLink,
    network::{self, Backlog, Inbox, Inlet, Monitor, Outlet, SharedBytes, Stamp},
};
use crate::{
    endpoint::{Compression, NatsAddress, NatsAuth, OnFull},
    error::{Error, ErrorKind, FlushError, TrySendError},
};
use async_nats::{
    Client, ConnectErrorKind, ConnectOptions, Event, HeaderMap, HeaderName, PublishErrorKind, Subject,
    connection::State,
};
use bytes::Bytes;
use futures_core::Stream as _;
use runtime::{poll_once, run, runtime};
use std::{
    error::Error as _,
    fmt, future, io, mem,
    pin::Pin,
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::Waker,
    time::{Duration, Instant},
};
use tokio::task::{self, JoinHandle};

/// A connection that does not answer is found out within two of these.
const PING_INTERVAL: Duration = Duration::from_secs(2);
/// Messages in the client's queues, whose own limits would make calls wait or drop: none, ours are in bytes.
const UNBOUNDED: usize = usize::MAX >> 4;
/// Messages that wait in the client for a subscriber that blocks when its queue is full.
const BLOCKED_CAPACITY: usize = 1024;
const STAMP: HeaderName = HeaderName::from_static("Msg");
/// `NATS/1.0\r\nMsg: <48 digits>\r\n\r\n`, which the server counts as payload.
const STAMP_LEN: usize = 10 + 5 + 2 * Stamp::LEN + 4;

pub(super) fn open_publisher(
    address: &NatsAddress,
    compression: Compression,
    stream: &Stream,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn PublisherLink>, Error> {
    check_options(address)?;
    let monitor = Arc::new(Monitor::new(&stream.topic, on_event));
    network::publisher(&address.options, compression, Arc::clone(&monitor), || {
        let session = Session::of(address)?;
        session.tell(&monitor);
        Ok(Box::new(Sender {
            session,
            subject: Subject::from(stream.topic.as_str()),
            header_len: if address.options.stamp { STAMP_LEN } else { 0 },
            backlog: Backlog::new(address.options.queue_bytes),
            _monitor: monitor,
        }))
    })
}

pub(super) fn open_subscriber(
    address: &NatsAddress,
    stream: &Stream,
    delivery: Delivery,
    on_event: Option<OnEvent>,
) -> Result<Box<dyn SubscriberLink>, Error> {
    check_options(address)?;
    let monitor = Arc::new(Monitor::new(&stream.topic, on_event));
    network::subscriber(&address.options, delivery, Arc::clone(&monitor), |inbox| {
        let session = Session::of(address)?;
        let task = session.subscribe(stream, inbox, &monitor)?;
        session.tell(&monitor);
        Ok(Box::new(Subscription { task, session }))
    })
}

/// Refuses what is asked for and not there.
fn check_options(address: &NatsAddress) -> Result<(), Error> {
    if !address.options.fragment {
        return Ok(());
    }
    let text = "`fragment=on` is not there for nats yet; leave it out, and raise the server's `max_payload` (at most \
                64MB) for larger messages";
    Err(Error::new(ErrorKind::Unsupported, text))
}

/// A connection, shared by the handles of this process at an address.
struct Session {
    client: Client,
    address: NatsAddress,
    watchers: Arc<Watchers>,
    /// Whose connection it is: a forked child has a copy that nothing serves.
    process: u32,
}

/// Connections by address, while somebody uses them.
static SESSIONS: Mutex<Vec<(u32, Weak<Session>)>> = Mutex::new(Vec::new());

impl Session {
    fn of(address: &NatsAddress) -> Result<Arc<Self>, Error> {
        // A forked child has none of its parent's connections.
        let process = process::id();
        let find = |sessions: &mut Vec<(u32, Weak<Self>)>| {
            sessions.retain(|(_, session)| session.strong_count() > 0);
            let ours = sessions.iter().filter(|(owner, _)| *owner == process);
            ours.filter_map(|(_, session)| session.upgrade()).find(|session| session.address == *address)
        };
        if let Some(session) = find(&mut lock(&SESSIONS)) {
            return Ok(session);
        }
        // Connecting takes its time, which handles elsewhere need not wait for. Two at once: the first one is kept.
        let session = Arc::new(Self::connect(address)?);
        let mut sessions = lock(&SESSIONS);
        if let Some(other) = find(&mut sessions) {
            return Ok(other);
        }
        sessions.push((process, Arc::downgrade(&session)));
        Ok(session)
    }

    fn connect(address: &NatsAddress) -> Result<Self, Error> {
        let watchers = Arc::new(Watchers::default());
        let limit = address.options.connect_timeout;
        let servers: Vec<String> = address.servers.iter().map(|server| format!("nats://{server}")).collect();
        let options = options(address, Arc::clone(&watchers))?;
        // The client's own limit is per server; this one is for all of them.
        let connected = run(limit, async move { options.connect(servers).await })?;
        let client = match connected {
            Some(Ok(client)) => client,
            Some(Err(error)) => return Err(refused(address, &error)),
            None => {
                let text = format!("{} does not answer within {limit:?}", place(address));
                return Err(Error::new(ErrorKind::Unreachable, text));
            }
        };
        if client.connection_state() == State::Connected {
            watchers.connected();
        }
        Ok(Self { client, address: address.clone(), watchers, process: process::id() })
    }

    /// Tells a handle what happens to the connection, from now on.
    fn tell(&self, monitor: &Arc<Monitor>) {
        let mut state = lock(&self.watchers.state);
        state.monitors.push(Arc::downgrade(monitor));
        let connected = state.connected;
        drop(state);
        if connected {
            monitor.connected();
        }
    }

    fn subscribe(
        &self,
        stream: &Stream,
        inbox: &Arc<Inbox>,
        monitor: &Arc<Monitor>,
    ) -> Result<JoinHandle<()>, Error> {
        let limit = self.address.options.connect_timeout;
        let topic = stream.topic.as_str().to_owned();
        let client = self.client.clone();
        let subscribed = run(limit, async move { client.subscribe(topic).await })?;
        let mut messages = match subscribed {
            Some(Ok(messages)) => messages,
            Some(Err(error)) => {
                let text = format!("{} refuses to subscribe: {error}", place(&self.address));
                return Err(Error::new(ErrorKind::Unreachable, text));
            }
            None => return Err(self.silent()),
        };
        // What is published from now on arrives: the server has answered to something later. With `retry` it may be away.
        let away = self.address.options.retry && self.client.connection_state() != State::Connected;
        if !away && !self.round_trip(Instant::now() + limit) && !self.address.options.retry {
            return Err(self.silent());
        }
        let (inbox, monitor) = (Arc::clone(inbox), Arc::clone(monitor));
        let blocks = self.address.options.on_full == OnFull::Block;
        let receive = async move {
            while let Some(message) =
                future::poll_fn(|context| Pin::new(&mut messages).poll_next(context)).await
            {
                let stamp = message.headers.as_ref().and_then(stamp);
                let frame = SharedBytes::new(message.payload);
                if blocks {
                    // The runtime's other tasks go on meanwhile.
                    task::block_in_place(|| inbox.push(frame, stamp, &monitor));
                } else {
                    inbox.push(frame, stamp, &monitor);
                }
            }
            inbox.close();
        };
        Ok(runtime()?.spawn(receive))
    }

    /// Whether the server has answered to a message of ours to ourselves, and so has everything sent before it.
    fn round_trip(&self, deadline: Instant) -> bool {
        let client = self.client.clone();
        let there_and_back = async move {
            let inbox = client.new_inbox();
            let mut answers = client.subscribe(inbox.clone()).await.ok()?;
            client.publish(inbox, Bytes::new()).await.ok()?;
            future::poll_fn(|context| Pin::new(&mut answers).poll_next(context)).await.map(drop)
        };
        let limit = deadline.saturating_duration_since(Instant::now());
        matches!(run(limit, there_and_back), Ok(Some(Some(()))))
    }

    fn silent(&self) -> Error {
        let limit = self.address.options.connect_timeout;
        let text = format!("{} does not answer within {limit:?}", place(&self.address));
        Error::new(ErrorKind::Unreachable, text)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.process != process::id() {
            // A client that is used no more wakes its runtime, which a forked child has not. A copy in use prevents that.
            mem::forget(self.client.clone());
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The handles that hear of a connection's fate.
#[derive(Debug, Default)]
struct Watchers {
    state: Mutex<Watched>,
}

#[derive(Debug, Default)]
struct Watched {
    connected: bool,
    monitors: Vec<Weak<Monitor>>,
}

impl Watchers {
    fn connected(&self) {
        if !std::mem::replace(&mut lock(&self.state).connected, true) {
            self.each(Monitor::connected);
        }
    }

    fn disconnected(&self, reason: &str) {
        if std::mem::replace(&mut lock(&self.state).connected, false) {
            self.each(|monitor| monitor.disconnected(reason));
        }
    }

    fn each(&self, tell: impl Fn(&Monitor)) {
        let mut state = lock(&self.state);
        state.monitors.retain(|monitor| monitor.strong_count() > 0);
        let monitors: Vec<Arc<Monitor>> = state.monitors.iter().filter_map(Weak::upgrade).collect();
        // The user's closures run without the lock.
        drop(state);
        monitors.iter().for_each(|monitor| tell(monitor));
    }
}

#[derive(Debug)]
struct Sender {
    session: Arc<Session>,
    subject: Subject,
    /// Bytes that the stamp takes of the server's limit.
    header_len: usize,
    backlog: Arc<Backlog>,
    /// Hears of the connection as long as this lives.
    _monitor: Arc<Monitor>,
}

impl Outlet for Sender {
    fn max_len(&self) -> usize {
        self.session.client.max_payload().saturating_sub(self.header_len).max(1)
    }

    fn try_send(&self, frame: &SharedBytes, stamp: Option<Stamp>) -> Result<(), TrySendError> {
        // Given back when the client has written the frame and drops it.
        let waiting = self.backlog.enter(frame.clone()).ok_or(TrySendError::Full)?;
        let (client, subject) = (&self.session.client, self.subject.clone());
        let payload = Bytes::from_owner(waiting);
        let sent = match stamp {
            Some(stamp) => {
                let mut headers = HeaderMap::new();
                headers.insert(STAMP, hexadecimal(&stamp.to_bytes()));
                poll_once(client.publish_with_headers(subject, headers, payload))
            }
            None => poll_once(client.publish(subject, payload)),
        };
        match sent {
            None => Err(TrySendError::Full),
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(match error.kind() {
                PublishErrorKind::MaxPayloadExceeded => {
                    TrySendError::TooLarge { len: frame.len() - 1, max: self.max_len() - 1 }
                }
                _ => TrySendError::Disconnected,
            }),
        }
    }

    fn wait_for_room(&self, len: usize, deadline: Instant) {
        self.backlog.wait_for_room(len, deadline);
    }

    fn watch(&self, waker: &Waker) -> Registration {
        self.backlog.watch(waker)
    }

    fn flush(&self, deadline: Instant) -> Result<(), FlushError> {
        if self.session.round_trip(deadline) {
            return Ok(());
        }
        Err(FlushError::Timeout { unsent: self.backlog.messages() })
    }

    fn queued(&self) -> u64 {
        self.backlog.messages()
    }
}

#[derive(Debug)]
struct Subscription {
    task: JoinHandle<()>,
    session: Arc<Session>,
}

impl Inlet for Subscription {}

impl Drop for Subscription {
    fn drop(&mut self) {
        // It drops the client's subscription, which tells the server. In a forked child there is no such task.
        if self.session.process == process::id() {
            self.task.abort();
        }
    }
}

fn options(address: &NatsAddress, watchers: Arc<Watchers>) -> Result<ConnectOptions, Error> {
    let blocks = address.options.on_full == OnFull::Block;
    let servers = place(address);
    let mut options = ConnectOptions::new()
        .name("msg")
        .ping_interval(PING_INTERVAL)
        .connection_timeout(address.options.connect_timeout)
        .client_capacity(UNBOUNDED)
        .subscription_capacity(if blocks { BLOCKED_CAPACITY } else { UNBOUNDED })
        .max_reconnects(None)
        .require_tls(address.tls)
        .event_callback(move |event| {
            // Closures of the user may wait, for what this runtime does as well.
            task::block_in_place(|| match event {
                Event::Connected => watchers.connected(),
                Event::Disconnected | Event::Closed => {
                    watchers.disconnected(&format!("the connection to {servers} is lost"))
                }
                Event::SlowConsumer(_) => watchers.each(|monitor| {
                    monitor.failed("the client dropped messages of a subscriber that is too slow".to_owned());
                }),
                Event::ServerError(error) => {
                    watchers.each(|monitor| monitor.failed(format!("{servers}: {error}")))
                }
                Event::ClientError(error) => {
                    watchers.each(|monitor| monitor.failed(format!("{servers}: {error}")))
                }
                _ => {}
            });
            future::ready(())
        });
    if address.options.retry {
        options = options.retry_on_initial_connect();
    }
    Ok(match &address.auth {
        None => options,
        Some(NatsAuth::Login(login)) => {
            options.user_and_password(login.user.clone(), login.password.reveal().to_owned())
        }
        Some(NatsAuth::Token(token)) => options.token(token.reveal().to_owned()),
        Some(NatsAuth::Credentials(file)) => {
            let cannot = |error: io::Error| {
                let text = format!("cannot use the credentials in `{file}`");
                Error::new(ErrorKind::PermissionDenied, text).with_source(error)
            };
            let credentials = std::fs::read_to_string(file).map_err(cannot)?;
            options.credentials(&credentials).map_err(cannot)?
        }
    })
}

/// Why there is no connection.
fn refused(address: &NatsAddress, error: &async_nats::ConnectError) -> Error {
    let (kind, advice) = match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => (
            ErrorKind::PermissionDenied,
            "; write `user:password@` or `token@` before the host, or `creds=FILE`",
        ),
        ConnectErrorKind::Tls => {
            (ErrorKind::Unreachable, "; is it a TLS server with a certificate that this host trusts?")
        }
        _ => (ErrorKind::Unreachable, "; is the server there? (`retry=true` opens anyway)"),
    };
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let text = error.to_string();
        if !reason.contains(&text) {
            reason = format!("{reason}: {text}");
        }
        source = error.source();
    }
    Error::new(kind, format!("cannot connect to {}: {reason}{advice}", place(address)))
}

/// The servers as people write them, without a login.
fn place(address: &NatsAddress) -> String {
    let servers: Vec<String> = address.servers.iter().map(ToString::to_string).collect();
    format!("nats server {}", servers.join(" or "))
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |digit: u8| char::from(DIGITS[usize::from(digit)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn stamp(headers: &HeaderMap) -> Option<Stamp> {
    let text = headers.get(STAMP)?.as_str().as_bytes();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let bytes: Option<Vec<u8>> = text
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
            _ => None,
        })
        .collect();
    Stamp::from_bytes(&bytes?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change under these locks leaves what they guard whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
