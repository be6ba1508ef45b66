//! A received message, which holds its slot until it is dropped.

use crate::{
    buffer::{self, Root},
    message::{FromView, Message},
    raw::RawSample,
    transport::Info,
};
use std::fmt;

/// A received message. It lies where it was written, in the slot, and holds that slot until it is dropped.
///
/// The payload was verified when it was received; [`view`](Sample::view) costs nothing.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Message, Publisher, Subscriber};
///
/// #[derive(Message, Debug, PartialEq)]
/// #[message(namespace = "demo")]
/// struct Pose {
///     x: f64,
///     frame: String,
/// }
///
/// let poses = Subscriber::<Pose>::open("shm;doc-sample")?;
/// let publisher = Publisher::<Pose>::open("shm;doc-sample")?;
/// publisher.send(&Pose { x: 1.5, frame: "base".into() })?;
///
/// let sample = poses.recv()?;
/// assert_eq!(sample.view().frame(), "base"); // borrowed from the slot
/// assert_eq!(sample.to_owned(), Pose { x: 1.5, frame: "base".into() });
/// assert_eq!(sample.info().lost, Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sample<M: Message> {
    raw: RawSample,
    root: Root<M>,
}

impl<M: Message> Sample<M> {
    /// `root` is what verifying the sample's payload gave.
    pub(crate) fn new(raw: RawSample, root: Root<M>) -> Self {
        Self { raw, root }
    }

    /// The message, borrowed from the slot: an `XView<'_>`, or `&X` for a plain message.
    pub fn view(&self) -> M::View<'_> {
        buffer::view::<M>(self.raw.payload(), self.root)
    }

    /// Sequence, publisher, age, and how many messages were lost before this one.
    pub fn info(&self) -> Info {
        self.raw.info()
    }

    /// The bytes, to forward or to record.
    pub fn payload(&self) -> &[u8] {
        self.raw.payload()
    }

    /// The message as an owned value.
    pub fn to_owned(&self) -> M
    where
        M: FromView,
    {
        M::from_view(self.view())
    }
}

impl<M: Message> fmt::Debug for Sample<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sample")
            .field("type", &M::TYPE_NAME)
            .field("len", &self.payload().len())
            .field("info", &self.info())
            .finish()
    }
}
