//! A view goes with its sample, and so does what it lends.

use msg_runtime::{Message, Subscriber};

#[derive(Message)]
#[message(namespace = "ui")]
struct Note {
    text: String,
}

fn main() {
    let notes = Subscriber::<Note>::open("shm;ui").unwrap();
    let sample = notes.recv().unwrap();
    let text: &str = sample.view().text();
    drop(sample);
    assert_eq!(text, "x");
}
