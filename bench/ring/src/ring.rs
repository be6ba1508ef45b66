//! Our ring, through its public handles.

use std::time::Duration;

use msg_runtime::shm::{Options, ShmPublisher, ShmSubscriber};

use crate::link::{Peer, Receiver, Sender, Setting, Waits};

pub struct Ring;

impl Peer for Ring {
    type Sender = ShmPublisher;
    type Receiver = ShmSubscriber;
    const NAME: &'static str = "msg";
    const SETTINGS: &'static str = "slots = depth; spinning: wait=spin; sleeping: wait=sleep, else defaults";
}

fn options(setting: &Setting) -> Options {
    let options = Options::new(&setting.name, "bench").slots(setting.depth).slot_bytes(setting.bytes);
    options.timeout(Duration::from_secs(20))
}

impl Sender for ShmPublisher {
    fn open(setting: &Setting) -> Self {
        Self::open(&options(setting)).unwrap()
    }

    fn send(&mut self, bytes: usize, fill: impl FnOnce(&mut [u8])) {
        let mut loan = self.loan(bytes).unwrap();
        fill(&mut loan);
        loan.send().unwrap();
    }
}

impl Receiver for ShmSubscriber {
    fn open(setting: &Setting) -> Self {
        let spin = if setting.waits == Waits::Spins { Duration::MAX } else { Duration::ZERO };
        Self::open(&options(setting).spin(spin)).unwrap()
    }

    fn try_receive<R>(&mut self, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.try_recv().ok().map(|sample| read(&sample))
    }

    fn receive<R>(&mut self, read: impl FnOnce(&[u8]) -> R) -> R {
        read(&self.recv().unwrap())
    }
}
