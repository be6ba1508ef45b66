//! Defaults: what a field reads as when it is absent, and whether it can be told that it is.

use super::{
    Resolver, Site,
    enumeration::integer,
    number::{FUNCTIONS, constant, function, real},
    object::Draft,
};
use crate::{
    ast::{Value, ValueKind},
    diagnostic::{Code, Diagnostic, Span, closest},
    ir::{Default, Element, EnumId, Scalar, Type},
};

impl Resolver<'_, '_> {
    /// The default of a field, and whether it is `null`; `None` after a report.
    pub(super) fn default(&mut self, draft: &Draft<'_>, site: &Site) -> Option<(Default, bool)> {
        let Some(value) = &draft.ast.default else {
            self.check_zero_is_known(draft)?;
            return Some((Default::Zero, false));
        };
        if draft.in_struct || !self.can_have_default(draft.field_type) {
            return self.only_zero(draft, value);
        }
        if value.is_null() {
            return self.null(draft, value);
        }
        let default = match draft.field_type {
            Type::One(Element::Scalar(Scalar::F32 | Scalar::F64)) => Default::Real(self.real(value)?),
            Type::One(Element::Scalar(scalar)) => Default::Integer(self.integer(scalar, value, site)?),
            Type::One(Element::Enum(id)) => Default::Integer(self.enum_default(draft, id, value)?),
            Type::One(Element::Text) => Default::Text(self.text(value)?),
            _ => self.empty_vector(value)?,
        };
        Some((normalize(default), false))
    }

    fn can_have_default(&self, field_type: Type) -> bool {
        matches!(
            field_type,
            Type::One(Element::Scalar(_) | Element::Enum(_) | Element::Text) | Type::Vector(_)
        )
    }

    /// `= 0` says nothing new where there is no default, so it is let pass, as FlatBuffers does.
    fn only_zero(&mut self, draft: &Draft<'_>, value: &Value) -> Option<(Default, bool)> {
        let is_zero = matches!(&value.kind, ValueKind::Integer(text) if integer(text) == Some(0));
        if is_zero && draft.in_struct && draft.is_scalar() {
            return Some((Default::Zero, false));
        }
        let message = match draft.in_struct {
            true => "the fields of a struct have no defaults",
            false => "only numbers, bools, enums, strings and vectors have defaults",
        };
        self.report(Diagnostic::new(Code::DefaultNotAllowed, value.span, message).help("remove the default"));
        None
    }

    fn null(&mut self, draft: &Draft<'_>, value: &Value) -> Option<(Default, bool)> {
        if !draft.is_scalar() {
            let message = format!("`{}` is optional already", draft.name());
            let help = "remove `= null`; it is for numbers, bools and enums";
            self.report(Diagnostic::new(Code::DefaultNotAllowed, value.span, message).help(help));
            return None;
        }
        if let Type::One(Element::Enum(id)) = draft.field_type {
            let item = &self.ir.enums[id.0];
            if item.values.iter().any(|known| known.name == "null") {
                let message = format!("`null` is an enumerator of `{}` too", item.declaration.name.dotted());
                let help = "rename the enumerator: `= null` says that the field may be absent";
                self.report(Diagnostic::new(Code::DefaultMismatch, value.span, message).help(help));
                return None;
            }
        }
        Some((Default::Zero, true))
    }

    /// An enum without a value 0 leaves a field without a default that means anything.
    fn check_zero_is_known(&mut self, draft: &Draft<'_>) -> Option<()> {
        let (Type::One(Element::Enum(id)) | Type::Array(Element::Enum(id), _)) = draft.field_type else {
            return Some(());
        };
        let item = &self.ir.enums[id.0];
        let is_broken = self.scope.enums[id.0].ast.broken || item.values.is_empty();
        if item.is_flags || is_broken || item.value(0).is_some() {
            return Some(());
        }
        let (name, span) = (item.declaration.name.dotted(), item.declaration.span);
        let message = format!("field `{}` has no default: enum `{name}` has no value 0", draft.name());
        let help = match draft.in_struct {
            true => format!("give `{name}` a value 0"),
            false => format!("write `= {}`, or `= null`, or give the enum a value 0", item.values[0].name),
        };
        let diagnostic = Diagnostic::new(Code::DefaultNotInEnum, draft.ast.name.span, message);
        self.report(diagnostic.note(span, "the enum is declared here").help(help));
        None
    }

