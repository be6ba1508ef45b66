//! The bytes of a `.bfbs` file as the model: indices become names, and what does not fit together is refused.
//!
//! The bytes may come from anybody. Every offset is checked, the format nests only four tables deep, and what the
//! model takes in memory is charged to a budget: FlatBuffers may refer to one string from a million places.

use std::fmt;

use crate::format::{self, attribute, enumeration, field, object, schema, types, value};
use crate::model::{BaseType, Enum, EnumValue, Field, Object, ObjectKind, Schema, Type};
use crate::wire::{Damage, Table, Vector, root};

/// Why bytes are not a binary schema; its text says what was found, where, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError(Reason);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    Damage(Damage),
    Missing { what: &'static str },
    BaseType { number: u8 },
    Index { index: i32, len: usize },
    NoIndex,
    Duplicate { name: String },
    Root { name: String },
    Budget { limit: usize },
}

impl From<Damage> for ReadError {
    fn from(damage: Damage) -> Self {
        Self(Reason::Damage(damage))
    }
}

impl From<Reason> for ReadError {
    fn from(reason: Reason) -> Self {
        Self(reason)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a binary schema: ")?;
        match &self.0 {
            Reason::Damage(damage) => damage.fmt(f),
            Reason::Missing { what } => write!(f, "{what} is missing"),
            Reason::BaseType { number } => write!(f, "{number} is no base type, expected 0 to 18"),
            Reason::Index { index, len } => {
                write!(f, "a type refers to entry {index}, but there are {len}")
            }
            Reason::NoIndex => f.write_str("a type is an object or a union, but does not say which"),
            Reason::Duplicate { name } => write!(f, "`{name}` is defined twice"),
            Reason::Root { name } => write!(f, "the root `{name}` is not among the objects"),
            Reason::Budget { limit } => {
                write!(
                    f,
                    "it would take more than {limit} bytes of memory, which no schema of this size needs"
                )
            }
        }
    }
}

impl std::error::Error for ReadError {}

impl Schema {
    /// The schema that the bytes of a `.bfbs` file hold.
    ///
    /// Objects and enums come in the order of their names, fields in that of their ids. Services and the names of
    /// source files are no part of the model.
    ///
    /// # Errors
    /// The bytes are damaged, refer to types they do not hold, or would take far more memory than a schema of their
    /// size does.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let table = root(bytes, format::IDENTIFIER)?;
        let limit = bytes.len().saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_FLOOR);
        let mut input = Input { left: limit, limit, objects: Vec::new(), enums: Vec::new() };
        input.schema(&table)
    }
}

/// A model takes 3 to 5 times the bytes of the file it was read from; more than this is an attack.
const MEMORY_PER_BYTE: usize = 16;
const MEMORY_FLOOR: usize = 1 << 20;

/// What is read against: the names by index, and the memory that may still be taken.
struct Input<'a> {
    left: usize,
    limit: usize,
    objects: Vec<&'a str>,
    enums: Vec<&'a str>,
}

impl<'a> Input<'a> {
    fn schema(&mut self, table: &Table<'a>) -> Result<Schema, ReadError> {
        let objects = table.vector(schema::OBJECTS)?;
        let enums = table.vector(schema::ENUMS)?;
        self.objects = self.names(objects, object::NAME)?;
        self.enums = self.names(enums, enumeration::NAME)?;
        self.check_unique()?;
        let mut result = Schema {
            objects: self.each(objects, Self::object)?,
            enums: self.each(enums, Self::enumeration)?,
            file_identifier: self.string(table, schema::FILE_IDENTIFIER)?.unwrap_or_default(),
            file_extension: self.string(table, schema::FILE_EXTENSION)?.unwrap_or_default(),
            root: None,
            advanced_features: table.number(schema::ADVANCED_FEATURES, 0)?,
        };
        if let Some(root) = table.table(schema::ROOT)? {
            let name = self.required(&root, object::NAME, "the root's name")?;
            if !self.objects.contains(&name.as_str()) {
                return Err(Reason::Root { name }.into());
            }
            result.root = Some(name);
        }
        result.objects.sort_by(|one, other| one.name.cmp(&other.name));
        result.enums.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(result)
    }

