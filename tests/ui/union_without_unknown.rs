use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
enum Shape {
    Text(String),
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Drawing {
    shape: Option<Shape>,
}

fn main() {}
