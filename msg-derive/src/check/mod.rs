//! The rules that need more than one attribute or one token to see. Each function is a rule; the code that it refuses
//! stands above it.

mod keys;
mod types;
mod union;

pub(crate) use types::is_supported;

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::{Data, DeriveInput, Fields, GenericParam, Ident};

use self::keys::{
    keys_of_enums, keys_of_members, keys_of_messages, keys_of_newtypes, keys_of_roots, keys_of_tables,
    keys_of_twins, skipped_alone,
};
use self::types::{default_of_text, member_type, plain_type, supported_type};
use self::union::{member_numbers, one_unknown};
use crate::{
    ast::{Enumeration, Input, Struct, Variant},
    attr::{is_word, representation},
    context::Context,
};

/// Characters of a topic.
const MAX_TOPIC_LEN: usize = 255;
/// A vtable has no room for more.
const MAX_ID: u16 = 32_765;

pub(crate) fn check(context: &Context, input: &Input<'_>) {
    if !matches!(input, Input::Newtype(_) | Input::Twin(_)) {
        namespace(context, input);
    }
    type_parameters(context, input);
    identifier(context, input);
    topic(context, input);
    match input {
        Input::Table(table) => {
            keys_of_enums(context, input, "a struct");
            view_name(context, input);
            table_fields(context, table);
        }
        Input::Plain(plain) => {
            keys_of_enums(context, input, "a struct");
            keys_of_tables(context, input, "a plain struct");
            plain_representation(context, plain.original);
            plain_lifetimes(context, plain);
            plain_fields(context, plain);
        }
        Input::Enumeration(enumeration) => {
            keys_of_tables(context, input, "an enum");
            keys_of_messages(context, input);
            unsigned_flags(context, enumeration);
            variant_names(context, &enumeration.variants);
            keys_of_members(context, enumeration);
        }
        Input::Twin(twin) => {
            keys_of_enums(context, input, "a struct");
            keys_of_twins(context, twin);
            twin_fields(context, twin);
        }
        Input::Newtype(newtype) => {
            keys_of_newtypes(context, newtype);
            match newtype.container.plain {
                Some(_) => {
                    plain_representation(context, newtype.original);
                    plain_type(context, newtype.ty);
                }
                None => supported_type(context, newtype.ty),
            }
        }
        Input::Union(union) => {
            keys_of_enums(context, input, "an enum with data");
            view_name(context, input);
            keys_of_messages(context, input);
            keys_of_roots(context, input);
            variant_names(context, union.members.iter().map(|member| &member.variant));
            one_unknown(context, union);
            member_numbers(context, union);
            for member in &union.members {
                member_type(context, member.ty);
            }
        }
    }
}

fn twin_fields(context: &Context, twin: &Struct<'_>) {
    field_names(context, twin);
    for field in twin.fields.iter().filter(|field| !field.attributes.converted) {
        supported_type(context, &field.ty);
    }
    for field in &twin.skipped {
        skipped_alone(context, field);
    }
}

fn table_fields(context: &Context, table: &Struct<'_>) {
    field_names(context, table);
    one_key(context, table);
    ids(context, table);
    for field in &table.fields {
        if !field.attributes.converted {
            supported_type(context, &field.ty);
        }
        default_of_text(context, field);
    }
    for field in &table.skipped {
        skipped_alone(context, field);
    }
}

/// ```text
/// #[derive(Message)]
/// struct Imu { .. }                        // no namespace
///
/// #[message(namespace = "my robot")]       // not words joined by dots
/// ```
fn namespace(context: &Context, input: &Input<'_>) {
    let ident = &input.original().ident;
    let Some(namespace) = &input.container().namespace else {
        if input.container().malformed {
            return;
        }
        let message = format!(
            "`{ident}` has no namespace: write `#[message(namespace = \"robot\")]` above it; its full name is then `robot.{ident}`"
        );
        return context.error(ident, message);
    };
    let text = namespace.value();
    if !text.is_empty() && !text.split('.').all(is_word) {
        let message = format!(
            "`{text}` is no namespace, expected words of letters, digits and `_` joined by dots, such as `robot.arm`"
        );
        context.error(namespace, message);
    }
}

