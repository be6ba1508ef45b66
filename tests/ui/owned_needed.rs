use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Label {
    text: &'static str,
}

fn main() {}
