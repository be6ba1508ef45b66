use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
union Bits {
    number: u32,
    real: f32,
}

fn main() {}
