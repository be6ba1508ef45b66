use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo", name, view, like, identifier, crate)]
struct Imu {
    #[message(id, default, rename, with)]
    name: String,
    #[message(key = "name", skip = true, deprecated = 1)]
    other: String,
}

fn main() {}
