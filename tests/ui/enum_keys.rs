use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain, topic = "color", identifier = "COLR")]
#[repr(u8)]
enum Color {
    #[message(id = 3)]
    Red,
}

fn main() {}
