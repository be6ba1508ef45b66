//! The syntax tree: what a schema file says, with spans, before any name means anything.

use crate::diagnostic::{FileId, Span};

/// One schema file.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// Names of included files, as written.
    pub(crate) includes: Vec<Text>,
    /// The files that the includes turned out to be, filled in by the loader.
    pub(crate) included: Vec<FileId>,
    /// Everything else, in order.
    pub(crate) items: Vec<Item>,
    /// Something could not be read or parsed: a name that seems missing may have been in there.
    pub(crate) broken: bool,
}

/// A name, with its place.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// Names joined by dots.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) names: Vec<Name>,
    pub(crate) span: Span,
}

impl Path {
    /// The path as it is written, without blanks.
    pub(crate) fn text(&self) -> String {
        let names: Vec<&str> = self.names.iter().map(|name| name.text.as_str()).collect();
        names.join(".")
    }
}

/// A string literal, its escapes resolved.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) value: String,
    pub(crate) span: Span,
}

/// Lines of a doc comment without their slashes.
pub(crate) type Documentation = Vec<String>;

/// A declaration.
#[derive(Debug)]
pub(crate) enum Item {
    /// `namespace a.b;`, or `namespace;` with no names.
    Namespace(Vec<Name>),
    /// `table` or `struct`.
    Object(Object),
    /// `enum`.
    Enum(Enum),
    /// `union`.
    Union(Union),
    /// `root_type T;`
    RootType(Path),
    /// `file_identifier "ABCD";`
    FileIdentifier(Text),
    /// `file_extension "ext";`
    FileExtension(Text),
    /// `attribute "name";`
    Attribute(Text),
    /// `rpc_service`.
    Service(Service),
    /// `native_include "x.h";`
    NativeInclude(Span),
}

/// Which of the two kinds of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Table,
    Struct,
}

/// A table or a struct.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) kind: ObjectKind,
    pub(crate) name: Name,
    pub(crate) documentation: Documentation,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) fields: Vec<Field>,
    /// A field could not be parsed, so nothing can be said about the whole.
    pub(crate) broken: bool,
}

/// A field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Name,
    pub(crate) documentation: Documentation,
    pub(crate) field_type: Type,
    pub(crate) default: Option<Value>,
    pub(crate) attributes: Vec<Attribute>,
}

/// A type as written.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub(crate) shape: Shape,
    /// The name in it: `T` of `T`, `[T]` and `[T:N]`.
    pub(crate) name: Path,
    pub(crate) span: Span,
}

/// What is around a type's name.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// `T`
    Bare,
    /// `[T]`
    Vector,
    /// `[T:N]`, with `N` as written.
    Array(Text),
}

/// `name` or `name: value` in parentheses.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: Name,
    pub(crate) value: Option<Value>,
}

/// A default or an attribute's value.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) kind: ValueKind,
    pub(crate) span: Span,
}

impl Value {
    /// `null`, which is a name like any other to the parser.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, ValueKind::Name(name) if name == "null")
    }
}

/// The forms of values.
#[derive(Clone, Debug)]
pub(crate) enum ValueKind {
    /// A number without fraction or exponent, as written.
    Integer(String),
    /// A number with one of them, as written.
    Float(String),
    /// A string.
    Text(String),
    /// A name, perhaps with dots, perhaps with a sign (`-inf`).
    Name(String),
    /// `[]`
    EmptyVector,
    /// `sin(rad(30))`: the names, the outermost first, and the argument, which is none of this kind.
    Function(Vec<String>, Box<Value>),
}

/// An enum.
#[derive(Debug)]
pub(crate) struct Enum {
    pub(crate) name: Name,
    pub(crate) documentation: Documentation,
    /// The type after the colon; `None` after a mistake that was reported.
    pub(crate) underlying: Option<Type>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) values: Vec<Enumerator>,
    /// An enumerator could not be parsed.
    pub(crate) broken: bool,
}

/// An enumerator.
#[derive(Debug)]
pub(crate) struct Enumerator {
    pub(crate) name: Name,
    pub(crate) documentation: Documentation,
    /// The number as written.
    pub(crate) value: Option<Text>,
    pub(crate) attributes: Vec<Attribute>,
}

/// A union.
#[derive(Debug)]
pub(crate) struct Union {
    pub(crate) name: Name,
    pub(crate) documentation: Documentation,
    pub(crate) underlying: Option<Type>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) members: Vec<Member>,
    /// A member could not be parsed.
    pub(crate) broken: bool,
}

/// A member of a union: a type, or a name for one.
#[derive(Debug)]
pub(crate) struct Member {
    /// What stands before the colon, or the type itself.
    pub(crate) name: Path,
    pub(crate) documentation: Documentation,
    /// What stands after the colon.
    pub(crate) member_type: Option<Type>,
    pub(crate) value: Option<Text>,
    pub(crate) attributes: Vec<Attribute>,
}

/// An `rpc_service`.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) name: Name,
    pub(crate) methods: Vec<Method>,
    /// A procedure could not be parsed.
    pub(crate) broken: bool,
}

/// A procedure of a service.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: Name,
    pub(crate) request: Path,
    pub(crate) response: Path,
    pub(crate) attributes: Vec<Attribute>,
}
