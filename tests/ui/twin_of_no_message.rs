use msg_runtime::Message;

struct Scan {
    stamp: u64,
    ranges: Vec<f32>,
}

#[derive(Message)]
#[message(like = Scan)]
struct ScanRef<'a> {
    stamp: u64,
    ranges: &'a [f32],
}

fn main() {}
