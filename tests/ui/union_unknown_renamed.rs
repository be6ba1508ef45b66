use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Text(String),
    #[message(unknown, rename = "other")]
    Unknown(u8),
}

fn main() {}
