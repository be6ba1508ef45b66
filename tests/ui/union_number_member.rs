use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Count(u32),
    Names(Vec<String>),
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
