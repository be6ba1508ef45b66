use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo")]
#[repr(u8)]
enum Color {
    Red,
    #[message(unknown)]
    Other,
}

fn main() {}
