use msg_runtime::Message;

use std::collections::HashMap;

#[derive(Message)]
#[message(namespace = "demo")]
struct Config {
    values: HashMap<String, String>,
}

fn main() {}
