use msg_runtime::Message;

#[derive(Message)]
struct Maybe(Option<u32>);

#[derive(Message)]
#[message(namespace = "demo")]
struct Scan {
    ranges: Vec<Maybe>,
}

fn main() {}
