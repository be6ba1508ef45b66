use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
#[repr(u8)]
enum Shape {
    Text(String) = 3,
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
