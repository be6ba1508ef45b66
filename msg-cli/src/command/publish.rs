//! `msg pub`: a message from JSON.

use std::{
    io::{self, Write},
    time::Duration,
};

use msg_codegen::{Config, SchemaError};
use msg_runtime::topics::{self, TopicInfo, TopicPublisher};
use msg_schema::{Decoder, Schema};

use super::{
    print_diagnostics,
    topic::{ANSWERS, shown},
};
use crate::{Failure, Outcome, words::Words};

const HELP: &str = "\
Publish a message from JSON

Usage: msg pub [--schema FILE [--root NAME] [-I DIRECTORY]...] ENDPOINT TOPIC JSON

JSON is in the form that `msg echo` and `msg decode` give. The schema is that of whoever has the topic open, or of a file.

Options:
      --schema FILE  An `.fbs` or `.bfbs` file, for a topic that nobody has open
      --root NAME    The type of the message, if it is not the schema's root
  -I DIRECTORY       Search included files there
  -h, --help         Show this help
";

const PATIENCE: Duration = Duration::from_secs(2);

/// Runs the command.
pub(crate) fn run(arguments: &[String], out: &mut impl Write) -> Result<Outcome, Failure> {
    let usage = "write `msg pub ENDPOINT TOPIC JSON`, as in `msg pub 'shm;demo' demo.Led '{\"on\":true}'`";
    let words = Words::parse(arguments, &["--schema", "--root", "-I"], (3, 3), usage)?;
    if words.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let [endpoint, topic, json] = words.words.as_slice() else {
        unreachable!("three words were asked for");
    };
    let Some((info, schema)) = topic_and_schema(&words, endpoint, topic)? else {
        return Ok(Outcome::Mistakes);
    };
    let encoded = match Decoder::new(&schema) {
        Ok(decoder) => decoder.encode_json(json).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let payload = match encoded {
        Ok(payload) => payload,
        Err(error) => {
            writeln!(io::stderr(), "error: the JSON: {error}")?;
            return Ok(Outcome::Mistakes);
        }
    };
    let publisher = TopicPublisher::open(endpoint, &info)?;
    if !publisher.wait_for_subscribers(1, PATIENCE) {
        writeln!(
            io::stderr(),
            "warning: nobody is known to subscribe to `{topic}`; it is published all the same"
        )?;
    }
    publisher.send(&payload).map_err(|error| Failure::Input(error.to_string()))?;
    publisher.flush(PATIENCE).map_err(|error| Failure::Input(error.to_string()))?;
    writeln!(out, "published {} bytes to `{topic}`", payload.len())?;
    Ok(Outcome::Done)
}

/// `None` if the schema has mistakes, which have been printed.
fn topic_and_schema(
    words: &Words,
    endpoint: &str,
    topic: &str,
) -> Result<Option<(TopicInfo, Schema)>, Failure> {
    let Some(file) = &words.schema else {
        let found = topics::topics(endpoint, ANSWERS)?;
        let place = shown(endpoint)?;
        let known = found.into_iter().find(|info| info.topic == topic && !info.schema.is_empty());
        let info = known.ok_or_else(|| {
            let text = format!("nobody at `{place}` says what topic `{topic}` carries; give `--schema FILE`");
            Failure::Input(text)
        })?;
        let schema = Schema::from_bytes(&info.schema);
        let schema = schema.map_err(|error| Failure::Input(format!("its schema cannot be read: {error}")))?;
        return Ok(Some((info, schema)));
    };
    let config = words.include_paths.iter().fold(Config::new(), |config, path| config.include_path(path));
    let mut schema = match config.read_schema(file) {
        Ok(schema) => schema,
        Err(SchemaError::Mistakes(checked)) => {
            print_diagnostics(&checked)?;
            return Ok(None);
        }
        Err(error) => return Err(Failure::Input(error.to_string())),
    };
    if let Some(root) = &words.root {
        schema.root = Some(root.clone());
    }
    let schema = schema.reachable();
    Ok(Some((TopicInfo::of(topic, &schema), schema)))
}
