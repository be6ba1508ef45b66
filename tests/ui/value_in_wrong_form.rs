use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo", name = 7, view = View, like = "Scan", crate = msg, identifier = b"ABCD")]
struct Imu {
    #[message(with = module, rename = other)]
    name: String,
}

fn main() {}
