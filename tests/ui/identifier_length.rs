use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo", identifier = "TOOLONG")]
struct Imu {
    sequence: u64,
}

fn main() {}
