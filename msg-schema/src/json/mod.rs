//! Payloads as JSON and back, with nothing but their schema: what a tool does that has never seen the type.
//!
//! The rules are in the documentation of the crate.
//!
//! ```text
//! bytes -> dynamic (a step at a time) -> show -> text        text -> text (a tree) -> build, structure, scalar -> bytes
//! ```
//!
//! The text code is our own: it is small, the crate depends on nothing, numbers must not pass through `f64`, and what a
//! text may cost in memory is known. A text takes at most [`TEXT_PER_BYTE`] times the payload, a payload at most
//! [`BYTES_PER_CHARACTER`] times the text, each and a mebibyte; nesting is limited as on the message path.

mod attributes;
mod build;
mod scalar;
mod show;
mod structure;
mod text;

use std::fmt;

/// Bytes of text for each byte of a payload, at most: a small table may have many fields that show defaults.
const TEXT_PER_BYTE: usize = 1024;
/// Bytes of a payload for each byte of text, at most: a struct may be mostly padding.
const BYTES_PER_CHARACTER: usize = 64;
/// What is free in either direction.
const FLOOR: usize = 1 << 20;

/// Whether JSON text is for programs or for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonLayout {
    /// One line without blanks.
    #[default]
    Line,
    /// A line a value, indented by two blanks a level.
    Indented,
}

/// Why a JSON text is no message of a type; its text says where, what was found, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    line: usize,
    column: usize,
    /// The type or the field, if the text got that far.
    place: Option<String>,
    what: String,
}

impl JsonError {
    /// The line of the mistake, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column of the mistake in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// A mistake at a byte of a text.
    fn at(text: &str, position: usize, place: Option<String>, what: impl Into<String>) -> Self {
        let before = text.get(..position).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Self { line, column, place, what: what.into() }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        if let Some(place) = &self.place {
            write!(f, "`{place}`: ")?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for JsonError {}
