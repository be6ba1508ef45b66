//! `msg decode`: a message as JSON, with nothing but its schema.

use std::io::Write;

use msg_schema::{DecodeError, Decoder, JsonLayout, Schema};

use super::{print_mistake, schema_and_file, write};
use crate::{
    Failure, Outcome,
    arguments::{Arguments, Options},
};

const HELP: &str = "\
Show a message as JSON, with nothing but its schema

Usage: msg decode [-I DIRECTORY]... [--root NAME] [-o FILE] SCHEMA MESSAGE

SCHEMA is an `.fbs` or a `.bfbs` file, MESSAGE a file with the bytes of one message.

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
    let Some((schema, bytes)) = schema_and_file(&arguments, "message")? else { return Ok(Outcome::Mistakes) };
    match json(&schema, &bytes) {
        Ok(text) => write(&arguments, format!("{text}\n").as_bytes(), out).map(|()| Outcome::Done),
        Err(error) => {
            print_mistake(&arguments, &error)?;
            Ok(Outcome::Mistakes)
        }
    }
}

fn json(schema: &Schema, bytes: &[u8]) -> Result<String, DecodeError> {
    Decoder::new(schema)?.payload(bytes)?.to_json(JsonLayout::Indented)
}
