use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Imu {
    #[message(with = "radians")]
    angle: (f32, f32),
}

fn main() {}
