use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Maybe {
    name: Option<Option<String>>,
}

fn main() {}
