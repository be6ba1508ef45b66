//! Are two binary schemas the same? Compared on what is reachable from the root, since a derived type knows no more.

use std::fmt::Write as _;

use msg_schema::{BaseType, Enum, Field, Object, ObjectKind, Schema, Type};

/// Panics with the facts that only one side has, unless both schemas say the same about the types that are
/// reachable from their roots: names, types, ids, offsets, sizes, defaults, attributes and comments.
///
/// Two things flatc's files cannot tell are left out: the default of a `float` counts as the `float` it stands for
/// (flatc keeps the decimal number), and a `ulong` default above the largest `long` is not compared (flatc keeps 0).
pub fn assert_same(ours: &Schema, theirs: &Schema) {
    if let Some(difference) = difference(ours, theirs) {
        panic!("the schemas differ:\n{difference}");
    }
}

/// The facts that only one side has, a line each; `None` if there are none.
pub fn difference(ours: &Schema, theirs: &Schema) -> Option<String> {
    let (ours, theirs) = (facts(&ours.reachable()), facts(&theirs.reachable()));
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|fact| !those.contains(fact)).cloned().collect()
    };
    let mut text = String::new();
    for fact in only(&ours, &theirs) {
        let _ = writeln!(text, "  only ours:   {fact}");
    }
    for fact in only(&theirs, &ours) {
        let _ = writeln!(text, "  only theirs: {fact}");
    }
    (!text.is_empty()).then_some(text)
}

fn facts(schema: &Schema) -> Vec<String> {
    let mut facts = vec![
        format!("root {:?}", schema.root),
        format!("file identifier {:?}", schema.file_identifier),
        format!("file extension {:?}", schema.file_extension),
    ];
    for object in &schema.objects {
        object_facts(object, &mut facts);
    }
    for enumeration in &schema.enums {
        enum_facts(enumeration, &mut facts);
    }
    facts
}

fn object_facts(object: &Object, facts: &mut Vec<String>) {
    let name = &object.name;
    let kind = match object.kind {
        ObjectKind::Table => "table",
        ObjectKind::Struct => "struct",
    };
    facts.push(format!("{kind} {name}: align {}, {} bytes", object.min_align, object.byte_size));
    text_facts(name, &object.attributes, &object.documentation, facts);
    for field in &object.fields {
        field_facts(name, field, facts);
    }
}

fn field_facts(object: &str, field: &Field, facts: &mut Vec<String>) {
    let name = format!("{object}.{}", field.name);
    facts.push(format!("field {name}: id {}, offset {}", field.id, field.offset));
    facts.push(format!("field {name}: {}", type_facts(&field.field_type)));
    let (integer, real) = (field.default_integer, field.default_real);
    match field.field_type.base {
        BaseType::ULong if integer < 0 => {}
        BaseType::Float => facts.push(format!("field {name}: default {integer}, {:?}", real as f32)),
        _ => facts.push(format!("field {name}: default {integer}, {real:?}")),
    }
    let flags = [
        ("deprecated", field.deprecated),
        ("required", field.required),
        ("key", field.key),
        ("optional", field.optional),
        ("offset64", field.offset64),
    ];
    let set = flags.iter().filter(|(_, set)| *set).map(|(flag, _)| *flag).collect::<Vec<_>>();
    facts.push(format!("field {name}: flags {set:?}, padding {}", field.padding));
    text_facts(&name, &field.attributes, &field.documentation, facts);
}

fn enum_facts(enumeration: &Enum, facts: &mut Vec<String>) {
    let name = &enumeration.name;
    let kind = if enumeration.is_union { "union" } else { "enum" };
    facts.push(format!("{kind} {name}: {}", type_facts(&enumeration.underlying)));
    text_facts(name, &enumeration.attributes, &enumeration.documentation, facts);
    for value in &enumeration.values {
        let member = value.union_type.as_ref().filter(|member| member.base != BaseType::None);
        let member = member.map(type_facts).unwrap_or_default();
        let value_name = format!("{name}.{}", value.name);
        facts.push(format!("value {value_name} = {} {member}", value.value));
        text_facts(&value_name, &value.attributes, &value.documentation, facts);
    }
}

