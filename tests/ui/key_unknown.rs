use msg_runtime::Message;

#[derive(Message)]
#[message(namspace = "demo", namespace = "demo", wire = "x")]
struct Imu {
    #[message(requird)]
    name: String,
    #[message(topic = "x")]
    other: String,
}

fn main() {}
