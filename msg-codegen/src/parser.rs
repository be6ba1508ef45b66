//! Tokens to a syntax tree, by recursive descent.
//!
//! After a mistake the parser goes on at the next field, enumerator or declaration, so that one run shows all
//! mistakes, and keeps what it understood, so that no name goes missing that is there. Nothing recurses with the
//! input: types nest once at most, and blocks do not nest.

use crate::{
    ast::{
        Attribute, Documentation, Enum, Enumerator, Field, File, Item, Member, Method, Name, Object,
        ObjectKind, Path, Service, Shape, Text, Type, Union, Value, ValueKind,
    },
    diagnostic::{Code, Diagnostic, FileId, Span, closest},
    lexer::{Token, TokenKind},
};

/// Words that start a declaration.
const DECLARATIONS: [&str; 11] = [
    "namespace",
    "table",
    "struct",
    "enum",
    "union",
    "root_type",
    "file_identifier",
    "file_extension",
    "include",
    "attribute",
    "rpc_service",
];

/// Most parts of a namespace: each is a module within a module, which Rust's own parser takes recursively.
const DEEPEST_NAMESPACE: usize = 64;

/// Parses the tokens of one file.
pub(crate) fn parse(file: FileId, tokens: &[Token<'_>], diagnostics: &mut Vec<Diagnostic>) -> File {
    let mut parser = Parser { file, tokens, at: 0, diagnostics };
    let mut ast = File::default();
    while !parser.at_end() {
        let (start, kept) = (parser.at, ast.items.len() + ast.includes.len());
        if parser.declaration(&mut ast).is_err() {
            // A whole declaration is lost; one that only lacks its semicolon has been kept.
            ast.broken |= ast.items.len() + ast.includes.len() == kept;
            parser.recover_declaration(start);
        }
    }
    ast
}

/// A mistake that has been reported; the caller recovers.
#[derive(Debug)]
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'t, 'a, 'd> {
    file: FileId,
    tokens: &'t [Token<'a>],
    at: usize,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'t, 'a> Parser<'t, 'a, '_> {
    fn declaration(&mut self, ast: &mut File) -> Parsed<()> {
        let documentation = self.token().documentation.clone();
        let keyword = match self.token().kind {
            TokenKind::Identifier => self.token().text,
            TokenKind::Symbol(b'{') => return Err(self.json_object()),
            TokenKind::Symbol(b';') => return Err(self.unexpected("a declaration", "remove it")),
            _ => return Err(self.unexpected_declaration()),
        };
        let item = match keyword {
            "include" => return self.include(ast),
            "native_include" => self.native_include()?,
            "namespace" => self.namespace()?,
            "table" => self.object(ObjectKind::Table, documentation)?,
            "struct" => self.object(ObjectKind::Struct, documentation)?,
            "enum" => self.enumeration(documentation)?,
            "union" => self.union(documentation)?,
            "root_type" => {
                self.advance();
                Item::RootType(self.path("the name of a table")?)
            }
            "file_identifier" => Item::FileIdentifier(self.keyword_text()?),
            "file_extension" => Item::FileExtension(self.keyword_text()?),
            "attribute" => self.attribute_declaration()?,
            "rpc_service" => self.service()?,
            _ => return Err(self.unexpected_declaration()),
        };
        let block = matches!(item, Item::Object(_) | Item::Enum(_) | Item::Union(_) | Item::Service(_));
        ast.items.push(item);
        if block { Ok(()) } else { self.expect(b';') }
    }

    fn include(&mut self, ast: &mut File) -> Parsed<()> {
        let keyword = self.token().span;
        let include = self.keyword_text()?;
        if !ast.items.is_empty() {
            let span = keyword.to(include.span);
            let message = format!("`include \"{}\"` comes after a declaration", include.value);
            let help = "move it to the top of the file";
            self.report(Diagnostic::new(Code::LateInclude, span, message).help(help));
        }
        ast.includes.push(include);
        self.expect(b';')
    }

    fn native_include(&mut self) -> Parsed<Item> {
        let keyword = self.token().span;
        let text = self.keyword_text()?;
        Ok(Item::NativeInclude(keyword.to(text.span)))
    }

    fn namespace(&mut self) -> Parsed<Item> {
        self.advance();
        match self.token().kind {
            TokenKind::Symbol(b';') => Ok(Item::Namespace(Vec::new())),
            _ => {
                let path = self.path("a name, or `;` for the root")?;
                if path.names.len() > DEEPEST_NAMESPACE {
                    let message = format!("the namespace has {} parts", path.names.len());
                    let help = format!("at most {DEEPEST_NAMESPACE} are supported");
                    self.report(Diagnostic::new(Code::Unsupported, path.span, message).help(help));
                }
                Ok(Item::Namespace(path.names))
            }
        }
    }

    /// `attribute "name";` or `attribute name;`
    fn attribute_declaration(&mut self) -> Parsed<Item> {
        self.advance();
        if self.token().kind == TokenKind::Identifier {
            let Name { text, span } = self.name("the attribute's name")?;
            return Ok(Item::Attribute(Text { value: text, span }));
        }
        Ok(Item::Attribute(self.text()?))
    }

    fn object(&mut self, kind: ObjectKind, documentation: Documentation) -> Parsed<Item> {
        let keyword = self.advance().span;
        let name = self.name("a name")?;
        let attributes = self.attributes()?;
        let mut object = Object { kind, name, documentation, attributes, fields: Vec::new(), broken: false };
        let open = self.open_block()?;
        while !self.block_ends(open, keyword.to(object.name.span)) {
            match self.field() {
                Ok(field) => object.fields.push(field),
                Err(Reported) => {
                    object.broken = true;
                    self.recover_within(b';');
                }
            }
        }
        Ok(Item::Object(object))
    }

    fn field(&mut self) -> Parsed<Field> {
        let documentation = self.token().documentation.clone();
        let name = self.name("a field")?;
        self.expect_after(b':', "a field is written `name: type;`")?;
        let field_type = self.any_type()?;
        let default = match self.take(b'=') {
            true => Some(self.value()?),
            false => None,
        };
        let attributes = self.attributes()?;
        self.expect(b';')?;
        Ok(Field { name, documentation, field_type, default, attributes })
    }

    fn enumeration(&mut self, documentation: Documentation) -> Parsed<Item> {
        let keyword = self.advance().span;
        let name = self.name("a name")?;
        let underlying = match self.take(b':') {
            true => Some(self.any_type()?),
            false => {
                let message = format!("enum `{}` does not say which number is behind it", name.text);
                let help = format!("write `enum {}: byte`, or another integer type", name.text);
                self.report(Diagnostic::new(Code::MissingEnumType, name.span, message).help(help));
                None
            }
        };
        let attributes = self.attributes()?;
        let mut item =
            Enum { name, documentation, underlying, attributes, values: Vec::new(), broken: false };
        let open = self.open_block()?;
        while !self.block_ends(open, keyword.to(item.name.span)) {
            match self.enumerator() {
                Ok(value) => item.values.push(value),
                Err(Reported) => {
                    item.broken = true;
                    self.recover_within(b',');
                }
            }
        }
        Ok(Item::Enum(item))
    }

    fn enumerator(&mut self) -> Parsed<Enumerator> {
        let documentation = self.token().documentation.clone();
        let name = self.name("an enumerator")?;
        let value = self.number_after_equals()?;
        let attributes = self.attributes()?;
        self.separator()?;
        Ok(Enumerator { name, documentation, value, attributes })
    }

    fn union(&mut self, documentation: Documentation) -> Parsed<Item> {
        let keyword = self.advance().span;
        let name = self.name("a name")?;
        let underlying = match self.take(b':') {
            true => Some(self.any_type()?),
            false => None,
        };
        let attributes = self.attributes()?;
        let mut item =
            Union { name, documentation, underlying, attributes, members: Vec::new(), broken: false };
        let open = self.open_block()?;
        while !self.block_ends(open, keyword.to(item.name.span)) {
            match self.member() {
                Ok(member) => item.members.push(member),
                Err(Reported) => {
                    item.broken = true;
                    self.recover_within(b',');
                }
            }
        }
        Ok(Item::Union(item))
    }

    fn member(&mut self) -> Parsed<Member> {
        let documentation = self.token().documentation.clone();
        let name = self.path("a member")?;
        let member_type = match self.take(b':') {
            true => Some(self.any_type()?),
            false => None,
        };
        let value = self.number_after_equals()?;
        let attributes = self.attributes()?;
        self.separator()?;
        Ok(Member { name, documentation, member_type, value, attributes })
    }

    fn service(&mut self) -> Parsed<Item> {
        let keyword = self.advance().span;
        let name = self.name("a name")?;
        let mut service = Service { name, methods: Vec::new() };
        let open = self.open_block()?;
        while !self.block_ends(open, keyword.to(service.name.span)) {
            match self.method() {
                Ok(method) => service.methods.push(method),
                Err(Reported) => self.recover_within(b';'),
            }
        }
        Ok(Item::Service(service))
    }

    fn method(&mut self) -> Parsed<Method> {
        const FORM: &str = "a procedure is written `Name(Request): Response;`";
        let name = self.name("a procedure")?;
        self.expect_after(b'(', FORM)?;
        let request = self.path("the name of a table")?;
        self.expect_after(b')', FORM)?;
        self.expect_after(b':', FORM)?;
        let response = self.path("the name of a table")?;
        let attributes = self.attributes()?;
        self.expect(b';')?;
        Ok(Method { name, request, response, attributes })
    }

    /// `T`, `[T]` or `[T:N]`.
    fn any_type(&mut self) -> Parsed<Type> {
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

    fn nested_vector(&mut self, start: Span) -> Reported {
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
    fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
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

    fn attribute(&mut self) -> Parsed<Attribute> {
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

    /// A default or an attribute's value.
    fn value(&mut self) -> Parsed<Value> {
        let (token, start) = (self.token(), self.token().span);
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
                self.named_value(if *sign == b'-' { "-" } else { "" })?
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

    /// A constant, an enumerator, or a function with its argument.
    fn named_value(&mut self, sign: &str) -> Parsed<ValueKind> {
        let path = self.path("a value")?;
        if !self.take(b'(') {
            return Ok(ValueKind::Name(format!("{sign}{}", path.text())));
        }
        while !matches!(self.token().kind, TokenKind::Symbol(b';' | b'}') | TokenKind::End) {
            if self.take(b')') {
                return Ok(ValueKind::Function(path.text()));
            }
            self.advance();
        }
        Err(self.unexpected("`)`", ""))
    }

    fn number_after_equals(&mut self) -> Parsed<Option<Text>> {
        match self.take(b'=') {
            true => self.integer("a number").map(Some),
            false => Ok(None),
        }
    }

    fn integer(&mut self, what: &str) -> Parsed<Text> {
        match self.token().kind {
            TokenKind::Integer => {
                let token = self.advance();
                Ok(Text { value: token.text.to_owned(), span: token.span })
            }
            _ => Err(self.unexpected(what, "")),
        }
    }

    /// A keyword and the string that follows it.
    fn keyword_text(&mut self) -> Parsed<Text> {
        self.advance();
        self.text()
    }

    fn text(&mut self) -> Parsed<Text> {
        match &self.token().kind {
            TokenKind::Text(value) => Ok(Text { value: value.clone(), span: self.advance().span }),
            _ => Err(self.unexpected("a string in quotes", "")),
        }
    }

    fn path(&mut self, what: &str) -> Parsed<Path> {
        let mut names = vec![self.name(what)?];
        while self.take(b'.') {
            names.push(self.name("a name after the dot")?);
        }
        let span = names[0].span.to(self.previous().span);
        Ok(Path { names, span })
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.token().kind {
            TokenKind::Identifier => {
                let token = self.advance();
                Ok(Name { text: token.text.to_owned(), span: token.span })
            }
            _ => Err(self.unexpected(what, "")),
        }
    }

    /// The comma after an enumerator or member, which the last may do without.
    fn separator(&mut self) -> Parsed<()> {
        match self.token().kind {
            TokenKind::Symbol(b'}') => Ok(()),
            _ => self.expect_after(b',', "enumerators are separated by commas"),
        }
    }

    fn open_block(&mut self) -> Parsed<Span> {
        let span = self.token().span;
        self.expect(b'{')?;
        Ok(span)
    }

    /// Whether the block is over: at its brace, or where the brace must have been forgotten.
    fn block_ends(&mut self, open: Span, declaration: Span) -> bool {
        if self.take(b'}') {
            return true;
        }
        if !self.at_end() && !self.declaration_starts() {
            return false;
        }
        if !self.token().broken {
            let found = self.found();
            let message = format!("the block that starts at `{{` is not closed before {found}");
            let diagnostic =
                Diagnostic::new(Code::UnclosedBlock, open, message).note(declaration, "of this one");
            self.report(diagnostic.help("close it with `}`"));
        }
        true
    }

    /// A keyword and a name: no field, enumerator or member looks like that.
    fn declaration_starts(&self) -> bool {
        let next = self.tokens.get(self.at + 1).map(|token| &token.kind);
        self.token().kind == TokenKind::Identifier
            && DECLARATIONS.contains(&self.token().text)
            && matches!(next, Some(TokenKind::Identifier | TokenKind::Text(_)))
    }

    /// To the next field or enumerator of the block.
    fn recover_within(&mut self, separator: u8) {
        loop {
            match self.token().kind {
                TokenKind::Symbol(b'}') | TokenKind::End => return,
                TokenKind::Symbol(symbol) if symbol == separator || symbol == b';' => {
                    self.advance();
                    return;
                }
                _ if self.declaration_starts() => return,
                _ => self.advance(),
            };
        }
    }

    /// To the next declaration, going at least one token beyond `start`.
    fn recover_declaration(&mut self, start: usize) {
        let mut depth = 0_usize;
        if self.at == start {
            depth += usize::from(self.token().kind == TokenKind::Symbol(b'{'));
            let ends = self.token().kind == TokenKind::Symbol(b';');
            self.advance();
            if ends {
                return;
            }
        }
        while !self.at_end() && !self.declaration_starts() {
            let kind = &self.advance().kind;
            match kind {
                TokenKind::Symbol(b'{') => depth += 1,
                TokenKind::Symbol(b'}') if depth <= 1 => return,
                TokenKind::Symbol(b'}') => depth -= 1,
                TokenKind::Symbol(b';') if depth == 0 => return,
                _ => {}
            }
        }
    }

    fn take(&mut self, symbol: u8) -> bool {
        let found = self.token().kind == TokenKind::Symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: u8) -> Parsed<()> {
        self.expect_after(symbol, "")
    }

    fn expect_after(&mut self, symbol: u8, help: &str) -> Parsed<()> {
        match self.take(symbol) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{}`", char::from(symbol)), help)),
        }
    }

    /// Reports that the token here is not what was wanted.
    fn unexpected(&mut self, wanted: &str, help: &str) -> Reported {
        if self.token().broken || self.at > 0 && self.previous().broken {
            return Reported;
        }
        let message = format!("expected {wanted}, found {}", self.found());
        // What is missing belongs behind the token before, not before one that may stand lines below.
        let missing = wanted.starts_with('`') && self.at > 0;
        let here = self.token().span;
        let mut diagnostic = Diagnostic::new(Code::UnexpectedToken, here, message);
        if missing {
            let end = self.previous().span.end;
            diagnostic = Diagnostic { span: Some(Span { file: self.file, start: end, end }), ..diagnostic };
            diagnostic = diagnostic.label(format!("{wanted} is missing here"));
        }
        if !help.is_empty() {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic)
    }

    fn unexpected_declaration(&mut self) -> Reported {
        if self.token().broken {
            return Reported;
        }
        let message = format!("expected a declaration, found {}", self.found());
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, self.token().span, message);
        let suggestion = match self.token().kind {
            TokenKind::Identifier => closest(self.token().text, DECLARATIONS),
            _ => None,
        };
        let diagnostic = match suggestion {
            Some(_) => diagnostic.suggest(suggestion),
            None => diagnostic
                .help("a declaration starts with table, struct, enum, union, namespace or root_type"),
        };
        self.report(diagnostic)
    }

    fn json_object(&mut self) -> Reported {
        let span = self.token().span;
        let message = "an object of JSON data is not taken in a schema";
        let help = "a declaration starts with table, struct, enum, union, namespace or root_type";
        self.report(Diagnostic::new(Code::Unsupported, span, message).help(help))
    }

    /// The token here, in words.
    fn found(&self) -> String {
        match self.token().kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Text(_) => "a string".to_owned(),
            _ => format!("`{}`", self.token().text),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    fn token(&self) -> &'t Token<'a> {
        &self.tokens[self.at]
    }

    fn previous(&self) -> &'t Token<'a> {
        &self.tokens[self.at.saturating_sub(1)]
    }

    /// Goes to the next token, but never beyond the last, and gives the one left.
    fn advance(&mut self) -> &'t Token<'a> {
        let token = self.token();
        if !self.at_end() {
            self.at += 1;
        }
        token
    }
}
