//! `msg rate`: how many messages come.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use msg_runtime::{RecvError, topics::TopicSubscriber};

use super::{table::bytes, topic};
use crate::{Failure, Outcome, words::Words};

const HELP: &str = "\
Show how many messages of a topic come each second, and how large they are

Usage: msg rate [--count N] ENDPOINT [TOPIC]

TOPIC may be left out where only one is published. Waits until it is there.

Options:
      --count N  End after N seconds
  -h, --help     Show this help
";

const SECOND: Duration = Duration::from_secs(1);

/// Runs the command.
pub(crate) fn run(arguments: &[String], out: &mut impl Write) -> Result<Outcome, Failure> {
    let usage = "write `msg rate ENDPOINT [TOPIC]`, as in `msg rate 'shm;camera'`";
    let words = Words::parse(arguments, &["--count"], (1, 2), usage)?;
    if words.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let endpoint = &words.words[0];
    let info = topic::find(endpoint, words.words.get(1).map(String::as_str))?;
    let subscriber = TopicSubscriber::open(endpoint, &info)?;
    writeln!(out, "topic `{}`", info.topic)?;
    writeln!(out, "{:>12}  {:>12}  {:>12}  {:>8}", "MESSAGES/S", "MEAN SIZE", "BYTES/S", "LOST")?;
    let mut lost_before = 0;
    for _ in 0..words.count.unwrap_or(u64::MAX) {
        let (messages, sum, seconds) = second(&subscriber)?;
        let lost = subscriber.stats().lost;
        let (rate, mean) = (messages as f64 / seconds, sum as f64 / (messages as f64).max(1.0));
        let throughput = bytes(sum as f64 / seconds) + "/s";
        writeln!(out, "{rate:>12.1}  {:>12}  {throughput:>12}  {:>8}", bytes(mean), lost - lost_before)?;
        out.flush()?;
        lost_before = lost;
    }
    Ok(Outcome::Done)
}

/// Messages and bytes of a second, and how long it took.
fn second(subscriber: &TopicSubscriber) -> Result<(u64, u64, f64), Failure> {
    let start = Instant::now();
    let (mut messages, mut sum) = (0, 0);
    loop {
        let left = SECOND.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok((messages, sum, start.elapsed().as_secs_f64()));
        }
        match subscriber.recv_timeout(left) {
            Ok(sample) => {
                messages += 1;
                sum += sample.len() as u64;
            }
            Err(RecvError::Timeout | RecvError::Invalid(_)) => {}
            Err(error) => return Err(Failure::Input(error.to_string())),
        }
    }
}
