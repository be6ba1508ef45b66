use msg_runtime::Message;

struct Cache;

#[derive(Message)]
#[message(namespace = "demo")]
struct Imu {
    x: f32,
    #[message(skip)]
    cache: Cache,
}

fn main() {}
