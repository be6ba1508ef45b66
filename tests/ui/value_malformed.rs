use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = )]
struct Imu {
    name: String,
}

fn main() {}
