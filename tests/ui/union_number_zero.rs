use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    #[message(id = 0)]
    Text(String),
    #[message(id = 256)]
    Label(String),
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
