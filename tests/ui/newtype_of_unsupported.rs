use msg_runtime::Message;

#[derive(Message)]
struct Index(usize);

fn main() {}
