use msg_runtime::Message;

mod radians {
    pub type Field = std::thread::Thread;

    pub fn to_field(_: &f32) -> Field {
        std::thread::current()
    }

    pub fn from_field(_: Field) -> f32 {
        0.0
    }
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Imu {
    #[message(with = "radians")]
    angle: f32,
}

fn main() {}
