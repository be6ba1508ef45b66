use msg_runtime::Message;

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", bit_flags)]
#[repr(u8)]
enum Access {
    Read = 1,
    Both = 3,
}

fn main() {}
