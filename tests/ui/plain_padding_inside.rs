use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Pose {
    valid: bool,
    x: f32,
}

fn main() {}
