use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Pose {
    #[message(id = 0)]
    x: f64,
    y: f64,
}

fn main() {}
