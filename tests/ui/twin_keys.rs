use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Scan {
    stamp: u64,
    ranges: Vec<f32>,
}

#[derive(Message)]
#[message(like = Scan, namespace = "demo")]
struct ScanRef<'a> {
    #[message(id = 0)]
    stamp: u64,
    ranges: &'a [f32],
}

fn main() {}
