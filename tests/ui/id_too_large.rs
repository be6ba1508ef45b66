use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Pose {
    #[message(id = 32766)]
    x: f64,
    #[message(id = 99999999999)]
    y: f64,
}

fn main() {}
