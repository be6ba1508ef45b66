//! What changed from one schema to the next, and who can no longer read whom.
//!
//! | change | who breaks |
//! | --- | --- |
//! | field, enumerator, union member or type added, field deprecated | nobody |
//! | required field added, field becomes required, file identifier added | new readers of old data |
//! | field removed without a deprecated placeholder, field no longer required, file identifier removed | old readers of new data |
//! | field, enumerator or member renamed; enumerator, member or type removed; `key`, `bit_flags` | source code only |
//! | field moved, retyped, another default; anything in a struct's layout; enumerator renumbered; enum's number | all readers |
//!
//! All of it is over what is on the wire, with one exception: a field that goes away without a placeholder leaves its id to
//! the next field that comes, so that removing it is counted as breaking, as flatc counts it. An enumerator or a member
//! that a reader does not know reaches it as a number; that is no break, though a Rust field of a closed enum
//! type (rather than `Open`) refuses such messages.
//!
//! Two running programs that meet do not know which of them is older, so that for them a field that one of both
//! lacks is an addition of the other: [`conflict`] finds what makes one misread the other. It also refuses two names for
//! one place. A person who renames a field knows that it is the same; from the schemas alone nobody can tell that from two
//! branches that each added their own field at the end.

mod compare;
mod enums;

use std::fmt;

use crate::model::Schema;
use compare::Comparison;

/// Who can no longer do its work after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breaks {
    /// Nobody.
    Nobody,
    /// Source code has to be adapted when it meets the new schema; programs read each other as before.
    SourceCode,
    /// Readers with the old schema, on data from writers with the new one.
    OldReaders,
    /// Readers with the new schema, on data from writers with the old one.
    NewReaders,
    /// Readers with either schema, on data from writers with the other.
    AllReaders,
}

impl Breaks {
    /// Whether anybody reads an error or another value than was written.
    pub const fn any_reader(self) -> bool {
        matches!(self, Self::OldReaders | Self::NewReaders | Self::AllReaders)
    }
}

impl fmt::Display for Breaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobody => "breaks nobody",
            Self::SourceCode => "breaks source code only",
            Self::OldReaders => "breaks old readers of new data",
            Self::NewReaders => "breaks new readers of old data",
            Self::AllReaders => "breaks old and new readers",
        })
    }
}

/// What a change is about; its type is [`Change::type_name`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// The schema as a whole.
    Schema,
    /// The type itself.
    Type,
    /// A field of a table or a struct, by its name in the old schema if it has one there.
    Field(String),
    /// An enumerator, likewise.
    Enumerator(String),
    /// A member of a union, likewise.
    Member(String),
}

/// What happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone, and its place is free.
    Removed,
    /// It has another name, and else is what it was.
    Renamed,
    /// Something else stands in its place.
    Replaced,
    /// It has another id, or another offset in its struct.
    Moved,
    /// It has another type.
    Retyped,
    /// An absent one reads as another value.
    Default,
    /// It became required, or is no longer required.
    Required,
    /// It became deprecated, or is no longer deprecated.
    Deprecated,
    /// It became the key of its table, or is no longer the key.
    Key,
    /// The bytes in it are another type's buffer.
    Nested,
    /// It stands behind 64-bit offsets, or no longer does.
    Wide,
    /// The struct has another size or alignment.
    Layout,
    /// A table became a struct, an enum a union, or the like.
    Kind,
    /// The enumerator has another number.
    Renumbered,
    /// Another type of integer is behind the enum.
    Underlying,
    /// The enum became one of bit flags, or is no longer one.
    BitFlags,
    /// The schema has another root.
    Root,
    /// The schema has another file identifier.
    Identifier,
}

/// One change from an old schema to a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The type that it happened in, by its full name in the old schema if it is there; empty for the schema itself.
    pub type_name: String,
    /// What it happened to.
    pub subject: Subject,
    /// What happened.
    pub kind: ChangeKind,
    /// How it was, where that says more than the kind: `` `float` ``, `id 3`.
    pub old: String,
    /// How it is.
    pub new: String,
    /// Who breaks.
    pub breaks: Breaks,
    /// Whether two programs that meet, and do not know who is older, may misread each other.
    separates: bool,
}

impl Change {
    fn new(type_name: &str, subject: Subject, kind: ChangeKind, breaks: Breaks) -> Self {
        let (type_name, old, new) = (type_name.to_owned(), String::new(), String::new());
        Self { type_name, subject, kind, old, new, breaks, separates: breaks.any_reader() }
    }

    fn between(self, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self { old: old.into(), new: new.into(), ..self }
    }

    fn separating(self, separates: bool) -> Self {
        Self { separates, ..self }
    }

    /// A change of the default of a string or a vector, which binary schemas do not hold: for those who know the
    /// schemas' texts.
    pub fn of_default(type_name: &str, field: &str, old: &str, new: &str) -> Self {
        let subject = Subject::Field(field.to_owned());
        Self::new(type_name, subject, ChangeKind::Default, Breaks::AllReaders).between(old, new)
    }

