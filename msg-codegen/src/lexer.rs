//! Text to tokens. Comments end here, but for doc comments, which go with the token that follows them.
//!
//! A mistake is reported once and lexing goes on; the token it leaves behind is marked as broken, so that the
//! parser does not report what only follows from it.

use crate::diagnostic::{Code, Diagnostic, FileId, Span};

/// May stand at the very start of a file, and means nothing.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or a keyword; which of them, the grammar says.
    Identifier,
    /// Digits with an optional sign, or `0x` and hexadecimal digits.
    Integer,
    /// A number with a point or an exponent.
    Float,
    /// A string, its escapes resolved.
    Text(String),
    /// Any other character of the language.
    Symbol(u8),
    /// The end of the file.
    End,
}

/// A token.
#[derive(Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) text: &'a str,
    pub(crate) span: Span,
    /// The doc comment right before it.
    pub(crate) documentation: Vec<String>,
    /// A mistake was reported here already.
    pub(crate) broken: bool,
}

/// Splits a text into tokens; the last is always [`TokenKind::End`].
pub(crate) fn lex<'a>(file: FileId, text: &'a str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token<'a>> {
    let at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    let mut lexer = Lexer { file, text, at, line_started: true, broken: false, diagnostics };
    let mut tokens = Vec::with_capacity(text.len() / 5);
    loop {
        let token = lexer.token();
        let end = token.kind == TokenKind::End;
        tokens.push(token);
        if end {
            return tokens;
        }
    }
}

struct Lexer<'a, 'd> {
    file: FileId,
    text: &'a str,
    at: usize,
    /// Nothing but blanks stands before `at` on its line.
    line_started: bool,
    /// The token being read has been reported.
    broken: bool,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a> Lexer<'a, '_> {
    fn token(&mut self) -> Token<'a> {
        self.broken = false;
        let documentation = self.between();
        let start = self.at;
        let kind = match self.byte(0) {
            None => TokenKind::End,
            Some(byte) if is_name_start(byte) => self.identifier(),
            Some(quote @ (b'"' | b'\'')) => self.string(quote),
            Some(_) if self.number_starts() => self.number(),
            Some(symbol) => {
                self.at += 1;
                TokenKind::Symbol(symbol)
            }
        };
        self.line_started = false;
        Token {
            kind,
            text: &self.text[start..self.at],
            span: self.span(start),
            documentation,
            broken: self.broken,
        }
    }

