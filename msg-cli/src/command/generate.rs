//! `msg generate`: Rust from a set of schemas, as a build script would write it.

use std::{fs, io::Write};

use super::print_diagnostics;
use crate::{
    Failure, Outcome,
    arguments::{Arguments, Output},
};

const HELP: &str = "\
Generate Rust from FlatBuffers schemas

Usage: msg generate [-I DIRECTORY]... [-o FILE] FILES...

The Rust is one module tree, whatever the order of the files: the same text that
`msg_codegen::compile` writes in a build script.

Options:
  -o, --output FILE        Write there instead of to the standard output
  -I, --include DIRECTORY  Search included files there, after the directory of the including file
  -h, --help               Show this help
";

/// Runs the command.
pub(crate) fn run(arguments: &[String], out: &mut impl Write) -> Result<Outcome, Failure> {
    let arguments = Arguments::parse(arguments, Output::Allowed)?;
    if arguments.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let checked = arguments.config().check(&arguments.files);
    print_diagnostics(&checked)?;
    let Some(text) = checked.generate() else { return Ok(Outcome::Mistakes) };
    match arguments.output {
        None => out.write_all(text.as_bytes())?,
        Some(path) => fs::write(&path, text).map_err(|error| Failure::Output { path, error })?,
    }
    Ok(Outcome::Done)
}
