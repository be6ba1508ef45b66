use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = demo, plain = true, topic)]
struct Imu {
    #[message(id = "0", required = true, rename = "two words")]
    name: String,
}

fn main() {}
