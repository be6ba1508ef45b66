use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo", view = "Imu")]
struct Imu {
    sequence: u64,
}

#[derive(Message)]
#[message(namespace = "demo", view = "struct")]
struct Pose {
    x: f64,
}

fn main() {}
