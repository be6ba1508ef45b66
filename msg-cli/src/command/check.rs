//! `msg check`: every mistake of a set of schemas.

use std::io::Write;

use msg_codegen::{Checked, Severity};

use super::{count, print_diagnostics};
use crate::{
    Failure, Outcome,
    arguments::{Arguments, Options},
    json,
};

const HELP: &str = "\
Check FlatBuffers schemas and show every mistake

Usage: msg check [-I DIRECTORY]... [--json] FILES...

FILES are `.fbs` or `.bfbs` files.

Options:
      --json               Print an array of JSON objects, one a line, instead of text
  -I, --include DIRECTORY  Search included files there, after the directory of the including file
  -h, --help               Show this help
";

/// Runs the command.
pub(crate) fn run(arguments: &[String], out: &mut impl Write) -> Result<Outcome, Failure> {
    let arguments = Arguments::parse(arguments, Options::Check)?;
    if arguments.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let checked = arguments.config().check(&arguments.files);
    if arguments.json {
        out.write_all(json::diagnostics(&checked).as_bytes())?;
        return Ok(outcome(&checked));
    }
    print_diagnostics(&checked)?;
    let files = match checked.sources().paths().count() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let mut summary = format!("{files}, {}", count(&checked, Severity::Error));
    if checked.diagnostics().iter().any(|diagnostic| diagnostic.severity() == Severity::Warning) {
        summary = format!("{summary}, {}", count(&checked, Severity::Warning));
    }
    writeln!(out, "{summary}")?;
    Ok(outcome(&checked))
}

fn outcome(checked: &Checked) -> Outcome {
    if checked.has_errors() { Outcome::Mistakes } else { Outcome::Done }
}
