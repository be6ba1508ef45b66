use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Entry {
    id: u32,
    #[message(rename = "id")]
    number: u32,
}

fn main() {}
