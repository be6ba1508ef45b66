use msg_runtime::Message;

#[derive(Message, Clone)]
#[message(namespace = "demo")]
#[repr(u8)]
enum Shape {
    Nothing,
    Circle { radius: f32 },
    Text(String),
}

fn main() {}