    fn object(&mut self, table: &Table<'a>) -> Result<Object, ReadError> {
        let is_struct = table.number::<u8>(object::IS_STRUCT, 0)? != 0;
        let mut fields = self.each(table.vector(object::FIELDS)?, Self::field)?;
        fields.sort_by_key(|field| field.id);
        Ok(Object {
            name: self.required(table, object::NAME, "an object's name")?,
            kind: if is_struct { ObjectKind::Struct } else { ObjectKind::Table },
            fields,
            min_align: table.number(object::MIN_ALIGN, 0)?,
            byte_size: table.number(object::BYTE_SIZE, 0)?,
            attributes: self.attributes(table, object::ATTRIBUTES)?,
            documentation: self.documentation(table, object::DOCUMENTATION)?,
        })
    }

    fn field(&mut self, table: &Table<'a>) -> Result<Field, ReadError> {
        let field_type = table.table(field::TYPE)?.ok_or(Reason::Missing { what: "a field's type" })?;
        Ok(Field {
            name: self.required(table, field::NAME, "a field's name")?,
            field_type: self.type_of(&field_type)?,
            id: table.number(field::ID, 0)?,
            offset: table.number(field::OFFSET, 0)?,
            default_integer: table.number(field::DEFAULT_INTEGER, 0)?,
            default_real: table.number(field::DEFAULT_REAL, 0.0)?,
            deprecated: flag(table, field::DEPRECATED)?,
            required: flag(table, field::REQUIRED)?,
            key: flag(table, field::KEY)?,
            optional: flag(table, field::OPTIONAL)?,
            padding: table.number(field::PADDING, 0)?,
            attributes: self.attributes(table, field::ATTRIBUTES)?,
            documentation: self.documentation(table, field::DOCUMENTATION)?,
            offset64: flag(table, field::OFFSET64)?,
        })
    }

    fn enumeration(&mut self, table: &Table<'a>) -> Result<Enum, ReadError> {
        let underlying = table.table(enumeration::UNDERLYING)?;
        let underlying = underlying.ok_or(Reason::Missing { what: "the number behind an enum" })?;
        let mut result = Enum {
            name: self.required(table, enumeration::NAME, "an enum's name")?,
            values: self.each(table.vector(enumeration::VALUES)?, Self::value)?,
            is_union: flag(table, enumeration::IS_UNION)?,
            underlying: self.type_of(&underlying)?,
            attributes: self.attributes(table, enumeration::ATTRIBUTES)?,
            documentation: self.documentation(table, enumeration::DOCUMENTATION)?,
        };
        result.sort_values();
        Ok(result)
    }

    fn value(&mut self, table: &Table<'a>) -> Result<EnumValue, ReadError> {
        let union_type = match table.table(value::UNION_TYPE)? {
            Some(member) => Some(self.type_of(&member)?).filter(|member| member.base != BaseType::None),
            None => None,
        };
        Ok(EnumValue {
            name: self.required(table, value::NAME, "an enumerator's name")?,
            value: table.number(value::VALUE, 0)?,
            union_type,
            attributes: self.attributes(table, value::ATTRIBUTES)?,
            documentation: self.documentation(table, value::DOCUMENTATION)?,
        })
    }

