use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain, identifier = "POSE", view = "PoseView")]
#[repr(C)]
struct Pose {
    #[message(id = 0, default = 1.5)]
    x: f64,
    #[message(required, deprecated)]
    y: f64,
}

fn main() {}
