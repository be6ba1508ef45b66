//! `msg diff`: what changed between two schemas, and who breaks.

use std::io::Write;

use msg_codegen::{Breaks, Change, SchemaError};

use super::print_diagnostics;
use crate::{
    Failure, Outcome,
    arguments::{Arguments, Options, UsageError},
};

const HELP: &str = "\
Show what changed between two schemas, and which readers break

Usage: msg diff [-I DIRECTORY]... OLD NEW

OLD and NEW are `.fbs` or `.bfbs` files. Each change is a line that ends with who breaks:
old readers of new data, new readers of old data, source code only, or nobody.

Options:
  -I, --include DIRECTORY  Search included files there, after the directory of the including file
  -h, --help               Show this help

Exit codes: 0 no reader breaks, 1 a reader breaks, 2 the schemas cannot be compared
";

/// Runs the command.
pub(crate) fn run(arguments: &[String], out: &mut impl Write) -> Result<Outcome, Failure> {
    let arguments = Arguments::parse(arguments, Options::Common)?;
    if arguments.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(Outcome::Done);
    }
    let [old, new] = arguments.files.as_slice() else {
        let found = format!("found {} files", arguments.files.len());
        return Err(
            UsageError::new(found, "name the old schema, then the new one: `msg diff OLD NEW`").into()
        );
    };
    let changes = arguments.config().diff(old, new);
    let changes = changes.map_err(|error| -> Failure {
        if let SchemaError::Mistakes(checked) = &error
            && let Err(error) = print_diagnostics(checked)
        {
            return error.into();
        }
        Failure::Input(format!("cannot compare: {error}"))
    })?;
    for change in &changes {
        writeln!(out, "{change}: {}", change.breaks)?;
    }
    writeln!(out, "{}", summary(&changes))?;
    let breaks = changes.iter().any(|change| change.breaks.any_reader());
    Ok(if breaks { Outcome::Mistakes } else { Outcome::Done })
}

/// "3 changes: 1 breaks readers, 1 breaks source code only".
fn summary(changes: &[Change]) -> String {
    let total = match changes.len() {
        0 => return "no changes".to_owned(),
        1 => "1 change".to_owned(),
        count => format!("{count} changes"),
    };
    let readers = changes.iter().filter(|change| change.breaks.any_reader()).count();
    let source = changes.iter().filter(|change| change.breaks == Breaks::SourceCode).count();
    let counted = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 breaks {what}")),
        _ => Some(format!("{count} break {what}")),
    };
    let counts = [counted(readers, "readers"), counted(source, "source code only")];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if counts.is_empty() {
        format!("{total}: no reader breaks")
    } else {
        format!("{total}: {}", counts.join(", "))
    }
}
