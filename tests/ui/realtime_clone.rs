//! One thread pushes.

use msg_runtime::{Message, Publisher};

#[derive(Message, Clone, Copy)]
#[message(namespace = "ui", plain)]
#[repr(C)]
struct Beat {
    number: u64,
}

fn main() {
    let beats = Publisher::<Beat>::open("shm;ui").unwrap();
    let realtime = beats.realtime().build().unwrap();
    let _ = realtime.clone();
}
