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
