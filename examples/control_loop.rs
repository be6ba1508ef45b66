//! A control loop at 1 kHz that publishes the state of seven joints and waits for nobody:
//! `cargo run --release --example control_loop`; as root, or with CAP_SYS_NICE, it runs under FIFO.

use msg_runtime::realtime::{Policy, Schedule, lock_memory, report};
use msg_runtime::{Message, Publisher, Subscriber};
use std::{error::Error, process, thread, time::Duration, time::Instant};

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct ArmState {
    nanoseconds: u64, // since the program started
    position: [f64; 7],
}

const STEPS: u32 = 3000;
const PERIOD: Duration = Duration::from_millis(1);

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}\n", report());
    let endpoint = format!("shm;control-loop-{}?slots=64", process::id());
    let states = Subscriber::<ArmState>::open(&endpoint)?;
    let publisher = Publisher::<ArmState>::open(&endpoint)?;
    let mut realtime = publisher.realtime().capacity_for(1000, Duration::from_millis(500)).build()?;
    realtime.start()?; // the worker is an ordinary thread

    let begin = Instant::now();
    let now = move || begin.elapsed().as_nanos() as u64;
    let reader = thread::spawn(move || {
        let age =
            |_| states.recv_timeout(Duration::from_secs(5)).map(|state| now() - state.view().nanoseconds);
        (0..STEPS).map(age).collect::<Result<Vec<u64>, msg_runtime::RecvError>>()
    });
    let control = Schedule::new().policy(Policy::Fifo(80)).prefault_stack(256 << 10);
    for refusal in [lock_memory().err(), control.apply().err()].into_iter().flatten() {
        println!("goes on without: {refusal}"); // a robot would rather stop
    }
    realtime.warnings().iter().for_each(|warning| println!("warning: {warning}"));

    let mut pushes = vec![0; STEPS as usize];
    for (step, took) in (0..STEPS).zip(&mut pushes) {
        thread::sleep((begin + PERIOD * step).saturating_duration_since(Instant::now()));
        let start = now();
        realtime.push(&ArmState { nanoseconds: start, position: [f64::from(step); 7] })?;
        *took = now() - start; // the motors come next
    }
    println!("{:?}", realtime.stop(Duration::from_secs(1)));
    print_histogram("a push took", &pushes);
    print_histogram("from the push to the reader", &reader.join().expect("it does not panic")?);
    Ok(())
}

fn print_histogram(title: &str, nanoseconds: &[u64]) {
    println!("{title}: at most {:?}", Duration::from_nanos(nanoseconds.iter().copied().max().unwrap_or(0)));
    for (low, high) in (5..24).map(|power| (1 << power, 2 << power)) {
        let count = nanoseconds.iter().filter(|time| (low..high).contains(*time)).count();
        let bar = "#".repeat(count * 60 / STEPS as usize);
        println!("{:>12?} {count:>5} {bar}", Duration::from_nanos(low));
    }
}
