use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Imu {
    x: f32,
    #[message(skip, key)]
    cache: u32,
}

fn main() {}
