use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo", topic = "left image")]
struct Left {
    pixels: Vec<u8>,
}

#[derive(Message)]
#[message(namespace = "demo", topic = "right..image")]
struct Right {
    pixels: Vec<u8>,
}

fn main() {}
