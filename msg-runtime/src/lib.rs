//! Typed publish/subscribe: a Rust struct or a FlatBuffers schema becomes a strongly typed publisher and subscriber
//! over a crash-proof, zero-copy shared-memory ring.
//!
//! ```
//! use msg_runtime::{Message, Publisher, Subscriber};
//!
//! #[derive(Message, Clone, Debug, PartialEq)]
//! #[message(namespace = "demo")]
//! pub struct Imu {
//!     pub sequence: u64,
//!     pub acceleration: [f32; 3],
//!     pub frame: String,
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let imus = Subscriber::<Imu>::open("shm;readme")?;
//!     let publisher = Publisher::<Imu>::open("shm;readme")?;
//!     publisher.send(&Imu { sequence: 1, acceleration: [0.0, 0.0, 9.81], frame: "base".into() })?;
//!     let sample = imus.recv()?; // it holds the slot until it is dropped
//!     let imu = sample.view(); // an ImuView<'_>, borrowed from the slot
//!     println!("{} {} {:?}", imu.sequence(), imu.frame(), imu.acceleration());
//!     Ok(())
//! }
//! ```
//!
//! - [`Message`]: what a topic carries, and [how a struct becomes one](derive@Message).
//! - [`Publisher`], [`Subscriber`], [`Sample`]: the typed handles. [`Endpoint`] says how bytes travel between them.
//! - [`raw`]: publishers and subscribers of bytes, without a type. [`json`]: of JSON, for any type of serde's.
//! - [`include_schemas!`]: messages from `.fbs` files, which `msg_codegen::compile` turns into Rust in `build.rs`.
//! - [`field`]: types of one's own as fields.
//! - [`topics`]: which topics there are at an endpoint, and who publishes and subscribes. [`bridge`]: from one endpoint to
//!   another.
//! - [`encode`], [`decode`]: the bytes of a message, for files and tests.
//! - [`shm`]: the ring by itself, raw bytes, with `--no-default-features --features shm`.
//!
//! Features: `derive`, `shm`, `inproc`, `udp`, `json`, `lz4` and `zstd` (which compiles C), all on by default; `nats`, `redis`,
//! `tls`, `async`, `realtime` and `serde`, which are not.
//!
//! # Async
//!
//! With the feature `async` every publisher has `send_async`, every subscriber `recv_async` and `into_stream`, a
//! `futures_core::Stream`. They need no runtime and work on any: tokio, smol, a plain `block_on`. A future that is dropped
//! before it is ready has sent and received nothing. They wait without a limit, which is the runtime's to set. On shared
//! memory one thread of the process sleeps for all of them; it starts with the first that has to wait.
//!
#![cfg_attr(feature = "async", doc = "```")]
#![cfg_attr(not(feature = "async"), doc = "```ignore")]
//! use futures_executor::block_on; // or any other executor
//! use msg_runtime::raw::{RawPublisher, RawSubscriber};
//!
//! let subscriber = RawSubscriber::open("inproc;doc-async", "text")?;
//! let publisher = RawPublisher::open("inproc;doc-async", "text")?;
//! block_on(async {
//!     publisher.send_async(b"hello").await?;
//!     assert_eq!(subscriber.recv_async().await?.payload(), b"hello");
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Serde
//!
//! With the feature `serde` the views of messages implement `serde::Serialize`, and so do [`VectorView`], [`MapView`],
//! [`NestedView`], [`Open`] and [`Flags`]. A view looks as its owned type would with serde's own derive, in the names
//! that the message has on the wire:
//!
//! - *Messages* and *plain structs* are structs (JSON objects) of all their fields, without padding. A deprecated field
//!   that is absent is left out.
//! - *Absent* is what the accessor gives: the default of a number, an empty string or list, none (`null`) for an
//!   `Option`. An absent `[T; N]` is an empty list.
//! - *Enums* are unit variants, which JSON has as names; a number without a name is that number. *Bit flags* are one
//!   text with the names of all bits and blanks between, or a number if a bit has no name or none is set.
//! - *Unions* are newtype variants, tagged by the member's name (`{"Text":"hello"}`); none is `null`, and a member
//!   that this program does not know is its number.
//! - *Maps* are maps in the order of the keys. *Bytes* are sequences of numbers, those of a [`Nested`] message too.
//! - *Times* are what they are on the wire: nanoseconds.
//!
//! Where a message has none of absent values, unions, maps, nested messages and numbers that are not finite, JSON from
//! serde is the JSON of the `msg` tool. [`Open`], [`Flags`] and [`Nested`] implement `Deserialize` too, from formats that
//! say what comes, such as JSON; `msg_codegen::Config::serde` derives both for all types of a schema, in these forms. A view of a plain message is a reference to the struct, which may derive
//! `Serialize` by itself, and that of a union alone is matched on.

