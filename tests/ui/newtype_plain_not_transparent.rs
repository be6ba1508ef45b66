use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(plain)]
struct Celsius(f32);

fn main() {}
