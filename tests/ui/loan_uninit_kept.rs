//! What becomes a message is its readers': the slot that a closure makes it in cannot be kept.

use msg_runtime::shm::{Options, ShmPublisher};
use std::mem::MaybeUninit;

fn main() {
    let publisher = ShmPublisher::open(&Options::new("ui", "ui")).unwrap();
    let mut kept: &mut [MaybeUninit<u8>] = &mut [];
    let loan = publisher.loan_uninit(8).unwrap().init(|slot| {
        kept = slot;
        &mut []
    });
    loan.send().unwrap();
    kept[0].write(1);
}
