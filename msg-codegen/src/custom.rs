//! What a build script adds to generated code, or leaves out of it: attributes, and types that are elsewhere.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser as _;

use crate::{
    diagnostic::{Code, Diagnostic, closest},
    ir::{Ir, QualifiedName},
};

/// As it was said to the builder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Custom {
    /// Schema names with the Rust paths that stand for them.
    pub(crate) extern_paths: Vec<(String, String)>,
    /// Patterns of types, with attributes.
    pub(crate) type_attributes: Vec<(String, String)>,
    /// Whether all types derive what serde needs.
    pub(crate) serde: bool,
    /// Patterns of fields, enumerators and members, with attributes.
    pub(crate) field_attributes: Vec<(String, String)>,
}

impl Custom {
    /// Settings that cannot be, and those that do nothing.
    pub(crate) fn check(&self, ir: &Ir) -> Vec<Diagnostic> {
        let types: Vec<String> = declared(ir).map(QualifiedName::dotted).collect();
        let mut found = Vec::new();
        for (name, path) in &self.extern_paths {
            let setting = format!("extern_path(\"{name}\", ..)");
            if parse_path(path).is_none() {
                let message = format!("`{setting}` has `{path}`, which is no absolute path of Rust");
                let help =
                    "write a path that means the same everywhere: `::geometry::Vec3` or `crate::geometry`";
                found.push(Diagnostic::without_place(Code::InvalidSetting, message).help(help));
            }
            if !types.iter().any(|dotted| is_within(dotted, name)) {
                found.push(no_effect(&setting, name, "type or namespace", &types));
            }
        }
        if self.serde {
            found.extend(declared(ir).filter(|name| !self.is_extern(name)).filter_map(hides_primitive));
        }
        let fields = members(ir);
        for (kind, settings, names, what) in [
            ("type_attribute", &self.type_attributes, &types, "type"),
            ("field_attribute", &self.field_attributes, &fields, "field, enumerator or member"),
        ] {
            for (pattern, attributes) in settings {
                let setting = format!("{kind}(\"{pattern}\", ..)");
                if parse_attributes(attributes).is_none() {
                    let message = format!("`{setting}` has `{attributes}`, which are no attributes");
                    let help = "write them as in Rust: `#[derive(Eq)]`";
                    found.push(Diagnostic::without_place(Code::InvalidSetting, message).help(help));
                }
                if !names.iter().any(|name| matches(pattern, name)) {
                    found.push(no_effect(&setting, pattern, what, names));
                }
            }
        }
        found
    }

    /// Whether a type is elsewhere, so that it is not generated.
    pub(crate) fn is_extern(&self, name: &QualifiedName) -> bool {
        let dotted = name.dotted();
        self.extern_paths.iter().any(|(extern_name, _)| is_within(&dotted, extern_name))
    }

    /// For a type that is elsewhere: the path that was given, and how many parts of the name it stands for.
    pub(crate) fn extern_path(&self, name: &QualifiedName) -> Option<(TokenStream, usize)> {
        let dotted = name.dotted();
        let within = self.extern_paths.iter().filter(|(extern_name, _)| is_within(&dotted, extern_name));
        // The one that says most about it.
        let (extern_name, path) = within.max_by_key(|(extern_name, _)| extern_name.len())?;
        Some((parse_path(path)?, extern_name.split('.').count()))
    }

    /// The attributes of a type.
    pub(crate) fn of_type(&self, name: &QualifiedName) -> TokenStream {
        attributes(&self.type_attributes, || name.dotted())
    }

    /// The attributes of a field, an enumerator or a member.
    pub(crate) fn of_field(&self, of: &QualifiedName, name: &str) -> TokenStream {
        attributes(&self.field_attributes, || format!("{}.{name}", of.dotted()))
    }
}

/// Types that what serde derives names without a path.
const NAMED_BY_SERDE: [&str; 5] = ["bool", "str", "u8", "u32", "u64"];

