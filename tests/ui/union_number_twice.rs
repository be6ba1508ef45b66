use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    #[message(id = 2)]
    Text(String),
    #[message(id = 2)]
    Label(String),
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
