use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
#[derive(Clone, Copy)]
struct Table {
    x: f64,
}

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Pose {
    table: Table,
}

fn main() {}
