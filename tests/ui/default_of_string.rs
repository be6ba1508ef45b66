use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Person {
    #[message(default = "nobody")]
    name: String,
    #[message(default = 3)]
    age: Option<u8>,
}

fn main() {}
