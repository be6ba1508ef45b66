//! Payloads read with nothing but their schema: what a tool does that has never seen the type.
//!
//! A [`Decoder`] checks a schema once; a [`Payload`] is one buffer read with it, a step at a time. Every step checks
//! the bytes it touches, so that a damaged payload gives an error where it is damaged, and takes from a budget, since a
//! small buffer may refer to one table from a million places. Schema and payload may both come from anybody.

mod check;
mod place;
mod value;

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

pub use place::VectorValue;
pub use value::{ObjectValue, Value};

use crate::model::{BaseType, Enum, Field, Object, ObjectKind, Schema, Type};
use crate::wire::{Damage, table_at};

/// Tables within tables, as deep as the message path reads them.
pub(crate) const MAX_DEPTH: u32 = 64;
/// Steps and bytes of text for each byte of a payload, and at least.
const WORK_PER_BYTE: usize = 16;
const WORK_FLOOR: usize = 1 << 20;

/// Why a payload cannot be read with a schema, or nothing can be read with it; its text says what was found and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The type, or the field with its type before it.
    place: String,
    reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    Damage(Damage),
    NoRoot,
    Missing(String),
    NotInStruct(String),
    Overlap,
    NotAType(String),
    Wide,
    Size { found: usize, expected: usize },
    Depth,
    Budget { limit: usize },
    Required,
    UnionLengths { numbers: usize, values: usize },
    Text { limit: usize },
}

impl DecodeError {
    fn new(place: impl Into<String>, reason: Reason) -> Self {
        Self { place: place.into(), reason }
    }

    /// The text of a payload is longer than this.
    pub(crate) fn of_text(limit: usize) -> Self {
        Self::new("", Reason::Text { limit })
    }
}

impl From<Damage> for Reason {
    fn from(damage: Damage) -> Self {
        Self::Damage(damage)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::NoRoot => return f.write_str("the schema has no root: name the type to read"),
            Reason::Text { limit } => {
                return write!(
                    f,
                    "the text is longer than {limit} bytes, which no payload of this size needs"
                );
            }
            _ => {}
        }
        write!(f, "`{}`: ", self.place)?;
        match &self.reason {
            Reason::NoRoot | Reason::Text { .. } => Ok(()),
            Reason::Damage(damage) => damage.fmt(f),
            Reason::Missing(name) => write!(f, "the schema has no type `{name}`"),
            Reason::NotInStruct(text) => write!(f, "`{text}` cannot stand in a struct"),
            Reason::Overlap => f.write_str("the fields of the struct overlap or reach past its end"),
            Reason::NotAType(text) => write!(f, "the schema says `{text}`, which no field can be"),
            Reason::Wide => f.write_str("it is behind a 64-bit offset, which is not read here"),
            Reason::Size { found, expected } => write!(f, "found {found} bytes, expected {expected}"),
            Reason::Depth => write!(f, "it is nested more than {MAX_DEPTH} deep"),
            Reason::Budget { limit } => {
                write!(f, "reading takes more than {limit} steps, which no payload of this size needs")
            }
            Reason::Required => f.write_str("the field is required, but absent"),
            Reason::UnionLengths { numbers, values } => {
                write!(f, "found {numbers} numbers for {values} values in a vector of unions")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// A schema with which payloads can be read: its names lead somewhere, and its structs have a sound layout.
#[derive(Clone, Debug)]
pub struct Decoder<'s> {
    schema: &'s Schema,
    objects: HashMap<&'s str, &'s Object>,
    enums: HashMap<&'s str, &'s Enum>,
}

impl<'s> Decoder<'s> {
    /// Checks the schema, once for all payloads.
    ///
    /// # Errors
    /// A type that the schema does not hold, or a struct whose fields do not fit into it.
    pub fn new(schema: &'s Schema) -> Result<Self, DecodeError> {
        let decoder = Self {
            schema,
            objects: schema.objects.iter().map(|object| (object.name.as_str(), object)).collect(),
            enums: schema.enums.iter().map(|one| (one.name.as_str(), one)).collect(),
        };
        check::schema(&decoder)?;
        Ok(decoder)
    }

    /// A payload whose root is the schema's.
    ///
    /// # Errors
    /// The schema has no root, or the payload of a plain root has another size than it.
    pub fn payload<'p>(&'p self, bytes: &'p [u8]) -> Result<Payload<'p>, DecodeError> {
        let root = self.schema.root.as_deref().ok_or_else(|| DecodeError::new("", Reason::NoRoot))?;
        self.payload_of(root, bytes)
    }

    /// A payload whose root is the type of that name: for schemas without a root, and for buffers nested in others.
    ///
    /// # Errors
    /// The schema has no such type, or the payload of a plain root has another size than it.
    pub fn payload_of<'p>(&'p self, root: &str, bytes: &'p [u8]) -> Result<Payload<'p>, DecodeError> {
        let root =
            self.object(root).ok_or_else(|| DecodeError::new(root, Reason::Missing(root.to_owned())))?;
        if root.kind == ObjectKind::Struct && bytes.len() != root.byte_size as usize {
            let reason = Reason::Size { found: bytes.len(), expected: root.byte_size as usize };
            return Err(DecodeError::new(&root.name, reason));
        }
        let limit = bytes.len().saturating_mul(WORK_PER_BYTE).saturating_add(WORK_FLOOR);
        Ok(Payload { decoder: self, root, bytes, limit, left: Cell::new(limit), depth: 0 })
    }

    pub(crate) fn schema(&self) -> &'s Schema {
        self.schema
    }

    pub(crate) fn object(&self, name: &str) -> Option<&'s Object> {
        self.objects.get(name).copied()
    }

