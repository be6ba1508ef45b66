//! The `msg` command: checks and compares schemas, generates Rust from them, shows messages, and looks at topics.
//!
//! Each subcommand is a file in `command/`, and gives back an [`Outcome`]; here it becomes an exit code.
#![forbid(unsafe_code)]

mod arguments;
mod command;
mod json;
mod words;

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
       msg <COMMAND> [OPTIONS] ENDPOINT...

Commands:
  check     Check FlatBuffers schemas and show every mistake
  generate  Generate Rust, or other forms of the schema, from FlatBuffers schemas
  diff      Show what changed between two schemas, and which readers break
  decode    Show a message as JSON, with nothing but its schema
  encode    Make a message from JSON
  list      List the topics at an endpoint, their types, and who publishes and subscribes
  echo      Show the messages of a topic as JSON, as they come
  rate      Show how many messages come, and how large they are
  pub       Publish a message from JSON
  bridge    Carry topics from one endpoint to another

Options:
  -h, --help     Show this help, or that of a command
  -V, --version  Show the version

Exit codes: 0 done, 1 the files have mistakes or the schemas break readers, 2 the command line or the system is at fault
An endpoint says how messages travel, as in `shm;camera` or `nats;127.0.0.1`; quote it: `;` is the shell's, too.
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

impl From<msg_runtime::Error> for Failure {
    fn from(error: msg_runtime::Error) -> Self {
        Self::Input(match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        })
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
            "list" => command::list::run(rest, &mut out),
            "echo" => command::echo::run(rest, &mut out),
            "rate" => command::rate::run(rest, &mut out),
            "pub" => command::publish::run(rest, &mut out),
            "bridge" => command::bridge::run(rest, &mut out),
            other => {
                let help = "the commands are `check`, `generate`, `diff`, `decode`, `encode`, `list`, `echo`, `rate`, `pub` \
                            and `bridge`; `msg --help` says more";
                Err(UsageError::new(format!("there is no command `{other}`"), help).into())
            }
        },
    }
}
