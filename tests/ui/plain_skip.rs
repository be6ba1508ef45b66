use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Imu {
    x: f32,
    #[message(skip)]
    y: f32,
}

fn main() {}
