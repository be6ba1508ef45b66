//! The subcommands: arguments, calls of the library, printing.

pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod generate;

use std::io::{self, IsTerminal, Write};

use msg_codegen::{Checked, Colour, Severity};

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
