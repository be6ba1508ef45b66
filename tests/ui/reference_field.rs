use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Iq<'a> {
    rate: &'a f64,
    name: &'a String,
    samples: &'a mut [f32],
}

fn main() {}
