//! iceoryx2, the published crate.

use iceoryx2::port::backpressure_strategy::BackpressureStrategy;
use iceoryx2::port::{listener::Listener, notifier::Notifier, publisher::Publisher, subscriber::Subscriber};
use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::{event, publish_subscribe};

use crate::link::{Peer, Receiver, Sender, Setting, Waits};

pub struct Iceoryx2;

impl Peer for Iceoryx2 {
    type Sender = Sending;
    type Receiver = Receiving;
    const NAME: &'static str = "iceoryx2";
    const SETTINGS: &'static str = "0.10.0, ipc service of [u8]; safe overflow off, RetryUntilDelivered, buffer = depth, history 0; \
         sleeping: an event service, a notification for every message, blocking_wait";
}

type Kind = ipc::Service;

fn node() -> Node<Kind> {
    NodeBuilder::new().create::<Kind>().unwrap()
}

fn service(node: &Node<Kind>, setting: &Setting) -> publish_subscribe::PortFactory<Kind, [u8], ()> {
    node.service_builder(&setting.name.as_str().try_into().unwrap())
        .publish_subscribe::<[u8]>()
        .enable_safe_overflow(false)
        .subscriber_max_buffer_size(setting.depth)
        .history_size(0)
        .max_subscribers(64)
        .max_publishers(1)
        .max_nodes(128)
        .open_or_create()
        .unwrap()
}

fn events(node: &Node<Kind>, setting: &Setting) -> event::PortFactory<Kind> {
    let name = setting.name.as_str().try_into().unwrap();
    node.service_builder(&name).event().max_listeners(64).max_nodes(128).open_or_create().unwrap()
}

pub struct Sending {
    publisher: Publisher<Kind, [u8], ()>,
    notifier: Option<Notifier<Kind>>,
    _service: publish_subscribe::PortFactory<Kind, [u8], ()>,
    _node: Node<Kind>,
}

impl Sender for Sending {
    fn open(setting: &Setting) -> Self {
        let node = node();
        let service = service(&node, setting);
        let publisher = service
            .publisher_builder()
            .initial_max_slice_len(setting.bytes)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .unwrap();
        let sleeps = setting.waits == Waits::Sleeps;
        let notifier = sleeps.then(|| events(&node, setting).notifier_builder().create().unwrap());
        Self { publisher, notifier, _service: service, _node: node }
    }

    fn send(&mut self, bytes: usize, fill: impl FnOnce(&mut [u8])) {
        let mut loan = self.publisher.loan_slice_uninit(bytes).unwrap();
        let room = loan.payload_mut();
        // SAFETY: the loan's bytes are shared memory, which has some value; `fill` writes all of them.
        fill(unsafe { room.assume_init_mut() });
        // SAFETY: written right above.
        unsafe { loan.assume_init() }.send().unwrap();
        if let Some(notifier) = &self.notifier {
            notifier.notify().unwrap();
        }
    }
}

pub struct Receiving {
    subscriber: Subscriber<Kind, [u8], ()>,
    listener: Option<Listener<Kind>>,
    _service: publish_subscribe::PortFactory<Kind, [u8], ()>,
    _node: Node<Kind>,
}

impl Receiver for Receiving {
    fn open(setting: &Setting) -> Self {
        let node = node();
        let service = service(&node, setting);
        let subscriber = service.subscriber_builder().buffer_size(setting.depth).create().unwrap();
        let sleeps = setting.waits == Waits::Sleeps;
        let listener = sleeps.then(|| events(&node, setting).listener_builder().create().unwrap());
        Self { subscriber, listener, _service: service, _node: node }
    }

    fn try_receive<R>(&mut self, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.subscriber.receive().unwrap().map(|sample| read(sample.payload()))
    }

    fn receive<R>(&mut self, read: impl FnOnce(&[u8]) -> R) -> R {
        loop {
            if let Some(sample) = self.subscriber.receive().unwrap() {
                return read(sample.payload());
            }
            match &self.listener {
                Some(listener) => drop(listener.blocking_wait(|_| {}).unwrap()),
                None => std::hint::spin_loop(),
            }
        }
    }
}
