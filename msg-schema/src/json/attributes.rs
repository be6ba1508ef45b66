//! What attributes of fields change about the bytes that are made of a text: hashes and alignment.

use std::collections::HashSet;

use super::{
    scalar,
    text::{Json, Member, Node},
};
use crate::flexbuffer::{Flex, MAX_DEPTH};
use crate::model::{BaseType, Field};

/// The largest alignment that FlatBuffers lets a schema ask for.
const LARGEST_ALIGNMENT: usize = 32;

fn value<'f>(field: &'f Field, name: &str) -> Option<&'f str> {
    field.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The alignment of a vector's elements that `force_align` asks for, or 1.
pub(super) fn element_align(field: &Field) -> usize {
    let wanted = value(field, "force_align").and_then(|text| text.parse::<usize>().ok());
    wanted.filter(|align| align.is_power_of_two() && *align <= LARGEST_ALIGNMENT).unwrap_or(1)
}

/// Whether its bytes are a value without a schema.
pub(super) fn is_flexbuffer(field: &Field) -> bool {
    let is_bytes = field.field_type.base == BaseType::Vector && field.field_type.element == BaseType::UByte;
    is_bytes && value(field, "flexbuffer").is_some()
}

/// The value without a schema that a text tells of, or where and why it cannot be one.
pub(super) fn flex<'n>(node: &'n Node<'_>, depth: u32) -> Result<Flex<'n>, (usize, String)> {
    let Some(inside) = depth.checked_sub(1) else {
        return Err((node.at, format!("it is nested more than {MAX_DEPTH} deep")));
    };
    Ok(match &node.json {
        Json::Null => Flex::Null,
        Json::Bool(value) => Flex::Bool(*value),
        Json::Number(text) => match (text.parse(), text.parse(), text.parse()) {
            (Ok(number), ..) => Flex::Integer(number),
            (_, Ok(number), _) => Flex::Unsigned(number),
            (.., Ok(number)) => Flex::Real(number),
            _ => return Err((node.at, format!("found `{text}`, expected a number"))),
        },
        Json::Text(text) => Flex::Text(text),
        Json::List(items) => {
            Flex::List(items.iter().map(|item| flex(item, inside)).collect::<Result<_, _>>()?)
        }
        Json::Object(members) => {
            let mut names = HashSet::new();
            let entry = |member: &'n Member<'_>| {
                let name = member.name.as_ref();
                match (names.insert(name), name.contains('\0')) {
                    (true, false) => Ok((name, flex(&member.value, inside)?)),
                    (false, _) => Err((member.at, format!("the key `{name}` is given twice"))),
                    (_, true) => Err((member.at, "a key of a FlexBuffer cannot hold a zero".to_owned())),
                }
            };
            Flex::Map(members.iter().map(entry).collect::<Result<_, _>>()?)
        }
    })
}

/// The number that stands for a text in a field with `hash`.
pub(super) fn hash(field: &Field, base: BaseType, json: &Json<'_>) -> Option<scalar::Bytes> {
    let Json::Text(text) = json else { return None };
    let (name, bytes) = (value(field, "hash")?, text.as_bytes());
    let (number, bits) = match name {
        "fnv1_16" => (u64::from(fold(fnv1_32(bytes))), 16),
        "fnv1a_16" => (u64::from(fold(fnv1a_32(bytes))), 16),
        "fnv1_32" => (u64::from(fnv1_32(bytes)), 32),
        "fnv1a_32" => (u64::from(fnv1a_32(bytes)), 32),
        "fnv1_64" => (fnv1_64(bytes), 64),
        "fnv1a_64" => (fnv1a_64(bytes), 64),
        _ => return None,
    };
    let size = base.size() as usize;
    (base.is_integer() && size * 8 == bits).then(|| (number.to_le_bytes(), size))
}

fn fold(hash: u32) -> u16 {
    ((hash >> 16) ^ hash) as u16
}

fn fnv1_32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(*byte))
}

fn fnv1a_32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn fnv1_64(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(*byte);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn fnv1a_64(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_their_authors() {
        // From the test vectors of the draft that describes them.
        assert_eq!(
            (fnv1_32(b""), fnv1_32(b"a"), fnv1_32(b"foobar")),
            (0x811c_9dc5, 0x050c_5d7e, 0x31f0_b262)
        );
        assert_eq!((fnv1a_32(b"a"), fnv1a_32(b"foobar")), (0xe40c_292c, 0xbf9c_f968));
        assert_eq!((fnv1_64(b"a"), fnv1_64(b"foobar")), (0xaf63_bd4c_8601_b7be, 0x340d_8765_a4dd_a9c2));
        assert_eq!((fnv1a_64(b"a"), fnv1a_64(b"foobar")), (0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8));
        assert_eq!(fold(0x1234_0001), 0x1235);
    }
}
