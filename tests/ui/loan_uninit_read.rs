//! A slot that is not cleared holds no message before one is made there: there is nothing to read and nothing to send.

use msg_runtime::{Message, Publisher};

#[derive(Message, Clone, Copy)]
#[message(namespace = "ui", plain)]
#[repr(C)]
struct Point {
    x: f64,
}

fn main() {
    let publisher = Publisher::<Point>::open("shm;ui").unwrap();
    let loan = publisher.loan_uninit().unwrap();
    assert_eq!(loan.x, 1.0);
    loan.send().unwrap();
}
