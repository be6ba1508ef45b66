use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo")]
enum Color {
    Red,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Pixel {
    color: Color,
}

fn main() {}
