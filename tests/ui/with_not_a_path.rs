use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Reading {
    #[message(with = "to and fro")]
    sensor: u128,
}

fn main() {}
