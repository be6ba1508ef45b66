use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Envelope<T> {
    payload: Vec<T>,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Block<const LEN: usize> {
    samples: [f32; LEN],
}

fn main() {}
