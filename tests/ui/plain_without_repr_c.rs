use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
struct Pose {
    x: f64,
}

fn main() {}
