//! Two processes, one channel: a message that is a Rust struct and one that comes from a schema.
//!
//! `cargo run --release --example hello` starts its own peer, so one command shows everything.

use msg_runtime::{Message, Publisher, Subscriber};
use std::{env, error::Error, process::Command, thread, time::Duration, time::Instant};

msg_runtime::include_schemas!(); // schemas/person.fbs, compiled by build.rs
use msg_tests::Person;

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Imu {
    sequence: u64,
    acceleration: [f32; 3],
    frame: String,
}

const BURST: u64 = 1_000_000;
const PACED: u64 = 5_000;
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    match env::args().nth(1) {
        Some(endpoint) => publish(&endpoint),
        None => subscribe(&format!("shm;hello-{}", std::process::id())),
    }
}

fn publish(endpoint: &str) -> Result<(), Box<dyn Error>> {
    let people = Publisher::<Person>::open(endpoint)?;
    people.send(&Person { id: 1, name: Some("Ada".into()), email: Some("ada@example.org".into()) })?;
    let imus = Publisher::<Imu>::open(endpoint)?;
    let imu = |sequence| Imu { sequence, acceleration: [0.0, 0.0, 9.81], frame: "base".into() };
    (0..BURST).try_for_each(|sequence| imus.send(&imu(sequence)))?;
    for sequence in 0..PACED {
        thread::sleep(Duration::from_micros(200));
        imus.send(&imu(sequence))?;
    }
    Ok(())
}

fn subscribe(endpoint: &str) -> Result<(), Box<dyn Error>> {
    let (people, imus) = (Subscriber::<Person>::open(endpoint)?, Subscriber::<Imu>::open(endpoint)?);
    let mut peer = Command::new(env::current_exe()?).arg(endpoint).spawn()?;
    println!("{}: {:?}", people.topic(), people.recv_timeout(PATIENCE)?.to_owned());
    println!("{}: {:?}", imus.topic(), imus.recv_timeout(PATIENCE)?.to_owned());

    let start = Instant::now();
    (1..BURST).try_for_each(|_| imus.recv_timeout(PATIENCE).map(drop))?;
    let rate = BURST as f64 / start.elapsed().as_secs_f64() / 1e6;
    let ages: Result<Vec<_>, _> =
        (0..PACED).map(|_| imus.recv_timeout(PATIENCE).map(|imu| imu.info().age())).collect();
    let mut ages: Vec<Duration> = ages?.into_iter().flatten().collect();
    ages.sort();
    let (p50, p99) = (ages[ages.len() / 2], ages[ages.len() * 99 / 100]);
    println!("{rate:.2} million messages a second; sent one by one they took p50 {p50:.1?}, p99 {p99:.1?}");
    if peer.wait()?.success() { Ok(()) } else { Err("the publishing process failed".into()) }
}