/// `table u8 {}`
fn hides_primitive(name: &QualifiedName) -> Option<Diagnostic> {
    let text = name.name.as_str();
    NAMED_BY_SERDE.contains(&text).then(|| {
        let dotted = name.dotted();
        let message =
            format!("`serde(true)` cannot be with the type `{dotted}`, which hides Rust's own `{text}`");
        let help = "rename the type, or compile its schema without `serde`";
        Diagnostic::without_place(Code::InvalidSetting, message).help(help)
    })
}

fn attributes(settings: &[(String, String)], name: impl FnOnce() -> String) -> TokenStream {
    if settings.is_empty() {
        return TokenStream::new();
    }
    let name = name();
    let meant = settings.iter().filter(|(pattern, _)| matches(pattern, &name));
    meant.filter_map(|(_, attributes)| parse_attributes(attributes)).collect()
}

fn parse_attributes(text: &str) -> Option<TokenStream> {
    let attributes = syn::Attribute::parse_outer.parse_str(text).ok()?;
    (!attributes.is_empty()).then(|| quote!(#(#attributes)*))
}

/// A path that means the same in every module.
fn parse_path(text: &str) -> Option<TokenStream> {
    let path: syn::Path = syn::parse_str(text).ok()?;
    let is_plain = path.segments.iter().all(|segment| segment.arguments.is_none());
    let is_absolute =
        path.leading_colon.is_some() || path.segments.first().is_some_and(|segment| segment.ident == "crate");
    (is_plain && is_absolute).then(|| path.to_token_stream())
}

/// Whether a type is the named one, or in the named namespace.
fn is_within(dotted: &str, name: &str) -> bool {
    dotted.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a name fits a pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or("");
    for piece in pieces {
        // The earliest place leaves most for what follows.
        let Some((_, after)) = name.split_once(piece) else { return false };
        name = after;
    }
    name.ends_with(last)
}

fn no_effect(setting: &str, pattern: &str, what: &str, names: &[String]) -> Diagnostic {
    let message = format!("`{setting}` has no effect: no {what} has that name");
    let diagnostic = Diagnostic::without_place(Code::NoEffect, message);
    diagnostic.suggest(closest(pattern, names.iter().map(String::as_str)))
}

fn declared(ir: &Ir) -> impl Iterator<Item = &QualifiedName> {
    let objects = ir.objects.iter().map(|object| &object.declaration.name);
    let enums = ir.enums.iter().map(|item| &item.declaration.name);
    objects.chain(enums).chain(ir.unions.iter().map(|union| &union.declaration.name))
}

/// The full names of fields, enumerators and members.
fn members(ir: &Ir) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |of: &QualifiedName, name: &str| names.push(format!("{}.{name}", of.dotted()));
    for object in &ir.objects {
        object.fields.iter().for_each(|field| add(&object.declaration.name, &field.name));
    }
    for item in &ir.enums {
        item.values.iter().for_each(|value| add(&item.declaration.name, &value.name));
    }
    for union in &ir.unions {
        union.members.iter().for_each(|member| add(&union.declaration.name, &member.name));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        };
        check("a.B", "a.B", true);
        check("a.B", "a.Bc", false);
        check("*", "a.B", true);
        check("a.*", "a.b.C", true);
        check("a.*", "ab.C", false);
        check("*.stamp", "a.B.stamp", true);
        check("*.stamp", "a.B.stamps", false);
        check("a.*.x.*", "a.B.x.x.y", true);
        check("a*a", "a", false);
        check("", "a", false);
    }

    #[test]
    fn paths_are_absolute() {
        let check = |path: &str, expected: bool| assert_eq!(parse_path(path).is_some(), expected, "{path}");
        check("::a::B", true);
        check("crate::a", true);
        check("a::B", false);
        check("super::B", false);
        check("::a::B<u8>", false);
        check("::a::B; fn x() {}", false);
    }
}
