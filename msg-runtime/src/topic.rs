//! The name of a stream: what publishers and subscribers must agree on to meet.

use crate::error::{Error, ErrorKind};
use std::fmt;

/// Longest topic, in bytes.
const MAX_TOPIC_LEN: usize = 255;

/// A checked topic: letters, digits, `_`, `-`, parts separated by `.` or `/`, 1 to 255 characters, no empty part.
///
/// The topic of a typed handle is its type's fully qualified name, `demo.Imu`; every transport takes it as it is.
///
/// # Examples
///
/// ```
/// use msg_runtime::Topic;
/// assert_eq!(Topic::new("left.image")?.as_str(), "left.image");
/// let error = Topic::new("left image").expect_err("a blank is no topic character");
/// assert_eq!(
///     error.to_string(),
///     "topic `left image` has ` ` at position 4; allowed are letters, digits, `_`, `-`, and `.` or `/` between parts"
/// );
/// # Ok::<(), msg_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Topic(String);

impl Topic {
    /// Checks a topic.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidTopic`] for an empty or too long topic, a character that is not allowed, an empty part.
    pub fn new(topic: impl Into<String>) -> Result<Self, Error> {
        let topic = topic.into();
        match complaint(&topic) {
            None => Ok(Self(topic)),
            Some(text) => Err(Error::new(ErrorKind::InvalidTopic, text)),
        }
    }

    /// The topic's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn complaint(topic: &str) -> Option<String> {
    if topic.is_empty() || topic.len() > MAX_TOPIC_LEN {
        let len = topic.len();
        return Some(format!("a topic has 1 to {MAX_TOPIC_LEN} characters, this one has {len}"));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if let Some((at, c)) = topic.char_indices().find(|(_, c)| !allowed(*c)) {
        // A control character is shown escaped, so that the message stays one line.
        let shown = topic.escape_debug();
        return Some(format!(
            "topic `{shown}` has `{}` at position {at}; allowed are letters, digits, `_`, `-`, and `.` or `/` between parts",
            c.escape_debug()
        ));
    }
    if topic.split(['.', '/']).any(str::is_empty) {
        return Some(format!("topic `{topic}` has an empty part; remove the extra `.` or `/`"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics() {
        let check = |topic: &str, good: bool| assert_eq!(Topic::new(topic).is_ok(), good, "{topic:?}");
        check("demo.Imu", true);
        check("a", true);
        check("left/image-2", true);
        check(&"x".repeat(255), true);
        check(&"x".repeat(256), false);
        check("", false);
        check("a..b", false);
        check(".a", false);
        check("a/", false);
        check("a.*", false);
        check("a b", false);
        check("ä", false);
        check("a\n", false);
    }
}
