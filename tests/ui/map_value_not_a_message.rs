use std::collections::BTreeMap;

use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Config {
    values: BTreeMap<String, usize>,
}

fn main() {}
