use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
#[repr(C, packed)]
struct Pose {
    x: u8,
    y: f64,
}

fn main() {}
