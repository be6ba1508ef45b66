//! Payloads as JSON text, read with nothing but their schema, in the form that flatc gives it.

use msg_schema::{DecodeError, Decoder, ObjectValue, Schema, Value};

/// A payload as `flatc --strict-json --defaults-json --natural-utf8` shows it, without the blanks between things: absent
/// things other than scalars are left out, enums are names. Texts are not escaped.
///
/// # Errors
/// What is wrong with the schema or the payload.
pub fn read(schema: &Schema, bytes: &[u8]) -> Result<String, DecodeError> {
    let decoder = Decoder::new(schema)?;
    let payload = decoder.payload(bytes)?;
    object_json(payload.root()?)
}

fn object_json(object: ObjectValue<'_>) -> Result<String, DecodeError> {
    let mut parts = Vec::new();
    for field in object.fields() {
        let (field, value) = field?;
        if field.field_type.base.is_scalar() || !matches!(value, Value::Null) {
            parts.push(format!("\"{}\":{}", field.name, json(value)?));
        }
    }
    Ok(format!("{{{}}}", parts.join(",")))
}

fn json(value: Value<'_>) -> Result<String, DecodeError> {
    Ok(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Double(value) => format!("{value:?}"),
        Value::Enum(enumeration, number) => {
            let name = enumeration.values.iter().find(|value| enumeration.number(value) == number);
            name.map_or(number.to_string(), |value| format!("\"{}\"", value.name))
        }
        Value::String(text) | Value::Text(_, text) => format!("\"{text}\""),
        Value::Vector(vector) => {
            let parts = vector.iter().map(|value| json(value?)).collect::<Result<Vec<_>, _>>()?;
            assert_eq!(parts.len(), vector.len());
            format!("[{}]", parts.join(","))
        }
        Value::Object(object) | Value::Member(_, object) => object_json(object)?,
        Value::Unknown(number) => format!("\"unknown {number}\""),
        _ => unreachable!("every kind of value is shown"),
    })
}
