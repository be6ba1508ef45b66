//! One push without a worker at the other end: accepted beside `rtrb`, refused beside an empty call.

use msg_runtime::{
    Message, Publisher,
    realtime::{RealtimeMessage, WhenFull},
};
use std::{hint::black_box, process, time::Instant};

/// Messages of one size.
macro_rules! blocks {
    ($($name:ident $words:literal),*) => {$(
        #[derive(Message, Clone, Copy)]
        #[message(namespace = "bench", plain)]
        #[repr(C)]
        struct $name {
            words: [u64; $words],
        }
    )*};
}

blocks!(Bytes16 2, Bytes64 8, Bytes256 32, Bytes1024 128, Bytes4096 512);

/// Bytes of queue, so that all of it is in the second cache.
const QUEUE_BYTES: usize = 256 << 10;
const PLACES: usize = 1024;
const REFUSALS: usize = 10_000;

pub(crate) fn report(rounds: usize) {
    println!("one push, ns (median of {rounds} rounds)");
    println!(
        "{:>8} {:>8} {:>8} {:>8} {:>10} {:>8} {:>8}",
        "bytes", "rtrb", "push", "ratio", "overwrite", "refused", "empty"
    );
    report_size(Bytes16 { words: [1; 2] }, rounds);
    report_size(Bytes64 { words: [1; 8] }, rounds);
    report_size(Bytes256 { words: [1; 32] }, rounds);
    report_size(Bytes1024 { words: [1; 128] }, rounds);
    report_size(Bytes4096 { words: [1; 512] }, rounds);
    println!();
}

fn report_size<M: RealtimeMessage>(message: M, rounds: usize) {
    let places = (QUEUE_BYTES / size_of::<M>()).min(PLACES);
    let publisher = Publisher::<M>::open(&format!("shm;bench-cost-{}", process::id())).unwrap();
    let (mut rtrb, mut push, mut overwrite, mut refused, mut empty) =
        (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..rounds {
        // Nothing takes messages out of ours before the start, so each round has a queue of its own, written once.
        let (mut producer, mut consumer) = rtrb::RingBuffer::new(places);
        (0..places).for_each(|_| _ = producer.push(message));
        while consumer.pop().is_ok() {}
        // Both lie in memory, as in the struct of a control loop, and not in registers as in a loop that does nothing else.
        let producer = black_box(&mut producer);
        rtrb.push(nanoseconds(places, || producer.push(*black_box(&message)).is_ok()));

        let mut queue = publisher.realtime().capacity(places).initial(message).build().unwrap();
        let queue = black_box(&mut queue);
        push.push(nanoseconds(places, || queue.push(black_box(&message)).is_ok()));
        refused.push(nanoseconds(REFUSALS, || queue.push(black_box(&message)).is_ok()));
        empty.push(nanoseconds(REFUSALS, || empty_call(black_box(&message))));

        let builder = publisher.realtime().capacity(places).when_full(WhenFull::OverwriteOldest);
        let mut queue = builder.initial(message).build().unwrap();
        let queue = black_box(&mut queue);
        overwrite.push(nanoseconds(places, || queue.push(black_box(&message)).is_ok()));
    }
    let [rtrb, push, overwrite, refused, empty] = [rtrb, push, overwrite, refused, empty].map(median);
    println!(
        "{:>8} {rtrb:>8.2} {push:>8.2} {:>8.2} {overwrite:>10.2} {refused:>8.2} {empty:>8.2}",
        size_of::<M>(),
        push / rtrb
    );
}

#[inline(never)]
fn empty_call<M>(message: &M) -> bool {
    black_box(message);
    false
}

fn nanoseconds(count: usize, mut step: impl FnMut() -> bool) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        black_box(step());
    }
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
