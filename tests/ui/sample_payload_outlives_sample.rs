//! A sample's bytes go with the sample: kept longer, they would be the next message's.

use msg_runtime::shm::{Options, ShmSubscriber};

fn main() {
    let subscriber = ShmSubscriber::open(&Options::new("ui", "ui")).unwrap();
    let bytes: &[u8] = {
        let sample = subscriber.recv().unwrap();
        &sample
    };
    assert_eq!(bytes, b"x");
}
