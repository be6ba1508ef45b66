use msg_runtime::Message;

struct Imu {
    sequence: u64,
}

fn needs<M: Message>() {}

fn main() {
    needs::<Imu>();
    let _ = msg_runtime::encode(&Imu { sequence: 0 });
}
