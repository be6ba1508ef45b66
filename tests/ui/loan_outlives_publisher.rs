//! A slot is lent by a publisher, and goes back to it: the loan does not outlive it.

use msg_runtime::shm::{Options, ShmPublisher};

fn main() {
    let loan = {
        let publisher = ShmPublisher::open(&Options::new("ui", "ui")).unwrap();
        publisher.loan(8).unwrap()
    };
    loan.send().unwrap();
}
