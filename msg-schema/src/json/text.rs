//! JSON text as a tree that remembers where everything stood. Numbers stay text: only their field knows what they are.

use std::borrow::Cow;

use super::JsonError;

/// Values within values; 64 tables, each in a vector, and structs in the innermost.
const MAX_DEPTH: u32 = 256;
/// A longer text is no message: offsets end at 2 GiB, and what a text becomes may be longer than it.
const MAX_LEN: usize = 1 << 30;

/// A value and where it starts.
#[derive(Debug)]
pub(super) struct Node<'t> {
    pub(super) at: usize,
    pub(super) json: Json<'t>,
}

#[derive(Debug)]
pub(super) enum Json<'t> {
    Null,
    Bool(bool),
    /// As it is written, or a bare `nan` or `inf`.
    Number(&'t str),
    Text(Cow<'t, str>),
    List(Vec<Node<'t>>),
    /// In order, names given twice included.
    Object(Vec<Member<'t>>),
}

/// A name, where it starts, and its value.
#[derive(Debug)]
pub(super) struct Member<'t> {
    pub(super) at: usize,
    pub(super) name: Cow<'t, str>,
    pub(super) value: Node<'t>,
}

impl Json<'_> {
    /// What it is, for messages.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Null => "`null`".to_owned(),
            Self::Bool(value) => format!("`{value}`"),
            Self::Number(number) => format!("`{number}`"),
            Self::Text(text) if text.chars().count() <= 40 => format!("`{text:?}`"),
            Self::Text(_) => "a string".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Object(_) => "an object".to_owned(),
        }
    }
}

/// The tree of a text.
pub(super) fn parse(text: &str) -> Result<Node<'_>, JsonError> {
    if text.len() > MAX_LEN {
        return Err(JsonError::at(text, 0, None, format!("the text is longer than {MAX_LEN} bytes")));
    }
    let mut parser = Parser { text, position: 0 };
    parser.blanks();
    let node = parser.value(0)?;
    parser.blanks();
    match parser.position == text.len() {
        true => Ok(node),
        false => Err(parser.unexpected("the end of the text")),
    }
}

struct Parser<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    fn fail(&self, what: impl Into<String>) -> JsonError {
        JsonError::at(self.text, self.position, None, what)
    }

    fn unexpected(&self, expected: &str) -> JsonError {
        match self.rest().chars().next() {
            Some(found) => self.fail(format!("found `{}`, expected {expected}", found.escape_debug())),
            None => self.fail(format!("the text ends, expected {expected}")),
        }
    }

    fn take(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.position += usize::from(found);
        found
    }

    fn value(&mut self, depth: u32) -> Result<Node<'t>, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.fail(format!("values are nested more than {MAX_DEPTH} deep")));
        }
        let at = self.position;
        let json = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Json::Text(self.string()?),
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.') => {
                self.word()?
            }
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Node { at, json })
    }

    /// A number or one of the words without quotes.
    fn word(&mut self) -> Result<Json<'t>, JsonError> {
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_');
        let rest = self.rest();
        let word = &rest[..rest.bytes().take_while(|byte| inside(*byte)).count()];
        let json = match word {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "nan" | "-nan" | "+nan" | "inf" | "-inf" | "+inf" | "infinity" | "-infinity" | "+infinity" => {
                Json::Number(word)
            }
            word if is_number(word) => Json::Number(word),
            word => return Err(self.fail(format!("found `{word}`, expected a value"))),
        };
        self.position += word.len();
        Ok(json)
    }

    fn list(&mut self, depth: u32) -> Result<Json<'t>, JsonError> {
        self.position += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.take(b']') {
            return Ok(Json::List(items));
        }
        loop {
            self.blanks();
            items.push(self.value(depth + 1)?);
            self.blanks();
            if self.take(b']') {
                return Ok(Json::List(items));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<Json<'t>, JsonError> {
        self.position += 1;
        let mut members = Vec::new();
        self.blanks();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.blanks();
            let at = self.position;
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a name in quotes"));
            }
            let name = self.string()?;
            self.blanks();
            if !self.take(b':') {
                return Err(self.unexpected("`:`"));
            }
            self.blanks();
            members.push(Member { at, name, value: self.value(depth + 1)? });
            self.blanks();
            if self.take(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    fn string(&mut self) -> Result<Cow<'t, str>, JsonError> {
        self.position += 1;
        let mut owned = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.bytes().take_while(|byte| !matches!(byte, b'"' | b'\\' | ..b' ')).count();
            let piece = &rest[..plain];
            self.position += plain;
            match self.peek() {
                Some(b'"') => {
                    self.position += 1;
                    owned.push_str(piece);
                    return Ok(if owned.len() == plain { Cow::Borrowed(piece) } else { Cow::Owned(owned) });
                }
                Some(b'\\') => {
                    owned.push_str(piece);
                    owned.push(self.escape()?);
                }
                Some(_) => return Err(self.fail("a control character in a string: write it as `\\u00..`")),
                None => return Err(self.unexpected("`\"` at the end of the string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let simple = match self.rest().as_bytes().get(1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.fail("an unknown escape in a string")),
        };
        self.position += 2;
        Ok(simple)
    }

    /// `\uXXXX`, and a second one where the first is half a character.
    fn unicode(&mut self) -> Result<char, JsonError> {
        let unit = |at: usize| {
            let digits = self.rest().get(at..at + 6)?.strip_prefix("\\u")?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
        };
        let Some(first) = unit(0) else { return Err(self.fail("`\\u` needs four hexadecimal digits")) };
        let second = unit(6);
        let (units, len) = match (0xd800..0xdc00).contains(&first) {
            true => ([first, second.unwrap_or(0)], 2),
            false => ([first, 0], 1),
        };
        let Some(Ok(character)) = char::decode_utf16(units[..len].iter().copied()).next() else {
            return Err(self.fail("half a character: `\\ud8..` and `\\udc..` go together"));
        };
        self.position += 6 * len;
        Ok(character)
    }
}

/// JSON's grammar for numbers, with a plus and leading zeros allowed, as flatc takes them.
fn is_number(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)))
}
