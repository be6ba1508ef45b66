use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
#[repr(u8)]
enum Color {
    Red,
}

fn main() {}