fn type_facts(meant: &Type) -> String {
    let Type { base, element, target, fixed_length, base_size, element_size } = meant;
    let target = target.as_deref().unwrap_or("-");
    format!(
        "base {base:?} ({base_size} bytes), element {element:?} ({element_size} bytes) x {fixed_length}, name {target}"
    )
}

fn text_facts(
    name: &str,
    attributes: &[(String, String)],
    documentation: &[String],
    facts: &mut Vec<String>,
) {
    for (key, value) in attributes {
        facts.push(format!("attribute of {name}: {key} = {value:?}"));
    }
    if !documentation.is_empty() {
        facts.push(format!("comment of {name}: {documentation:?}"));
    }
}

/// The lines around the first that differs; the left side is ours.
pub fn first_difference(left: &str, right: &str) -> Option<String> {
    if left == right {
        return None;
    }
    let lines = left.lines().count().max(right.lines().count());
    let line = (0..lines).find(|line| left.lines().nth(*line) != right.lines().nth(*line))?;
    let around =
        |text: &str| text.lines().skip(line.saturating_sub(20)).take(23).collect::<Vec<_>>().join("\n");
    Some(format!("ours:\n{}\ntheirs:\n{}\n", around(left), around(right)))
}

/// Schemas that flatc accepts, for what the files in `schemas/` do not have.
pub const CONSTRUCTS: [&str; 22] = [
    "table T {} root_type T; root_type T;",
    "enum E : byte {} table T { e: E; }",
    "enum E : ulong (bit_flags) { Low, High = 63 } table T { e: E = High; }",
    "enum E : ubyte (bit_flags) { A = 3, B = 1, } table T { e: E = \"A B\"; f: E = 2; g: E = 4; }",
    "enum E : int { B = 5, A = -5, Z = 0 } table T { a: int = \"E.B\"; b: E = -5; c: long = \"E.A\"; }",
    "table T { a: bool = 1; b: float = 0x1.8p3; c: double = \"1.5\"; d: int = \"7\"; e: int = +3; f: float = .5e1; }",
    "table T { a: int8; b: uint8; c: int16; d: uint16; e: int32; f: uint32; g: int64; h: uint64; i: float32; j: float64; }",
    "table T { s: string = \"abc\"; v: [int] = []; w: [string] = []; }",
    "struct S (force_align: \"32\") { a: ubyte; } table T { s: S; v: [S]; }",
    "struct A { a: ubyte; } struct B { a: A; b: [A:3]; c: ulong; d: A; } struct C { b: [B:2]; x: ushort; }",
    "attribute x; table T (x) { a: int (x: 0x1F); b: int (x: \"y\\n\"); } /* end */",
    "union U { A, B: A, S: string, P } table A {} struct P { x: int; } table T { u: U; v: [U]; }",
    "table A { x: int; } union U { A } table T { a: int (id: 0); u: U (id: 2); v: [U] (id: 4); w: int (id: 5, deprecated); }",
    "table A { x: int; } union U { A = 5 } table T { u: U (deprecated); }",
    "namespace a.b; table A { x: int; } namespace c; union U { a.b.A } table T { u: U (required); }",
    "table A { x: int; } union U : int { A } table T { u: U; }",
    "table A { x: int; } union U { A } table T { u: [U] = []; v: [U] (required); }",
    "table T { v: [ubyte] (nested_flatbuffer: \"T\"); f: [ubyte] (flexbuffer); h: uint (hash: \"fnv1_32\"); }",
    "table T { a: double = sin(rad(30)); b: float = deg(1); c: double = cos(2.5e0); d: double = atan(-1e3); e: float = tan(rad(45)); f: double = acos(0); g: double = asin(-0.5); h: double = deg(1e9); i: double = rad(inf); }",
    "struct S { a: [int:3] (key); } table T { s: [S]; k: string (key); }",
    "namespace a; struct P { x: int; } namespace a.b; struct P { y: long; } namespace a.b.c; table T { p: P; q: a.P; }",
    "\u{feff}// \u{e9}\r\n/// d\r\ntable T {\r\n  /// \u{fc}ber\r\n  a: int;\r\n}\r\n",
];
