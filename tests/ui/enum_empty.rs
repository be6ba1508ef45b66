use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo")]
enum Never {}

fn main() {}
