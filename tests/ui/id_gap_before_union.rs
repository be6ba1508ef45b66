use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Text(String),
    #[message(unknown)]
    Unknown(u8),
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Drawing {
    #[message(id = 0)]
    first: u8,
    #[message(id = 1)]
    shape: Shape,
}

fn main() {}
