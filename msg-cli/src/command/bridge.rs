//! `msg bridge`: topics from one endpoint to another.

use std::{io::Write, thread, time::Duration};

use msg_runtime::bridge::{Bridge, BridgedTopic};

use super::{
    table::{Table, bytes},
    topic::shown,
};
use crate::{Failure, Outcome, words::Words};

const HELP: &str = "\
Carry topics from one endpoint to another, until it is ended

Usage: msg bridge [--topic TOPIC]... [--count N] FROM TO

Messages pass as they are; if TO names a compression, as in `nats;zstd:3;127.0.0.1`, each is compressed anew. A second
bridge may go the other way: what comes back is known, and dropped. Prints a table whenever something has moved, at most
once in two seconds.

Options:
      --topic TOPIC  This topic, and others named so; without any, all that have a publisher
      --count N      End after N tables
  -h, --help         Show this help
";

const PERIOD: Duration = Duration::from_secs(2);

/// Runs the command.
pub(crate) fn run(arguments: &[String], out: &mut impl Write) -> Result<Outcome, Failure> {
    let usage = "write `msg bridge FROM TO`, as in `msg bridge 'shm;camera' 'nats;127.0.0.1'`";
    let words = Words::parse(arguments, &["--topic", "--count"], (2, 2), usage)?;
    if words.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let [from, to] = words.words.as_slice() else { unreachable!("two words were asked for") };
    let builder = words.topics.iter().fold(Bridge::builder(from, to), |builder, topic| builder.topic(topic));
    let bridge = builder.open()?;
    writeln!(out, "carrying from `{}` to `{}`; end with Ctrl-C", shown(from)?, shown(to)?)?;
    out.flush()?;
    let mut shown = Vec::new();
    let mut tables = 0;
    while words.count.is_none_or(|count| tables < count) {
        thread::sleep(PERIOD);
        let topics = bridge.topics();
        if topics != shown {
            writeln!(out)?;
            table(&topics).print(out)?;
            out.flush()?;
            shown = topics;
            tables += 1;
        }
    }
    Ok(Outcome::Done)
}

fn table(topics: &[BridgedTopic]) -> Table {
    let head = ["TOPIC", "TYPE", "FORWARDED", "BYTES", "SEEN", "REFUSED", "INVALID", "LOST", "LAST ERROR"];
    let mut table = Table::new(&head, &[2, 3, 4, 5, 6, 7]);
    for BridgedTopic { topic, type_name, stats, last_error, .. } in topics {
        table.row([
            topic.clone(),
            if type_name.is_empty() { "unknown".to_owned() } else { type_name.clone() },
            stats.forwarded.to_string(),
            bytes(stats.bytes as f64),
            stats.seen.to_string(),
            stats.refused.to_string(),
            stats.invalid.to_string(),
            stats.lost.to_string(),
            last_error.clone().unwrap_or_default(),
        ]);
    }
    table
}
