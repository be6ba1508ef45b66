//! Attributes: which exist, where they mean something, and what they say.

use super::{Resolver, enumeration::integer};
use crate::{
    ast::{Attribute, ValueKind},
    diagnostic::{Code, Diagnostic, Span, closest},
    ir::Attributes,
};

/// What an attribute stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Table,
    Struct,
    Enum,
    Union,
    Enumerator,
    Field,
    Procedure,
}

impl Place {
    fn describe(self) -> &'static str {
        match self {
            Self::Table => "a table",
            Self::Struct => "a struct",
            Self::Enum => "an enum",
            Self::Union => "a union",
            Self::Enumerator => "an enumerator",
            Self::Field => "a field",
            Self::Procedure => "a procedure",
        }
    }
}

/// What an attribute of FlatBuffers does here.
enum Effect {
    /// It is honoured there.
    On(Place),
    /// It speaks of another language's generated code, or of a choice that does not exist here.
    None(&'static str),
    /// It would change the bytes, so it cannot be passed over.
    Refused,
}

const OTHER_LANGUAGE: &str = "it speaks of the code that is generated for another language";

/// FlatBuffers' own attributes.
const KNOWN: [(&str, Effect); 27] = [
    ("bit_flags", Effect::On(Place::Enum)),
    ("cpp_ptr_type", Effect::None(OTHER_LANGUAGE)),
    ("cpp_ptr_type_get", Effect::None(OTHER_LANGUAGE)),
    ("cpp_str_flex_ctor", Effect::None(OTHER_LANGUAGE)),
    ("cpp_str_type", Effect::None(OTHER_LANGUAGE)),
    ("cpp_type", Effect::None(OTHER_LANGUAGE)),
    ("csharp_partial", Effect::None(OTHER_LANGUAGE)),
    ("deprecated", Effect::On(Place::Field)),
    ("flexbuffer", Effect::On(Place::Field)),
    ("force_align", Effect::On(Place::Struct)),
    ("hash", Effect::On(Place::Field)),
    ("id", Effect::On(Place::Field)),
    ("idempotent", Effect::None("no code is generated for services")),
    ("key", Effect::On(Place::Field)),
    ("native_custom_alloc", Effect::None(OTHER_LANGUAGE)),
    ("native_default", Effect::None(OTHER_LANGUAGE)),
    ("native_inline", Effect::None(OTHER_LANGUAGE)),
    ("native_type", Effect::None(OTHER_LANGUAGE)),
    ("native_type_pack_name", Effect::None(OTHER_LANGUAGE)),
    ("nested_flatbuffer", Effect::On(Place::Field)),
    ("offset64", Effect::Refused),
    ("original_order", Effect::None("fields keep their order here always")),
    ("private", Effect::None("generated types are public")),
    ("required", Effect::On(Place::Field)),
    ("shared", Effect::None("equal strings are written one by one")),
    ("streaming", Effect::None("no code is generated for services")),
    ("vector64", Effect::Refused),
];

/// Whether an attribute is FlatBuffers' own, and so needs no declaration.
pub(crate) fn is_known_attribute(name: &str) -> bool {
    KNOWN.iter().any(|(known, _)| *known == name)
}

impl Resolver<'_, '_> {
    /// The attributes of one thing as names and values, after reporting those that are wrong here.
    pub(super) fn attributes(&mut self, attributes: &[Attribute], place: Place) -> Attributes {
        let mut resolved = Attributes::new();
        for attribute in attributes {
            let name = attribute.name.text.as_str();
            if resolved.iter().any(|(known, _)| known == name) {
                let message = format!("attribute `{name}` is given twice, and the first counts");
                self.report(Diagnostic::new(Code::RepeatedAttribute, attribute.name.span, message));
                continue;
            }
            self.effect(attribute, place);
            let value = self.attribute_value(attribute);
            resolved.push((name.to_owned(), value));
        }
        resolved
    }

