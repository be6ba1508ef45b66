use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo")]
#[repr(u8)]
enum Color {
    Red,
}

fn needs<M: Message>() {}

fn main() {
    needs::<Color>();
}
