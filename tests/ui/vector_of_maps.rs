use std::collections::BTreeMap;

use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Config {
    values: Vec<BTreeMap<String, String>>,
}

fn main() {}
