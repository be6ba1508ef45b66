//! The command line. A handful of options needs no library.

use std::{fmt, path::PathBuf};

use msg_codegen::Config;

/// A command line that cannot be understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UsageError {
    message: String,
    help: String,
}

impl UsageError {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  = help: {}", self.message, self.help)
    }
}

/// What the options of a command are, beside those that all have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Options {
    /// None.
    Common,
    /// `--json`.
    Check,
    /// `-o FILE`, `--fbs` and `--bfbs`.
    Generate,
    /// `-o FILE` and `--root NAME`, for a message.
    Message,
}

/// What is generated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// Rust of all schemas.
    #[default]
    Rust,
    /// The text of one schema, with everything that it includes.
    Fbs,
    /// The same in binary form.
    Bfbs,
}

impl Form {
    fn option(self) -> &'static str {
        match self {
            Self::Rust => "--rust",
            Self::Fbs => "--fbs",
            Self::Bfbs => "--bfbs",
        }
    }
}

/// What is said after the name of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) help: bool,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) include_paths: Vec<PathBuf>,
    pub(crate) output: Option<String>,
    pub(crate) form: Form,
    /// Diagnostics are for programs.
    pub(crate) json: bool,
    pub(crate) root: Option<String>,
}

impl Arguments {
    /// Understands a command line.
    pub(crate) fn parse(arguments: &[String], options: Options) -> Result<Self, UsageError> {
        let mut parsed = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "-h" | "--help" => return Ok(Self { help: true, ..Self::default() }),
                "--" => {
                    parsed.files.extend(rest.by_ref().map(PathBuf::from));
                }
                option if option.starts_with('-') && option.len() > 1 => {
                    let (name, value) = split(option);
                    if !parsed.flag(name, value.as_deref(), options)? {
                        let value = value.or_else(|| rest.next().cloned());
                        parsed.option(name, value, options)?;
                    }
                }
                file => parsed.files.push(file.into()),
            }
        }
        match parsed.files.is_empty() {
            true => Err(UsageError::new("no schema given", "name one or more `.fbs` or `.bfbs` files")),
            false => Ok(parsed),
        }
    }

    /// Takes an option that has no value, and says whether it was one.
    fn flag(&mut self, name: &str, value: Option<&str>, options: Options) -> Result<bool, UsageError> {
        match (name, options) {
            ("--json", Options::Check) => self.json = true,
            ("--fbs", Options::Generate) => self.choose(Form::Fbs)?,
            ("--bfbs", Options::Generate) => self.choose(Form::Bfbs)?,
            _ => return Ok(false),
        }
        match value {
            None => Ok(true),
            Some(value) => Err(UsageError::new(
                format!("`{name}` has no value, found `{value}`"),
                format!("write `{name}`"),
            )),
        }
    }

    fn choose(&mut self, form: Form) -> Result<(), UsageError> {
        if self.form != Form::Rust && self.form != form {
            let both = format!("`{}` and `{}` exclude each other", self.form.option(), form.option());
            return Err(UsageError::new(both, "generate one, then the other"));
        }
        self.form = form;
        Ok(())
    }

    fn option(&mut self, name: &str, value: Option<String>, options: Options) -> Result<(), UsageError> {
        let needed =
            |what: &str| UsageError::new(format!("`{name}` needs {what}"), format!("write `{name} {what}`"));
        match (name, options) {
            ("-I" | "--include", _) => {
                self.include_paths.push(value.ok_or_else(|| needed("DIRECTORY"))?.into())
            }
            ("-o" | "--output", Options::Generate | Options::Message) => {
                self.output = Some(value.ok_or_else(|| needed("FILE"))?);
            }
            ("--root", Options::Message) => self.root = Some(value.ok_or_else(|| needed("NAME"))?),
            ("-o" | "--output", _) => {
                return Err(UsageError::new(
                    "this command writes no file",
                    "for Rust in a file: `msg generate -o FILE`",
                ));
            }
            _ => {
                let help = "`--help` lists the options; write `--` before a file whose name starts with `-`";
                return Err(UsageError::new(format!("there is no option `{name}`"), help));
            }
        }
        Ok(())
    }

    /// The compiler's settings.
    pub(crate) fn config(&self) -> Config {
        self.include_paths.iter().fold(Config::new(), |config, directory| config.include_path(directory))
    }
}

/// `--name=value` and `-Xvalue` in two.
fn split(option: &str) -> (&str, Option<String>) {
    match option.split_once('=') {
        Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
        _ if !option.starts_with("--") && option.len() > 2 && option.is_char_boundary(2) => {
            (&option[..2], Some(option[2..].to_owned()))
        }
        _ => (option, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Arguments, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Arguments::parse(&words, Options::Generate).map_err(|error| error.message)
    }

    #[test]
    fn command_lines() {
        let check = |line: &str, files: &[&str], include_paths: &[&str], output: Option<&str>| {
            let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
            let (files, include_paths) = (paths(files), paths(include_paths));
            let output = output.map(str::to_owned);
            let expected = Arguments { files, include_paths, output, ..Arguments::default() };
            assert_eq!(parsed(line), Ok(expected), "{line}");
        };
        check("a.fbs b.fbs", &["a.fbs", "b.fbs"], &[], None);
        check("-I dir a.fbs -Iother --include=third", &["a.fbs"], &["dir", "other", "third"], None);
        check("a.fbs -o out.rs", &["a.fbs"], &[], Some("out.rs"));
        check("-- -odd.fbs", &["-odd.fbs"], &[], None);
    }

    #[test]
    fn mistakes() {
        let check = |line: &str, expected: &str| assert_eq!(parsed(line), Err(expected.to_owned()), "{line}");
        check("", "no schema given");
        check("a.fbs -I", "`-I` needs DIRECTORY");
        check("a.fbs --frob", "there is no option `--frob`");
        check("a.fbs -é", "there is no option `-é`");
        check("a.fbs --json", "there is no option `--json`");
        check("a.fbs --fbs --bfbs", "`--fbs` and `--bfbs` exclude each other");
        check("a.fbs --fbs=b.fbs", "`--fbs` has no value, found `b.fbs`");
    }
}
