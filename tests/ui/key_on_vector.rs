use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Entry {
    #[message(key)]
    values: Vec<u8>,
}

fn main() {}