#![deny(unsafe_code)]
#![cfg_attr(
    not(all(
        feature = "derive",
        feature = "shm",
        feature = "inproc",
        feature = "udp",
        feature = "nats",
        feature = "redis",
        feature = "zenoh",
        feature = "lz4",
        feature = "zstd",
        feature = "async",
        feature = "json"
    )),
    allow(
        dead_code,
        unused_imports,
        unused_variables,
        reason = "what only some transports use is checked with all of them"
    )
)]

// Code generated by the derive names `::msg_runtime`; inside this crate (tests, announcements) that is ourselves.
extern crate self as msg_runtime;

#[doc(hidden)]
pub mod __private;
#[cfg(feature = "network")]
mod announce;
#[cfg(not(feature = "network"))]
#[path = "unannounced.rs"]
mod announce;
#[cfg(feature = "network")]
pub mod bridge;
mod buffer;
mod callback;
#[cfg(any(feature = "network", all(feature = "shm", target_os = "linux")))]
mod compression;
mod configuration;
mod endpoint;
pub mod error;
mod event;
pub mod field;
mod frame;
#[cfg(feature = "async")]
mod future;
#[cfg(feature = "json")]
pub mod json;
mod loan;
mod message;
mod publisher;
pub mod raw;
#[cfg(all(feature = "realtime", target_os = "linux"))]
pub mod realtime;
mod sample;
mod schema;
#[cfg(all(feature = "shm", target_os = "linux"))]
pub mod shm;
mod stats;
mod subscriber;
mod topic;
#[cfg(feature = "network")]
pub mod topics;
mod transport;

pub use buffer::{
    AlignedBuffer, FillWith, Flags, MapView, Nested, NestedView, Open, Padding, Plain, VectorIter,
    VectorView, decode, encode,
};
pub use callback::{Ended, Guard};
pub use endpoint::{
    Address, Compression, Endpoint, InprocAddress, Login, NatsAddress, NatsAuth, NetworkOptions, OnFull,
    RedisAddress, RedisServer, Secret, Server, ShmAddress, UdpAddress, ZenohAddress,
};
pub use error::{
    BadFrame, Error, ErrorKind, FlushError, Invalid, RecvError, SendError, TryRecvError, TrySendError,
};
pub use event::{DropCause, Event};
#[cfg(feature = "async")]
pub use future::MessageStream;
pub use loan::{Loan, LoanUninit};
pub use message::{Encode, FromView, Message};
#[cfg(feature = "derive")]
pub use msg_derive::Message;
pub use publisher::{Publisher, PublisherBuilder};
pub use sample::Sample;
pub use stats::Stats;
pub use subscriber::{Iter, Subscriber, SubscriberBuilder};
pub use topic::Topic;
pub use transport::Info;

/// Includes what `msg_codegen::compile` wrote in the build script: a module for each namespace.
///
/// # Examples
///
/// ```ignore
/// // build.rs
/// fn main() {
///     msg_codegen::compile(&["schemas/person.fbs"]);
/// }
///
/// // src/main.rs
/// msg_runtime::include_schemas!();
/// use msg_tests::Person;
/// ```
///
/// | in the schema | field in Rust |
/// | --- | --- |
/// | `x: int`, `x: float = 1.5` | `i32`, `f32` |
/// | `x: int = null` | `Option<i32>` |
/// | `name: string`, `name: string (required)` | `Option<String>`, `String` |
/// | `pose: Pose` (a struct) | `Option<Pose>`; `Pose` is `Copy`, its bytes are its memory |
/// | `child: Node` (a table) | `Option<Node>`, in a `Box` where it is recursive |
/// | `xs: [float]`, `names: [string]`, `nodes: [Node]` | `Vec<f32>`, `Vec<String>`, `Vec<Node>`; absent reads as empty |
/// | `shape: Shape` (a union) | `Option<Shape>`, an enum with data; what only newer senders know is `Unknown(number)` |
/// | `mode: Mode` (an enum) | `Open<Mode>`, from `Mode::Idle.into()`: numbers of newer senders survive |
/// | `caps: Cap` (`bit_flags`) | `Flags<Cap>` |
/// | `xs: [float:3]` in a struct | `[f32; 3]` |
#[macro_export]
macro_rules! include_schemas {
    () => {
        ::core::include!(::core::concat!(
            ::core::env!(
                "OUT_DIR",
                "include_schemas! needs a build script: write `fn main() { msg_codegen::compile(&[\"my.fbs\"]); }` in \
                 build.rs beside Cargo.toml, and `msg-codegen` under [build-dependencies]"
            ),
            "/msg_schemas.rs"
        ));
    };
}
