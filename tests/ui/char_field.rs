use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Key {
    pressed: char,
}

fn main() {}
