//! A message that is handed to a closure is gone when it returns: it cannot keep it.

use msg_runtime::{Message, Subscriber};
use std::sync::mpsc;

#[derive(Message)]
#[message(namespace = "ui")]
struct Note {
    text: String,
}

fn main() {
    let (sender, receiver) = mpsc::channel::<&str>();
    let _guard = Subscriber::<Note>::builder("shm;ui").on_message(move |note, _| sender.send(note.text()).unwrap());
    receiver.recv().unwrap();
}
