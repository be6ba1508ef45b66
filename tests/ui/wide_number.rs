use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Hash {
    value: u128,
}

fn main() {}
