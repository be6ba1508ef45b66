use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Text(String),
    #[message(unknown)]
    Unknown(u8),
    #[message(unknown)]
    Other(u8),
}

fn main() {}
