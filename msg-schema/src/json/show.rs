//! From a payload to its text.

use std::fmt::Write as _;

use super::{FLOOR, JsonLayout, TEXT_PER_BYTE, attributes, scalar};
use crate::dynamic::{DecodeError, ObjectValue, Payload, Value, VectorValue};
use crate::flexbuffer::{self, Flex};
use crate::model::Field;

impl Payload<'_> {
    /// The payload as JSON text, in the form that flatc gives it; the rules are in the documentation of the crate.
    ///
    /// # Errors
    /// The payload is damaged, or its text would be larger than any that a payload of its size needs.
    pub fn to_json(&self, layout: JsonLayout) -> Result<String, DecodeError> {
        let limit = self.size().saturating_mul(TEXT_PER_BYTE).saturating_add(FLOOR);
        let mut text = Text { out: String::new(), limit, layout, level: 0, names: scalar::Names::default() };
        text.object(self.root()?)?;
        Ok(text.out)
    }
}

struct Text {
    out: String,
    limit: usize,
    layout: JsonLayout,
    level: usize,
    names: scalar::Names,
}

impl Text {
    fn push(&mut self, piece: &str) -> Result<(), DecodeError> {
        if self.out.len() + piece.len() > self.limit {
            return Err(DecodeError::of_text(self.limit));
        }
        self.out.push_str(piece);
        Ok(())
    }

    fn line(&mut self) -> Result<(), DecodeError> {
        if self.layout == JsonLayout::Line {
            return Ok(());
        }
        self.push("\n")?;
        (0..self.level).try_for_each(|_| self.push("  "))
    }

    fn open(&mut self, bracket: &str) -> Result<(), DecodeError> {
        self.level += 1;
        self.push(bracket)
    }

    fn close(&mut self, bracket: &str, is_empty: bool) -> Result<(), DecodeError> {
        self.level -= 1;
        if !is_empty {
            self.line()?;
        }
        self.push(bracket)
    }

    fn object(&mut self, object: ObjectValue<'_>) -> Result<(), DecodeError> {
        self.open("{")?;
        let mut is_empty = true;
        for field in object.fields() {
            let (field, value) = field?;
            let left_out = match value {
                Value::Null => !field.field_type.base.is_scalar(),
                // Its number is shown, and nobody knows what it is.
                Value::Unknown(_) => true,
                _ => false,
            };
            if left_out || (field.deprecated && !object.is_present(field)?) {
                continue;
            }
            if !is_empty {
                self.push(",")?;
            }
            is_empty = false;
            self.line()?;
            self.string(&field.name)?;
            self.push(if self.layout == JsonLayout::Line { ":" } else { ": " })?;
            self.field(object, field, value)?;
        }
        self.close("}", is_empty)
    }

    fn field(&mut self, object: ObjectValue<'_>, field: &Field, value: Value<'_>) -> Result<(), DecodeError> {
        let Value::Vector(vector) = value else { return self.value(value) };
        let (start, level) = (self.out.len(), self.level);
        if attributes::is_flexbuffer(field)
            && let Some(flex) = vector.bytes().and_then(flexbuffer::read)
        {
            return self.flex(&flex);
        }
        if let Some(shown) = object.with_nested(field, vector, |nested| self.object(nested))
            && shown.is_ok()
        {
            return Ok(());
        }
        // Bytes that are not the buffer they should be are bytes.
        self.out.truncate(start);
        self.level = level;
        self.vector(vector)
    }

    /// A value without a schema.
    fn flex(&mut self, flex: &Flex<'_>) -> Result<(), DecodeError> {
        match flex {
            Flex::Null => self.push("null"),
            Flex::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Flex::Integer(number) => self.push(&number.to_string()),
            Flex::Unsigned(number) => self.push(&number.to_string()),
            Flex::Real(number) if number.is_finite() => self.push(&format!("{number:?}")),
            Flex::Real(number) => self.not_finite(*number),
            Flex::Text(text) => self.string(text),
            Flex::List(values) => self.flex_list(values.iter()),
            Flex::Blob(bytes) => {
                let numbers: Vec<_> = bytes.iter().map(|byte| Flex::Integer((*byte).into())).collect();
                self.flex_list(numbers.iter())
            }
            Flex::Map(entries) => {
                self.open("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        self.push(",")?;
                    }
                    self.line()?;
                    self.string(key)?;
                    self.push(if self.layout == JsonLayout::Line { ":" } else { ": " })?;
                    self.flex(value)?;
                }
                self.close("}", entries.is_empty())
            }
        }
    }

    fn flex_list<'f>(
        &mut self,
        values: impl ExactSizeIterator<Item = &'f Flex<'f>>,
    ) -> Result<(), DecodeError> {
        let is_empty = values.len() == 0;
        self.open("[")?;
        for (index, value) in values.enumerate() {
            if index > 0 {
                self.push(",")?;
            }
            self.line()?;
            self.flex(value)?;
        }
        self.close("]", is_empty)
    }

    fn vector(&mut self, vector: VectorValue<'_>) -> Result<(), DecodeError> {
        self.open("[")?;
        for (index, value) in vector.iter().enumerate() {
            if index > 0 {
                self.push(",")?;
            }
            self.line()?;
            self.value(value?)?;
        }
        self.close("]", vector.is_empty())
    }

    fn value(&mut self, value: Value<'_>) -> Result<(), DecodeError> {
        match value {
            Value::Null | Value::Unknown(_) => self.push("null"),
            Value::Bool(value) => self.push(if value { "true" } else { "false" }),
            Value::Integer(number) => self.push(&number.to_string()),
            Value::Float(number) if number.is_finite() => self.push(&format!("{number:?}")),
            Value::Float(number) => self.not_finite(number.into()),
            Value::Double(number) if number.is_finite() => self.push(&format!("{number:?}")),
            Value::Double(number) => self.not_finite(number),
            Value::Enum(enumeration, number) => match self.names.of(enumeration, number) {
                Some(names) => self.string(&names),
                None => self.push(&number.to_string()),
            },
            Value::String(text) | Value::Text(_, text) => self.string(text),
            Value::Vector(vector) => self.vector(vector),
            Value::Object(object) | Value::Member(_, object) => self.object(object),
        }
    }

    fn not_finite(&mut self, number: f64) -> Result<(), DecodeError> {
        self.push(match number {
            number if number.is_nan() => "\"nan\"",
            number if number > 0.0 => "\"inf\"",
            _ => "\"-inf\"",
        })
    }

    fn string(&mut self, text: &str) -> Result<(), DecodeError> {
        // An escape takes six bytes at most.
        if self.out.len() + text.len().saturating_mul(6) + 2 > self.limit {
            return Err(DecodeError::of_text(self.limit));
        }
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                control @ ..' ' => {
                    let _ = write!(self.out, "\\u{:04x}", u32::from(control));
                }
                character => self.out.push(character),
            }
        }
        self.out.push('"');
        Ok(())
    }
}
