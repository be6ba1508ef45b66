//! `msg generate`: Rust from a set of schemas, as a build script would write it, or one schema in another form.

use std::{
    fs,
    io::{IsTerminal, Write},
};

use msg_codegen::{Checked, to_fbs};

use super::print_diagnostics;
use crate::{
    Failure, Outcome,
    arguments::{Arguments, Form, Options, UsageError},
};

const HELP: &str = "\
Generate Rust, or other forms of the schema, from FlatBuffers schemas

Usage: msg generate [-I DIRECTORY]... [-o FILE] FILES...
       msg generate --fbs|--bfbs [-I DIRECTORY]... [-o FILE] FILE

FILES are `.fbs` or `.bfbs` files. The Rust is one module tree, whatever the order of the
files: the same text that `msg_codegen::compile` writes in a build script.

Options:
      --fbs                Write the schema as text, with everything that it includes
      --bfbs               Write the binary schema, with everything that it includes
  -o, --output FILE        Write there instead of to the standard output
  -I, --include DIRECTORY  Search included files there, after the directory of the including file
  -h, --help               Show this help
";

/// Runs the command.
pub(crate) fn run(arguments: &[String], out: &mut (impl Write + IsTerminal)) -> Result<Outcome, Failure> {
    let arguments = Arguments::parse(arguments, Options::Generate)?;
    if arguments.help {
        out.write_all(HELP.as_bytes())?;
        return Ok(Outcome::Done);
    }
    if arguments.form != Form::Rust && arguments.files.len() > 1 {
        let found = format!("found {} schemas", arguments.files.len());
        return Err(UsageError::new(found, "`--fbs` and `--bfbs` take one: run the command for each").into());
    }
    if arguments.form == Form::Bfbs && arguments.output.is_none() && out.is_terminal() {
        let help = "write `-o FILE`, or send the output to another program";
        return Err(UsageError::new("a binary schema is nothing to read on a terminal", help).into());
    }
    let checked = arguments.config().check(&arguments.files);
    print_diagnostics(&checked)?;
    let Some(bytes) = bytes(&checked, arguments.form)? else { return Ok(Outcome::Mistakes) };
    match arguments.output {
        None => out.write_all(&bytes)?,
        Some(path) => fs::write(&path, bytes).map_err(|error| Failure::Output { path, error })?,
    }
    Ok(Outcome::Done)
}

/// What is written; `None` if the schemas have mistakes.
fn bytes(checked: &Checked, form: Form) -> Result<Option<Vec<u8>>, Failure> {
    let schema = checked.schemas().into_iter().next().map(|(_, schema)| schema);
    Ok(match (form, schema) {
        (Form::Rust, _) => checked.generate().map(String::into_bytes),
        (_, None) => None,
        (Form::Fbs, Some(schema)) => {
            let text = to_fbs(&schema).map_err(|error| Failure::Input(error.to_string()))?;
            Some(text.into_bytes())
        }
        (Form::Bfbs, Some(schema)) => Some(schema.to_bytes()),
    })
}
