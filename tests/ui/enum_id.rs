use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo")]
#[repr(u8)]
enum Color {
    #[message(id = 3)]
    Red,
}

fn main() {}
