//! What every transport promises, as generic functions: a new transport passes them unchanged.
//!
//! A test file of a transport says where its handles meet and lets [`conformance!`](crate::conformance!) make a test of
//! each function.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use futures_executor::{block_on, block_on_stream};
use msg_runtime::{
    Message, Publisher, RecvError, SendError, Subscriber, TryRecvError,
    json::{JsonError, JsonPublisher, JsonSubscriber},
    raw::{RawPublisher, RawSubscriber},
};
use std::{
    pin::Pin,
    process,
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    task::{Context, Poll, Waker},
    thread,
    time::Duration,
};

/// Longer than anything here takes on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// Nothing is expected to come in this time.
const MOMENT: Duration = Duration::from_millis(50);

/// Where the handles of one test meet.
#[derive(Clone, Debug)]
pub struct Place {
    /// A publisher's endpoint.
    pub endpoint: String,
    /// A subscriber's endpoint: the same, or where the other end of a link is.
    pub subscriber_endpoint: String,
    /// A topic that no other test has.
    pub topic: String,
}

/// Makes a test of each function of the suite. `$endpoint` is an expression of type `String` or `&str`, or a pair of them
/// for publishers and subscribers, evaluated for each.
#[macro_export]
macro_rules! conformance {
    ($endpoint:expr; $($test:ident),+ $(,)?) => {$(
        #[test]
        fn $test() {
            $crate::conformance::$test(&$crate::conformance::Place::new($endpoint));
        }
    )+};
    ($endpoint:expr) => {
        $crate::conformance! {
            $endpoint;
            messages_arrive_in_order_of_each_publisher,
            who_joins_late_gets_what_comes_after,
            topics_do_not_mix,
            every_subscriber_gets_every_message,
            empty_messages_arrive,
            a_large_message_arrives_whole_or_is_refused,
            plain_messages_are_lent_and_read_in_place,
            every_compression_is_recognized,
            a_closed_subscriber_disturbs_nobody,
            publishing_without_subscribers_succeeds,
            a_message_sent_right_before_the_drop_arrives,
            callbacks_get_messages_until_the_guard_is_dropped,
            iterating_gives_what_receiving_gives,
            counts_add_up,
            waiting_ends_when_its_time_is_over,
            the_newest_is_what_a_latest_only_subscriber_gets,
            raw_payloads_arrive_as_they_were_sent,
            raw_and_typed_handles_meet,
            json_arrives_as_it_was_sent,
            what_is_no_json_is_counted_and_passed_over,
            streams_give_what_iterating_gives,
            futures_take_turns,
            a_future_that_is_dropped_loses_nothing,
        }
    };
}

/// A message with a text.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "conformance")]
pub struct Note {
    /// Counts.
    pub number: u32,
    /// Says.
    pub text: String,
    /// Anything.
    pub bytes: Vec<u8>,
}

/// A message that may be lent.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "conformance", plain)]
#[repr(C)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Up.
    pub y: f64,
}

/// The endpoints of publishers and subscribers.
#[derive(Debug)]
pub struct Ends(String, String);

impl From<&str> for Ends {
    fn from(both: &str) -> Self {
        Self(both.to_owned(), both.to_owned())
    }
}

impl From<String> for Ends {
    fn from(both: String) -> Self {
        Self(both.clone(), both)
    }
}

impl From<(String, String)> for Ends {
    fn from((publishers, subscribers): (String, String)) -> Self {
        Self(publishers, subscribers)
    }
}

fn note(number: u32) -> Note {
    Note { number, text: format!("note {number}"), bytes: vec![] }
}

impl Place {
    /// A place at this endpoint, with a topic of its own.
    pub fn new(endpoint: impl Into<Ends>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let topic = format!("conformance-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let Ends(endpoint, subscriber_endpoint) = endpoint.into();
        Self { endpoint, subscriber_endpoint, topic }
    }

    /// The same with another compression.
    fn compressed(&self, compression: &str) -> Self {
        let (transport, rest) = self.endpoint.split_once(';').unwrap();
        let address =
            ["none;", "lz4;"].iter().fold(rest, |rest, prefix| rest.strip_prefix(prefix).unwrap_or(rest));
        Self { endpoint: format!("{transport};{compression};{address}"), ..self.clone() }
    }

    fn other_topic(&self) -> Self {
        Self { topic: format!("{}.other", self.topic), ..self.clone() }
    }

    /// A subscriber, and what it takes that messages reach it.
    pub fn subscriber<M: Message>(&self) -> Subscriber<M> {
        Subscriber::<M>::builder(&self.subscriber_endpoint).topic(&self.topic).open().unwrap()
    }

    /// A publisher that has seen this many subscribers.
    pub fn publisher<M: Message>(&self, subscribers: usize) -> Publisher<M> {
        let publisher = Publisher::<M>::builder(&self.endpoint).topic(&self.topic).open().unwrap();
        assert!(publisher.wait_for_subscribers(subscribers, PATIENCE), "{subscribers} subscribers are there");
        publisher
    }
}

impl Place {
    fn raw_subscriber(&self) -> RawSubscriber {
        RawSubscriber::open(&self.endpoint, &self.topic).unwrap()
    }

