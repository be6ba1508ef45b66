use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Celsius(f32);

fn main() {}
