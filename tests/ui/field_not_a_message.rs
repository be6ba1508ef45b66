use msg_runtime::Message;

struct Foreign;

#[derive(Message)]
#[message(namespace = "demo")]
struct Holder {
    foreign: Foreign,
}

fn main() {}
