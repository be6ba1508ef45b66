use msg_runtime::Message;

struct Circle;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Circle(Circle),
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
