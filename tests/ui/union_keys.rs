use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo", identifier = "SHAP", topic = "shapes", bit_flags)]
enum Shape {
    Text(String),
    #[message(unknown)]
    Unknown(u8),
}

fn main() {}