    fn integer(&mut self, scalar: Scalar, value: &Value, site: &Site) -> Option<i128> {
        let number = match &value.kind {
            ValueKind::Integer(text) | ValueKind::Text(text) if starts_like_number(text) => integer(text),
            ValueKind::Name(name) | ValueKind::Text(name) if scalar == Scalar::Bool && name == "true" => {
                Some(1)
            }
            ValueKind::Name(name) | ValueKind::Text(name) if scalar == Scalar::Bool && name == "false" => {
                Some(0)
            }
            ValueKind::Text(name) if name.contains('.') => {
                return self.named(name, scalar, value, site);
            }
            _ => return self.mismatch(value, scalar.name()),
        };
        self.in_range(number, scalar, value)
    }

    /// Enumerators of any enum as a number: `= "Color.Red"`, `= "Access.Read Access.Write"`.
    fn named(&mut self, words: &str, scalar: Scalar, value: &Value, site: &Site) -> Option<i128> {
        let mut together = 0;
        for word in words.split(' ') {
            let Some(number) = self.enumerator(word, site) else {
                let message = format!("`{word}` is no enumerator of any enum");
                self.report(Diagnostic::new(Code::UnknownEnumerator, value.span, message));
                return None;
            };
            together |= number;
        }
        self.in_range(Some(together), scalar, value)
    }