    /// Skips blanks, comments and characters of no meaning; gives the doc comment among them.
    fn between(&mut self) -> Vec<String> {
        let mut documentation = Vec::new();
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b'\n'), _) => {
                    self.at += 1;
                    self.line_started = true;
                }
                (Some(b' ' | b'\t' | b'\r'), _) => self.at += 1,
                (Some(b'/'), Some(b'/')) => self.line_comment(&mut documentation),
                (Some(b'/'), Some(b'*')) => self.block_comment(),
                (Some(byte), _) if !self.means_something(byte) => self.illegal(),
                _ => return documentation,
            }
        }
    }

    fn means_something(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || b"_\"'{}()[],:;=.+-".contains(&byte)
    }

    fn line_comment(&mut self, documentation: &mut Vec<String>) {
        let start = self.at;
        let rest = &self.text[start..];
        let len = rest.find(['\n', '\r']).unwrap_or(rest.len());
        self.at += len;
        let Some(line) = rest[..len].strip_prefix("///") else { return };
        if self.line_started {
            documentation.push(line.to_owned());
            return;
        }
        let span = self.span(start);
        let message = "a documentation comment stands behind something else on its line";
        let help = "put it on a line of its own above what it describes, or write `//`";
        self.report(Diagnostic::new(Code::MisplacedDocumentation, span, message).help(help));
        self.broken = false;
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let body = &self.text[start + 2..];
        match body.find("*/") {
            Some(len) => {
                self.line_started |= body[..len].contains('\n');
                self.at = start + 2 + len + 2;
            }
            None => {
                self.at = self.text.len();
                let span = Span { end: start as u32 + 2, ..self.span(start) };
                let message = "the comment that starts here never ends";
                self.report(
                    Diagnostic::new(Code::UnterminatedComment, span, message).help("end it with `*/`"),
                );
            }
        }
    }

    /// Reports a run of characters that no token starts with.
    fn illegal(&mut self) {
        let start = self.at;
        let rest = &self.text[start..];
        let is_legal =
            |c: char| c.is_ascii() && (c.is_ascii_whitespace() || c == '/' || self.means_something(c as u8));
        let first = rest.chars().next().map_or(1, char::len_utf8);
        self.at += first + rest[first..].find(is_legal).unwrap_or(rest.len() - first);
        let found = &self.text[start..self.at];
        let message = match found.chars().count() {
            1 => format!("illegal character {}", shown(found)),
            _ => format!("illegal characters {}", shown(found)),
        };
        let span = self.span(start);
        self.report(Diagnostic::new(Code::IllegalCharacter, span, message));
    }

    fn identifier(&mut self) -> TokenKind {
        self.skip_while(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        TokenKind::Identifier
    }

    fn number_starts(&self) -> bool {
        let digit_at = |index| self.byte(index).is_some_and(|byte| byte.is_ascii_digit());
        match self.byte(0) {
            Some(b'+' | b'-') => digit_at(1) || (self.byte(1) == Some(b'.') && digit_at(2)),
            Some(b'.') => digit_at(1),
            _ => digit_at(0),
        }
    }

    /// Takes everything that could belong to a number, then asks whether it is one.
    fn number(&mut self) -> TokenKind {
        let start = self.at;
        if matches!(self.byte(0), Some(b'+' | b'-')) {
            self.at += 1;
        }
        let hexadecimal = self.text[self.at..].starts_with("0x") || self.text[self.at..].starts_with("0X");
        let mut previous = 0;
        while let Some(byte) = self.byte(0) {
            let exponent = if hexadecimal { b'p' } else { b'e' };
            let sign = matches!(byte, b'+' | b'-') && previous == exponent;
            if !(sign || byte == b'.' || byte == b'_' || byte.is_ascii_alphanumeric()) {
                break;
            }
            previous = byte.to_ascii_lowercase();
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        match classify(text.trim_start_matches(['+', '-']), hexadecimal) {
            Some(kind) => kind,
            None => {
                let span = self.span(start);
                let message = format!("`{text}` is not a number");
                self.report(Diagnostic::new(Code::InvalidNumber, span, message));
                TokenKind::Integer
            }
        }
    }

    fn string(&mut self, quote: u8) -> TokenKind {
        let start = self.at;
        self.at += 1;
        let mut value = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain =
                rest.find(|c: char| c == char::from(quote) || c == '\\' || c < ' ').unwrap_or(rest.len());
            value.push_str(&rest[..plain]);
            self.at += plain;
            match self.byte(0) {
                Some(byte) if byte == quote => {
                    self.at += 1;
                    return TokenKind::Text(value);
                }
                Some(b'\\') => self.escape(&mut value),
                Some(b'\n' | b'\r') | None => {
                    let span = self.span(start);
                    let message = "the string that starts here has no closing quote on its line";
                    let help = format!("end it with `{}`", char::from(quote));
                    self.report(Diagnostic::new(Code::UnterminatedString, span, message).help(help));
                    return TokenKind::Text(value);
                }
                Some(control) => {
                    let from = self.at;
                    self.at += 1;
                    let message = format!("control character 0x{control:02x} in a string");
                    let help = format!("write `\\x{control:02x}`");
                    let span = self.span(from);
                    self.report(Diagnostic::new(Code::InvalidString, span, message).help(help));
                }
            }
        }
    }

    /// One escape sequence; `at` is on its backslash.
    fn escape(&mut self, value: &mut String) {
        let start = self.at;
        self.at += 1;
        let rest = &self.text[self.at..];
        let Some(kind) = rest.chars().next() else { return };
        self.at += kind.len_utf8();
        let character = match kind {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            '"' | '\'' | '\\' | '/' => Some(kind),
            'x' => self.hexadecimal(2).and_then(char::from_u32).filter(char::is_ascii),
            'u' => self.unicode(),
            _ => None,
        };
        match character {
            Some(character) => value.push(character),
            None => {
                let span = self.span(start);
                let message = format!("invalid escape sequence {}", shown(&self.text[start..self.at]));
                let help =
                    r#"one of \n \t \r \b \f \" \' \\ \/, \x and two digits up to 7f, \u and four digits"#;
                self.report(Diagnostic::new(Code::InvalidString, span, message).help(help));
            }
        }
    }

    /// The character of `\uXXXX`, or of a surrogate pair of them.
    fn unicode(&mut self) -> Option<char> {
        let first = self.hexadecimal(4)?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        if !self.text[self.at..].starts_with("\\u") {
            return None;
        }
        self.at += 2;
        let second = self.hexadecimal(4).filter(|second| (0xdc00..0xe000).contains(second))?;
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let text = self.text.get(self.at..self.at + digits)?;
        let all_digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = all_digits.then(|| u32::from_str_radix(text, 16).ok()).flatten()?;
        self.at += digits;
        Some(number)
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        while self.byte(0).is_some_and(&belongs) {
            self.at += 1;
        }
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.broken = true;
        self.diagnostics.push(diagnostic);
    }
}

fn is_name_start(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphabetic()
}

