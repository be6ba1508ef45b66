//! What a build script does with checked schemas: tell cargo what was read, print, write. The only file of this
//! crate that writes to disk or ends the process.
//!
//! Places where an included file was looked for and not found are not reported to cargo: it takes a path that does
//! not exist for one that changed, and would build anew each time.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process,
};

use crate::{Colour, checked::Checked, diagnostic::Severity};

/// The file that `include_schemas!` includes.
const OUTPUT: &str = "msg_schemas.rs";

/// Writes the generated file, or prints what is wrong and ends the process.
pub(crate) fn run(checked: &Checked, baseline: Option<&Path>, out_dir: Option<&Path>) {
    let mut out = io::stdout().lock();
    if let Some(baseline) = baseline
        && writeln!(out, "cargo::rerun-if-changed={}", baseline.display()).is_err()
    {
        process::exit(1);
    }
    if report(checked, &mut out, &mut io::stderr().lock()).is_err() {
        // Nobody listens; cargo will see the exit code.
        process::exit(1);
    }
    let Some(text) = checked.generate() else { process::exit(1) };
    if let Err(message) = write(&text, out_dir) {
        let _ = writeln!(io::stderr(), "error: {message}");
        process::exit(1);
    }
}

/// The lines that cargo reads, and the mistakes for people.
fn report(checked: &Checked, cargo: &mut impl Write, people: &mut impl Write) -> io::Result<()> {
    for path in checked.sources().paths() {
        writeln!(cargo, "cargo::rerun-if-changed={}", path.display())?;
    }
    let mut errors = 0_usize;
    for diagnostic in checked.diagnostics() {
        let text = checked.render(diagnostic, Colour::Never);
        match diagnostic.severity() {
            Severity::Error => {
                errors += 1;
                writeln!(people, "{text}")?;
            }
            Severity::Warning => {
                for line in text.lines() {
                    writeln!(cargo, "cargo::warning={line}")?;
                }
            }
        }
    }
    match errors {
        0 => Ok(()),
        1 => writeln!(people, "error: one mistake in the schemas"),
        _ => writeln!(people, "error: {errors} mistakes in the schemas"),
    }
}

/// Writes the file if it is not there with this text already, so that nothing is compiled again for nothing.
fn write(text: &str, out_dir: Option<&Path>) -> Result<(), String> {
    let directory = match (out_dir, env::var_os("OUT_DIR")) {
        (Some(directory), _) => directory.to_owned(),
        (None, Some(directory)) => PathBuf::from(directory),
        (None, None) => {
            return Err(
                "OUT_DIR is not set: call `compile` from a build script, or choose an `out_dir`".to_owned()
            );
        }
    };
    let path = directory.join(OUTPUT);
    if fs::read(&path).is_ok_and(|present| present == text.as_bytes()) {
        return Ok(());
    }
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
