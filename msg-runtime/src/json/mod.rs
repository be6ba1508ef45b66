//! Publishers and subscribers of JSON, over any endpoint: any type of serde's, or [`serde_json::Value`].
//!
//! ```
//! use msg_runtime::json::{JsonPublisher, JsonSubscriber};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, Debug, PartialEq)]
//! struct Command {
//!     name: String,
//!     speed: Option<f64>,
//! }
//!
//! let commands = JsonSubscriber::<Command>::open("shm;doc-json", "robot.command")?;
//! let anything = JsonSubscriber::<serde_json::Value>::open("shm;doc-json", "robot.command")?;
//! let publisher = JsonPublisher::<Command>::open("shm;doc-json", "robot.command")?;
//! publisher.send(&Command { name: "go".into(), speed: Some(0.5) })?;
//! assert_eq!(commands.recv()?.value, Command { name: "go".into(), speed: Some(0.5) });
//! assert_eq!(anything.recv()?.value["speed"], 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A payload is one JSON text in UTF-8, without anything before or after it but blanks. It is written straight into the
//! slot or buffer that is sent, and a slot is free again as soon as it is read. What serde_json does holds:
//!
//! - *Numbers that are not finite* are written as `null`, since JSON has none for them. `null` is read as the `None` of an
//!   `Option<f64>`, and is an error for an `f64`. Numbers beyond the range of their type are errors.
//! - *Integers of 64 bits* are written with all digits, and read exactly into `u64` and `i64`; in a
//!   [`Value`](serde_json::Value), those beyond both become `f64`. JavaScript and others round them from 2^53 on: a
//!   string is safer for those.
//! - *Floats* are written with the fewest digits that read back as the same number.
//! - *Bytes* (`Vec<u8>`, `&[u8]`) are lists of numbers. Base64 or hexadecimal text is the type's to choose
//!   (`#[serde(with = "..")]`).
//! - *Unknown fields* are passed over unless the type says otherwise; a field that is there twice is an error in a struct,
//!   and the last one wins in a `Value`. Lists and objects may be 127 deep.
//!
//! A message that is no JSON, or does not fit the type, is an error of that one receive, counted as
//! [`invalid`](crate::Stats::invalid); the next one is received as if it had not been there.

mod publisher;
mod subscriber;

pub use publisher::{JsonPublisher, JsonPublisherBuilder};
pub use subscriber::{JsonSample, JsonSubscriber, JsonSubscriberBuilder};

use std::{error, fmt};

const ENCODING: &str = "json";

/// Why a JSON message was not sent or received.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonError<E> {
    /// What happens to messages of any kind: [`SendError`](crate::SendError), [`RecvError`](crate::RecvError) and so on.
    Transport(E),
    /// The value has no JSON, or the message is none that fits the type; with the reason.
    Json(String),
}

impl<E> JsonError<E> {
    fn map<F>(self, map: impl FnOnce(E) -> F) -> JsonError<F> {
        match self {
            Self::Transport(error) => JsonError::Transport(map(error)),
            Self::Json(why) => JsonError::Json(why),
        }
    }
}

impl<E> From<E> for JsonError<E> {
    fn from(error: E) -> Self {
        Self::Transport(error)
    }
}

impl<E: fmt::Display> fmt::Display for JsonError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::Json(why) => f.write_str(why),
        }
    }
}

impl<E: error::Error> error::Error for JsonError<E> {}
