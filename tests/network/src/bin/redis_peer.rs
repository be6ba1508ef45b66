//! The other process of the tests in `tests/redis_*.rs`: `redis_peer COMMAND ENDPOINT TOPIC [NUMBER]`.

#![allow(clippy::print_stdout, reason = "lines on the output are how it answers its test")]
#![allow(clippy::unwrap_used, reason = "a panic is how it tells its test that something is wrong")]

use msg_runtime::{Publisher, Subscriber};
use msg_tests::conformance::{Note, Place};
use std::{
    fs,
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(60);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, endpoint, topic, rest @ ..] = &arguments[..] else { panic!("too few arguments") };
    let place = Place { topic: topic.clone(), ..Place::new(endpoint.clone()) };
    let number = rest.first().map_or(0, |text| text.parse().unwrap());
    match &**command {
        "publish" => publish(&place, number),
        "exchange" => exchange(&place),
        "static" => keep_in_a_static(&place),
        "idle" => idle(&place),
        "cycles" => cycles(&place, number),
        other => panic!("unknown command `{other}`"),
    }
}

fn note(number: u32) -> Note {
    Note { number, text: format!("note {number}"), bytes: vec![] }
}

/// Sends, and returns from `main` right after the last one.
fn publish(place: &Place, count: u32) {
    let publisher = place.publisher::<Note>(1);
    for number in 0..count {
        publisher.send(&note(number)).unwrap();
    }
}

/// Opens a pair, or says why not; small and large messages go there and back.
fn exchange(place: &Place) {
    let subscriber = Subscriber::<Note>::builder(&place.endpoint).topic(&place.topic).open();
    let subscriber = match subscriber {
        Ok(subscriber) => subscriber,
        Err(error) => return println!("{:?}: {error}", error.kind()),
    };
    let publisher = place.publisher::<Note>(1);
    for number in 0..200 {
        let len = if number % 20 == 0 { 1 << 20 } else { 10 };
        let sent = Note { bytes: vec![number as u8; len], ..note(number) };
        publisher.send(&sent).unwrap();
        assert!(subscriber.recv_timeout(PATIENCE).unwrap().to_owned() == sent);
    }
    publisher.flush(PATIENCE).unwrap();
    println!("exchanged");
}

/// Ends with handles that nothing drops.
fn keep_in_a_static(place: &Place) {
    static HANDLES: OnceLock<(Publisher<Note>, Subscriber<Note>)> = OnceLock::new();
    let subscriber = place.subscriber();
    let handles = HANDLES.get_or_init(|| (place.publisher(1), subscriber));
    handles.0.send(&note(1)).unwrap();
    assert_eq!(handles.1.recv_timeout(PATIENCE).unwrap().view().number(), 1);
}

/// Says how many hundredths of a second ten seconds with three idle subscribers cost.
fn idle(place: &Place) {
    let _subscribers = [(); 3].map(|()| place.subscriber::<Note>());
    let _publisher = place.publisher::<Note>(3);
    let before = cpu();
    thread::sleep(Duration::from_secs(10));
    println!("{}", cpu() - before);
}

/// Ticks of a hundredth of a second that this process has used.
fn cpu() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Opens and closes a pair again and again; says how much more of everything there is after all than after a tenth.
fn cycles(place: &Place, count: u32) {
    let cycle = |number| {
        let subscriber = place.subscriber::<Note>();
        let publisher = Publisher::<Note>::builder(&place.endpoint).topic(&place.topic).open().unwrap();
        publisher.send(&note(number)).unwrap();
        assert_eq!(subscriber.recv_timeout(PATIENCE).unwrap().view().number(), number);
    };
    (0..count / 10).for_each(cycle);
    let before = used(None);
    (count / 10..count).for_each(cycle);
    let after = used(Some(before));
    println!("{} {} {}", after[0] - before[0], after[1] - before[1], after[2] - before[2]);
}

/// Threads, file descriptors and KiB of memory, once the threads that are ending have ended.
fn used(before: Option<[i64; 3]>) -> [i64; 3] {
    let now = || {
        let count = |path| fs::read_dir(path).unwrap().count() as i64;
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let memory = line.trim().trim_end_matches(" kB").parse().unwrap();
        [count("/proc/self/task"), count("/proc/self/fd"), memory]
    };
    let most = before.map_or(1, |before| before[0]);
    let end = Instant::now() + PATIENCE;
    while now()[0] > most && Instant::now() < end {
        thread::yield_now();
    }
    now()
}
