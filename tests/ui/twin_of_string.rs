use msg_runtime::Message;

#[derive(Message)]
#[message(like = "Scan")]
struct ScanRef<'a> {
    ranges: &'a [f32],
}

fn main() {}