    fn raw_publisher(&self) -> RawPublisher {
        let publisher = RawPublisher::open(&self.endpoint, &self.topic).unwrap();
        assert!(publisher.wait_for_subscribers(1, PATIENCE), "a subscriber is there");
        publisher
    }
}

fn received(subscriber: &Subscriber<Note>) -> Note {
    subscriber.recv_timeout(PATIENCE).unwrap().to_owned()
}

/// Three publishers, each on a thread; a subscriber sees each one's messages in its order, numbered if they are.
pub fn messages_arrive_in_order_of_each_publisher(place: &Place) {
    const COUNT: u32 = 200;
    let subscriber = place.subscriber::<Note>();
    let publishers = [(); 3].map(|()| place.publisher::<Note>(1));
    thread::scope(|scope| {
        for (who, publisher) in publishers.iter().enumerate() {
            scope.spawn(move || {
                for number in 0..COUNT {
                    publisher.send(&Note { text: who.to_string(), ..note(number) }).unwrap();
                }
            });
        }
        let mut next = [0; 3];
        for _ in 0..3 * COUNT {
            let note = received(&subscriber);
            let who: usize = note.text.parse().unwrap();
            assert_eq!(note.number, next[who], "of publisher {who}");
            next[who] += 1;
        }
    });
    assert_eq!(subscriber.stats().lost, 0);
}

/// No replay.
pub fn who_joins_late_gets_what_comes_after(place: &Place) {
    let early = place.subscriber::<Note>();
    let publisher = place.publisher(1);
    publisher.send(&note(0)).unwrap();
    assert_eq!(received(&early).number, 0);
    let late = place.subscriber::<Note>();
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    publisher.send(&note(1)).unwrap();
    assert_eq!(received(&early).number, 1);
    let sample = late.recv_timeout(PATIENCE).unwrap();
    assert_eq!(sample.view().number(), 1);
    assert_eq!(sample.info().lost.unwrap_or(0), 0, "what came before it was there is not lost");
}

/// Two topics at one endpoint, one a beginning of the other.
pub fn topics_do_not_mix(place: &Place) {
    let other = place.other_topic();
    let (here, there) = (place.subscriber::<Note>(), other.subscriber::<Note>());
    let (to_here, to_there) = (place.publisher(1), other.publisher(1));
    for number in 0..20 {
        to_here.send(&note(number)).unwrap();
        to_there.send(&note(100 + number)).unwrap();
    }
    for number in 0..20 {
        assert_eq!(received(&here), note(number));
        assert_eq!(received(&there), note(100 + number));
    }
    assert_eq!(here.recv_timeout(MOMENT).unwrap_err(), RecvError::Timeout);
}

/// Three of them, on threads of their own.
pub fn every_subscriber_gets_every_message(place: &Place) {
    let subscribers = [(); 3].map(|()| place.subscriber::<Note>());
    let publisher = place.publisher(3);
    thread::scope(|scope| {
        for subscriber in &subscribers {
            scope.spawn(|| (0..200).for_each(|number| assert_eq!(received(subscriber), note(number))));
        }
        (0..200).for_each(|number| publisher.send(&note(number)).unwrap());
    });
}

/// Every field absent or zero.
pub fn empty_messages_arrive(place: &Place) {
    let subscriber = place.subscriber::<Note>();
    let empty = Note { number: 0, text: String::new(), bytes: vec![] };
    place.publisher(1).send(&empty).unwrap();
    assert_eq!(received(&subscriber), empty);
}

/// 10 MiB, none of which compresses well; where it is refused, the next small one arrives.
pub fn a_large_message_arrives_whole_or_is_refused(place: &Place) {
    let subscriber = place.subscriber::<Note>();
    let publisher = place.publisher(1);
    let mut state = 1_u32;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    });
    let large = Note { bytes: noise.take(10 << 20).collect(), ..note(1) };
    match publisher.send(&large) {
        Ok(()) => assert!(received(&subscriber) == large),
        Err(SendError::TooLarge { len, max }) => assert!(len > max, "{len} bytes, {max} fit"),
        Err(error) => panic!("{error}"),
    }
    publisher.send(&note(2)).unwrap();
    assert_eq!(received(&subscriber), note(2));
}

