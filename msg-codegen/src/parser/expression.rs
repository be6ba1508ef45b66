//! What stands inside declarations: types, attributes, values, names.

use super::{Parsed, Parser, Reported};
use crate::{
    ast::{Attribute, Name, Path, Shape, Text, Type, Value, ValueKind},
    diagnostic::{Code, Diagnostic, Span},
    lexer::TokenKind,
};

impl Parser<'_, '_, '_> {
    /// `T`, `[T]` or `[T:N]`.
    pub(super) fn any_type(&mut self) -> Parsed<Type> {
        let start = self.token().span;
        if !self.take(b'[') {
            let name = self.path("a type")?;
            return Ok(Type { shape: Shape::Bare, span: name.span, name });
        }
        if self.token().kind == TokenKind::Symbol(b'[') {
            return Err(self.nested_vector(start));
        }
        let name = self.path("a type")?;
        let shape = match self.take(b':') {
            true => Shape::Array(self.integer("the length of the array")?),
            false => Shape::Vector,
        };
        self.expect(b']')?;
        Ok(Type { shape, name, span: start.to(self.previous().span) })
    }

    pub(super) fn nested_vector(&mut self, start: Span) -> Reported {
        while matches!(self.token().kind, TokenKind::Symbol(b'[' | b']' | b':' | b'.'))
            || matches!(self.token().kind, TokenKind::Identifier | TokenKind::Integer)
        {
            self.advance();
        }
        let span = start.to(self.previous().span);
        let help = "put the inner vector into a table, and use a vector of that table";
        self.report(Diagnostic::new(Code::NestedVector, span, "a vector cannot hold vectors").help(help))
    }

    /// `(name, name: value)`, or nothing.
    pub(super) fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        let mut attributes = Vec::new();
        if !self.take(b'(') {
            return Ok(attributes);
        }
        loop {
            attributes.push(self.attribute()?);
            if self.take(b')') {
                return Ok(attributes);
            }
            self.expect_after(b',', "attributes are separated by commas and end with `)`")?;
        }
    }

    pub(super) fn attribute(&mut self) -> Parsed<Attribute> {
        let name = match &self.token().kind {
            TokenKind::Text(value) => Name { text: value.clone(), span: self.advance().span },
            _ => self.name("an attribute")?,
        };
        let value = match self.take(b':') {
            true => Some(self.value()?),
            false => None,
        };
        Ok(Attribute { name, value })
    }

    /// A default or an attribute's value. Functions are taken in a loop: their depth costs no stack.
    pub(super) fn value(&mut self) -> Parsed<Value> {
        let start = self.token().span;
        let mut functions = Vec::new();
        while let Some(name) = self.function_name() {
            functions.push(name);
        }
        let argument = self.plain_value()?;
        if functions.is_empty() {
            return Ok(argument);
        }
        for _ in &functions {
            self.expect(b')')?;
        }
        let kind = ValueKind::Function(functions, Box::new(argument));
        Ok(Value { kind, span: start.to(self.previous().span) })
    }

    /// `rad(` of `rad(180)`, perhaps with a sign; with a blank before the parenthesis, attributes follow.
    fn function_name(&mut self) -> Option<String> {
        let sign = match self.token().kind {
            TokenKind::Symbol(sign @ (b'-' | b'+')) => Some(char::from(sign)),
            _ => None,
        };
        let name = self.tokens.get(self.at + usize::from(sign.is_some()))?;
        let open = self.tokens.get(self.at + usize::from(sign.is_some()) + 1)?;
        let is_call = name.kind == TokenKind::Identifier
            && open.kind == TokenKind::Symbol(b'(')
            && open.span.start == name.span.end;
        if !is_call {
            return None;
        }
        let name = sign.into_iter().chain(name.text.chars()).collect();
        while !self.take(b'(') {
            self.advance();
        }
        Some(name)
    }

    fn plain_value(&mut self) -> Parsed<Value> {
        let (token, start) = (self.token(), self.token().span);
        self.check_sound()?;
        let kind = match &token.kind {
            TokenKind::Integer => ValueKind::Integer(self.advance().text.to_owned()),
            TokenKind::Float => ValueKind::Float(self.advance().text.to_owned()),
            TokenKind::Text(value) => {
                self.advance();
                ValueKind::Text(value.clone())
            }
            TokenKind::Identifier => self.named_value("")?,
            TokenKind::Symbol(sign @ (b'-' | b'+')) => {
                self.advance();
                self.named_value(if *sign == b'-' { "-" } else { "+" })?
            }
            TokenKind::Symbol(b'[') => {
                self.advance();
                self.expect_after(b']', "the only default of a vector is `[]`")?;
                ValueKind::EmptyVector
            }
            _ => return Err(self.unexpected("a value", "")),
        };
        Ok(Value { kind, span: start.to(self.previous().span) })
    }

    /// A constant or an enumerator.
    fn named_value(&mut self, sign: &str) -> Parsed<ValueKind> {
        let path = self.path("a value")?;
        Ok(ValueKind::Name(format!("{sign}{}", path.text())))
    }

    pub(super) fn number_after_equals(&mut self) -> Parsed<Option<Text>> {
        match self.take(b'=') {
            true => self.integer("a number").map(Some),
            false => Ok(None),
        }
    }

    pub(super) fn integer(&mut self, what: &str) -> Parsed<Text> {
        self.check_sound()?;
        match self.token().kind {
            TokenKind::Integer => {
                let token = self.advance();
                Ok(Text { value: token.text.to_owned(), span: token.span })
            }
            _ => Err(self.unexpected(what, "")),
        }
    }

    /// A keyword and the string that follows it.
    pub(super) fn keyword_text(&mut self) -> Parsed<Text> {
        self.advance();
        self.text()
    }

    pub(super) fn text(&mut self) -> Parsed<Text> {
        self.check_sound()?;
        match &self.token().kind {
            TokenKind::Text(value) => Ok(Text { value: value.clone(), span: self.advance().span }),
            _ => Err(self.unexpected("a string in quotes", "")),
        }
    }

    /// Passes over a literal in which the lexer has found a mistake: its value means nothing.
    pub(super) fn check_sound(&mut self) -> Parsed<()> {
        match self.token().broken {
            true => {
                self.advance();
                Err(Reported)
            }
            false => Ok(()),
        }
    }

    pub(super) fn path(&mut self, what: &str) -> Parsed<Path> {
        let mut names = vec![self.name(what)?];
        while self.take(b'.') {
            names.push(self.name("a name after the dot")?);
        }
        let span = names[0].span.to(self.previous().span);
        Ok(Path { names, span })
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.token().kind {
            TokenKind::Identifier => {
                let token = self.advance();
                Ok(Name { text: token.text.to_owned(), span: token.span })
            }
            _ => Err(self.unexpected(what, "")),
        }
    }
}
