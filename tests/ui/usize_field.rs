use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Count {
    items: usize,
    more: Option<isize>,
    rest: Vec<usize>,
}


fn main() {}
