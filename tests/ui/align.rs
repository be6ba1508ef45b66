use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Samples {
    #[message(align = 24)]
    left: Vec<f32>,
    right: Vec<f32>,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Number {
    #[message(align = 16)]
    number: u32,
    #[message(align = 16)]
    text: String,
}

fn main() {}