/// ```text
/// struct Envelope<T> { payload: T }
/// ```
fn type_parameters(context: &Context, input: &Input<'_>) {
    for parameter in &input.original().generics.params {
        if !matches!(parameter, GenericParam::Lifetime(_)) {
            context.error(
                parameter,
                "a message cannot have type parameters, since each use would be another type under one name: write a struct for each",
            );
        }
    }
}

/// ```text
/// #[message(identifier = "TOOLONG")]
/// ```
fn identifier(context: &Context, input: &Input<'_>) {
    let Some(identifier) = &input.container().identifier else { return };
    let text = identifier.value();
    if text.len() != 4 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        context.error(identifier, format!("a file identifier has 4 ASCII characters, found `{text}`"));
    }
}

/// ```text
/// #[message(topic = "")]
/// #[message(topic = "left image")]
/// ```
///
/// What the runtime would refuse when the topic is opened.
fn topic(context: &Context, input: &Input<'_>) {
    let Some(topic) = &input.container().topic else { return };
    let text = topic.value();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if text.is_empty() {
        context.error(topic, "the topic is empty: name one, or remove `topic` to use the type's full name");
    } else if text.len() > MAX_TOPIC_LEN {
        let len = text.len();
        context.error(topic, format!("a topic has at most {MAX_TOPIC_LEN} characters, this one has {len}"));
    } else if let Some(other) = text.chars().find(|c| !allowed(*c)) {
        let (text, other) = (text.escape_debug(), other.escape_debug());
        let message = format!(
            "topic `{text}` has `{other}`, allowed are letters, digits, `_`, `-`, and `.` or `/` between parts"
        );
        context.error(topic, message);
    } else if text.split(['.', '/']).any(str::is_empty) {
        context.error(topic, format!("topic `{text}` has an empty part: remove the extra `.` or `/`"));
    }
}

/// ```text
/// #[message(view = "Imu")]
/// struct Imu { .. }
/// ```
fn view_name(context: &Context, input: &Input<'_>) {
    let Some(view) = &input.container().view else { return };
    if let Some(message) = view_complaint(&input.original().ident, &view.value()) {
        context.error(view, message);
    }
}

/// What is wrong with the name of a view.
pub(crate) fn view_complaint(ident: &Ident, view: &str) -> Option<String> {
    if ident == view {
        return Some(format!(
            "`{view}` is the name of the message itself: choose another for the view, or remove `view`"
        ));
    }
    let is_name = syn::parse_str::<Ident>(view).is_ok();
    (!is_name).then(|| format!("`{view}` is a word of the language and names no type: choose another"))
}

/// ```text
/// #[message(bit_flags)]
/// #[repr(i8)]
/// enum Access { .. }
/// ```
fn unsigned_flags(context: &Context, enumeration: &Enumeration<'_>) {
    let repr = enumeration.repr.to_string();
    if enumeration.container.bit_flags.is_some() && repr.starts_with('i') {
        let message = format!("bits have no sign: write `#[repr(u{})]`", repr.trim_start_matches('i'));
        context.error(&enumeration.repr, message);
    }
}

/// ```text
/// #[message(namespace = "demo", plain)]
/// struct Pose { x: f64 }                   // without #[repr(C)], or with `packed`
/// ```
fn plain_representation(context: &Context, original: &DeriveInput) {
    let words = representation(&original.attrs);
    for (word, span) in &words {
        if word.starts_with("packed") {
            context.push(syn::Error::new(
                *span,
                "a packed struct has fields at addresses that readers cannot use: remove `packed` and fill gaps with `msg_runtime::Padding<N>`",
            ));
        }
    }
    if !words.iter().any(|(word, _)| word == "C" || word == "transparent") {
        let is_tuple =
            matches!(&original.data, Data::Struct(data) if matches!(data.fields, Fields::Unnamed(_)));
        let message = format!(
            "the order of the fields of `{}` in memory is not fixed: write `#[repr({})]` above it",
            original.ident,
            if is_tuple { "transparent" } else { "C" }
        );
        context.error(&original.ident, message);
    }
}

