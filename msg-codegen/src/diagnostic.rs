//! Mistakes and warnings in schemas, as plain data: what is wrong, where, where the other end is, and what to write
//! instead. Nothing is printed here; [`render`](crate::Checked::render) makes text of them.

use std::fmt;

/// A schema file, by its place in [`Sources`](crate::Sources).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(crate) u32);

/// A piece of a schema file, in bytes from its start; `start <= end`, and both lie between characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// From the start of this span to the end of the other.
    pub(crate) fn to(self, end: Self) -> Self {
        Self { end: end.end.max(self.start), ..self }
    }
}

/// Whether code is still generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The schema is refused.
    Error,
    /// The schema is taken, but something in it does not do what it seems to.
    Warning,
}

/// Writes the enum of codes, their spelling and the list of them from one table.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The stable code of a kind of mistake: `E` for errors, `W` for warnings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The code as it is printed, such as `E0301`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// Another token than the grammar wants here.
    UnexpectedToken = "E0101",
    /// A character that occurs nowhere in the language.
    IllegalCharacter = "E0102",
    /// A `/*` without its `*/`.
    UnterminatedComment = "E0103",
    /// A string without its closing quote.
    UnterminatedString = "E0104",
    /// An escape sequence or a control character that a string cannot hold.
    InvalidString = "E0105",
    /// Digits that are no number.
    InvalidNumber = "E0106",
    /// A `///` comment behind something else on its line.
    MisplacedDocumentation = "E0107",
    /// The file is not UTF-8.
    NotUtf8 = "E0108",
    /// An `include` after a declaration.
    LateInclude = "E0109",
    /// A vector of vectors.
    NestedVector = "E0110",
    /// An enum without its number type.
    MissingEnumType = "E0111",
    /// A block without its closing brace.
    UnclosedBlock = "E0112",
    /// A file that was asked for cannot be read.
    UnreadableFile = "E0201",
    /// An included file is in none of the places that are searched.
    IncludeNotFound = "E0202",
    /// A setting of the builder that cannot be.
    InvalidSetting = "E0203",
    /// A type that is declared nowhere.
    UnknownType = "E0301",
    /// Two types of one name.
    DuplicateType = "E0302",
    /// Two fields of one name.
    DuplicateField = "E0303",
    /// Two enumerators or union members of one name.
    DuplicateEnumerator = "E0304",
    /// An enum, or a struct inside a struct, that is declared further down.
    UsedBeforeDeclared = "E0305",
    /// A field called like a table or struct that it can see.
    FieldNamedLikeType = "E0306",
    /// A field called like something that is generated for another field.
    FieldClash = "E0307",
    /// A struct may hold scalars, enums, structs and arrays of them.
    NotAllowedInStruct = "E0401",
    /// A struct that contains itself.
    StructRecursion = "E0402",
    /// A struct without fields.
    EmptyStruct = "E0403",
    /// A fixed-length array outside a struct.
    ArrayOutsideStruct = "E0404",
    /// The length of an array is no number from 1 to 65535.
    InvalidArrayLength = "E0405",
    /// `force_align` is no power of two, or too small or too large.
    InvalidAlignment = "E0406",
    /// The type behind an enum is no integer.
    InvalidEnumType = "E0407",
    /// A union's member is neither table, struct nor string.
    InvalidUnionMember = "E0408",
    /// A bit flag's position is outside its type.
    BitFlagOutOfRange = "E0409",
    /// An enumerator's value does not fit its type.
    EnumValueOutOfRange = "E0410",
    /// Two enumerators of one value.
    DuplicateEnumValue = "E0411",
    /// A table that requires itself, so that no message can be finite.
    InfiniteMessage = "E0412",
    /// A struct whose fields stand beyond the 64 KiB that offsets reach.
    StructTooLarge = "E0413",
    /// A procedure's request or response is no table.
    InvalidService = "E0414",
    /// An attribute that is neither FlatBuffers' nor declared.
    UnknownAttribute = "E0501",
    /// An `id` that is no number from 0 up.
    InvalidId = "E0502",
    /// Some fields have an `id`, some don't.
    PartialIds = "E0503",
    /// Ids with a gap, or one id twice.
    IdGap = "E0504",
    /// Two keys in one type.
    SecondKey = "E0505",
    /// A key of a type that cannot be sorted by.
    InvalidKeyType = "E0506",
    /// `required` on a scalar or in a struct.
    RequiredScalar = "E0507",
    /// `deprecated` in a struct.
    DeprecatedInStruct = "E0508",
    /// An attribute on something that it does not apply to.
    MisplacedAttribute = "E0509",
    /// A table with more fields than a vtable can hold.
    TooManyFields = "E0510",
    /// A default that does not fit its type.
    DefaultOutOfRange = "E0601",
    /// A default on something that has none.
    DefaultNotAllowed = "E0602",
    /// A default of another kind than its type.
    DefaultMismatch = "E0603",
    /// A default that is none of the enum's values.
    DefaultNotInEnum = "E0604",
    /// A default that names no enumerator.
    UnknownEnumerator = "E0605",
    /// The root type is a struct, an enum or a union.
    InvalidRootType = "E0701",
    /// A file identifier that is not four bytes long.
    InvalidFileIdentifier = "E0702",
    /// A union that is understood, but that no Rust is generated for.
    UnionNotGenerated = "E0801",
    /// Part of FlatBuffers' language that this compiler does not take.
    Unsupported = "E0802",
    /// Programs built with an old schema would misread, or be misread.
    BreaksReaders = "E0901",
    /// Accepted, and without effect here.
    NoEffect = "W0101",
    /// A type is used whose file is not included.
    NotIncluded = "W0102",
    /// Flags over a signed number.
    SignedBitFlags = "W0103",
    /// The same attribute twice on one thing.
    RepeatedAttribute = "W0104",
}

