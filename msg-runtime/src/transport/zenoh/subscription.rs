//! A subscriber of Zenoh's, and what becomes of a sample.

use super::{
    super::network::{Inbox, Monitor, Pool, SharedBytes, Stamp},
    lock,
};
use std::{
    fmt, mem,
    sync::{Arc, Mutex},
    thread,
};
use zenoh::{Session, Wait, bytes::ZBytes, pubsub::Subscriber, sample::Sample};

/// Where a payload lies, for whatever it holds.
const ALIGN: usize = 64;

/// A subscriber of Zenoh's. Dropping it ends it, on a thread where that is allowed.
pub(super) struct Subscription(Arc<Mutex<Declared>>);

enum Declared {
    /// Not yet: the session is still being opened.
    Wanted,
    There(Subscriber<()>),
    /// Nobody wants it any more.
    Ended,
}

impl Subscription {
    /// A subscription of a topic, and what makes it real once there is a session.
    pub(super) fn new(
        topic: &str,
        inbox: &Arc<Inbox>,
        monitor: &Arc<Monitor>,
    ) -> (Self, impl FnOnce(&Session) -> zenoh::Result<()> + Send + use<>) {
        let place = Arc::new(Mutex::new(Declared::Wanted));
        let (topic, inbox, monitor) = (topic.to_owned(), Arc::clone(inbox), Arc::clone(monitor));
        let declared = Arc::clone(&place);
        (Self(place), move |session| declare(session, topic, inbox, monitor, &declared))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let declared = mem::replace(&mut *lock(&self.0), Declared::Ended);
        if let Declared::There(subscriber) = declared {
            // Telling the link may take as long as the link does; nobody needs to wait for that.
            _ = thread::Builder::new().name("msg zenoh".to_owned()).spawn(move || drop(subscriber));
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

fn declare(
    session: &Session,
    topic: String,
    inbox: Arc<Inbox>,
    monitor: Arc<Monitor>,
    place: &Mutex<Declared>,
) -> zenoh::Result<()> {
    let mut place = lock(place);
    if matches!(*place, Declared::Ended) {
        return Ok(());
    }
    let buffers = Arc::default();
    let receive = move |sample: Sample| {
        let stamp = sample.attachment().and_then(stamp);
        inbox.push(frame(sample.payload(), &buffers), stamp, &monitor);
    };
    *place = Declared::There(session.declare_subscriber(topic).callback(receive).wait()?);
    Ok(())
}

/// A received frame. What a publisher of this session has sent lies aligned in its buffer. Otherwise it is copied, once:
/// behind the header byte a payload is not aligned, and a small one would keep all 64 KiB that Zenoh has read at once.
fn frame(payload: &ZBytes, buffers: &Arc<Pool>) -> SharedBytes {
    let whole = OnePiece(payload.clone());
    let bytes = whole.as_ref();
    if bytes.len() == payload.len() && (bytes.as_ptr().addr() + 1).is_multiple_of(ALIGN) {
        return SharedBytes::new(whole);
    }
    let mut buffer = buffers.take();
    let room = buffer.reserve(ALIGN - 1 + payload.len());
    let mut end = ALIGN - 1;
    for piece in payload.slices() {
        room[end..end + piece.len()].copy_from_slice(piece);
        end += piece.len();
    }
    buffer.truncate(end);
    SharedBytes::new(buffer).skip(ALIGN - 1)
}

struct OnePiece(ZBytes);

impl AsRef<[u8]> for OnePiece {
    fn as_ref(&self) -> &[u8] {
        self.0.slices().next().unwrap_or_default()
    }
}

/// The stamp in an attachment, if it is one.
fn stamp(attachment: &ZBytes) -> Option<Stamp> {
    (attachment.len() == Stamp::LEN).then(|| Stamp::from_bytes(&attachment.to_bytes())).flatten()
}
