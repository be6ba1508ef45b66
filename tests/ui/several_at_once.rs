use msg_runtime::Message;

#[derive(Message)]
struct Imu {
    #[message(defualt = 3)]
    sequence: usize,
    #[message(id = 1)]
    raw: *mut u8,
}

fn main() {}
