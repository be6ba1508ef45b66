use std::borrow::Cow;

use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Person {
    #[message(default = 7)]
    name: String,
    #[message(default = 3)]
    age: Option<u8>,
    #[message(default = [1])]
    numbers: Vec<u8>,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Other<'a> {
    #[message(default = 7)]
    name: Cow<'a, str>,
    #[message(default = "7")]
    age: u8,
    #[message(default = [])]
    size: u8,
}

fn main() {}