/// A loan starts zeroed, also the second time.
pub fn plain_messages_are_lent_and_read_in_place(place: &Place) {
    let subscriber = place.subscriber::<Point>();
    let publisher = place.publisher::<Point>(1);
    for number in 0..40_u8 {
        let mut point = publisher.loan().unwrap();
        assert_eq!(*point, Point { x: 0.0, y: 0.0 });
        *point = Point { x: f64::from(number), y: -1.0 };
        point.send().unwrap();
        let sample = subscriber.recv_timeout(PATIENCE).unwrap();
        assert_eq!(*sample.view(), Point { x: f64::from(number), y: -1.0 });
    }
}

/// Four publishers of one topic, one subscriber.
pub fn every_compression_is_recognized(place: &Place) {
    let subscriber = place.subscriber::<Note>();
    for (number, compression) in (0..).zip(["none", "lz4", "zstd", "zstd:19"]) {
        let publisher = place.compressed(compression).publisher(1);
        for text in ["short".to_owned(), "long ".repeat(10_000)] {
            let sent = Note { text, ..note(number) };
            publisher.send(&sent).unwrap();
            assert!(received(&subscriber) == sent, "{compression}");
        }
    }
    assert_eq!(subscriber.stats().invalid, 0);
}

/// The others go on, and the publisher neither waits nor fails.
pub fn a_closed_subscriber_disturbs_nobody(place: &Place) {
    let stays = place.subscriber::<Note>();
    let leaves = place.subscriber::<Note>();
    let publisher = place.publisher(2);
    publisher.send(&note(0)).unwrap();
    assert_eq!(received(&leaves).number, 0);
    drop(leaves);
    for number in 1..50 {
        publisher.send(&note(number)).unwrap();
    }
    for number in 0..50 {
        assert_eq!(received(&stays).number, number);
    }
}

/// It is discarded.
pub fn publishing_without_subscribers_succeeds(place: &Place) {
    let publisher = place.publisher::<Note>(0);
    for number in 0..100 {
        publisher.send(&note(number)).unwrap();
    }
    assert_eq!(publisher.stats().messages, 100);
}

/// Dropping a publisher flushes.
pub fn a_message_sent_right_before_the_drop_arrives(place: &Place) {
    let subscriber = place.subscriber::<Note>();
    for number in 0..20 {
        let publisher = place.publisher(1);
        publisher.send(&note(number)).unwrap();
        drop(publisher);
        assert_eq!(received(&subscriber), note(number));
    }
}

/// None afterwards.
pub fn callbacks_get_messages_until_the_guard_is_dropped(place: &Place) {
    let (sender, got) = mpsc::channel();
    let guard = Subscriber::<Note>::builder(&place.subscriber_endpoint)
        .topic(&place.topic)
        .on_message(move |note, _| sender.send(note.number()).unwrap())
        .unwrap();
    let publisher = place.publisher(1);
    for number in 0..50 {
        publisher.send(&note(number)).unwrap();
    }
    for number in 0..50 {
        assert_eq!(got.recv_timeout(PATIENCE).unwrap(), number);
    }
    drop(guard);
    publisher.send(&note(50)).unwrap();
    assert_eq!(got.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected));
}

/// In order.
pub fn iterating_gives_what_receiving_gives(place: &Place) {
    let subscriber = place.subscriber::<Note>();
    let publisher = place.publisher(1);
    thread::scope(|scope| {
        scope.spawn(|| (0..50).for_each(|number| publisher.send(&note(number)).unwrap()));
        for (number, sample) in (0..50).zip(&subscriber) {
            assert_eq!(sample.unwrap().to_owned(), note(number));
        }
    });
}

/// Sent is received, bytes too.
pub fn counts_add_up(place: &Place) {
    let subscriber = place.subscriber::<Note>();
    let publisher = place.publisher(1);
    for number in 0..100 {
        publisher.send(&note(number)).unwrap();
        received(&subscriber);
    }
    let (sent, got) = (publisher.stats(), subscriber.stats());
    assert_eq!((sent.messages, got.messages), (100, 100));
    assert!(sent.bytes >= 100 * 16);
    assert_eq!(sent.bytes, got.bytes);
    assert_eq!((got.lost, got.invalid, got.late), (0, 0, 0));
}

