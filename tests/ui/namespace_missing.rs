use msg_runtime::Message;

#[derive(Message)]
struct Imu {
    sequence: u64,
}

fn needs<M: Message>() {}

fn main() {
    needs::<Imu>();
}