    /// Reports an attribute that does not exist, is refused, or does nothing here.
    fn effect(&mut self, attribute: &Attribute, place: Place) {
        let (name, span) = (attribute.name.text.as_str(), attribute.name.span);
        let effect = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, effect)| effect);
        match effect {
            Some(Effect::On(meant)) if *meant == place => {}
            // On vectors it has one, which the rules about fields know.
            Some(Effect::On(Place::Struct)) if place == Place::Field => {}
            Some(Effect::On(_)) if is_refused(name, place) => {
                let message = format!("`{name}` cannot stand on {}", place.describe());
                self.report(Diagnostic::new(Code::MisplacedAttribute, span, message).help("remove it"));
            }
            Some(Effect::On(meant)) => {
                let message = format!("`{name}` has no effect on {}", place.describe());
                let help = format!("it belongs to {}", meant.describe());
                self.report(Diagnostic::new(Code::NoEffect, span, message).help(help));
            }
            Some(Effect::None(reason)) => {
                let message = format!("`{name}` has no effect here: {reason}");
                self.report(Diagnostic::new(Code::NoEffect, span, message));
            }
            Some(Effect::Refused) => {
                let message = format!("`{name}` is not supported: buffers have 32-bit offsets here");
                self.report(
                    Diagnostic::new(Code::Unsupported, span, message).help("remove it, or split the data"),
                );
            }
            None if self.scope.attributes.contains_key(name) => self.check_attribute_order(attribute),
            None => {
                let known =
                    KNOWN.iter().map(|(known, _)| *known).chain(self.scope.attributes.keys().copied());
                let diagnostic =
                    Diagnostic::new(Code::UnknownAttribute, span, format!("unknown attribute `{name}`"));
                let diagnostic = match closest(name, known) {
                    Some(candidate) => diagnostic.suggest(Some(candidate)),
                    None => diagnostic.help(format!("declare it first: `attribute \"{name}\";`")),
                };
                self.report(diagnostic);
            }
        }
    }

    /// FlatBuffers' own compiler wants attributes declared above their use.
    fn check_attribute_order(&mut self, attribute: &Attribute) {
        let (name, used) = (attribute.name.text.as_str(), attribute.name.span);
        let scope = self.scope;
        let Some(places) = scope.attributes.get(name) else { return };
        let is_later = |place: &&Span| place.file == used.file && place.start > used.start;
        if let Some(later) =
            places.iter().find(is_later).filter(|_| places.iter().all(|place| is_later(&place)))
        {
            let message = format!("attribute `{name}` is used before its declaration");
            let diagnostic = Diagnostic::new(Code::UsedBeforeDeclared, used, message);
            self.report(
                diagnostic.note(*later, "declared here").help("move the declaration to the top of the file"),
            );
        }
    }

    fn attribute_value(&mut self, attribute: &Attribute) -> String {
        let Some(value) = &attribute.value else { return "0".to_owned() };
        match &value.kind {
            ValueKind::Text(text) => text.clone(),
            ValueKind::Integer(text) => match integer(text) {
                Some(number) if i32::try_from(number).is_ok() => number.to_string(),
                _ => self.no_attribute_value(attribute, value.span, text),
            },
            ValueKind::Float(text) | ValueKind::Name(text) => {
                self.no_attribute_value(attribute, value.span, text)
            }
            ValueKind::Function(names, _) => {
                self.no_attribute_value(attribute, value.span, &format!("{}(..)", names[0]))
            }
            ValueKind::EmptyVector => self.no_attribute_value(attribute, value.span, "[]"),
        }
    }

    fn no_attribute_value(&mut self, attribute: &Attribute, span: Span, text: &str) -> String {
        let name = &attribute.name.text;
        let message =
            format!("the value of attribute `{name}` is neither an integer of 32 bits nor a string");
        let help = format!("write `\"{text}\"`");
        self.report(Diagnostic::new(Code::MisplacedAttribute, span, message).help(help));
        String::new()
    }
}

/// What FlatBuffers' own compiler refuses, and flags as numbers of a union, of which none would mean "nothing".
fn is_refused(name: &str, place: Place) -> bool {
    match place {
        Place::Enum => name == "force_align",
        Place::Union => name == "force_align" || name == "bit_flags",
        _ => false,
    }
}

/// The attribute of a name, as written.
pub(super) fn find<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|attribute| attribute.name.text == name)
}
