use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Node {
    next: Option<Node>,
}

fn main() {}
