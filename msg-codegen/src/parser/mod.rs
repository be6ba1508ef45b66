//! Tokens to a syntax tree, by recursive descent.
//!
//! After a mistake the parser goes on at the next field, enumerator or declaration, so that one run shows all
//! mistakes, and keeps what it understood, so that no name goes missing that is there. Nothing recurses with the
//! input: types nest once at most, and blocks do not nest.

mod cursor;
mod expression;

use crate::{
    ast::{
        Documentation, Enum, Enumerator, Field, File, Item, Member, Method, Name, Object, ObjectKind,
        Service, Text, Union,
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
            let lost = ast.items.len() + ast.includes.len() == kept;
            ast.broken |= lost && !declares_no_type(tokens[start].text);
            parser.recover_declaration(start);
        }
    }
    ast
}

/// Whether no type is lost with a declaration that begins with this word, or with a misspelling of it.
fn declares_no_type(word: &str) -> bool {
    let word = closest(word, DECLARATIONS).unwrap_or(word);
    matches!(word, "root_type" | "file_identifier" | "file_extension" | "attribute" | "rpc_service")
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

impl Parser<'_, '_, '_> {
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
            "native_include" => {
                self.native_include(ast.items.iter().any(|item| !matches!(item, Item::NativeInclude(_))))?
            }
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
        if ast.items.iter().any(|item| !matches!(item, Item::NativeInclude(_))) {
            self.late_include("include", keyword.to(include.span), &include.value);
        }
        ast.includes.push(include);
        self.expect(b';')
    }

    fn native_include(&mut self, is_late: bool) -> Parsed<Item> {
        let keyword = self.token().span;
        let Text { value, span } = self.keyword_text()?;
        if is_late {
            self.late_include("native_include", keyword.to(span), &value);
        }
        Ok(Item::NativeInclude(keyword.to(span)))
    }

    fn late_include(&mut self, keyword: &str, span: Span, name: &str) {
        let message = format!("`{keyword} \"{name}\"` comes after a declaration");
        let help = "move it to the top of the file";
        self.report(Diagnostic::new(Code::LateInclude, span, message).help(help));
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
        self.advance();
        let name = self.name("a name")?;
        let attributes = self.attributes()?;
        let mut object = Object { kind, name, documentation, attributes, fields: Vec::new(), broken: false };
        let open = self.open_block()?;
        while !self.block_ends(open, &object.name.text) {
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
        self.advance();
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
        while !self.block_ends(open, &item.name.text) {
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
        self.advance();
        let name = self.name("a name")?;
        let underlying = match self.take(b':') {
            true => Some(self.any_type()?),
            false => None,
        };
        let attributes = self.attributes()?;
        let mut item =
            Union { name, documentation, underlying, attributes, members: Vec::new(), broken: false };
        let open = self.open_block()?;
        while !self.block_ends(open, &item.name.text) {
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
        self.advance();
        let name = self.name("a name")?;
        let mut service = Service { name, methods: Vec::new(), broken: false };
        let open = self.open_block()?;
        while !self.block_ends(open, &service.name.text) {
            match self.method() {
                Ok(method) => service.methods.push(method),
                Err(Reported) => {
                    service.broken = true;
                    self.recover_within(b';');
                }
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::lex;

    /// What was understood, in a word for each thing, and the codes of what was not.
    fn parsed(text: &str) -> (String, Vec<&'static str>) {
        let mut diagnostics = Vec::new();
        let tokens = lex(FileId(0), text, &mut diagnostics);
        let file = parse(FileId(0), &tokens, &mut diagnostics);
        let words: Vec<String> = file.items.iter().map(show).collect();
        (words.join(" "), diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect())
    }

    fn show(item: &Item) -> String {
        let list = |names: Vec<&str>| names.join(",");
        match item {
            Item::Namespace(names) => {
                format!("ns({})", list(names.iter().map(|name| name.text.as_str()).collect()))
            }
            Item::Object(object) => {
                let fields = object.fields.iter().map(|field| field.name.text.as_str()).collect();
                format!("{}({})", object.name.text, list(fields))
            }
            Item::Enum(item) => {
                let values = item.values.iter().map(|value| value.name.text.as_str()).collect();
                format!("{}({})", item.name.text, list(values))
            }
            Item::Union(union) => format!("{}({} members)", union.name.text, union.members.len()),
            Item::Service(service) => format!("{}({} procedures)", service.name.text, service.methods.len()),
            Item::RootType(path) => format!("root({})", path.text()),
            _ => "other".to_owned(),
        }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(parsed(text), (expected.to_owned(), vec![]), "{text}");
    }

    fn check_mistakes(text: &str, expected: &str, codes: &[&str]) {
        assert_eq!(parsed(text), (expected.to_owned(), codes.to_vec()), "{text}");
    }

    #[test]
    fn declarations() {
        check("namespace a.b; namespace;", "ns(a,b) ns()");
        check("table T { a: int; b: [string] (required); c: [a.B:3] = null (key, id: 3); }", "T(a,b,c)");
        check("enum E : byte (bit_flags) { A, B = -2 (x), }", "E(A,B)");
        check("union U { A, B: a.C, D: string = 5, } root_type a.T;", "U(3 members) root(a.T)");
        check("rpc_service S { A(B): C; D(E): F (streaming: \"both\"); }", "S(2 procedures)");
        check("table T { a: float = -inf; b: E = Red (key); c: E = \"A B\"; d: [int] = []; }", "T(a,b,c,d)");
    }

    #[test]
    fn a_mistake_costs_no_more_than_the_field_it_is_in() {
        check_mistakes("table T { a: int; b int; c: int; }", "T(a,c)", &["E0101"]);
        check_mistakes("table T { a: ; b: [[int]]; c: int }", "T()", &["E0101", "E0110", "E0101"]);
        check_mistakes("enum E : byte { A, 5, B C, D }", "E(A,D)", &["E0101", "E0101"]);
        check_mistakes("table T { a: int; table U { b: int; }", "T(a) U(b)", &["E0112"]);
        check_mistakes("tabel T { a: int; } table U { b: int; }", "U(b)", &["E0101"]);
        check_mistakes("root_type T table U { b: int; }", "root(T) U(b)", &["E0101"]);
        check_mistakes("} ; table U { b: int; }", "U(b)", &["E0101"]);
    }

    #[test]
    fn fields_may_be_called_like_keywords() {
        check("table table { table: int; struct: table; namespace: int; }", "table(table,struct,namespace)");
    }
}
