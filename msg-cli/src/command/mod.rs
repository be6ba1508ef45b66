//! The subcommands: arguments, calls of the library, printing.

pub(crate) mod bridge;
pub(crate) mod check;
pub(crate) mod decode;
pub(crate) mod diff;
pub(crate) mod echo;
pub(crate) mod encode;
pub(crate) mod generate;
pub(crate) mod list;
pub(crate) mod publish;
pub(crate) mod rate;
mod table;
mod topic;

use std::{
    fs,
    io::{self, IsTerminal, Write},
};

use msg_codegen::{Checked, Colour, SchemaError, Severity};
use msg_schema::Schema;

use crate::{
    Failure,
    arguments::{Arguments, UsageError},
};

/// Prints everything that was found to the standard error output.
fn print_diagnostics(checked: &Checked) -> io::Result<()> {
    let mut people = io::stderr().lock();
    let wants_colour =
        people.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let colour = if wants_colour { Colour::Always } else { Colour::Never };
    for diagnostic in checked.diagnostics() {
        writeln!(people, "{}", checked.render(diagnostic, colour))?;
    }
    Ok(())
}

/// "3 mistakes", "one warning": how many diagnostics are of a severity.
fn count(checked: &Checked, severity: Severity) -> String {
    let count = checked.diagnostics().iter().filter(|diagnostic| diagnostic.severity() == severity).count();
    let word = match severity {
        Severity::Error => "mistake",
        Severity::Warning => "warning",
    };
    match count {
        0 => format!("no {word}s"),
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    }
}

/// The two files of `msg decode` and `msg encode`: a schema, whose root is then what the command line says, and another
/// file; `None` if the schema has mistakes, which have been printed.
fn schema_and_file(arguments: &Arguments, what: &str) -> Result<Option<(Schema, Vec<u8>)>, Failure> {
    let [schema, file] = arguments.files.as_slice() else {
        let found = format!("found {} files", arguments.files.len());
        return Err(UsageError::new(found, format!("name the schema, then the {what}")).into());
    };
    let mut schema = match arguments.config().read_schema(schema) {
        Ok(schema) => schema,
        Err(SchemaError::Mistakes(checked)) => {
            print_diagnostics(&checked)?;
            return Ok(None);
        }
        Err(error) => return Err(Failure::Input(error.to_string())),
    };
    if let Some(root) = &arguments.root {
        schema.root = Some(root.clone());
    }
    let unreadable = |error| Failure::Input(format!("cannot read `{}`: {error}", file.display()));
    let bytes = fs::read(file).map_err(unreadable)?;
    Ok(Some((schema, bytes)))
}

/// Writes what a command made to the file that the command line names, or out.
fn write(arguments: &Arguments, bytes: &[u8], out: &mut impl Write) -> Result<(), Failure> {
    match &arguments.output {
        None => Ok(out.write_all(bytes)?),
        Some(path) => {
            let failed = |error| Failure::Output { path: path.clone(), error };
            fs::write(path, bytes).map_err(failed)
        }
    }
}

/// Prints a mistake in the second file of `msg decode` or `msg encode`.
fn print_mistake(arguments: &Arguments, mistake: &impl std::fmt::Display) -> io::Result<()> {
    let file = arguments.files.last().map(|file| file.display().to_string()).unwrap_or_default();
    writeln!(io::stderr(), "error: `{file}`: {mistake}")
}
