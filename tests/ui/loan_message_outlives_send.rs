//! What is sent belongs to its readers: a loan's message ends with it.

use msg_runtime::{Message, Publisher};

#[derive(Message, Clone, Copy)]
#[message(namespace = "ui", plain)]
#[repr(C)]
struct Point {
    x: f64,
}

fn main() {
    let publisher = Publisher::<Point>::open("shm;ui").unwrap();
    let mut loan = publisher.loan().unwrap();
    let point: &mut Point = &mut loan;
    loan.send().unwrap();
    point.x = 1.0;
}