/// Neither before nor never.
pub fn waiting_ends_when_its_time_is_over(place: &Place) {
    let subscriber = place.subscriber::<Note>();
    assert_eq!(subscriber.try_recv().unwrap_err(), TryRecvError::Empty);
    assert_eq!(subscriber.recv_timeout(MOMENT).unwrap_err(), RecvError::Timeout);
    let nobody = place.other_topic().publisher::<Note>(0);
    assert!(!nobody.wait_for_subscribers(1, MOMENT));
}

/// Whatever it misses is counted.
pub fn the_newest_is_what_a_latest_only_subscriber_gets(place: &Place) {
    let all = place.subscriber::<Note>();
    let newest = Subscriber::<Note>::builder(&place.subscriber_endpoint)
        .topic(&place.topic)
        .latest_only()
        .open()
        .unwrap();
    let publisher = place.publisher(2);
    for number in 0..100 {
        publisher.send(&note(number)).unwrap();
        received(&all);
    }
    let mut got = 0;
    loop {
        let sample = newest.recv_timeout(PATIENCE).unwrap();
        got += 1;
        if sample.view().number() == 99 {
            break;
        }
    }
    assert_eq!(got + newest.stats().lost, 100);
}

/// Sent, lent, empty and long ones; every way to receive them.
pub fn raw_payloads_arrive_as_they_were_sent(place: &Place) {
    let subscriber = place.raw_subscriber();
    let publisher = place.raw_publisher();
    let long: Vec<u8> = (0..50_000_u32).map(|number| number.to_be_bytes()[3]).collect();
    for payload in [&b"short"[..], b"", &long] {
        publisher.send(payload).unwrap();
        publisher.try_send(payload).unwrap();
        publisher.send_timeout(payload, PATIENCE).unwrap();
        let mut loan = publisher.loan(payload.len() + 1).unwrap();
        assert!(loan.iter().all(|byte| *byte == 0), "a loan starts zeroed");
        loan[..payload.len()].copy_from_slice(payload);
        loan.truncate(payload.len());
        loan.send().unwrap();
        for _ in 0..4 {
            assert!(subscriber.recv_timeout(PATIENCE).unwrap().payload() == payload);
        }
    }
    for number in 0..20_u8 {
        publisher.send(&[number]).unwrap();
    }
    for (number, sample) in (0..20_u8).zip(&subscriber) {
        assert_eq!(sample.unwrap().payload(), [number]);
    }
    assert_eq!(subscriber.try_recv().unwrap_err(), TryRecvError::Empty);
    let (sent, got) = (publisher.stats(), subscriber.stats());
    assert_eq!((sent.messages, sent.bytes), (got.messages, got.bytes));
}

/// A raw subscriber reads what typed publishers send, and a raw publisher sends what typed subscribers read.
pub fn raw_and_typed_handles_meet(place: &Place) {
    let (typed, raw) = (place.subscriber::<Note>(), place.raw_subscriber());
    let publisher = place.publisher::<Note>(2);
    let to_both = place.raw_publisher();
    for number in 0..20 {
        publisher.send(&note(number)).unwrap();
        let sample = raw.recv_timeout(PATIENCE).unwrap();
        let bytes = msg_runtime::AlignedBuffer::copy_of(sample.payload());
        assert_eq!(msg_runtime::decode::<Note>(&bytes).unwrap().number(), number);
        assert_eq!(received(&typed), note(number));
        to_both.send(&bytes).unwrap();
        assert_eq!(received(&typed), note(number));
        raw.recv_timeout(PATIENCE).unwrap();
    }
    to_both.send(b"no note").unwrap();
    let error = typed.recv_timeout(PATIENCE).unwrap_err();
    assert!(matches!(error, RecvError::Invalid(_)), "{error}");
    assert_eq!(typed.stats().invalid, 1);
}

