//! Only plain messages can be pushed from a thread that may never block.

use msg_runtime::{Message, Publisher};

#[derive(Message)]
#[message(namespace = "ui")]
struct Note {
    text: String,
}

fn main() {
    let notes = Publisher::<Note>::open("shm;ui").unwrap();
    let _ = notes.realtime();
}
