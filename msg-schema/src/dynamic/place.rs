//! What stands at a position, by its type: the steps that values are read with.

use super::value::{ObjectValue, Value};
use super::{DecodeError, MAX_DEPTH, Payload, Reason};
use crate::model::{BaseType, Object, ObjectKind, Type};
use crate::wire::{Damage, Number, elements_at, number, structure_at, table_at, text_at};

/// A vector or a fixed array.
#[derive(Clone, Copy, Debug)]
pub struct VectorValue<'p> {
    at: At<'p>,
    meant: &'p Type,
    len: usize,
    stride: usize,
    /// Where the numbers of the members stand, for a vector of unions.
    numbers: Option<usize>,
}

impl<'p> VectorValue<'p> {
    /// The elements stand at `at`, `stride` bytes from one to the next.
    pub(super) fn new(at: At<'p>, meant: &'p Type, len: usize, stride: usize) -> Self {
        Self { at, meant, len, stride, numbers: None }
    }

    /// With the position of the numbers that say which members the elements are.
    pub(super) fn with_numbers(self, numbers: usize) -> Self {
        Self { numbers: Some(numbers), ..self }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes, if it is a vector of `ubyte`: what a nested buffer is read from.
    pub fn bytes(&self) -> Option<&'p [u8]> {
        let is_bytes = self.meant.element == BaseType::UByte && self.meant.base == BaseType::Vector;
        is_bytes.then(|| &self.at.payload.bytes[self.at.position..self.at.position + self.len])
    }

    /// The elements in order.
    pub fn iter(self) -> impl Iterator<Item = Result<Value<'p>, DecodeError>> {
        (0..self.len).map(move |index| {
            let value = self.at.payload.charge(1).and_then(|()| self.element(index));
            value.map_err(|reason| DecodeError::new(format!("{}[{index}]", self.meant.text()), reason))
        })
    }

    fn element(&self, index: usize) -> Result<Value<'p>, Reason> {
        let at = At { position: self.at.position + index * self.stride, ..self.at };
        if let Some(numbers) = self.numbers {
            let member = number::<u8>(self.at.payload.bytes, numbers + index)?;
            return at.member(self.meant, member);
        }
        at.element(self.meant)
    }
}

/// A position in a payload, and how deep in tables it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'p> {
    pub(super) payload: &'p Payload<'p>,
    pub(super) position: usize,
    pub(super) depth: u32,
}

impl<'p> At<'p> {
    fn number<N: Number>(self) -> Result<N, Damage> {
        number(self.payload.bytes, self.position)
    }

    pub(super) fn scalar(self, meant: &'p Type, base: BaseType) -> Result<Value<'p>, Reason> {
        let integer = match base {
            BaseType::Float => return Ok(Value::Float(self.number()?)),
            BaseType::Double => return Ok(Value::Double(self.number()?)),
            BaseType::Bool => return Ok(Value::Bool(self.number::<u8>()? != 0)),
            BaseType::Byte => i128::from(self.number::<i8>()?),
            BaseType::UByte | BaseType::UType => i128::from(self.number::<u8>()?),
            BaseType::Short => i128::from(self.number::<i16>()?),
            BaseType::UShort => i128::from(self.number::<u16>()?),
            BaseType::Int => i128::from(self.number::<i32>()?),
            BaseType::UInt => i128::from(self.number::<u32>()?),
            BaseType::Long => i128::from(self.number::<i64>()?),
            BaseType::ULong => i128::from(self.number::<u64>()?),
            _ => return Err(Reason::NotAType(meant.text())),
        };
        Ok(integer_value(self.payload, meant, integer))
    }

    /// What stands at a place within a struct.
    pub(super) fn in_struct(self, meant: &'p Type) -> Result<Value<'p>, Reason> {
        match meant.base {
            BaseType::Array => {
                let (len, stride) = (usize::from(meant.fixed_length), self.stride(meant));
                Ok(Value::Vector(VectorValue::new(self, meant, len, stride)))
            }
            BaseType::Obj => self.structure(meant),
            base => self.scalar(meant, base),
        }
    }

    /// Bytes from one element to the next.
    fn stride(self, meant: &Type) -> usize {
        let structure =
            self.payload.decoder.target_object(meant).filter(|object| object.kind == ObjectKind::Struct);
        match (meant.element, structure) {
            (BaseType::Obj, Some(object)) => object.byte_size as usize,
            (element, _) => element.size() as usize,
        }
    }

    fn structure(self, meant: &Type) -> Result<Value<'p>, Reason> {
        let object = self.payload.decoder.target_object(meant);
        let object = object.ok_or_else(|| Reason::NotAType(meant.text()))?;
        Ok(Value::Object(ObjectValue::of_struct(self.payload, object, self.position)))
    }

    pub(super) fn vector(self, meant: &'p Type) -> Result<Value<'p>, Reason> {
        let stride = self.stride(meant);
        let (position, len) = elements_at(self.payload.bytes, self.position, stride)?;
        Ok(Value::Vector(VectorValue::new(At { position, ..self }, meant, len, stride)))
    }

    fn element(self, meant: &'p Type) -> Result<Value<'p>, Reason> {
        let structure =
            self.payload.decoder.target_object(meant).filter(|object| object.kind == ObjectKind::Struct);
        match meant.element {
            BaseType::Obj if structure.is_some() => self.structure(meant),
            BaseType::Obj | BaseType::String => self.reference(meant),
            element => self.scalar(meant, element),
        }
    }

    /// A table or a string, which a reference at the position leads to.
    pub(super) fn reference(self, meant: &Type) -> Result<Value<'p>, Reason> {
        match self.payload.decoder.target_object(meant) {
            Some(object) => self.table(object).map(Value::Object),
            None => self.text().map(Value::String),
        }
    }

    fn text(self) -> Result<&'p str, Reason> {
        let text = text_at(self.payload.bytes, self.position)?;
        self.payload.charge(text.len())?;
        Ok(text)
    }

    fn table(self, object: &'p Object) -> Result<ObjectValue<'p>, Reason> {
        if self.depth >= MAX_DEPTH {
            return Err(Reason::Depth);
        }
        let table = table_at(self.payload.bytes, self.position)?;
        Ok(ObjectValue::of_table(self.payload, object, table, self.depth + 1))
    }

    /// A member of a union, which always stands behind a reference.
    pub(super) fn member(self, union: &Type, member: u8) -> Result<Value<'p>, Reason> {
        if member == 0 {
            return Ok(Value::Null);
        }
        let union = self.payload.decoder.target_enum(union).ok_or_else(|| Reason::NotAType(union.text()))?;
        let found = union.values.iter().find(|value| value.value == i64::from(member));
        let Some((value, meant)) = found.and_then(|value| Some((value, value.union_type.as_ref()?))) else {
            return Ok(Value::Unknown(member));
        };
        match self.payload.decoder.target_object(meant) {
            None => self.text().map(|text| Value::Text(value, text)),
            Some(object) if object.kind == ObjectKind::Table => {
                self.table(object).map(|table| Value::Member(value, table))
            }
            Some(object) => {
                let start = structure_at(self.payload.bytes, self.position, object.byte_size as usize)?;
                Ok(Value::Member(value, ObjectValue::of_struct(self.payload, object, start)))
            }
        }
    }
}

/// An integer as it is, or as a number of the enum that the type names.
pub(super) fn integer_value<'p>(payload: &'p Payload<'p>, meant: &'p Type, integer: i128) -> Value<'p> {
    match payload.decoder.target_enum(meant) {
        Some(enumeration) => Value::Enum(enumeration, integer),
        None => Value::Integer(integer),
    }
}
