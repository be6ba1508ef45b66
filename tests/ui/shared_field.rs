use msg_runtime::Message;

use std::sync::Arc;

#[derive(Message)]
#[message(namespace = "demo")]
struct Config {
    name: Arc<String>,
}

fn main() {}
