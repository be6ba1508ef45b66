use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo")]
#[repr(u8)]
enum Color {
    Red,
}

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Color(Color),
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
