use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Pose {
    x: Option<f64>,
}

fn main() {}
