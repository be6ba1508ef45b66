//! Payloads as JSON text, read with nothing but their schema.

use msg_schema::{DecodeError, Decoder, JsonLayout, Schema};

/// A payload of a schema's root as one line.
///
/// # Errors
/// What is wrong with the schema or the payload.
pub fn read(schema: &Schema, bytes: &[u8]) -> Result<String, DecodeError> {
    Decoder::new(schema)?.payload(bytes)?.to_json(JsonLayout::Line)
}
