//! The rules about enums with data.

use std::collections::BTreeMap;

use super::types;
use crate::{ast::Union, context::Context};

/// ```text
/// enum Thing { Text(String) }                                   // without an unknown variant
/// enum Thing { Text(String), #[message(unknown)] Unknown(u32) }  // or one that is no byte
/// ```
pub(super) fn one_unknown(context: &Context, union: &Union<'_>) {
    let ident = &union.original.ident;
    let Some(unknown) = union.unknown.first() else {
        let message = format!(
            "`{ident}` has no variant for members that only newer senders know: add `#[message(unknown)] Unknown(u8)`"
        );
        return context.error(ident, message);
    };
    if union.members.is_empty() {
        context.error(ident, format!("`{ident}` has no members: an enum with data needs one"));
    }
    let is_byte = |field: &syn::Field| types::is_named(&field.ty, "u8");
    if !unknown.original.fields.iter().all(is_byte) {
        context.error(
            &unknown.original.fields,
            "an unknown member is received as its number alone: write `(u8)`",
        );
    }
    if let Some(rename) = &unknown.attributes.rename {
        context.error(rename, "the variant for unknown members is not in the schema: remove `rename`");
    }
    if let Some(id) = &unknown.attributes.id {
        context.error(id, "the variant for unknown members has any number: remove `id`");
    }
    for second in union.unknown.iter().skip(1) {
        context.error(&second.attributes.unknown, "one variant is for unknown members: remove this one");
    }
}

/// ```text
/// enum Thing { #[message(id = 1)] Text(String), #[message(id = 1)] Node(Node), .. }
/// ```
pub(super) fn member_numbers(context: &Context, union: &Union<'_>) {
    let mut seen = BTreeMap::new();
    for member in &union.members {
        let ident = &member.variant.original.ident;
        if let Some(first) = seen.insert(member.number, ident) {
            let message =
                format!("`{first}` has the number {} already: each member needs its own", member.number);
            match &member.variant.attributes.id {
                Some(id) => context.error(id, message),
                None => context.error(ident, message),
            }
        }
        if member.variant.name == "NONE" {
            context.error(ident, "`NONE` is the name of every union's absence: rename the member");
        }
    }
}