    fn place(&self) -> String {
        let of = &self.type_name;
        match &self.subject {
            Subject::Schema => "the schema".to_owned(),
            Subject::Type => format!("type `{of}`"),
            Subject::Field(name) => format!("field `{name}` of `{of}`"),
            Subject::Enumerator(name) => format!("enumerator `{name}` of `{of}`"),
            Subject::Member(name) => format!("member `{name}` of `{of}`"),
        }
    }

    /// The change as the difference between two programs, one with the old schema (ours) and one with the new.
    fn difference(&self) -> String {
        let (place, old, new) = (self.place(), &self.old, &self.new);
        match self.kind {
            ChangeKind::Added => format!("{place}: theirs has it and requires it, ours does not"),
            ChangeKind::Removed => format!("{place}: ours has it and requires it, theirs does not"),
            ChangeKind::Renamed => format!("{place}: theirs has {new} in its place"),
            ChangeKind::Replaced => format!("{place}: ours is {old}, theirs has {new} in its place"),
            ChangeKind::Default => format!("{place}: the default of ours is {old}, of theirs {new}"),
            _ => format!("{place}: ours is {old}, theirs is {new}"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, old, new) = (self.place(), &self.old, &self.new);
        match self.kind {
            ChangeKind::Added if new.is_empty() => write!(f, "{place}: added"),
            ChangeKind::Added => write!(f, "{place}: added, {new}"),
            ChangeKind::Removed => write!(f, "{place}: removed"),
            ChangeKind::Renamed => write!(f, "{place}: renamed to {new}"),
            ChangeKind::Replaced => write!(f, "{place}: was {old}, its place is taken by {new}"),
            ChangeKind::Moved => write!(f, "{place}: moved from {old} to {new}"),
            ChangeKind::Retyped => write!(f, "{place}: type changed from {old} to {new}"),
            ChangeKind::Default => write!(f, "{place}: default changed from {old} to {new}"),
            ChangeKind::Renumbered => write!(f, "{place}: number changed from {old} to {new}"),
            ChangeKind::Root => write!(f, "{place}: root changed from {old} to {new}"),
            ChangeKind::Identifier => write!(f, "{place}: file identifier changed from {old} to {new}"),
            _ => write!(f, "{place}: was {old}, is {new}"),
        }
    }
}

/// Every change between all types of two schemas, and in what the schemas say beside them. Types go by their names.
///
/// ```
/// # use msg_schema::{changes, BaseType, Breaks, Field, Object, Schema, Type};
/// # let schema = |names: &[&str]| {
/// #     let field = |(id, name): (u16, &&str)| Field {
/// #         name: (*name).to_owned(), field_type: Type::plain(BaseType::Float), id, ..Field::default()
/// #     };
/// #     let fields = (0..).zip(names).map(field).collect();
/// #     Schema { objects: vec![Object { name: "demo.Imu".into(), fields, ..Object::default() }], ..Schema::default() }
/// # };
/// let (old, new) = (schema(&["x", "y"]), schema(&["x", "y", "z"]));
/// let found = changes(&old, &new);
/// assert_eq!(found[0].to_string(), "field `z` of `demo.Imu`: added");
/// assert_eq!(found[0].breaks, Breaks::Nobody);
/// let found = changes(&new, &old);
/// assert_eq!(found[0].breaks, Breaks::OldReaders);
/// ```
pub fn changes(old: &Schema, new: &Schema) -> Vec<Change> {
    let mut comparison = Comparison::by_name(old, new);
    comparison.heads();
    comparison.all_types();
    comparison.found
}

/// Every change between the roots of two schemas and all that they refer to, those nearest to the root first. The roots
/// may have different names.
pub fn root_changes(old: &Schema, new: &Schema) -> Vec<Change> {
    let mut comparison = Comparison::from_roots(old, new);
    comparison.heads();
    comparison.reachable_types();
    comparison.found
}

/// What makes a program with one schema misread one with the other, in words that name the field; `None` if both read
/// each other, which they also do when one of them has fields, enumerators or members that the other does not know.
///
/// ```
/// # use msg_schema::{conflict, BaseType, Field, Object, Schema, Type};
/// # let schema = |types: &[BaseType]| {
/// #     let field = |(id, base): (u16, &BaseType)| Field {
/// #         name: format!("f{id}"), field_type: Type::plain(*base), id, ..Field::default()
/// #     };
/// #     let fields = (0..).zip(types).map(field).collect();
/// #     let object = Object { name: "demo.Imu".into(), fields, ..Object::default() };
/// #     Schema { objects: vec![object], root: Some("demo.Imu".into()), ..Schema::default() }
/// # };
/// let old = schema(&[BaseType::Float]);
/// assert_eq!(conflict(&old, &schema(&[BaseType::Float, BaseType::Int])), None);
/// let text = conflict(&old, &schema(&[BaseType::Double])).unwrap();
/// assert_eq!(text, "field `f0` of `demo.Imu`: ours is `float`, theirs is `double`");
/// ```
pub fn conflict(ours: &Schema, theirs: &Schema) -> Option<String> {
    let found = root_changes(ours, theirs);
    found.iter().find(|change| change.separates).map(Change::difference)
}
