//! The values of a payload: cursors that read a step at a time.

use super::place::{At, VectorValue, integer_value};
use std::cell::Cell;

use super::{DecodeError, MAX_DEPTH, Payload, Reason};
use crate::model::{BaseType, Enum, EnumValue, Field, Object, ObjectKind};
use crate::wire::{Table, elements_at};

/// What stands in a field or in an element of a vector.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Value<'p> {
    /// An optional scalar, a string, a vector, a table or a union that is absent.
    Null,
    /// A boolean.
    Bool(bool),
    /// Any integer.
    Integer(i128),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// The number of an enum, which need not be among its enumerators, or that of a union's member.
    Enum(&'p Enum, i128),
    /// A string.
    String(&'p str),
    /// A vector or a fixed array.
    Vector(VectorValue<'p>),
    /// A table or a struct.
    Object(ObjectValue<'p>),
    /// A member of a union: an object.
    Member(&'p EnumValue, ObjectValue<'p>),
    /// A member of a union: a string.
    Text(&'p EnumValue, &'p str),
    /// A member of a union that the schema does not know.
    Unknown(u8),
}

/// A table or a struct.
#[derive(Clone, Copy, Debug)]
pub struct ObjectValue<'p> {
    payload: &'p Payload<'p>,
    object: &'p Object,
    place: Place<'p>,
    depth: u32,
}

#[derive(Clone, Copy, Debug)]
enum Place<'p> {
    Table(Table<'p>),
    Struct { start: usize },
}

impl<'p> ObjectValue<'p> {
    pub(super) fn of_struct(payload: &'p Payload<'p>, object: &'p Object, start: usize) -> Self {
        Self { payload, object, place: Place::Struct { start }, depth: 0 }
    }

    pub(super) fn of_table(
        payload: &'p Payload<'p>,
        object: &'p Object,
        table: Table<'p>,
        depth: u32,
    ) -> Self {
        Self { payload, object, place: Place::Table(table), depth }
    }

    /// What the schema says of it.
    pub fn object(&self) -> &'p Object {
        self.object
    }

    /// Its fields in the schema's order, each with its value. An absent scalar has its default.
    pub fn fields(self) -> impl Iterator<Item = Result<(&'p Field, Value<'p>), DecodeError>> {
        self.object.fields.iter().map(move |field| Ok((field, self.field(field)?)))
    }

    /// The value of the field of that name; `None` if the schema has no such field.
    ///
    /// # Errors
    /// The payload is damaged there, or much larger inside than its bytes.
    pub fn get(&self, name: &str) -> Result<Option<Value<'p>>, DecodeError> {
        let field = self.object.fields.iter().find(|field| field.name == name);
        field.map(|field| self.field(field)).transpose()
    }

    /// Whether the payload itself has the field, rather than the schema its default.
    pub(crate) fn is_present(&self, field: &Field) -> Result<bool, DecodeError> {
        let Place::Table(table) = self.place else { return Ok(true) };
        let found = table.field(field.id, 0).map_err(|damage| {
            DecodeError::new(format!("{}.{}", self.object.name, field.name), Reason::Damage(damage))
        })?;
        Ok(found.is_some())
    }

    /// Gives the buffer that is nested in the bytes of a field to `read`; `None` if there is none to be read. It takes
    /// from the same budget, and counts as deep as it lies.
    pub(crate) fn with_nested<R>(
        &self,
        field: &Field,
        vector: VectorValue<'p>,
        read: impl FnOnce(ObjectValue<'_>) -> R,
    ) -> Option<R> {
        let outer = self.payload;
        let root = outer.decoder.nested(&self.object.name, field)?;
        let (bytes, left) = (vector.bytes()?, Cell::new(outer.left.get()));
        let depth = self.depth;
        if depth >= MAX_DEPTH || root.kind == ObjectKind::Struct {
            return None;
        }
        let payload = Payload { decoder: outer.decoder, root, bytes, limit: outer.limit, left, depth };
        let result = payload.root().ok().map(read);
        outer.left.set(payload.left.get());
        result
    }

    fn field(&self, field: &'p Field) -> Result<Value<'p>, DecodeError> {
        let value = self.payload.charge(1).and_then(|()| match self.place {
            Place::Struct { start } => {
                let at = At { payload: self.payload, position: start + usize::from(field.offset), depth: 0 };
                at.in_struct(&field.field_type)
            }
            Place::Table(table) => self.table_field(&table, field),
        });
        value.map_err(|reason| DecodeError::new(format!("{}.{}", self.object.name, field.name), reason))
    }

    fn table_field(&self, table: &Table<'p>, field: &'p Field) -> Result<Value<'p>, Reason> {
        let meant = &field.field_type;
        if field.offset64 || meant.base == BaseType::Vector64 {
            return Err(Reason::Wide);
        }
        let at = |position| At { payload: self.payload, position, depth: self.depth };
        if meant.base.is_scalar() {
            let position = table.field(field.id, meant.base.size() as usize)?;
            return position
                .map_or_else(|| Ok(default(self.payload, field)), |at_| at(at_).scalar(meant, meant.base));
        }
        let in_place = self
            .payload
            .decoder
            .target_object(meant)
            .filter(|object| meant.base == BaseType::Obj && object.kind == ObjectKind::Struct);
        if let Some(object) = in_place {
            let position = table.field(field.id, object.byte_size as usize)?;
            let value = |start| Value::Object(ObjectValue::of_struct(self.payload, object, start));
            return self.or_absent(field, position.map(value));
        }
        let Some(position) = table.field(field.id, 4)? else { return self.or_absent(field, None) };
        match (meant.base, meant.element) {
            (BaseType::Union, _) => self.union(table, field, at(position)),
            (BaseType::Vector, BaseType::Union) => self.unions(table, field, at(position)),
            (BaseType::Vector, _) => at(position).vector(meant),
            (BaseType::String | BaseType::Obj, _) => at(position).reference(meant),
            _ => Err(Reason::NotAType(meant.text())),
        }
    }

    fn or_absent(&self, field: &Field, value: Option<Value<'p>>) -> Result<Value<'p>, Reason> {
        match value {
            None if field.required => Err(Reason::Required),
            value => Ok(value.unwrap_or(Value::Null)),
        }
    }

    fn union(&self, table: &Table<'p>, field: &'p Field, at: At<'p>) -> Result<Value<'p>, Reason> {
        let member = table.number::<u8>(number_id(field)?, 0)?;
        at.member(&field.field_type, member)
    }

    fn unions(&self, table: &Table<'p>, field: &'p Field, at: At<'p>) -> Result<Value<'p>, Reason> {
        let bytes = self.payload.bytes;
        let (start, len) = elements_at(bytes, at.position, 4)?;
        let numbers = match table.field(number_id(field)?, 4)? {
            Some(position) => elements_at(bytes, position, 1)?,
            None => (0, 0),
        };
        if numbers.1 != len {
            return Err(Reason::UnionLengths { numbers: numbers.1, values: len });
        }
        let stride = 4;
        let at = At { position: start, ..at };
        Ok(Value::Vector(VectorValue::new(at, &field.field_type, len, stride).with_numbers(numbers.0)))
    }
}

/// Where the number of a union's member stands: before the union.
fn number_id(field: &Field) -> Result<u16, Reason> {
    field.id.checked_sub(1).ok_or_else(|| Reason::NotAType(format!("{} with id 0", field.field_type.text())))
}

fn default<'p>(payload: &'p Payload<'p>, field: &'p Field) -> Value<'p> {
    let (base, integer) = (field.field_type.base, field.default_integer);
    let unsigned = if base.is_unsigned() { i128::from(integer as u64) } else { i128::from(integer) };
    match base {
        _ if field.optional => Value::Null,
        BaseType::Float => Value::Float(field.default_real as f32),
        BaseType::Double => Value::Double(field.default_real),
        BaseType::Bool => Value::Bool(integer != 0),
        _ => integer_value(payload, &field.field_type, unsigned),
    }
}
