//! Ids: the places of a table's fields in its vtable. A union takes two, the first for its type.

use super::{Resolver, attributes::find, enumeration::integer};
use crate::{
    ast,
    diagnostic::{Code, Diagnostic, Span},
    ir::{Element, Field, Type},
};

/// The largest id: a vtable is at most 65535 bytes long.
const LARGEST: i128 = 32_765;

/// Gives the fields of a table their ids, written or by order of declaration.
pub(super) fn assign(resolver: &mut Resolver<'_, '_>, ast: &ast::Object, fields: &mut [Field]) {
    let written: Vec<_> = ast.fields.iter().filter_map(|field| find(&field.attributes, "id")).collect();
    if written.is_empty() {
        return in_order(resolver, ast, fields);
    }
    let without: Vec<_> = ast.fields.iter().filter(|field| find(&field.attributes, "id").is_none()).collect();
    if let Some(first) = without.first() {
        let message =
            format!("field `{}` has no id, but others of `{}` have", first.name.text, ast.name.text);
        let diagnostic = Diagnostic::new(Code::PartialIds, first.name.span, message)
            .note(written[0].name.span, "one that has")
            .help("give every field of the table an `id`, or none");
        return resolver.report(diagnostic);
    }
    explicit(resolver, ast, fields);
}

/// How many ids a field takes.
fn width(field: &Field) -> i128 {
    match field.field_type {
        Type::One(Element::Union(_)) | Type::Vector(Element::Union(_)) => 2,
        _ => 1,
    }
}

fn in_order(resolver: &mut Resolver<'_, '_>, ast: &ast::Object, fields: &mut [Field]) {
    let mut next = 0;
    for field in fields {
        let id = next + width(field) - 1;
        if id > LARGEST {
            return too_many(resolver, ast);
        }
        field.id = id as u16;
        next = id + 1;
    }
}

fn too_many(resolver: &mut Resolver<'_, '_>, ast: &ast::Object) {
    let message = format!("table `{}` has more fields than a table can have", ast.name.text);
    let help = format!("the largest id is {LARGEST}: put some of the fields into a table of their own");
    resolver.report(Diagnostic::new(Code::TooManyFields, ast.name.span, message).help(help));
}

fn explicit(resolver: &mut Resolver<'_, '_>, ast: &ast::Object, fields: &mut [Field]) {
    let mut taken: Vec<(i128, i128, Span)> = Vec::with_capacity(fields.len());
    for (field, written) in fields.iter_mut().zip(&ast.fields) {
        let Some((id, span)) = written_id(resolver, written, width(field)) else { return };
        field.id = id as u16;
        taken.push((id - width(field) + 1, id, span));
    }
    taken.sort_unstable();
    let (mut next, mut previous) = (0, None);
    for (first, last, span) in taken {
        if first != next {
            let diagnostic = match previous {
                Some(previous) if first < next => {
                    let message = format!("id {first} is taken twice");
                    Diagnostic::new(Code::IdGap, span, message).note(previous, "taken here")
                }
                _ => Diagnostic::new(Code::IdGap, span, format!("id {next} is missing before this one")),
            };
            let help =
                "the ids of a table are 0, 1, 2 and so on; a union takes two, its own and the one before";
            return resolver.report(diagnostic.help(help));
        }
        (next, previous) = (last + 1, Some(span));
    }
}

/// The id that a field states, and where.
fn written_id(resolver: &mut Resolver<'_, '_>, field: &ast::Field, width: i128) -> Option<(i128, Span)> {
    let attribute = find(&field.attributes, "id")?;
    let (number, span) = match &attribute.value {
        Some(ast::Value { kind: ast::ValueKind::Integer(text) | ast::ValueKind::Text(text), span }) => {
            (integer(text), *span)
        }
        Some(value) => (None, value.span),
        // An attribute without a value has the value 0.
        None => (Some(0), attribute.name.span),
    };
    match number.filter(|number| (width - 1..=LARGEST).contains(number)) {
        Some(number) => Some((number, span)),
        None => {
            let least = width - 1;
            let message = format!("the id of `{}` is no number from {least} to {LARGEST}", field.name.text);
            let help = match width {
                1 => "the ids of a table are 0, 1, 2 and so on",
                _ => "a union takes two ids: write the second one",
            };
            resolver.report(Diagnostic::new(Code::InvalidId, span, message).help(help));
            None
        }
    }
}
