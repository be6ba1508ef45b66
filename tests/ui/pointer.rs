use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Image {
    pixels: *const u8,
    done: fn(),
}

fn main() {}
