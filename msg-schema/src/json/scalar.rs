//! Scalars as they stand in JSON: numbers by their range, enums by their names.

use std::collections::HashMap;

use super::text::Json;
use crate::model::{BaseType, Enum, Field, Type};
use crate::wire::Number as _;

/// The bytes of a scalar: little-endian, so many of eight.
pub(super) type Bytes = ([u8; 8], usize);

/// Whether the schema says that an enum is one of bit flags.
pub(super) fn is_flags(enumeration: &Enum) -> bool {
    enumeration.attributes.iter().any(|(key, _)| key == "bit_flags")
}

/// Enums with more enumerators than this are searched through a table: a payload may have very many of their numbers.
const LINEAR: usize = 16;

/// The names of enums by their numbers.
#[derive(Default)]
pub(super) struct Names(HashMap<*const Enum, HashMap<i128, String>>);

impl Names {
    /// An enum's number as its names, if every bit of it has one.
    pub(super) fn of(&mut self, enumeration: &Enum, number: i128) -> Option<String> {
        let values = &enumeration.values;
        if values.len() > LINEAR {
            let entries =
                || values.iter().map(|value| (enumeration.number(value), value.name.clone())).collect();
            let table = self.0.entry(std::ptr::from_ref(enumeration)).or_insert_with(entries);
            if let Some(name) = table.get(&number) {
                return Some(name.clone());
            }
        } else if let Some(value) = values.iter().find(|value| enumeration.number(value) == number) {
            return Some(value.name.clone());
        }
        flag_names(enumeration, number)
    }
}

fn flag_names(enumeration: &Enum, number: i128) -> Option<String> {
    const MOST: usize = u64::BITS as usize;
    if !is_flags(enumeration) || number <= 0 || enumeration.values.len() > MOST {
        return None;
    }
    let set = enumeration.values.iter().filter(|value| {
        let bits = enumeration.number(value);
        bits > 0 && bits & number == bits
    });
    let set: Vec<_> = set.collect();
    let all = set.iter().fold(0, |all, value| all | enumeration.number(value));
    (all == number).then(|| set.iter().map(|value| value.name.as_str()).collect::<Vec<_>>().join(" "))
}

/// The numbers of enums by their names.
#[derive(Default)]
pub(super) struct Numbers(HashMap<*const Enum, HashMap<String, i128>>);

impl Numbers {
    fn of(&mut self, enumeration: &Enum, name: &str) -> Option<i128> {
        let values = &enumeration.values;
        if values.len() <= LINEAR {
            let found = values.iter().find(|value| value.name == name);
            return found.map(|value| enumeration.number(value));
        }
        let entries = || values.iter().map(|value| (value.name.clone(), enumeration.number(value))).collect();
        self.0.entry(std::ptr::from_ref(enumeration)).or_insert_with(entries).get(name).copied()
    }

    /// The number that a text with one name, or the names of several flags, stands for.
    fn read(&mut self, of: &Enum, text: &str) -> Result<i128, String> {
        let mut number =
            |name: &str| self.of(of, name).ok_or_else(|| format!("`{}` has no `{name}`", of.name));
        if !is_flags(of) {
            return number(text);
        }
        text.split_whitespace().try_fold(0, |all, name| Ok(all | number(name)?))
    }
}

/// The bytes of a value of that type and enum; the error says what was found and expected.
pub(super) fn read(
    numbers: &mut Numbers,
    meant: BaseType,
    of: Option<&Enum>,
    json: &Json<'_>,
) -> Result<Bytes, String> {
    let text = match json {
        Json::Number(text) => text,
        Json::Text(text) => text.as_ref(),
        Json::Bool(true) if meant.is_integer() => "1",
        Json::Bool(false) if meant.is_integer() => "0",
        other => return Err(format!("found {}, expected {}", other.kind(), expected(meant, of))),
    };
    if let (Some(of), Json::Text(names)) = (of, json)
        && text.parse::<i128>().is_err()
    {
        return integer(meant, numbers.read(of, names)?)
            .ok_or_else(|| "the enum's numbers do not fit".to_owned());
    }
    let text = match (text, meant) {
        ("true", BaseType::Bool) => "1",
        ("false", BaseType::Bool) => "0",
        _ => text,
    };
    let bytes = match meant {
        BaseType::Float => real::<f32>(text, f32::is_infinite).map(|number| (number.to_array(), 4)),
        BaseType::Double => real::<f64>(text, f64::is_infinite).map(|number| (number.to_array(), 8)),
        _ => text.parse().ok().and_then(|number| integer(meant, number)),
    };
    bytes.ok_or_else(|| format!("found {}, expected {}", json.kind(), expected(meant, of)))
}

/// A floating-point number; one that is too large for its type is not taken for infinity.
fn real<R: std::str::FromStr + Copy>(text: &str, is_infinite: fn(R) -> bool) -> Option<R> {
    let number: R = text.parse().ok()?;
    let says_so = text.trim_start_matches(['-', '+']).starts_with(['i', 'I']);
    (says_so || !is_infinite(number)).then_some(number)
}

/// The bytes of an integer, if it is in the range of its type.
pub(super) fn integer(meant: BaseType, number: i128) -> Option<Bytes> {
    let size = meant.size() as usize;
    let bits = size as u32 * 8;
    let (least, greatest) = match meant {
        BaseType::Bool => (0, 1),
        _ if meant.is_unsigned() => (0, (1 << bits) - 1),
        _ => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    };
    let fits = (least..=greatest).contains(&number);
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(&number.to_le_bytes()[..size]);
    fits.then_some((bytes, size))
}

/// What stands for a field when it is absent; `None` if it can be told apart.
pub(super) fn default(field: &Field) -> Option<Bytes> {
    let base = field.field_type.base;
    match base {
        _ if field.optional => None,
        BaseType::Float => Some(((field.default_real as f32).to_array(), 4)),
        BaseType::Double => Some((field.default_real.to_array(), 8)),
        _ => {
            let size = base.size() as usize;
            let mut bytes = [0; 8];
            bytes[..size].copy_from_slice(&field.default_integer.to_le_bytes()[..size]);
            Some((bytes, size))
        }
    }
}

fn expected(meant: BaseType, of: Option<&Enum>) -> String {
    match (of, meant) {
        (Some(of), _) => format!("a name of `{}` or its number", of.name),
        (None, BaseType::Bool) => "`true` or `false`".to_owned(),
        (None, meant) => format!("a number of type `{}`", Type::plain(meant).text()),
    }
}
