//! The `msg` command: checks and compares schemas, generates Rust from them, and shows messages.
//!
//! Each subcommand is a file in `command/`, and gives back an [`Outcome`]; here it becomes an exit code.
#![forbid(unsafe_code)]

mod arguments;
mod command;
mod json;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use arguments::UsageError;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Everything is in order.
    Done,
    /// What was read has mistakes or breaks readers, which has been printed.
    Mistakes,
}

const HELP: &str = "\
msg: typed publish/subscribe

Usage: msg <COMMAND> [OPTIONS] FILES...

Commands:
  check     Check FlatBuffers schemas and show every mistake
  generate  Generate Rust, or other forms of the schema, from FlatBuffers schemas
  diff      Show what changed between two schemas, and which readers break
  decode    Show a message as JSON, with nothing but its schema
  encode    Make a message from JSON

Options:
  -h, --help     Show this help, or that of a command
  -V, --version  Show the version

Exit codes: 0 done, 1 the files have mistakes or the schemas break readers, 2 the command line or the system is at fault
";

fn main() -> ExitCode {
    let arguments: Vec<String> =
        env::args_os().skip(1).map(|text| text.to_string_lossy().into_owned()).collect();
    match run(&arguments) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Mistakes) => ExitCode::from(1),
        // Whoever reads the output has seen enough.
        Err(Failure::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = writeln!(io::stderr(), "error: {failure}");
            ExitCode::from(2)
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
enum Failure {
    Usage(UsageError),
    Io(io::Error),
    Output {
        path: String,
        error: io::Error,
    },
    /// What was asked for could not be done with these files.
    Input(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(error) => error.fmt(f),
            Self::Io(error) => write!(f, "cannot write the output: {error}"),
            Self::Input(text) => f.write_str(text),
            Self::Output { path, error } => write!(f, "cannot write `{path}`: {error}"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        Self::Usage(error)
    }
}

fn run(arguments: &[String]) -> Result<Outcome, Failure> {
    let mut out = io::stdout().lock();
    match arguments.split_first() {
        None => Err(UsageError::new("no command given", "write `msg check FILES...` or `msg --help`").into()),
        Some((first, _)) if matches!(first.as_str(), "-h" | "--help" | "help") => {
            out.write_all(HELP.as_bytes())?;
            Ok(Outcome::Done)
        }
        Some((first, _)) if matches!(first.as_str(), "-V" | "--version") => {
            writeln!(out, "msg {}", env!("CARGO_PKG_VERSION"))?;
            Ok(Outcome::Done)
        }
        Some((first, rest)) => match first.as_str() {
            "check" => command::check::run(rest, &mut out),
            "generate" => command::generate::run(rest, &mut out),
            "diff" => command::diff::run(rest, &mut out),
            "decode" => command::decode::run(rest, &mut out),
            "encode" => command::encode::run(rest, &mut out),
            other => {
                let help = "the commands are `check`, `generate`, `diff`, `decode` and `encode`; `msg --help` says more";
                Err(UsageError::new(format!("there is no command `{other}`"), help).into())
            }
        },
    }
}
