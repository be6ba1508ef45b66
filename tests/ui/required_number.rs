use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Person {
    #[message(required)]
    age: u8,
}

fn main() {}
