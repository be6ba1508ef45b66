use msg_runtime::Message;

#[derive(Message, Clone)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Pose {
    name: String,
    points: Vec<f32>,
}

fn main() {}
