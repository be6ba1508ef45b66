//! The slot that a closure fills is sent when it returns: it cannot keep it.

use msg_runtime::shm::{Options, ShmPublisher};

fn main() {
    let publisher = ShmPublisher::open(&Options::new("ui", "ui")).unwrap();
    let mut kept: &mut [u8] = &mut [];
    publisher.try_publish(8, |slot| kept = slot).unwrap();
    kept[0] = 1;
}
