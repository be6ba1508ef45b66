//! What is sent belongs to its readers: a loan's bytes end with it.

use msg_runtime::shm::{Options, ShmPublisher};

fn main() {
    let publisher = ShmPublisher::open(&Options::new("ui", "ui")).unwrap();
    let mut loan = publisher.loan(8).unwrap();
    let bytes: &mut [u8] = &mut loan;
    loan.send().unwrap();
    bytes[0] = 1;
}
