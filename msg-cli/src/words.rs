//! The command line of the commands that talk to endpoints.

use std::path::PathBuf;

use crate::arguments::UsageError;

/// What is said after the name of such a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) help: bool,
    /// What is no option, in order.
    pub(crate) words: Vec<String>,
    /// `--count N`: end after so many.
    pub(crate) count: Option<u64>,
    /// `--topic TOPIC`, each.
    pub(crate) topics: Vec<String>,
    /// `--schema FILE`.
    pub(crate) schema: Option<PathBuf>,
    /// `--root NAME`.
    pub(crate) root: Option<String>,
    /// `-I DIRECTORY`, each.
    pub(crate) include_paths: Vec<PathBuf>,
}

impl Words {
    /// Understands a command line of these options and of `least` to `most` words, which `usage` names.
    pub(crate) fn parse(
        arguments: &[String],
        options: &[&str],
        (least, most): (usize, usize),
        usage: &str,
    ) -> Result<Self, UsageError> {
        let mut parsed = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if matches!(argument.as_str(), "-h" | "--help") {
                return Ok(Self { help: true, ..Self::default() });
            }
            if argument == "--" {
                parsed.words.extend(rest.by_ref().cloned());
            } else if argument.starts_with('-') && argument.len() > 1 {
                let (name, value) = match argument.split_once('=') {
                    Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                    _ => (argument.as_str(), None),
                };
                if !options.contains(&name) {
                    let help = format!("{usage}; write `--` before a word that starts with `-`");
                    return Err(UsageError::new(format!("there is no option `{name}`"), help));
                }
                let value = value.or_else(|| rest.next().cloned());
                parsed.option(name, value)?;
            } else {
                parsed.words.push(argument.clone());
            }
        }
        if (least..=most).contains(&parsed.words.len()) {
            return Ok(parsed);
        }
        Err(UsageError::new(format!("found {} words", parsed.words.len()), usage))
    }

    fn option(&mut self, name: &str, value: Option<String>) -> Result<(), UsageError> {
        let Some(value) = value else {
            return Err(UsageError::new(format!("`{name}` needs a value"), format!("write `{name} VALUE`")));
        };
        match name {
            "--count" => {
                let bad = || UsageError::new(format!("`--count {value}` found"), "write a number from 1 on");
                self.count = Some(value.parse().ok().filter(|count| *count > 0).ok_or_else(bad)?);
            }
            "--topic" => self.topics.push(value),
            "--schema" => self.schema = Some(value.into()),
            "--root" => self.root = Some(value),
            _ => self.include_paths.push(value.into()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Words, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let usage = "write `msg echo ENDPOINT [TOPIC]`";
        Words::parse(&words, &["--count", "--topic"], (1, 2), usage).map_err(|error| error.to_string())
    }

    #[test]
    fn command_lines() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let expected = Words { words: words(&["shm;a", "-b"]), count: Some(3), ..Words::default() };
        assert_eq!(parsed("--count=3 shm;a -- -b"), Ok(expected));
        let topics = words(&["x", "y"]);
        let expected = Words { words: words(&["shm;a"]), topics, ..Words::default() };
        assert_eq!(parsed("shm;a --topic x --topic y"), Ok(expected));
        assert!(parsed("-h --frob").unwrap().help);
    }

    #[test]
    fn mistakes() {
        let check = |line: &str, expected: &str| {
            let error = parsed(line).unwrap_err();
            assert!(error.starts_with(expected), "{line}: {error}");
        };
        check("", "found 0 words\n  = help: write `msg echo");
        check("a b c", "found 3 words");
        check("a --frob", "there is no option `--frob`");
        check("a --count", "`--count` needs a value");
        check("a --count 0", "`--count 0` found");
    }
}
