use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Person {
    #[message(required)]
    name: Option<String>,
}

fn main() {}
