use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo", bit_flags)]
struct Imu {
    sequence: u64,
}

fn main() {}
