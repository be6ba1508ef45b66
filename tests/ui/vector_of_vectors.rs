use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Grid {
    rows: Vec<Vec<f32>>,
}

fn main() {}
