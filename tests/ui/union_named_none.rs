use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    NONE(String),
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
