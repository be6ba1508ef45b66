use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo")]
#[repr(usize)]
enum Color {
    Red,
}

fn main() {}
