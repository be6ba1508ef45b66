//! The rules about tables, structs and their fields, one function a rule, with what it refuses or looks at above it.

use std::collections::HashMap;

use super::{
    Resolver, Site,
    attributes::find,
    layout::LARGEST_ALIGNMENT,
    object::Draft,
    scope::{Declared, Symbol},
};
use crate::{
    ast,
    diagnostic::{Code, Diagnostic, Span},
    ir::{Element, Field, ObjectId, Scalar, Type},
};

impl Resolver<'_, '_> {
    /// `struct S {}`
    pub(super) fn check_not_empty(&mut self, ast: &ast::Object) {
        if ast.kind == ast::ObjectKind::Struct && ast.fields.is_empty() && !ast.broken {
            let message = format!("struct `{}` has no fields", ast.name.text);
            let help = "give it a field, or make it a table";
            self.report(Diagnostic::new(Code::EmptyStruct, ast.name.span, message).help(help));
        }
    }

    /// `a: int; a: int;`, and a field that is called like an object declared before it.
    pub(super) fn check_names(&mut self, declared: &Declared<'_, ast::Object>) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for field in &declared.ast.fields {
            let name = field.name.text.as_str();
            if let Some(first) = seen.insert(name, field.name.span) {
                let message = format!("field `{name}` is declared twice");
                let diagnostic = Diagnostic::new(Code::DuplicateField, field.name.span, message);
                self.report(diagnostic.note(first, "first declared here").help("rename one of them"));
            }
            let Some((Symbol::Object(_), other)) = self.scope.lookup(name, &declared.site) else { continue };
            if other.file != field.name.span.file || other.start < field.name.span.start {
                let message = format!("field `{name}` is called like a type");
                let diagnostic = Diagnostic::new(Code::FieldNamedLikeType, field.name.span, message)
                    .note(other, "the type is declared here")
                    .help("rename the field: FlatBuffers' own compiler refuses this");
                self.report(diagnostic);
            }
        }
    }

    /// `a: int (key); b: int (key);`
    pub(super) fn check_one_key(&mut self, ast: &ast::Object) {
        let mut keys = ast.fields.iter().filter_map(|field| find(&field.attributes, "key"));
        let Some(first) = keys.next() else { return };
        for second in keys {
            let message = format!("`{}` has a second key", ast.name.text);
            let diagnostic = Diagnostic::new(Code::SecondKey, second.name.span, message);
            self.report(
                diagnostic.note(first.name.span, "the first one").help("a type is sorted by one field only"),
            );
        }
    }

    /// `name: string; name_length: int;`, which other generators turn into one name.
    pub(super) fn check_clashes(&mut self, ast: &ast::Object, fields: &[Field]) {
        for (suffixes, fits) in CLASHES {
            for (suffix, field) in
                suffixes.iter().flat_map(|suffix| fields.iter().map(move |field| (suffix, field)))
            {
                let Some(stem) = field.name.strip_suffix(suffix).filter(|stem| !stem.is_empty()) else {
                    continue;
                };
                let Some(other) = fields.iter().find(|other| other.name == stem && fits(other.field_type))
                else {
                    continue;
                };
                let span_of =
                    |name: &str| ast.fields.iter().find(|field| field.name.text == name).map(|f| f.name.span);
                let (Some(span), Some(first)) = (span_of(&field.name), span_of(&other.name)) else {
                    continue;
                };
                let message =
                    format!("field `{}` is called like something generated for `{stem}`", field.name);
                let diagnostic = Diagnostic::new(Code::FieldClash, span, message);
                self.report(diagnostic.note(first, "the other field").help("rename one of them"));
            }
        }
    }

    /// `x: [float] (key)`
    pub(super) fn key(&mut self, draft: &Draft<'_>) -> bool {
        let Some(key) = draft.attribute("key") else { return false };
        let is_sortable = matches!(
            draft.field_type,
            Type::One(Element::Scalar(_) | Element::Enum(_) | Element::Text | Element::Struct(_))
                | Type::Array(Element::Scalar(_) | Element::Enum(_) | Element::Struct(_), _)
        );
        let is_null = draft.ast.default.as_ref().is_some_and(ast::Value::is_null);
        if let Type::One(Element::Struct(id)) = draft.field_type {
            let declared = self.scope.objects[id.0].ast.name.span;
            self.is_declared_before("struct", &draft.ast.field_type.name, declared);
        }
        if is_sortable && !is_null {
            return true;
        }
        let message = match is_null {
            true => format!("key `{}` may be absent", draft.name()),
            false => format!("nothing can be sorted by `{}`", draft.name()),
        };
        let help = "a key is a string, a number, a bool, an enum, a struct or an array, and never absent";
        self.report(Diagnostic::new(Code::InvalidKeyType, key.name.span, message).help(help));
        false
    }

    /// `x: int (required)`
    pub(super) fn required(&mut self, draft: &Draft<'_>) -> bool {
        let Some(required) = draft.attribute("required") else { return false };
        let message = match (draft.in_struct, draft.is_scalar()) {
            (false, false) => return true,
            (true, _) => "the fields of a struct are always there",
            (_, true) => "a number always has a value, and cannot be required",
        };
        let help = match draft.in_struct {
            true => "remove `required`",
            false => "remove `required`, or write `= null` to see whether it was set",
        };
        self.report(Diagnostic::new(Code::RequiredScalar, required.name.span, message).help(help));
        false
    }

    /// `x: int (deprecated)` in a struct.
    pub(super) fn deprecated(&mut self, draft: &Draft<'_>) -> bool {
        let Some(deprecated) = draft.attribute("deprecated") else { return false };
        if draft.in_struct {
            let message = "a field of a struct cannot be deprecated";
            let help = "every field of a struct takes its place: declare a new struct without it";
            self.report(Diagnostic::new(Code::DeprecatedInStruct, deprecated.name.span, message).help(help));
        }
        !draft.in_struct
    }

    /// Attributes that only go with some types, whether they do something here or not.
    pub(super) fn check_misplaced(&mut self, draft: &Draft<'_>) {
        let field_type = draft.field_type;
        let is_bytes = field_type == Type::Vector(Element::Scalar(Scalar::U8));
        let is_text = field_type == Type::One(Element::Text);
        let is_object = matches!(
            field_type,
            Type::One(Element::Struct(_)) | Type::Vector(Element::Struct(_) | Element::Table(_))
        );
        for (name, fits, wanted) in [
            ("nested_flatbuffer", is_bytes, "a vector of ubyte"),
            ("flexbuffer", is_bytes, "a vector of ubyte"),
            ("shared", is_text, "a string"),
            ("native_inline", is_object, "a struct, or a vector of structs or tables"),
            ("native_custom_alloc", false, "a table or a struct"),
            ("cpp_type", draft.attribute("hash").is_some(), "a field with `hash`"),
            ("hash", hash_bits(field_type).is_some(), "an integer of 16 bits or more"),
        ] {
            let Some(attribute) = draft.attribute(name).filter(|_| !fits) else { continue };
            let message = format!("`{name}` stands on `{}`, but belongs to {wanted}", draft.name());
            self.report(
                Diagnostic::new(Code::MisplacedAttribute, attribute.name.span, message).help("remove it"),
            );
        }
        self.check_hash(draft);
    }

    /// `x: [ubyte] (force_align: 16)`; FlatBuffers lets it stand anywhere and have any value.
    pub(super) fn vector_align(&mut self, draft: &Draft<'_>) -> Option<u32> {
        let attribute = draft.attribute("force_align")?;
        let no_effect = |what: String, help: &str| {
            Diagnostic::new(
                Code::NoEffect,
                attribute.name.span,
                format!("`force_align` has no effect {what}"),
            )
            .help(help)
        };
        if !matches!(draft.field_type, Type::Vector(element) if !matches!(element, Element::Union(_))) {
            let help = "it belongs to a struct, or to a vector of anything but unions";
            self.report(no_effect(format!("on `{}`", draft.name()), help));
            return None;
        }
        let align = super::layout::written_align(attribute);
        let is_one = |align: &u32| align.is_power_of_two() && *align <= LARGEST_ALIGNMENT;
        let align = align.and_then(|align| u32::try_from(align).ok()).filter(is_one);
        if align.is_none() {
            let help = format!("write a power of two up to {LARGEST_ALIGNMENT}, such as `force_align: 16`");
            self.report(no_effect("with this value".to_owned(), &help));
        }
        align
    }

    /// `x: uint (hash: "fnv1_64")`
    pub(super) fn check_hash(&mut self, draft: &Draft<'_>) {
        let (Some(attribute), Some(bits)) = (draft.attribute("hash"), hash_bits(draft.field_type)) else {
            return;
        };
        let known = [format!("fnv1_{bits}"), format!("fnv1a_{bits}")];
        match &attribute.value {
            Some(ast::Value { kind: ast::ValueKind::Text(name), .. }) if known.contains(name) => {}
            value => {
                let span = value.as_ref().map_or(attribute.name.span, |value| value.span);
                let message = format!("there is no such hash of {bits} bits");
                let help = format!("write `hash: \"{}\"` or `hash: \"{}\"`", known[0], known[1]);
                self.report(Diagnostic::new(Code::MisplacedAttribute, span, message).help(help));
            }
        }
    }

    /// `x: [ubyte] (nested_flatbuffer: "Table")`
    pub(super) fn nested(&mut self, draft: &Draft<'_>, site: &Site) -> Option<ObjectId> {
        let attribute = draft.attribute("nested_flatbuffer")?;
        match &attribute.value {
            Some(ast::Value { kind: ast::ValueKind::Text(name), span }) => {
                match self.scope.lookup(name, site) {
                    Some((Symbol::Object(id), _)) => {
                        return Some(id)
                            .filter(|_| draft.field_type == Type::Vector(Element::Scalar(Scalar::U8)));
                    }
                    _ => self.unknown_type(name, *span, site),
                }
            }
            value => {
                let span = value.as_ref().map_or(attribute.name.span, |value| value.span);
                let message = "`nested_flatbuffer` does not say which table is nested";
                let help = "write `nested_flatbuffer: \"Table\"`";
                self.report(Diagnostic::new(Code::MisplacedAttribute, span, message).help(help));
            }
        }
        None
    }
}

/// The bits of an integer that may hold a hash.
fn hash_bits(field_type: Type) -> Option<u32> {
    let (Type::One(element) | Type::Vector(element)) = field_type else { return None };
    match element {
        Element::Scalar(scalar) if scalar.range().is_some() && scalar.size() > 1 => Some(scalar.size() * 8),
        _ => None,
    }
}

/// Suffixes, and the types of the fields that they are added to.
type Clash = (&'static [&'static str], fn(Type) -> bool);

/// Suffixes that other generators add to fields of a type.
const CLASHES: [Clash; 4] = [
    (&["_type", "Type"], |field_type| matches!(field_type, Type::One(Element::Union(_)))),
    (&["_type"], |field_type| matches!(field_type, Type::Vector(Element::Union(_)))),
    (&["_length", "Length"], |field_type| matches!(field_type, Type::Vector(_))),
    (&["_byte_vector", "ByteVector"], |field_type| field_type == Type::One(Element::Text)),
];
