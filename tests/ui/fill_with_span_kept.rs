//! A vector that is filled in the slot is lent to the closure that fills it: it cannot keep it.

use msg_runtime::{FillWith, Message, Publisher};

#[derive(Message)]
#[message(namespace = "ui")]
struct Image<'a> {
    pixels: FillWith<'a, u8>,
}

fn main() {
    let publisher = Publisher::<Image>::open("shm;ui").unwrap();
    let mut kept: &mut [u8] = &mut [];
    let mut expose = |pixels: &mut [u8]| kept = pixels;
    publisher.send(&Image { pixels: FillWith::new(8, &mut expose) }).unwrap();
    kept[0] = 1;
}
