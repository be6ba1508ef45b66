//! Sizes and durations: a whole number and a unit, both required, case-sensitive.

use super::text::{Complaint, Part, suggestion};
use std::{fmt, time::Duration};

const SIZES: [(&str, u64); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
const TIMES: [(&str, u64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Bytes.
pub(super) fn size(part: Part<'_>) -> Result<u64, Complaint> {
    number(part, "size", &SIZES, "`B`, `KiB`, `MiB` or `GiB`")
}

/// Bytes of memory, at least one, as the option `name` says.
pub(super) fn bytes(name: Part<'_>, value: Part<'_>) -> Result<usize, Complaint> {
    match usize::try_from(size(value)?) {
        Ok(0) => Err(value.complain(format!("{} `{}`, expected at least 1 B", name.text, value.text))),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(value.complain(format!("{} `{}` is too large", name.text, value.text))),
    }
}

/// Time, to the nanosecond.
pub(super) fn duration(part: Part<'_>) -> Result<Duration, Complaint> {
    number(part, "time", &TIMES, "`ns`, `us`, `ms` or `s`").map(Duration::from_nanos)
}

fn number(part: Part<'_>, what: &str, units: &[(&str, u64)], expected: &str) -> Result<u64, Complaint> {
    let digits = part.text.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.text.len());
    let (number, unit) = part.split_at(digits);
    if number.text.is_empty() {
        return Err(
            part.complain(format!("{what} `{}` has no number; write one as in `4{}`", part.text, units[2].0))
        );
    }
    if unit.text.is_empty() {
        return Err(part.complain(format!("{what} `{}` has no unit, expected {expected}", part.text)));
    }
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit.text) else {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        return Err(unit.complain(format!(
            "unknown unit `{}`, expected {expected}{}",
            unit.text,
            suggestion(unit.text, &names)
        )));
    };
    number
        .text
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(*factor))
        .ok_or_else(|| part.complain(format!("{what} `{}` is too large", part.text)))
}

/// Prints bytes in the largest unit that needs no fraction.
pub(super) struct Size(pub(super) u64);

/// Prints a time in the largest unit that needs no fraction.
pub(super) struct Time(pub(super) Duration);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0.into(), &SIZES)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0.as_nanos(), &TIMES)
    }
}

fn print(f: &mut fmt::Formatter<'_>, number: u128, units: &[(&str, u64)]) -> fmt::Result {
    let exact = units.iter().rev().find(|(_, factor)| number.is_multiple_of(u128::from(*factor)));
    let (unit, factor) = exact.expect("the smallest unit is 1 and divides every number");
    write!(f, "{}{unit}", number / u128::from(*factor))
}