    pub(crate) fn target_object(&self, meant: &Type) -> Option<&'s Object> {
        meant.target.as_deref().and_then(|name| self.object(name))
    }

    pub(crate) fn target_enum(&self, meant: &Type) -> Option<&'s Enum> {
        meant.target.as_deref().and_then(|name| self.enums.get(name).copied())
    }

    /// The table whose buffer is in the bytes of a field, if its schema says so. The name may lack namespaces that the
    /// table `of` is in.
    pub(crate) fn nested(&self, of: &str, field: &Field) -> Option<&'s Object> {
        let attribute = field.attributes.iter().find(|(key, _)| key == "nested_flatbuffer");
        let (_, name) = attribute.filter(|_| field.field_type.element == BaseType::UByte)?;
        let mut scope = of;
        while let Some((outer, _)) = scope.rsplit_once('.') {
            if let Some(found) = self.object(&format!("{outer}.{name}")) {
                return Some(found);
            }
            scope = outer;
        }
        self.object(name)
    }
}

/// One buffer that is being read.
#[derive(Clone, Debug)]
pub struct Payload<'p> {
    decoder: &'p Decoder<'p>,
    root: &'p Object,
    bytes: &'p [u8],
    limit: usize,
    /// Steps that may still be taken; whatever refers to this payload takes from it.
    left: Cell<usize>,
    /// Tables around it, if it is nested in another payload.
    depth: u32,
}

impl<'p> Payload<'p> {
    /// The root, a table or (plain) a struct.
    ///
    /// # Errors
    /// The payload does not begin with a table.
    pub fn root(&'p self) -> Result<ObjectValue<'p>, DecodeError> {
        if self.root.kind == ObjectKind::Struct {
            return Ok(ObjectValue::of_struct(self, self.root, 0));
        }
        let table = table_at(self.bytes, 0);
        let table = table.map_err(|damage| DecodeError::new(&self.root.name, Reason::Damage(damage)))?;
        Ok(ObjectValue::of_table(self, self.root, table, self.depth + 1))
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    fn charge(&self, steps: usize) -> Result<(), Reason> {
        let left = self.left.get().checked_sub(steps).ok_or(Reason::Budget { limit: self.limit })?;
        self.left.set(left);
        Ok(())
    }
}
