//! Enums and unions: the numbers of their values, and the types of members.

use std::collections::HashMap;

use super::{
    Resolver, Site,
    attributes::Place,
    scope::{Declared, Symbol},
};
use crate::{
    ast,
    diagnostic::{Code, Diagnostic, Span},
    ir::{Element, Enum, EnumValue, Member, Scalar, Union},
};

impl Resolver<'_, '_> {
    /// Resolves every enum, so that indices in the scope and in the model agree.
    pub(super) fn enums(&mut self) {
        let scope = self.scope;
        for declared in &scope.enums {
            let item = self.enumeration(declared);
            self.ir.enums.push(item);
        }
    }

    /// Resolves every union.
    pub(super) fn unions(&mut self) {
        let scope = self.scope;
        for declared in &scope.unions {
            let item = self.union(declared);
            self.ir.unions.push(item);
        }
    }

    fn enumeration(&mut self, declared: &Declared<'_, ast::Enum>) -> Enum {
        let (ast, site) = (declared.ast, &declared.site);
        let attributes = self.attributes(&ast.attributes, Place::Enum);
        let is_flags = attributes.iter().any(|(name, _)| name == "bit_flags");
        let underlying = self.enum_type(ast.underlying.as_ref(), site).unwrap_or(Scalar::I64);
        if is_flags && !underlying.is_unsigned() && ast.underlying.is_some() {
            let message = format!(
                "the flags of `{}` are kept in the signed type `{}`",
                ast.name.text,
                underlying.name()
            );
            let help = format!("write `enum {}: u{}`", ast.name.text, underlying.name());
            self.report(Diagnostic::new(Code::SignedBitFlags, ast.name.span, message).help(help));
        }
        let declaration = self.declaration(&ast.name, &ast.documentation, attributes, site);
        let mut item = Enum { declaration, underlying, is_flags, values: Vec::new() };
        let mut numbers = Numbers::new(underlying, is_flags);
        if ast.values.is_empty() && !ast.broken {
            // An empty enum is given one value, as FlatBuffers does it.
            item.values.push(none(ast.name.span));
        }
        for value in &ast.values {
            let entry =
                Entry { name: value.name.text.clone(), span: value.name.span, written: value.value.as_ref() };
            let number = numbers.next(self, &entry);
            let attributes = self.attributes(&value.attributes, Place::Enumerator);
            if let Some(number) = number {
                let (name, documentation) = (entry.name, value.documentation.clone());
                let span = entry.span;
                item.values.push(EnumValue { name, documentation, attributes, value: number, span });
            }
        }
        item
    }

    fn enum_type(&mut self, written: Option<&ast::Type>, site: &Site) -> Option<Scalar> {
        let written = written?;
        let element = self.element(&written.name, site)?;
        match (&written.shape, element) {
            (ast::Shape::Bare, Element::Scalar(scalar))
                if scalar.range().is_some() && scalar != Scalar::Bool =>
            {
                Some(scalar)
            }
            _ => {
                let message =
                    format!("the type behind an enum must be an integer, not `{}`", written.name.text());
                let help = "one of byte, ubyte, short, ushort, int, uint, long, ulong";
                self.report(Diagnostic::new(Code::InvalidEnumType, written.span, message).help(help));
                None
            }
        }
    }

    fn union(&mut self, declared: &Declared<'_, ast::Union>) -> Union {
        let (ast, site) = (declared.ast, &declared.site);
        let attributes = self.attributes(&ast.attributes, Place::Union);
        let underlying = ast.underlying.as_ref().and_then(|written| self.enum_type(Some(written), site));
        let declaration = self.declaration(&ast.name, &ast.documentation, attributes, site);
        let mut item = Union { declaration, underlying, members: Vec::new() };
        let mut numbers = Numbers::new(underlying.unwrap_or(Scalar::U8), false);
        // `NONE` is the first member of every union.
        numbers.take_none(ast.name.span);
        for member in &ast.members {
            // FlatBuffers makes one name of a dotted type.
            let name = member.name.text().replace('.', "_");
            let entry = Entry { name, span: member.name.span, written: member.value.as_ref() };
            let number = numbers.next(self, &entry);
            let attributes = self.attributes(&member.attributes, Place::Enumerator);
            let element = self.member_type(member, site);
            if let (Some(number), Some(element)) = (number, element) {
                let (name, documentation) = (entry.name, member.documentation.clone());
                item.members.push(Member {
                    name,
                    documentation,
                    attributes,
                    number,
                    span: entry.span,
                    element,
                    is_boxed: false,
                });
            }
        }
        item
    }

