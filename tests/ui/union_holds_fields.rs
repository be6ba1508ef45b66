use msg_runtime::Message;

#[derive(Message, Clone)]
#[message(namespace = "demo")]
enum Shape {
    Text(String),
    Circle { radius: f32 },
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
