use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo", namespace = "other")]
struct Imu {
    #[message(id = 0)]
    #[message(id = 1)]
    sequence: u64,
}

fn main() {}
