//! Random schemas and random values of them, beside flatc: the generated types have the schemas that flatc gives, and
//! what flatc writes comes back the same through them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use msg_runtime::{AlignedBuffer, Encode, FromView, Message, decode, encode};
use msg_schema::{BaseType, Enum, Field, Object, ObjectKind, Schema, Type};
use msg_tests::{
    json::read,
    random::Random,
    schemas::difference,
    tools::{Folder, flatc, flatc_schema, run},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Generated from the random schemas.
#[allow(missing_docs, clippy::all)]
mod random {
    include!(concat!(env!("OUT_DIR"), "/random/msg_schemas.rs"));
}

include!(concat!(env!("OUT_DIR"), "/random/list.rs"));

/// Values of each schema.
const VALUES: usize = 25;
/// Tables inside each other.
const DEPTH: usize = 4;

fn path(number: usize) -> PathBuf {
    Path::new(env!("OUT_DIR")).join(format!("random/random_{number}.fbs"))
}

/// What the generator is for: a construct that no schema has is compared nowhere.
#[test]
fn the_schemas_hold_every_construct() {
    let mut all = String::new();
    macro_rules! add {
        ($number:literal $module:ident) => {
            all += &fs::read_to_string(path($number)).unwrap();
        };
    }
    random!(add);
    for construct in [
        "(bit_flags)",
        "struct Struct1",
        ":5];",
        "union Choice",
        "Text: string",
        ": Choice",
        ": [Choice]",
        ": [Struct0]",
        ": [Enum0]",
        ": [Table0]",
        ": Root",
        ": [Root]",
        ": [string]",
        "(required)",
        "(deprecated)",
        "= null",
        "= Value1",
        "= true",
        ".25",
        "= -",
        "(id: 0)",
        "id: 9",
        "///",
        "file_identifier",
    ] {
        assert!(all.contains(construct), "no schema has `{construct}`");
    }
}

#[test]
fn derived_schemas_are_those_of_flatc() {
    let mut differences = String::new();
    macro_rules! compare {
        ($number:literal $module:ident) => {
            let derived = Schema::from_bytes(random::$module::Root::schema()).unwrap();
            if let Some(difference) = difference(&derived, &flatc_schema(&path($number))) {
                differences += &format!("{}:\n{difference}", stringify!($module));
            }
        };
    }
    random!(compare);
    assert!(differences.is_empty(), "{differences}");
}

/// Random JSON of a schema's root.
struct Values<'s> {
    schema: &'s Schema,
    random: Random,
}

impl Values<'_> {
    fn flip(&mut self) -> bool {
        self.random.below(2) == 0
    }

    fn object(&mut self, object: &Object, depth: usize) -> Value {
        let mut members = Map::new();
        for field in &object.fields {
            let (base, element) = (field.field_type.base, field.field_type.element);
            let is_union = base == BaseType::Union || element == BaseType::Union;
            if is_union {
                self.union_field(field, depth, &mut members);
            } else if self.is_there(object, field, depth) {
                let value = self.value(&field.field_type, base, depth);
                members.insert(field.name.clone(), value);
            }
        }
        Value::Object(members)
    }

    /// Vectors are always there: what reads as empty is sent as empty by an owned value.
    fn is_there(&mut self, object: &Object, field: &Field, depth: usize) -> bool {
        let base = field.field_type.base;
        let is_number = base == BaseType::UType || field.field_type.element == BaseType::UType;
        match base {
            _ if is_number || field.deprecated => false,
            _ if object.kind == ObjectKind::Struct || field.required || base == BaseType::Vector => true,
            BaseType::Obj if depth == 0 => false,
            _ => self.flip(),
        }
    }

    fn union_field(&mut self, field: &Field, depth: usize, members: &mut Map<String, Value>) {
        let of = self.enumeration(&field.field_type);
        let count = match field.field_type.base {
            BaseType::Vector if depth == 0 => 0,
            BaseType::Vector => self.random.below(4),
            _ => usize::from(depth > 0 && self.flip()),
        };
        let (names, values): (Vec<_>, Vec<_>) = (0..count).map(|_| self.member(&of, depth)).unzip();
        let is_vector = field.field_type.base == BaseType::Vector;
        let one =
            |list: Vec<Value>| if is_vector { Some(Value::Array(list)) } else { list.into_iter().next() };
        if let (Some(names), Some(values)) = (one(names), one(values)) {
            members.insert(format!("{}_type", field.name), names);
            members.insert(field.name.clone(), values);
        }
    }

    fn member(&mut self, of: &Enum, depth: usize) -> (Value, Value) {
        // The first is NONE.
        let member = &of.values[1 + self.random.below(of.values.len() - 1)];
        let member_type = member.union_type.clone().unwrap();
        (json!(member.name), self.value(&member_type, member_type.base, depth))
    }

    fn enumeration(&self, of: &Type) -> Enum {
        let name = of.target.as_deref();
        self.schema.enums.iter().find(|one| Some(one.name.as_str()) == name).unwrap().clone()
    }

    fn value(&mut self, of: &Type, base: BaseType, depth: usize) -> Value {
        match base {
            BaseType::Vector if depth == 0 => json!([]),
            BaseType::Vector => {
                (0..self.random.below(4)).map(|_| self.value(of, of.element, depth)).collect()
            }
            BaseType::Array => (0..of.fixed_length).map(|_| self.value(of, of.element, depth)).collect(),
            BaseType::Obj => {
                let object = self.schema.object(of.target.as_deref().unwrap()).unwrap();
                self.object(object, depth.saturating_sub(1))
            }
            BaseType::String => {
                let len = self.random.below(6);
                let mut letter = || ['a', 'é', '😀', '"', '\\', '\n', ' '][self.random.below(7)];
                json!((0..len).map(|_| letter()).collect::<String>())
            }
            _ if of.target.is_some() && self.random.below(4) > 0 => self.enumerator(of),
            _ => self.number(base),
        }
    }

    fn enumerator(&mut self, of: &Type) -> Value {
        let of = self.enumeration(of);
        json!(of.values[self.random.below(of.values.len())].name)
    }

    fn number(&mut self, base: BaseType) -> Value {
        let bits = self.random.next_u64() >> self.random.below(64);
        match base {
            BaseType::Bool => json!(bits & 1 == 1),
            BaseType::Byte => json!(bits as i8),
            BaseType::UByte => json!(bits as u8),
            BaseType::Short => json!(bits as i16),
            BaseType::UShort => json!(bits as u16),
            BaseType::Int => json!(bits as i32),
            BaseType::UInt => json!(bits as u32),
            BaseType::Long => json!(bits as i64),
            BaseType::ULong => json!(bits),
            // Exact in either width, and in flatc's decimals.
            _ => json!(f64::from(bits as i16) / 8.0),
        }
    }
}