    fn type_of(&mut self, table: &Table<'a>) -> Result<Type, ReadError> {
        let mut meant = Type {
            base: base_type(table.number(types::BASE, 0)?)?,
            element: base_type(table.number(types::ELEMENT, 0)?)?,
            target: None,
            fixed_length: table.number(types::FIXED_LENGTH, 0)?,
            base_size: table.number(types::BASE_SIZE, types::DEFAULT_BASE_SIZE)?,
            element_size: table.number(types::ELEMENT_SIZE, 0)?,
        };
        let index = table.number(types::INDEX, types::NO_INDEX)?;
        if index != types::NO_INDEX {
            let names = if meant.names_object() { &self.objects } else { &self.enums };
            let name = usize::try_from(index).ok().and_then(|index| names.get(index).copied());
            let name = name.ok_or(Reason::Index { index, len: names.len() })?;
            self.charge(name.len())?;
            meant.target = Some(name.to_owned());
        } else if meant.needs_name() {
            return Err(Reason::NoIndex.into());
        }
        Ok(meant)
    }

    fn attributes(&mut self, table: &Table<'a>, slot: u16) -> Result<Vec<(String, String)>, ReadError> {
        let mut attributes = self.each(table.vector(slot)?, |input, table| {
            let key = input.required(table, attribute::KEY, "an attribute's name")?;
            Ok((key, input.string(table, attribute::VALUE)?.unwrap_or_default()))
        })?;
        attributes.sort();
        Ok(attributes)
    }

    fn documentation(&mut self, table: &Table<'a>, slot: u16) -> Result<Vec<String>, ReadError> {
        let lines = table.vector(slot)?;
        self.charge(lines.len().saturating_mul(size_of::<String>()))?;
        let mut result = Vec::with_capacity(lines.len());
        for line in lines.strings() {
            let line = line?;
            self.charge(line.len())?;
            // flatc copies comments as they stand in the file, in whatever encoding.
            result.push(String::from_utf8_lossy(line).into_owned());
        }
        Ok(result)
    }

    /// The names that indices stand for; kept as borrowed text, so they cost eight bytes of memory for four of input.
    fn names(&mut self, tables: Vector<'a>, slot: u16) -> Result<Vec<&'a str>, ReadError> {
        self.charge(tables.len().saturating_mul(size_of::<&str>()))?;
        let missing = Reason::Missing { what: "the name of a type" };
        tables.tables().map(|table| Ok(table?.string(slot)?.ok_or_else(|| missing.clone())?)).collect()
    }

    fn check_unique(&self) -> Result<(), ReadError> {
        let mut names: Vec<&str> = self.objects.iter().chain(&self.enums).copied().collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Reason::Duplicate { name: pair[0].to_owned() }.into()),
            None => Ok(()),
        }
    }

    fn each<T>(
        &mut self,
        tables: Vector<'a>,
        read: impl Fn(&mut Self, &Table<'a>) -> Result<T, ReadError>,
    ) -> Result<Vec<T>, ReadError> {
        self.charge(tables.len().saturating_mul(size_of::<T>()))?;
        let mut items = Vec::with_capacity(tables.len());
        for table in tables.tables() {
            items.push(read(self, &table?)?);
        }
        Ok(items)
    }

    fn required(&mut self, table: &Table<'a>, slot: u16, what: &'static str) -> Result<String, ReadError> {
        Ok(self.string(table, slot)?.ok_or(Reason::Missing { what })?)
    }

    fn string(&mut self, table: &Table<'a>, slot: u16) -> Result<Option<String>, ReadError> {
        let Some(text) = table.string(slot)? else { return Ok(None) };
        self.charge(text.len())?;
        Ok(Some(text.to_owned()))
    }

    fn charge(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.left = self.left.checked_sub(bytes).ok_or(Reason::Budget { limit: self.limit })?;
        Ok(())
    }
}

fn flag(table: &Table<'_>, slot: u16) -> Result<bool, ReadError> {
    Ok(table.number::<u8>(slot, 0)? != 0)
}

fn base_type(number: u8) -> Result<BaseType, ReadError> {
    let found = BaseType::ALL.get(usize::from(number)).copied();
    Ok(found.ok_or(Reason::BaseType { number })?)
}
