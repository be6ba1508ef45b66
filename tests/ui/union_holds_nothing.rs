use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Text(String),
    Nothing,
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
