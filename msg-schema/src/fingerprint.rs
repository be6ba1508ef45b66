//! One number for what two programs have to agree on before they exchange a type.
//!
//! It is the 64-bit FNV-1a hash of a text in UTF-8, a line (ended by `\n`) a fact. Programs of different age compare
//! these numbers, so the text is a contract: it may gain lines for constructs that it does not know today, and must
//! never change for those it knows. The text is over the types that are reachable from the root: the root first,
//! under the name `*`, then the others in the order of their names (compared as bytes).
//!
//! ```text
//! table *                        a table, then its fields by id:
//! 0 sequence ulong 0             id, name, type; for a scalar what stands for an absent one
//! 1 gain float 3f800000          floating-point defaults as the bits of their type in hexadecimal
//! 2 mode demo.Mode null          `= null`
//! 3 frame string required
//! 5 shape demo.Shape             a union; its number, id 4, is not listed
//! 6 next *                       the root again
//! table demo.Circle
//! 0 radius float 00000000
//! enum demo.Mode ubyte           an enum with the number behind it, then number and name, by number
//! 0 Idle
//! 1 Busy
//! union demo.Shape               a union, then number, name and type of its members, without `NONE`
//! 1 Circle demo.Circle
//! struct demo.Vec3 12 4          a struct with size and alignment, then offset, name and type of its fields
//! 0 x float
//! ```
//!
//! What is in, and what is not:
//!
//! - *Defaults are in.* Two programs that take different values for the same absent field read different messages.
//! - *`required` is in.* Without a required field a message is refused, so its sender has to know of it.
//! - *Names are in*, but for the root's own: a `demo.Meters` and a `demo.Feet` with one number each have the same
//!   layout. The root's name travels beside the fingerprint, and one shape may serve several topics.
//! - *Deprecation is out.* The field keeps its id, name and type; a new program leaves it absent, as any may.
//! - *Comments, attributes, `key`, file identifiers and the order of declaration are out*: they change no byte of a
//!   message. (How a vector with a key is sorted is up to whoever fills it.)

use std::fmt::Write as _;

use crate::contract::{self, Absent};
use crate::model::{Enum, Object, ObjectKind, Schema};

impl Schema {
    /// The number that is equal for two schemas whose roots mean the same on the wire.
    ///
    /// A schema without a root has the fingerprint of the empty text.
    pub fn fingerprint(&self) -> u64 {
        fnv1a(canonical_text(self).as_bytes())
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

fn canonical_text(schema: &Schema) -> String {
    let schema = schema.reachable();
    let mut root = String::new();
    let mut others = Vec::new();
    for object in &schema.objects {
        if Some(&object.name) == schema.root.as_ref() {
            root = object_text("*", object, &schema);
        } else {
            others.push((&object.name, object_text(&object.name, object, &schema)));
        }
    }
    others.extend(schema.enums.iter().map(|one| (&one.name, enum_text(one, &schema))));
    others.sort();
    others.iter().fold(root, |text, (_, other)| text + other)
}

fn object_text(name: &str, object: &Object, schema: &Schema) -> String {
    let is_struct = object.kind == ObjectKind::Struct;
    let mut text = match object.kind {
        ObjectKind::Table => format!("table {name}\n"),
        ObjectKind::Struct => format!("struct {name} {} {}\n", object.byte_size, object.min_align),
    };
    for field in contract::fields(object) {
        let place = if is_struct { field.offset } else { field.id };
        let meant = contract::type_text(&field.field_type, schema);
        let absent = Absent::of(object, field).map(|absent| format!(" {}", absent.canonical()));
        let absent = absent.unwrap_or_default();
        let required = if field.required { " required" } else { "" };
        let wide = if field.offset64 { " offset64" } else { "" };
        let _ = writeln!(text, "{place} {} {meant}{absent}{required}{wide}", field.name);
    }
    text
}

fn enum_text(enumeration: &Enum, schema: &Schema) -> String {
    let (name, base) = (&enumeration.name, enumeration.underlying.base);
    let mut text = if enumeration.is_union {
        format!("union {name}\n")
    } else {
        format!("enum {name} {}\n", base.keyword())
    };
    for value in contract::values(enumeration) {
        let number = enumeration.number(value);
        let member = value.union_type.as_ref().map(|member| contract::type_text(member, schema));
        let member = member.map(|member| format!(" {member}")).unwrap_or_default();
        let _ = writeln!(text, "{number} {}{member}", value.name);
    }
    text
}
