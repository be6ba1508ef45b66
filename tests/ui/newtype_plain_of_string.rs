use msg_runtime::Message;

#[derive(Message, Clone)]
#[message(plain)]
#[repr(transparent)]
struct Name(String);

fn main() {}
