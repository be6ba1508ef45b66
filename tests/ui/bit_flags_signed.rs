use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", bit_flags)]
#[repr(i8)]
enum Access {
    Read = 1,
}

fn main() {}
