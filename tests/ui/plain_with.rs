use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Imu {
    #[message(with = "radians")]
    x: f32,
}

fn main() {}
