use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo", topic = "")]
struct Imu {
    sequence: u64,
}

fn main() {}
