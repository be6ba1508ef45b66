use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Pair(f32, f32);

fn main() {}
