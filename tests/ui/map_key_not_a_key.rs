use std::collections::BTreeMap;

use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Config {
    values: BTreeMap<Vec<u8>, String>,
}

fn main() {}