/// ```text
/// #[message(namespace = "demo", plain)]
/// struct Pose<'a> { .. }
/// ```
fn plain_lifetimes(context: &Context, plain: &Struct<'_>) {
    for lifetime in plain.original.generics.lifetimes() {
        context
            .error(lifetime, "a plain message holds its data itself and cannot borrow: remove the lifetime");
    }
}

/// ```text
/// #[message(namespace = "demo", plain)]
/// struct Pose { #[message(default = 1)] x: i32, name: String }
/// ```
fn plain_fields(context: &Context, plain: &Struct<'_>) {
    if plain.fields.is_empty() {
        let message = format!("`{}` has no fields: a plain message needs one", plain.original.ident);
        context.error(&plain.original.ident, message);
    }
    for field in &plain.skipped {
        context
            .error(&field.attributes.skip, "every field of a plain message is always there: remove `skip`");
    }
    field_names(context, plain);
    one_key(context, plain);
    for field in &plain.fields {
        let attributes = &field.attributes;
        let refused = [
            ("id", attributes.id.as_ref().map(ToTokens::to_token_stream)),
            ("default", attributes.default.as_ref().map(ToTokens::to_token_stream)),
            ("required", attributes.required.as_ref().map(ToTokens::to_token_stream)),
            ("deprecated", attributes.deprecated.as_ref().map(ToTokens::to_token_stream)),
            ("align", attributes.align.as_ref().map(ToTokens::to_token_stream)),
            ("with", attributes.with.as_ref().map(ToTokens::to_token_stream)),
        ];
        for (key, tokens) in refused {
            if let Some(tokens) = tokens {
                let message = format!("every field of a plain message is always there: remove `{key}`");
                context.error(tokens, message);
            }
        }
        plain_type(context, &field.original.ty);
    }
}

/// ```text
/// struct Pose { x: f64, #[message(rename = "x")] y: f64 }
/// ```
fn field_names(context: &Context, parsed: &Struct<'_>) {
    let mut seen = BTreeMap::new();
    for field in &parsed.fields {
        if let Some(first) = seen.insert(&field.name, field.ident) {
            let message =
                format!("`{}` has the wire name `{}` too: rename one of the two", first, field.name);
            context.error(field.ident, message);
        }
    }
}

/// ```text
/// enum Color { Red, #[message(rename = "Red")] Crimson }
/// ```
fn variant_names<'a>(context: &Context, variants: impl IntoIterator<Item = &'a Variant<'a>>) {
    let mut seen = BTreeMap::new();
    for variant in variants {
        if let Some(first) = seen.insert(&variant.name, &variant.original.ident) {
            let message =
                format!("`{}` has the wire name `{}` too: rename one of the two", first, variant.name);
            context.error(&variant.original.ident, message);
        }
    }
}

/// ```text
/// struct Entry { #[message(key)] id: u32, #[message(key)] name: String }
/// ```
fn one_key(context: &Context, parsed: &Struct<'_>) {
    for field in parsed.fields.iter().filter(|field| field.attributes.key.is_some()).skip(1) {
        context.error(&field.attributes.key, "a type has one key: remove `key` from all fields but one");
    }
}

/// ```text
/// struct Pose { #[message(id = 0)] x: f64, y: f64 }
/// struct Pose { #[message(id = 0)] x: f64, #[message(id = 0)] y: f64 }
/// ```
///
/// Gaps are found where unions are known, in the runtime: a union takes two ids.
fn ids(context: &Context, table: &Struct<'_>) {
    let written = table.fields.iter().filter(|field| field.attributes.id.is_some()).count();
    let mut seen = BTreeMap::new();
    for field in &table.fields {
        let Some(literal) = &field.attributes.id else {
            if written > 0 {
                let message = format!(
                    "`{}` has no `id` and other fields have one: give all fields an `id`, or none",
                    field.ident
                );
                context.error(field.ident, message);
            }
            continue;
        };
        let Some(id) = literal.base10_parse::<u16>().ok().filter(|id| *id <= MAX_ID) else {
            let message =
                format!("the id of `{}` is no number from 0 to {MAX_ID}: found `{literal}`", field.ident);
            context.error(literal, message);
            continue;
        };
        if let Some(first) = seen.insert(id, field.ident) {
            context.error(literal, format!("`{first}` has the id {id} already: each field needs its own"));
        }
    }
}
