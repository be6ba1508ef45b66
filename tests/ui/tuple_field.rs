use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Pair {
    both: (u8, u8),
}

fn main() {}
