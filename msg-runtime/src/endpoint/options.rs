//! What stands after the `?`, on every transport: `<option>=<value>,...`, each at most once.

use super::text::{Complaint, Part, suggestion};

/// Calls `set` with the name and the value of each option. Names are among `names`, which `transport` has.
pub(super) fn each<'a>(
    options: Option<Part<'a>>,
    transport: &str,
    names: &[&str],
    mut set: impl FnMut(Part<'a>, Part<'a>) -> Result<(), Complaint>,
) -> Result<(), Complaint> {
    let mut seen = Vec::new();
    for option in options.into_iter().flat_map(|options| options.split(',')) {
        let (name, value) = name_and_value(option, transport, names)?;
        if seen.contains(&name.text) {
            return Err(name.complain(format!("option `{}` is given twice; keep one", name.text)));
        }
        seen.push(name.text);
        set(name, value)?;
    }
    Ok(())
}

fn name_and_value<'a>(
    option: Part<'a>,
    transport: &str,
    names: &[&str],
) -> Result<(Part<'a>, Part<'a>), Complaint> {
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    };
    if !names.contains(&name.text) {
        return Err(name.complain(format!(
            "unknown option `{}` of `{transport}`, expected one of {}{}",
            name.text,
            quoted(names),
            suggestion(name.text, names)
        )));
    }
    match value {
        Some(value) if !value.text.is_empty() => Ok((name, value)),
        _ => Err(name.complain(format!("option `{}` has no value; write `{0}=...`", name.text))),
    }
}

/// The words in backquotes, with commas.
pub(super) fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Whether the value is the second of the two, the first being the default.
pub(super) fn one_of(
    name: Part<'_>,
    value: Part<'_>,
    [default, other]: [&str; 2],
) -> Result<bool, Complaint> {
    if value.text == default || value.text == other {
        return Ok(value.text == other);
    }
    Err(value.complain(format!(
        "{} `{}`, expected `{default}` or `{other}`{}",
        name.text,
        value.text,
        suggestion(value.text, &[default, other])
    )))
}

/// The options that are there, with what separates them from the address and from each other.
pub(super) fn print(options: impl IntoIterator<Item = Option<String>>) -> String {
    let options: Vec<String> = options.into_iter().flatten().collect();
    if options.is_empty() { String::new() } else { format!("?{}", options.join(",")) }
}

/// `name=<print(value)>` where the value is not the default.
pub(super) fn unless_default<T: PartialEq>(
    name: &str,
    value: T,
    default: T,
    print: impl FnOnce(T) -> String,
) -> Option<String> {
    (value != default).then(|| format!("{name}={}", print(value)))
}
