use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Text(String),
    #[message(unknown)]
    Unknown(u8),
}

fn needs<M: Message>() {}

fn main() {
    needs::<Shape>();
}
