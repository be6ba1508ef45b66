//! Which keys of `#[message(..)]` mean something where.

use quote::ToTokens;

use crate::{
    ast::{Enumeration, Field, Input, Newtype, Struct},
    attr::Container,
    context::Context,
};

/// ```text
/// struct Person { #[message(skip, id = 3)] cache: Cache }
/// ```
pub(super) fn skipped_alone(context: &Context, field: &Field<'_>) {
    let attributes = &field.attributes;
    let refused = [
        ("id", attributes.id.as_ref().map(ToTokens::to_token_stream)),
        ("default", attributes.default.as_ref().map(ToTokens::to_token_stream)),
        ("required", attributes.required.as_ref().map(ToTokens::to_token_stream)),
        ("rename", attributes.rename.as_ref().map(ToTokens::to_token_stream)),
        ("deprecated", attributes.deprecated.as_ref().map(ToTokens::to_token_stream)),
        ("key", attributes.key.as_ref().map(ToTokens::to_token_stream)),
        ("align", attributes.align.as_ref().map(ToTokens::to_token_stream)),
        ("with", attributes.with.as_ref().map(ToTokens::to_token_stream)),
    ];
    for (key, tokens) in refused {
        if let Some(tokens) = tokens {
            let message = format!("a skipped field is no part of the message: remove `{key}`, or `skip`");
            context.error(tokens, message);
        }
    }
}

/// ```text
/// #[message(like = Scan, namespace = "demo")]
/// struct ScanRef<'a> { #[message(id = 1)] ranges: &'a [f32] }
/// ```
pub(super) fn keys_of_twins(context: &Context, twin: &Struct<'_>) {
    let Container { namespace, name, topic, view, identifier, extension, .. } = &twin.container;
    let of_type = [
        ("namespace", namespace.to_token_stream()),
        ("name", name.to_token_stream()),
        ("topic", topic.to_token_stream()),
        ("view", view.to_token_stream()),
        ("identifier", identifier.to_token_stream()),
        ("extension", extension.to_token_stream()),
        ("plain", twin.container.plain.to_token_stream()),
    ];
    let of_fields = twin.fields.iter().flat_map(|field| {
        let attributes = &field.attributes;
        [
            ("id", attributes.id.to_token_stream()),
            ("default", attributes.default.to_token_stream()),
            ("required", attributes.required.to_token_stream()),
            ("deprecated", attributes.deprecated.to_token_stream()),
            ("key", attributes.key.to_token_stream()),
            ("align", attributes.align.to_token_stream()),
        ]
    });
    for (key, tokens) in of_type.into_iter().chain(of_fields).filter(|(_, tokens)| !tokens.is_empty()) {
        let message = format!("a twin has what its message says: remove `{key}`, or `like`");
        context.error(tokens, message);
    }
}

/// ```text
/// #[message(namespace = "demo", view = "V")]
/// struct Celsius(f32);
/// ```
pub(super) fn keys_of_newtypes(context: &Context, newtype: &Newtype<'_>) {
    let Container { namespace, name, topic, view, identifier, extension, .. } = &newtype.container;
    let keys = [
        ("namespace", namespace),
        ("name", name),
        ("topic", topic),
        ("view", view),
        ("identifier", identifier),
        ("extension", extension),
    ];
    for (key, value) in keys {
        if let Some(value) = value {
            let message = format!(
                "a struct of one unnamed field is that field on the wire and has no name there: remove `{key}`, or name the field"
            );
            context.error(value, message);
        }
    }
}

/// ```text
/// #[message(bit_flags)]
/// struct Imu { .. }
/// ```
pub(super) fn keys_of_enums(context: &Context, input: &Input<'_>, kind: &str) {
    if let Some(key) = &input.container().bit_flags {
        context.error(key, format!("`bit_flags` belongs on an enum and means nothing on {kind}: remove it"));
    }
}

/// ```text
/// #[message(plain, view = "PoseView", identifier = "POSE")]
/// ```
pub(super) fn keys_of_tables(context: &Context, input: &Input<'_>, kind: &str) {
    let container = input.container();
    let keys = [
        ("view", &container.view),
        ("identifier", &container.identifier),
        ("extension", &container.extension),
    ];
    for (key, value) in keys {
        if let Some(value) = value {
            context
                .error(value, format!("`{key}` belongs on a table and means nothing on {kind}: remove it"));
        }
    }
}

/// ```text
/// #[message(identifier = "THNG")]
/// enum Thing { Text(String), .. }
/// ```
pub(super) fn keys_of_roots(context: &Context, input: &Input<'_>) {
    let container = input.container();
    for (key, value) in [("identifier", &container.identifier), ("extension", &container.extension)] {
        if let Some(value) = value {
            context.error(value, format!("an enum travels as a field and is no file: remove `{key}`"));
        }
    }
}

/// ```text
/// #[message(plain, topic = "color")]
/// #[repr(u8)]
/// enum Color { .. }
/// ```
pub(super) fn keys_of_messages(context: &Context, input: &Input<'_>) {
    if let Some(key) = &input.container().plain {
        context.error(key, "an enum is plain already: remove `plain`");
    }
    if let Some(topic) = &input.container().topic {
        context.error(topic, "an enum travels as a field and has no topic: remove `topic`");
    }
}

/// ```text
/// enum Color { Red, #[message(id = 3)] Green, #[message(unknown)] Other }
/// ```
pub(super) fn keys_of_members(context: &Context, enumeration: &Enumeration<'_>) {
    for variant in &enumeration.variants {
        let ident = &variant.original.ident;
        if let Some(id) = &variant.attributes.id {
            let message = format!("`id` is for members that hold data: write `{ident} = {id}`");
            context.error(id, message);
        }
        if let Some(unknown) = &variant.attributes.unknown {
            let message = format!(
                "`unknown` is for enums that hold data: use `msg_runtime::Open<{}>` for the field to keep unknown numbers",
                enumeration.original.ident
            );
            context.error(unknown, message);
        }
    }
}
