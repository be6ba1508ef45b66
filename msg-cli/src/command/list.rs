//! `msg list`: the topics at an endpoint.

use std::io::Write;

use msg_runtime::topics::{self, Direction, TopicInfo};

use super::{
    table::{Table, bytes},
    topic::{ANSWERS, shown},
};
use crate::{Failure, Outcome, words::Words};

const HELP: &str = "\
List the topics at an endpoint, their types, and who publishes and subscribes

Usage: msg list ENDPOINT

On shared memory the rings of the channel are looked at, which disturbs nobody. On a network everybody is asked and has
half a second to answer; who does not announce itself (`announce=off`, other programs than ours) is not found.

Options:
  -h, --help  Show this help
";

/// Runs the command.
pub(crate) fn run(arguments: &[String], out: &mut impl Write) -> Result<Outcome, Failure> {
    let words =
        Words::parse(arguments, &[], (1, 1), "write `msg list ENDPOINT`, as in `msg list 'shm;camera'`")?;
    if words.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let found = topics::topics(&words.words[0], ANSWERS)?;
    if found.is_empty() {
        writeln!(out, "nobody has a topic open at `{}`", shown(&words.words[0])?)?;
        return Ok(Outcome::Done);
    }
    table(&found).print(out)?;
    Ok(Outcome::Done)
}

/// A line for each topic and type, and one for each handle below it.
fn table(found: &[TopicInfo]) -> Table {
    let mut table = Table::new(&["TOPIC", "TYPE", "PROGRAM", "PID", "HOST", "MESSAGES", "BYTES"], &[3, 5, 6]);
    for info in found {
        let type_name = match (info.type_name.as_str(), info.encoding.as_str()) {
            ("", "") => "unknown".to_owned(),
            ("", encoding) => encoding.to_owned(),
            (name, _) => name.to_owned(),
        };
        let of_topic = [info.topic.clone(), type_name];
        table.row(of_topic.into_iter().chain((0..5).map(|_| String::new())));
        for handle in &info.handles {
            let what = match handle.direction {
                Direction::Publisher => "  publisher",
                Direction::Subscriber => "  subscriber",
            };
            let bridge = match handle.bridge.as_str() {
                "" => String::new(),
                other_end => format!("bridge: {other_end}"),
            };
            let known = |text: &str| if text.is_empty() { "?".to_owned() } else { text.to_owned() };
            table.row([
                what.to_owned(),
                bridge,
                known(&handle.program),
                if handle.pid == 0 { "?".to_owned() } else { handle.pid.to_string() },
                known(&handle.host),
                handle.messages.to_string(),
                bytes(handle.bytes as f64),
            ]);
        }
    }
    table
}
