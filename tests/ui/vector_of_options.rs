use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Grid {
    cells: Vec<Option<String>>,
}

fn main() {}
