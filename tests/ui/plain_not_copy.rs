use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Pose {
    x: f64,
}

fn main() {}
