//! `msg echo`: the messages of a topic.

use std::{
    io::{self, Write},
    sync::mpsc::{Receiver, TrySendError, sync_channel},
    thread,
    time::Duration,
};

use msg_runtime::{
    RecvError,
    topics::{TopicInfo, TopicSubscriber},
};
use msg_schema::{Decoder, JsonLayout, Schema};

use super::topic;
use crate::{Failure, Outcome, words::Words};

const HELP: &str = "\
Show the messages of a topic as JSON, as they come: one a line

Usage: msg echo [--count N] ENDPOINT [TOPIC]

TOPIC may be left out where only one is published. Waits until it is there. What has no known schema is shown in hex.
Publishers never wait for this command: what comes faster than it can be printed is passed over and counted.

Options:
      --count N  End after N messages
  -h, --help     Show this help
";

/// Messages that wait for being printed.
const QUEUE: usize = 256;
const TICK: Duration = Duration::from_millis(100);

/// What comes from the thread that receives.
enum Received {
    /// A payload, and messages that were passed over before it.
    Payload(Vec<u8>, u64),
    Failed(RecvError),
}

/// Runs the command.
pub(crate) fn run(arguments: &[String], out: &mut impl Write) -> Result<Outcome, Failure> {
    let usage = "write `msg echo ENDPOINT [TOPIC]`, as in `msg echo 'shm;camera'`";
    let words = Words::parse(arguments, &["--count"], (1, 2), usage)?;
    if words.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let endpoint = &words.words[0];
    let info = topic::find(endpoint, words.words.get(1).map(String::as_str))?;
    let received = receive(TopicSubscriber::open(endpoint, &info)?)?;
    let schema = Schema::from_bytes(&info.schema).map_err(|error| error.to_string());
    let decoder = match &schema {
        _ if info.schema.is_empty() => Err(missing(&info)),
        Ok(schema) => Decoder::new(schema).map_err(|error| format!("its schema cannot be used: {error}")),
        Err(error) => Err(format!("its schema cannot be read: {error}")),
    };
    match &decoder {
        Err(_) if info.encoding == "json" => {}
        Err(reason) => writeln!(io::stderr(), "topic `{}` is shown in hex: {reason}", info.topic)?,
        Ok(_) => writeln!(io::stderr(), "topic `{}` of type `{}`", info.topic, info.type_name)?,
    }
    print(&received, &info, decoder.as_ref().ok(), words.count.unwrap_or(u64::MAX), out)
}

fn print(
    received: &Receiver<Received>,
    info: &TopicInfo,
    decoder: Option<&Decoder<'_>>,
    count: u64,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    for _ in 0..count {
        match received.recv() {
            Ok(Received::Payload(payload, passed)) => {
                if passed > 0 {
                    writeln!(io::stderr(), "{passed} messages passed over: they come too fast")?;
                }
                writeln!(out, "{}", line(&payload, info, decoder))?;
                out.flush()?;
            }
            Ok(Received::Failed(error)) => return Err(Failure::Input(error.to_string())),
            Err(_) => break,
        }
    }
    Ok(Outcome::Done)
}

/// Receives on a thread of its own: a terminal that stands still must not hold publishers back.
fn receive(subscriber: TopicSubscriber) -> Result<Receiver<Received>, Failure> {
    let (sender, receiver) = sync_channel(QUEUE);
    let work = move || {
        let mut passed = 0;
        loop {
            let next = match subscriber.recv_timeout(TICK) {
                Ok(sample) => Received::Payload(sample.to_vec(), passed),
                Err(RecvError::Timeout) => continue,
                Err(RecvError::Invalid(bad)) => {
                    // Nothing is to be done if nobody reads that.
                    let _ = writeln!(io::stderr(), "a message is passed over: {bad}");
                    continue;
                }
                Err(error) => Received::Failed(error),
            };
            let ends = matches!(next, Received::Failed(_));
            match sender.try_send(next) {
                Ok(()) => passed = 0,
                Err(TrySendError::Full(_)) => passed += 1,
                Err(TrySendError::Disconnected(_)) => return,
            }
            if ends {
                return;
            }
        }
    };
    thread::Builder::new().spawn(work)?;
    Ok(receiver)
}

/// Why there is no schema.
fn missing(info: &TopicInfo) -> String {
    match (info.encoding.as_str(), info.handles.is_empty()) {
        (_, true) => "nobody announces it, so its schema is not known".to_owned(),
        ("raw", _) => "its messages are raw bytes".to_owned(),
        _ => "nobody has said what its messages are".to_owned(),
    }
}

fn line(payload: &[u8], info: &TopicInfo, decoder: Option<&Decoder<'_>>) -> String {
    if let Some(decoder) = decoder {
        let text = decoder.payload(payload).and_then(|payload| payload.to_json(JsonLayout::Line));
        return text.unwrap_or_else(|error| format!("{}  not of its type: {error}", hex(payload)));
    }
    match std::str::from_utf8(payload) {
        Ok(text) if info.encoding == "json" => text.to_owned(),
        _ => hex(payload),
    }
}

fn hex(payload: &[u8]) -> String {
    payload.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
