//! Diagnostics as text, in the form that rustc has made familiar: the message, the place, the line, a caret.

use std::{fmt::Write as _, ops::Range};

use crate::{
    diagnostic::{Diagnostic, Severity, Span},
    source::Sources,
};

/// Whether text is coloured with terminal escapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// Plain text, for files, logs and pipes.
    #[default]
    Never,
    /// For a terminal.
    Always,
}

/// The pieces of a rendering that have a colour.
#[derive(Clone, Copy)]
enum Paint {
    Error,
    Warning,
    Frame,
    Strong,
}

impl Paint {
    fn of(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
        }
    }

    fn escape(self) -> &'static str {
        match self {
            Self::Error => "\x1b[1;31m",
            Self::Warning => "\x1b[1;33m",
            Self::Frame => "\x1b[1;34m",
            Self::Strong => "\x1b[1m",
        }
    }
}

/// Longest piece of a line that is shown, in characters or bytes.
const WIDEST: usize = 140;

/// One diagnostic as text, ending in a line end.
pub(crate) fn render(diagnostic: &Diagnostic, sources: &Sources, colour: Colour) -> String {
    Renderer { sources, colour, margin: margin(diagnostic, sources), out: String::new() }
        .diagnostic(diagnostic)
}

/// Width of the largest line number that is shown.
fn margin(diagnostic: &Diagnostic, sources: &Sources) -> usize {
    let spans = diagnostic.notes.iter().filter_map(|note| note.span).chain(diagnostic.span);
    spans.map(|span| sources.location(span).line.to_string().len()).max().unwrap_or(1)
}

struct Renderer<'a> {
    sources: &'a Sources,
    colour: Colour,
    margin: usize,
    out: String,
}

impl Renderer<'_> {
    fn diagnostic(mut self, diagnostic: &Diagnostic) -> String {
        let (word, paint) = match diagnostic.severity() {
            Severity::Error => ("error", Paint::Error),
            Severity::Warning => ("warning", Paint::Warning),
        };
        let head = self.paint(paint, &format!("{word}[{}]", diagnostic.code));
        let message = self.paint(Paint::Strong, &format!(": {}", diagnostic.message));
        self.line(&format!("{head}{message}"));
        if let Some(span) = diagnostic.span {
            self.place(span, &diagnostic.label, Paint::of(diagnostic.severity()), '^');
        }
        for note in &diagnostic.notes {
            match note.span {
                Some(span) => {
                    let head = self.paint(Paint::Strong, "note");
                    self.line(&format!("{head}: {}", note.message));
                    self.place(span, "", Paint::Frame, '-');
                }
                None => self.remark("note", &note.message),
            }
        }
        if let Some(help) = &diagnostic.help {
            self.remark("help", help);
        }
        self.out
    }

    /// The file and position, the line, and a mark under the span.
    fn place(&mut self, span: Span, label: &str, paint: Paint, mark: char) {
        let location = self.sources.location(span);
        let path = self.sources.path(span.file);
        let arrow = self.frame(&format!("{}-->", " ".repeat(self.margin)));
        self.line(&format!("{arrow} {path}:{}:{}", location.line, location.column));
        let (line, marked) = self.sources.line_of(span);
        let excerpt = Excerpt::new(line, marked);
        let (bar, number) = (self.bar(), format!("{:>width$} |", location.line, width = self.margin));
        let number = self.frame(&number);
        self.line(&bar);
        self.line(format!("{number} {}", excerpt.text).trim_end());
        let marks: String = std::iter::repeat_n(mark, excerpt.marks).collect();
        let marks = self.paint(paint, format!("{marks} {label}").trim_end());
        self.line(&format!("{bar} {}{marks}", " ".repeat(excerpt.indent)));
    }

    fn remark(&mut self, word: &str, message: &str) {
        let equals = self.frame(&format!("{} =", " ".repeat(self.margin)));
        let word = self.paint(Paint::Strong, word);
        self.line(&format!("{equals} {word}: {message}"));
    }

    fn bar(&self) -> String {
        self.frame(&format!("{} |", " ".repeat(self.margin)))
    }

    fn frame(&self, text: &str) -> String {
        self.paint(Paint::Frame, text)
    }

    fn paint(&self, paint: Paint, text: &str) -> String {
        match self.colour {
            Colour::Never => text.to_owned(),
            Colour::Always => format!("{}{text}\x1b[0m", paint.escape()),
        }
    }

    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{text}");
    }
}

/// A line made fit to print: tabs widened, control characters replaced, a very long one cut around its mark.
struct Excerpt {
    text: String,
    indent: usize,
    marks: usize,
}

impl Excerpt {
    /// A line, and which bytes of it are marked. Only what is shown is looked at: a file may be one long line.
    fn new(line: &str, marked: Range<usize>) -> Self {
        let first = match marked.end {
            end if end <= WIDEST => 0,
            _ => line.floor_char_boundary(marked.start.saturating_sub(WIDEST / 2)),
        };
        let mut excerpt = Self { text: String::new(), indent: 0, marks: 0 };
        if first > 0 {
            excerpt.text.push('…');
            excerpt.indent = 1;
        }
        for (at, character) in line[first..].char_indices().take(WIDEST) {
            let piece = printable(character);
            let width = piece.chars().count();
            match first + at {
                at if at < marked.start => excerpt.indent += width,
                at if at < marked.end => excerpt.marks += width,
                _ => {}
            }
            excerpt.text.push_str(&piece);
        }
        excerpt.marks = excerpt.marks.max(1);
        excerpt
    }
}

fn printable(character: char) -> String {
    match character {
        '\t' => "    ".to_owned(),
        _ if character.is_control() => '\u{fffd}'.to_string(),
        _ => character.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;

    fn check(text: &str, marked: &str, expected: &str) {
        let sources = Sources::from_text("a.fbs", text);
        let start = text.find(marked).unwrap();
        let span = Span { file: sources.only(), start: start as u32, end: (start + marked.len()) as u32 };
        let diagnostic =
            Diagnostic::new(Code::UnknownType, span, "unknown type `X`").label("here").help("stop");
        assert_eq!(render(&diagnostic, &sources, Colour::Never), expected);
    }

    #[test]
    fn the_caret_stands_under_the_span() {
        check(
            "a\n\tb: Xyz;\n",
            "Xyz",
            "error[E0301]: unknown type `X`\n --> a.fbs:2:5\n  |\n2 |     b: Xyz;\n  |        ^^^ here\n  = help: stop\n",
        );
    }

    #[test]
    fn an_end_of_file_has_a_place_too() {
        check(
            "ab",
            "",
            "error[E0301]: unknown type `X`\n --> a.fbs:1:1\n  |\n1 | ab\n  | ^ here\n  = help: stop\n",
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let text = format!("{}X{}", " ".repeat(5000), "y".repeat(5000));
        let sources = Sources::from_text("a.fbs", &text);
        let span = Span { file: sources.only(), start: 5000, end: 5001 };
        let shown = render(&Diagnostic::new(Code::UnknownType, span, "m"), &sources, Colour::Never);
        assert!(shown.lines().all(|line| line.chars().count() < WIDEST + 10), "{shown}");
        let mark = shown.lines().last().unwrap().find('^').unwrap();
        assert_eq!(shown.lines().nth(3).unwrap().chars().nth(mark), Some('X'));
    }
}
