use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Imu {
    #[message(with = "not a path")]
    angle: f32,
}

fn main() {}
