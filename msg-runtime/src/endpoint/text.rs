//! Parts of the endpoint string that know where they stand, and complaints that point at them.

const MAX_CHANNEL_LEN: usize = 64;

/// A part of the string, with its place in bytes.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    start: usize,
}

impl<'a> Part<'a> {
    pub(super) fn whole(text: &'a str) -> Self {
        Self { text, start: 0 }
    }

    pub(super) fn start(self) -> usize {
        self.start
    }

    pub(super) fn split_once(self, separator: char) -> Option<(Self, Self)> {
        self.text.find(separator).map(|at| self.split_around(at, separator))
    }

    pub(super) fn rsplit_once(self, separator: char) -> Option<(Self, Self)> {
        self.text.rfind(separator).map(|at| self.split_around(at, separator))
    }

    /// The parts between separators.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Self> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let part = rest?;
            let (first, others) = match part.split_once(separator) {
                Some((first, others)) => (first, Some(others)),
                None => (part, None),
            };
            rest = others;
            Some(first)
        })
    }

    /// The part before byte `at` and the part from it on.
    pub(super) fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.text.split_at(at);
        (Self { text: left, start: self.start }, Self { text: right, start: self.start + at })
    }

    pub(super) fn complain(self, message: impl Into<String>) -> Complaint {
        Complaint { message: message.into(), start: self.start, len: self.text.len() }
    }

    /// The name of a channel, which becomes part of file names.
    pub(super) fn channel(self) -> Result<String, Complaint> {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if (1..=MAX_CHANNEL_LEN).contains(&self.text.len()) && self.text.chars().all(word) {
            return Ok(self.text.to_owned());
        }
        Err(self.complain(format!(
            "channel `{}`, expected 1 to {MAX_CHANNEL_LEN} letters, digits, `_` or `-`",
            self.text.escape_debug()
        )))
    }

    fn split_around(self, at: usize, separator: char) -> (Self, Self) {
        let (left, rest) = self.split_at(at);
        (left, rest.split_at(separator.len_utf8()).1)
    }
}

/// What is wrong, and where.
pub(super) struct Complaint {
    message: String,
    start: usize,
    len: usize,
}

impl Complaint {
    /// The message, the endpoint, and carets under the part that is meant.
    pub(super) fn render(&self, endpoint: &str) -> String {
        let width = |text: &str| text.chars().count();
        let before = width(&endpoint[..self.start]);
        let carets = width(&endpoint[self.start..self.start + self.len]).max(1);
        format!("{}\n  {endpoint}\n  {:before$}{:^<carets$}", self.message, "", "")
    }
}

/// "; did you mean `x`?" for the candidate that is nearest, if one is near.
pub(super) fn suggestion(found: &str, candidates: &[&str]) -> String {
    // Among equally near ones the one with the same first letter: `MB` is nearer to `MiB` than to `B`.
    let key = |candidate: &str| {
        let (found, candidate) = (found.to_lowercase(), candidate.to_lowercase());
        (distance(&found, &candidate), found.chars().next() != candidate.chars().next())
    };
    let nearest = candidates.iter().map(|candidate| (key(candidate), *candidate)).min();
    match nearest {
        Some(((distance, _), candidate)) if distance <= 1 + candidate.len() / 4 => {
            format!("; did you mean `{candidate}`?")
        }
        _ => String::new(),
    }
}

/// Edits (insert, remove, replace, swap of neighbours) between two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions() {
        let check =
            |found, expected: &str| assert_eq!(suggestion(found, &["slots", "size", "timeout"]), expected);
        check("slot", "; did you mean `slots`?");
        check("Slots", "; did you mean `slots`?");
        check("siez", "; did you mean `size`?");
        check("tmeout", "; did you mean `timeout`?");
        check("colour", "");
        check("", "");
    }
}
