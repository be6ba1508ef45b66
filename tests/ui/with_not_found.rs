use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Reading {
    #[message(with = "uuids")]
    sensor: u128,
}

fn main() {}
