use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Text(String),
    #[message(unknown, id = 9)]
    Unknown(u8),
}

fn main() {}
