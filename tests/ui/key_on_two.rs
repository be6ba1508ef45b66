use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Entry {
    #[message(key)]
    id: u32,
    #[message(key)]
    name: String,
}

fn main() {}