impl Code {
    /// Whether only generating Rust fails, while the schema itself is in order.
    pub(crate) fn is_refusal(self) -> bool {
        self == Self::UnionNotGenerated
    }

    /// Whether it is an error or a warning.
    pub fn severity(self) -> Severity {
        if self.as_str().starts_with('E') { Severity::Error } else { Severity::Warning }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A second place that matters, such as the first of two declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What is to be seen there.
    pub message: String,
    /// Where, if it is a place in a file.
    pub span: Option<Span>,
}

/// One mistake or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Where; `None` when a file could not be read at all.
    pub span: Option<Span>,
    /// A few words for the place itself, or empty.
    pub label: String,
    /// Other places that matter.
    pub notes: Vec<Note>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake or warning at a place.
    pub(crate) fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let (message, label) = (message.into(), String::new());
        Self { code, message, span: Some(span), label, notes: Vec::new(), help: None }
    }

    /// A mistake that has no place in any file.
    pub(crate) fn without_place(code: Code, message: impl Into<String>) -> Self {
        let (message, label) = (message.into(), String::new());
        Self { code, message, span: None, label, notes: Vec::new(), help: None }
    }

    /// Words to stand beside the caret.
    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Another place that matters.
    pub(crate) fn note(mut self, span: Span, message: impl Into<String>) -> Self {
        self.notes.push(Note { message: message.into(), span: Some(span) });
        self
    }

    /// A fact that has no place.
    pub(crate) fn fact(mut self, message: impl Into<String>) -> Self {
        self.notes.push(Note { message: message.into(), span: None });
        self
    }

    /// What to do about it.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// "did you mean" help, when there is a candidate.
    pub(crate) fn suggest(self, candidate: Option<&str>) -> Self {
        match candidate {
            Some(candidate) => self.help(format!("did you mean `{candidate}`?")),
            None => self,
        }
    }

    /// Whether code is still generated in spite of it.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// Of the candidates the one that `name` is most likely a misspelling of.
pub(crate) fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer names are not compared: the work grows with the square. Single letters are near to each other all.
    const LONGEST: usize = 64;
    if name.len() < 2 || name.len() > LONGEST {
        return None;
    }
    let most = (name.len() / 3).max(1);
    let near = |candidate: &&str| candidate.len().abs_diff(name.len()) <= most && candidate.len() <= LONGEST;
    let scored = candidates.into_iter().filter(near).map(|candidate| (distance(name, candidate), candidate));
    scored.filter(|(distance, _)| *distance <= most).min().map(|(_, candidate)| candidate)
}

/// Edit distance where a change of case or two swapped neighbours count as one edit.
fn distance(left: &str, right: &str) -> usize {
    if left.eq_ignore_ascii_case(right) {
        return usize::from(left != right);
    }
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
    rows[0] = (0..=right.len()).collect();
    for i in 1..=left.len() {
        rows[i][0] = i;
        for j in 1..=right.len() {
            let change = usize::from(left[i - 1] != right[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near() {
        let check = |name: &str, expected: Option<&str>| {
            let candidates = ["Vec3", "Color", "position", "string"];
            assert_eq!(closest(name, candidates), expected, "{name}");
        };
        check("Vec4", Some("Vec3"));
        check("vec3", Some("Vec3"));
        check("Colour", Some("Color"));
        check("positoin", Some("position"));
        check("String", Some("string"));
        check("Quaternion", None);
        check("V", None);
        check(&"V".repeat(1000), None);
    }

    #[test]
    fn codes_are_unique() {
        let mut texts: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Code::ALL.len());
    }
}