/// Values and types of serde's, by every way to receive them.
pub fn json_arrives_as_it_was_sent(place: &Place) {
    type Row = (u64, Option<f64>, Vec<String>);
    let subscriber = JsonSubscriber::<Row>::open(&place.endpoint, &place.topic).unwrap();
    let publisher = JsonPublisher::<Row>::open(&place.endpoint, &place.topic).unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let texts = vec!["\u{1f680} \"quoted\"\n".to_owned(), "long ".repeat(10_000)];
    let rows: [Row; 3] = [(u64::MAX, Some(0.1), texts), (0, None, vec![]), (1, Some(-1e300), vec![])];
    for row in &rows {
        publisher.send(row).unwrap();
        assert_eq!(&subscriber.recv_timeout(PATIENCE).unwrap().value, row);
        publisher.try_send(row).unwrap();
        assert_eq!(&subscriber.iter().next().unwrap().unwrap().value, row);
    }
    let (sender, got) = mpsc::channel();
    let guard = JsonSubscriber::<Row>::builder(&place.endpoint, &place.topic)
        .on_message(move |row, _| sender.send(row).unwrap())
        .unwrap();
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    publisher.send(&rows[1]).unwrap();
    assert_eq!(got.recv_timeout(PATIENCE).unwrap(), rows[1]);
    drop(guard);
}

/// The next one is received.
pub fn what_is_no_json_is_counted_and_passed_over(place: &Place) {
    let subscriber = JsonSubscriber::<Vec<u8>>::open(&place.endpoint, &place.topic).unwrap();
    let publisher = place.raw_publisher();
    for text in [&b"[1,2"[..], b"", b"[1] 2", b"{}", b"[256]", b"[null]", b"\xff", b"[1e999]"] {
        publisher.send(text).unwrap();
        publisher.send(b" [1, 2]\n").unwrap();
        let error = subscriber.recv_timeout(PATIENCE).unwrap_err();
        assert!(matches!(error, JsonError::Json(_)), "{error}");
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().value, [1, 2]);
    }
    let stats = subscriber.stats();
    assert_eq!((stats.messages, stats.invalid), (8, 8));
}

/// Typed, raw and JSON ones, while messages come.
pub fn streams_give_what_iterating_gives(place: &Place) {
    let typed = place.subscriber::<Note>();
    let publisher = place.publisher::<Note>(1);
    thread::scope(|scope| {
        scope.spawn(|| (0..200).for_each(|number| publisher.send(&note(number)).unwrap()));
        for (number, sample) in (0..200).zip(block_on_stream(typed.into_stream())) {
            assert_eq!(sample.unwrap().to_owned(), note(number));
        }
    });
    let place = place.other_topic();
    let raw = place.raw_subscriber();
    let json = JsonSubscriber::<u32>::open(&place.endpoint, &place.topic).unwrap();
    let publisher = JsonPublisher::<u32>::open(&place.endpoint, &place.topic).unwrap();
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    thread::scope(|scope| {
        scope.spawn(|| (0..200).for_each(|number| publisher.send(&number).unwrap()));
        scope.spawn(|| {
            for (number, sample) in (0..200_u32).zip(block_on_stream(raw.into_stream())) {
                assert_eq!(sample.unwrap().payload(), number.to_string().as_bytes());
            }
        });
        for (number, sample) in (0..200).zip(block_on_stream(json.into_stream())) {
            assert_eq!(sample.unwrap().value, number);
        }
    });
}

/// Each sends when the other has received.
pub fn futures_take_turns(place: &Place) {
    let other = place.other_topic();
    let (here, there) = (place.subscriber::<Note>(), other.subscriber::<Note>());
    let (to_here, to_there) = (place.publisher::<Note>(1), other.publisher::<Note>(1));
    thread::scope(|scope| {
        scope.spawn(|| {
            block_on(async {
                for number in 0..200 {
                    to_here.send_async(&note(number)).await.unwrap();
                    assert_eq!(there.recv_async().await.unwrap().to_owned(), note(number));
                }
            });
        });
        block_on(async {
            for number in 0..200 {
                assert_eq!(here.recv_async().await.unwrap().to_owned(), note(number));
                to_there.send_async(&note(number)).await.unwrap();
            }
        });
    });
}

/// Each is polled once, before and after a message came, and dropped.
pub fn a_future_that_is_dropped_loses_nothing(place: &Place) {
    let subscriber = place.subscriber::<Note>();
    let publisher = place.publisher::<Note>(1);
    for number in 0..50 {
        let mut dropped = Box::pin(subscriber.recv_async());
        assert!(polled(dropped.as_mut()).is_pending());
        publisher.send(&note(number)).unwrap();
        drop(dropped);
        assert_eq!(block_on(subscriber.recv_async()).unwrap().to_owned(), note(number));
    }
    assert_eq!(subscriber.stats().lost, 0);
}

fn polled<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
