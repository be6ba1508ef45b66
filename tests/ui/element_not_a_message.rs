use msg_runtime::Message;

struct Foreign;

#[derive(Message)]
#[message(namespace = "demo")]
struct Holder {
    all: Vec<Foreign>,
}

fn main() {}
