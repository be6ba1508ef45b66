//! `msg encode`: a message from JSON.

use std::io::Write;

use msg_schema::Decoder;

use super::{print_mistake, schema_and_file, write};
use crate::{
    Failure, Outcome,
    arguments::{Arguments, Options},
};

const HELP: &str = "\
Make a message from JSON

Usage: msg encode [-I DIRECTORY]... [--root NAME] [-o FILE] SCHEMA JSON

SCHEMA is an `.fbs` or a `.bfbs` file, JSON a file in the form that `msg decode` gives.

Options:
      --root NAME          The type of the message, if it is not the schema's root
  -o, --output FILE        Write there instead of to the standard output
  -I, --include DIRECTORY  Search included files there, after the directory of the including file
  -h, --help               Show this help
";

/// Runs the command.
pub(crate) fn run(arguments: &[String], out: &mut impl Write) -> Result<Outcome, Failure> {
    let arguments = Arguments::parse(arguments, Options::Message)?;
    if arguments.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let Some((schema, text)) = schema_and_file(&arguments, "JSON")? else { return Ok(Outcome::Mistakes) };
    let encoded = match (Decoder::new(&schema), String::from_utf8(text)) {
        (Err(error), _) => Err(error.to_string()),
        (_, Err(_)) => Err("the JSON is not UTF-8".to_owned()),
        (Ok(decoder), Ok(text)) => decoder.encode_json(&text).map_err(|error| error.to_string()),
    };
    match encoded {
        Ok(bytes) => write(&arguments, &bytes, out).map(|()| Outcome::Done),
        Err(error) => {
            print_mistake(&arguments, &error)?;
            Ok(Outcome::Mistakes)
        }
    }
}