    fn member_type(&mut self, member: &ast::Member, site: &Site) -> Option<Element> {
        let (path, shape) = match &member.member_type {
            Some(written) => (&written.name, &written.shape),
            None => (&member.name, &ast::Shape::Bare),
        };
        let element = self.element(path, site)?;
        let is_bare = matches!(shape, ast::Shape::Bare);
        let is_alias_free_text = element == Element::Text && member.member_type.is_none();
        if is_bare
            && matches!(element, Element::Table(_) | Element::Struct(_) | Element::Text)
            && !is_alias_free_text
        {
            return Some(element);
        }
        let span = member.member_type.as_ref().map_or(path.span, |written| written.span);
        let message = format!("`{}` cannot be a member of a union", path.text());
        let help = match is_alias_free_text {
            true => "name it: `text: string`",
            false => "a member is a table, a struct or a string; put anything else into a table",
        };
        self.report(Diagnostic::new(Code::InvalidUnionMember, span, message).help(help));
        None
    }

    /// The value of an enumerator by a name such as `Color.Red` or `a.Color.Red`.
    pub(super) fn enumerator(&self, name: &str, site: &Site) -> Option<i128> {
        let (prefix, last) = name.rsplit_once('.')?;
        let (Symbol::Enum(id), _) = self.scope.lookup(prefix, site)? else { return None };
        self.ir.enums[id.0].values.iter().find(|value| value.name == last).map(|value| value.value)
    }
}

fn none(span: Span) -> EnumValue {
    EnumValue { name: "NONE".to_owned(), documentation: Vec::new(), attributes: Vec::new(), value: 0, span }
}

/// An enumerator or member that is to get its number.
struct Entry<'a> {
    name: String,
    span: Span,
    written: Option<&'a ast::Text>,
}

/// Gives out the numbers of one enum or union, and remembers names and numbers to find them twice.
struct Numbers {
    underlying: Scalar,
    is_flags: bool,
    previous: Option<i128>,
    names: HashMap<String, Span>,
    taken: HashMap<i128, (String, Span)>,
}

impl Numbers {
    fn new(underlying: Scalar, is_flags: bool) -> Self {
        Self { underlying, is_flags, previous: None, names: HashMap::new(), taken: HashMap::new() }
    }

    fn take_none(&mut self, span: Span) {
        self.previous = Some(0);
        self.names.insert("NONE".to_owned(), span);
        self.taken.insert(0, ("NONE".to_owned(), span));
    }

    /// The number of the next entry, or a report of what is wrong with it.
    fn next(&mut self, resolver: &mut Resolver<'_, '_>, entry: &Entry<'_>) -> Option<i128> {
        let number = match entry.written {
            Some(written) => integer(&written.value),
            None => Some(self.previous.map_or(0, |previous| previous + 1)),
        };
        let span = entry.written.map_or(entry.span, |written| written.span);
        let Some(number) = number.filter(|number| self.fits(*number)) else {
            self.previous = None;
            resolver.report(self.out_of_range(entry, number, span));
            return None;
        };
        self.previous = Some(number);
        if let Some(first) = self.names.insert(entry.name.clone(), entry.span) {
            let message = format!("`{}` is declared twice", entry.name);
            let diagnostic = Diagnostic::new(Code::DuplicateEnumerator, entry.span, message);
            resolver.report(diagnostic.note(first, "first declared here").help("rename one of them"));
            return None;
        }
        if let Some((other, first)) = self.taken.get(&number) {
            let message = format!("`{other}` and `{}` are both {number}", entry.name);
            let diagnostic = Diagnostic::new(Code::DuplicateEnumValue, span, message);
            resolver.report(diagnostic.note(*first, "taken here").help("give one of them another number"));
            return None;
        }
        self.taken.insert(number, (entry.name.clone(), entry.span));
        Some(if self.is_flags { 1 << number } else { number })
    }

    fn fits(&self, number: i128) -> bool {
        let (least, most) = self.range();
        (least..=most).contains(&number)
    }

    /// The numbers that may be written: positions of bits for flags.
    fn range(&self) -> (i128, i128) {
        let (least, most) = self.underlying.range().unwrap_or((0, 0));
        match (self.is_flags, least < 0) {
            (false, _) => (least, most),
            // The topmost bit is the sign.
            (true, true) => (0, i128::from(self.underlying.size() * 8 - 2)),
            (true, false) => (0, i128::from(self.underlying.size() * 8 - 1)),
        }
    }

    fn out_of_range(&self, entry: &Entry<'_>, number: Option<i128>, span: Span) -> Diagnostic {
        let (least, most) = self.range();
        let shown = match (number, entry.written) {
            (Some(number), _) => number.to_string(),
            (None, written) => written.map_or_else(String::new, |written| written.value.clone()),
        };
        let name = self.underlying.name();
        let (code, message) = match self.is_flags {
            true => (
                Code::BitFlagOutOfRange,
                format!("flag `{}` is at bit {shown}, outside `{name}`", entry.name),
            ),
            false => (Code::EnumValueOutOfRange, format!("`{}` is {shown}, outside `{name}`", entry.name)),
        };
        let what = if self.is_flags { "bits" } else { "values" };
        Diagnostic::new(code, span, message).help(format!("`{name}` has {what} from {least} to {most}"))
    }
}

/// A number as schemas write it; `None` when it is larger than anything that is used.
pub(super) fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse::<u64>().ok()?,
    };
    Some(if negative { -i128::from(magnitude) } else { i128::from(magnitude) })
}
