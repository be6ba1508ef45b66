use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Person {
    #[message(default = 1.5)]
    age: u8,
}

fn main() {}
