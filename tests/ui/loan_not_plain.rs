//! Only a plain message can be lent to be filled in place.

use msg_runtime::{Message, Publisher};

#[derive(Message)]
#[message(namespace = "demo")]
struct Note {
    text: String,
}

fn lend(publisher: &Publisher<Note>) {
    let _ = publisher.loan();
}

fn main() {}