    fn in_range(&mut self, number: Option<i128>, scalar: Scalar, value: &Value) -> Option<i128> {
        let (least, most) = scalar.range().unwrap_or((0, 0));
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let message = format!("the default does not fit `{}`", scalar.name());
            let help = match scalar {
                Scalar::Bool => "write `true` or `false`".to_owned(),
                _ => format!("`{}` has values from {least} to {most}", scalar.name()),
            };
            self.report(Diagnostic::new(Code::DefaultOutOfRange, value.span, message).help(help));
        }
        number
    }

    fn real(&mut self, value: &Value) -> Option<f64> {
        let number = match &value.kind {
            ValueKind::Integer(text) | ValueKind::Float(text) | ValueKind::Text(text) => real(text),
            ValueKind::Name(name) => constant(name),
            ValueKind::Function(names, argument) => return self.computed(names, argument, value.span),
            ValueKind::EmptyVector => None,
        };
        match number {
            Some(number) => Some(number),
            None => self.mismatch(value, "a floating-point number"),
        }
    }

    /// `sin(rad(30))`
    fn computed(&mut self, names: &[String], argument: &Value, span: Span) -> Option<f64> {
        let mut number = self.real(argument)?;
        for name in names.iter().rev() {
            match function(name, number) {
                Some(result) => number = result,
                None => {
                    let message = format!("there is no function `{name}`");
                    let diagnostic = Diagnostic::new(Code::Unsupported, span, message);
                    let diagnostic = match closest(name, FUNCTIONS) {
                        Some(candidate) => diagnostic.suggest(Some(candidate)),
                        None => diagnostic.help(format!("the functions are {}", FUNCTIONS.join(", "))),
                    };
                    self.report(diagnostic);
                    return None;
                }
            }
        }
        Some(number)
    }

    fn text(&mut self, value: &Value) -> Option<String> {
        match &value.kind {
            ValueKind::Text(text) => Some(text.clone()),
            _ => self.mismatch(value, "a string"),
        }
    }

    fn empty_vector(&mut self, value: &Value) -> Option<Default> {
        match &value.kind {
            ValueKind::EmptyVector => Some(Default::EmptyVector),
            _ => self.mismatch(value, "a vector, whose only default is `[]`"),
        }
    }

    fn enum_default(&mut self, draft: &Draft<'_>, id: EnumId, value: &Value) -> Option<i128> {
        let underlying = self.ir.enums[id.0].underlying;
        let number = match &value.kind {
            ValueKind::Integer(text) | ValueKind::Text(text) if starts_like_number(text) => {
                self.in_range(integer(text), underlying, value)?
            }
            ValueKind::Name(words) | ValueKind::Text(words) => self.enumerators(words, id, value)?,
            _ => return self.mismatch(value, "a number or the name of an enumerator"),
        };
        let item = &self.ir.enums[id.0];
        if item.is_flags || item.value(number).is_some() || self.scope.enums[id.0].ast.broken {
            return Some(number);
        }
        let (name, span) = (item.declaration.name.dotted(), item.declaration.span);
        let message = format!("the default {number} of `{}` is no value of enum `{name}`", draft.name());
        let diagnostic = Diagnostic::new(Code::DefaultNotInEnum, value.span, message);
        self.report(
            diagnostic.note(span, "the enum is declared here").help("write the name of an enumerator"),
        );
        None
    }

    /// `Read`, or `"Read Write"`: the enumerators' numbers together.
    fn enumerators(&mut self, words: &str, id: EnumId, value: &Value) -> Option<i128> {
        let mut together = 0;
        for word in words.split(' ') {
            let item = &self.ir.enums[id.0];
            match item.values.iter().find(|known| known.name == word).map(|known| known.value) {
                Some(number) => together |= number,
                None if self.scope.enums[id.0].ast.broken => return None,
                None => {
                    let names =
                        item.values.iter().map(|known| known.name.as_str()).take_while(|_| self.suggests());
                    let message =
                        format!("`{word}` is no enumerator of `{}`", item.declaration.name.dotted());
                    let span = item.declaration.span;
                    let diagnostic = Diagnostic::new(Code::UnknownEnumerator, value.span, message)
                        .note(span, "the enum is declared here")
                        .suggest(closest(word.rsplit('.').next().unwrap_or(word), names));
                    self.report(diagnostic);
                    return None;
                }
            }
        }
        Some(together)
    }

    fn mismatch<T>(&mut self, value: &Value, wanted: &str) -> Option<T> {
        let found = match &value.kind {
            ValueKind::Integer(text) | ValueKind::Float(text) | ValueKind::Name(text) => format!("`{text}`"),
            ValueKind::Text(_) => "a string".to_owned(),
            ValueKind::EmptyVector => "`[]`".to_owned(),
            ValueKind::Function(names, _) => format!("`{}(..)`", names[0]),
        };
        let wanted =
            if wanted.contains(' ') { wanted.to_owned() } else { format!("a value of type `{wanted}`") };
        let message = format!("the default is {found}, expected {wanted}");
        let diagnostic = Diagnostic::new(Code::DefaultMismatch, value.span, message);
        self.report(match &value.kind {
            _ if wanted.contains("`bool`") => diagnostic.help("write `true` or `false`"),
            ValueKind::Name(name) if name.contains('.') => {
                diagnostic.help(format!("a name with a dot stands in quotes: `\"{name}\"`"))
            }
            _ => diagnostic,
        });
        None
    }
}

/// Zero is what a field without a default reads as, so it is not kept as one.
fn normalize(default: Default) -> Default {
    match default {
        Default::Integer(0) => Default::Zero,
        // Negative zero has other bits.
        Default::Real(number) if number.to_bits() == 0 => Default::Zero,
        default => default,
    }
}

fn starts_like_number(text: &str) -> bool {
    text.trim_start_matches(['+', '-']).starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_no_default() {
        assert_eq!(normalize(Default::Integer(0)), Default::Zero);
        assert_eq!(normalize(Default::Real(0.0)), Default::Zero);
        assert_eq!(normalize(Default::Real(-0.0)), Default::Real(-0.0));
    }
}
