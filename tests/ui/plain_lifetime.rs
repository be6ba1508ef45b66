use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Pose<'a> {
    x: f64,
    name: &'a str,
}

fn main() {}
