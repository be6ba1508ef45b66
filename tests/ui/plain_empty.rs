use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Pose {}

fn main() {}