/// The payloads that flatc makes of texts.
fn written_by_flatc(schema: &Path, texts: &[String]) -> Vec<Vec<u8>> {
    let folder = Folder::new();
    let name = |number: usize| format!("value{number}");
    let files = texts.iter().enumerate();
    let files: Vec<_> =
        files.map(|(number, text)| folder.write(&format!("{}.json", name(number)), text)).collect();
    run(Command::new(flatc()).args(["-b", "-o"]).arg(folder.path()).arg(schema).args(files));
    let read = |number| fs::read(folder.path().join(name(number)).with_extension("bin")).unwrap();
    (0..texts.len()).map(read).collect()
}

/// What flatc writes is accepted, and the view and the owned value say the same as it when they are sent on.
fn check<M>(number: usize) -> usize
where
    M: FromView + Encode<Message = M>,
    for<'a> M::View<'a>: Encode<Message = M> + Serialize,
{
    let schema = flatc_schema(&path(number));
    let root = schema.object(schema.root.as_deref().unwrap()).unwrap();
    let mut values = Values { schema: &schema, random: Random::new(number as u64) };
    let texts: Vec<String> = (0..VALUES).map(|_| values.object(root, DEPTH).to_string()).collect();
    // A deprecated field that was absent is sent with its default by an owned value, and nobody reads it.
    let mut current = schema.clone();
    current.objects.iter_mut().for_each(|object| object.fields.retain(|field| !field.deprecated));
    let shown = |bytes: &[u8]| read(&current, bytes).unwrap();
    let mut distinct = BTreeSet::new();
    for (text, bytes) in texts.iter().zip(written_by_flatc(&path(number), &texts)) {
        let theirs = shown(&bytes);
        let bytes = AlignedBuffer::copy_of(&bytes);
        let view = decode::<M>(&bytes).unwrap_or_else(|error| panic!("random_{number}: {error}: {text}"));
        assert_eq!(shown(&encode(&view).unwrap()), theirs, "the view of {text}");
        assert_eq!(shown(&encode(&M::from_view(view)).unwrap()), theirs, "the owned value of {text}");
        assert!(serde_json::to_value(view).unwrap().is_object());
        distinct.insert(theirs);
    }
    distinct.len()
}

#[test]
fn what_flatc_writes_comes_back_the_same() {
    let mut distinct = 0;
    macro_rules! compare {
        ($number:literal $module:ident) => {
            distinct += check::<random::$module::Root>($number);
        };
    }
    random!(compare);
    assert!(distinct > 500, "the values are random: {distinct} different ones");
}
