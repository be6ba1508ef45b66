use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo")]
#[repr(u8)]
enum Color {
    Red = 1,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Pixel {
    color: Color,
}

fn main() {}
