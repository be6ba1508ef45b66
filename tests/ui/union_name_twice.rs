use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Text(String),
    #[message(rename = "Text")]
    Label(String),
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
