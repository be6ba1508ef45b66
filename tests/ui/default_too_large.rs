use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Person {
    #[message(default = 300)]
    age: u8,
}

fn main() {}
