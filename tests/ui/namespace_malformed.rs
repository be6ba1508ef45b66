use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "my robot")]
struct Imu {
    sequence: u64,
}

#[derive(Message)]
#[message(namespace = "robot..arm")]
struct Arm {
    joints: Vec<f32>,
}

fn main() {}
