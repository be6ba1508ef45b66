use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Scan {
    stamp: u64,
    ranges: Vec<f32>,
}

#[derive(Message)]
#[message(like = Scan)]
struct ScanRef<'a> {
    stamp: u64,
    ranges: &'a [f64],
}

fn main() {}