/// Text in backquotes, with nothing in it that could disturb a terminal.
fn shown(text: &str) -> String {
    const LONGEST: usize = 20;
    let mut escaped = String::from("`");
    for character in text.chars().take(LONGEST) {
        match character {
            _ if character.is_control() => escaped.extend(character.escape_unicode()),
            _ => escaped.push(character),
        }
    }
    if text.chars().count() > LONGEST {
        escaped.push('…');
    }
    escaped.push('`');
    escaped
}

/// Whether digits (without a sign) are an integer or a floating-point number; `None` when they are neither.
fn classify(text: &str, hexadecimal: bool) -> Option<TokenKind> {
    let (digits, exponent_mark, is_digit): (_, _, fn(&u8) -> bool) = match hexadecimal {
        true => (&text[2..], ['p', 'P'], u8::is_ascii_hexdigit),
        false => (text, ['e', 'E'], u8::is_ascii_digit),
    };
    let (mantissa, exponent) = match digits.split_once(exponent_mark) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let mut all = whole.bytes().chain(fraction.unwrap_or("").bytes());
    if mantissa.len() <= usize::from(fraction.is_some()) || !all.all(|byte| is_digit(&byte)) {
        return None;
    }
    let exponent_digits = exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    if exponent_digits.is_some_and(|digits| digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()))
    {
        return None;
    }
    match (fraction, exponent) {
        (None, None) => Some(TokenKind::Integer),
        // A hexadecimal fraction needs its exponent.
        (Some(_), None) if hexadecimal => None,
        _ => Some(TokenKind::Float),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexed(text: &str) -> (String, Vec<&'static str>) {
        let mut diagnostics = Vec::new();
        let tokens = lex(FileId(0), text, &mut diagnostics);
        let show = |token: &Token<'_>| match &token.kind {
            TokenKind::Identifier => format!("name {}", token.text),
            TokenKind::Integer => format!("integer {}", token.text),
            TokenKind::Float => format!("float {}", token.text),
            TokenKind::Text(value) => format!("text {value:?}"),
            TokenKind::Symbol(symbol) => format!("{}", char::from(*symbol)),
            TokenKind::End => "end".to_owned(),
        };
        let shown: Vec<_> = tokens.iter().map(show).collect();
        (shown.join(" "), diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect())
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(lexed(text), (expected.to_owned(), vec![]), "{text:?}");
    }

    fn check_mistake(text: &str, expected: &str, code: &'static str) {
        assert_eq!(lexed(text), (expected.to_owned(), vec![code]), "{text:?}");
    }

    #[test]
    fn tokens() {
        check("", "end");
        check("\u{feff}table A_1{}", "name table name A_1 { } end");
        check("a:[b:3];\r\n", "name a : [ name b : integer 3 ] ; end");
        check("a /* b \n ** c */ d // e\nf", "name a name d name f end");
        check("-inf", "- name inf end");
        check("a.b", "name a . name b end");
    }

    #[test]
    fn numbers() {
        check("0 -1 +2 0x1F -0Xff", "integer 0 integer -1 integer +2 integer 0x1F integer -0Xff end");
        check(
            "1. .5 -.5 1e5 1.5E-3 0x1.8p3",
            "float 1. float .5 float -.5 float 1e5 float 1.5E-3 float 0x1.8p3 end",
        );
        for wrong in ["0x", "1.2.3", "1e", "1e+", "12ab", "0x1.8", "1_000", "0xg"] {
            check_mistake(wrong, &format!("integer {wrong} end"), "E0106");
        }
    }

    #[test]
    fn strings() {
        check(r#""a\n\"\x41\u00e9\ud83d\ude00" 'b"'"#, "text \"a\\n\\\"Aé😀\" text \"b\\\"\" end");
        check_mistake("\"ab\nc", "text \"ab\" name c end", "E0104");
        check_mistake(r#""\q""#, "text \"\" end", "E0105");
        check_mistake(r#""\ud83d""#, "text \"\" end", "E0105");
        check_mistake(r#""\xé""#, "text \"é\" end", "E0105");
        check_mistake("\"\u{1}\"", "text \"\" end", "E0105");
        check_mistake("\"\\", "text \"\" end", "E0104");
    }

    #[test]
    fn characters_of_no_meaning_are_one_mistake() {
        check_mistake("a #§$ b", "name a name b end", "E0102");
        check_mistake("a / b", "name a name b end", "E0102");
    }

    #[test]
    fn documentation_goes_with_the_next_token() {
        let mut diagnostics = Vec::new();
        let tokens = lex(FileId(0), "// no\n/// one\r\n///two\n a\nb", &mut diagnostics);
        assert_eq!(tokens[0].documentation, [" one", "two"]);
        assert!(tokens[1].documentation.is_empty());
        check_mistake("a; /// late", "name a ; end", "E0107");
    }

    #[test]
    fn an_open_comment_ends_the_file() {
        check_mistake("a /* b", "name a end", "E0103");
    }
}
