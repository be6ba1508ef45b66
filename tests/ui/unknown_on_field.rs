use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Imu {
    #[message(unknown)]
    x: u8,
}

fn main() {}
