//! What a file says about itself: root type, file identifier, file extension.

use super::{Resolver, Site, scope::qualified};
use crate::{
    ast,
    diagnostic::{Code, Diagnostic, FileId, Span},
    ir::{Element, File, ObjectId},
};

/// Bytes of a file identifier.
const IDENTIFIER_BYTES: usize = 4;

impl Resolver<'_, '_> {
    /// Resolves the facts of every file.
    pub(super) fn files(&mut self, files: &[ast::File], inputs: &[FileId]) {
        for (index, ast) in files.iter().enumerate() {
            let id = FileId(index as u32);
            let mut file = self.file(id, ast);
            file.is_input = inputs.contains(&id);
            self.ir.files.push(file);
        }
    }

    fn file(&mut self, id: FileId, ast: &ast::File) -> File {
        let mut site = Site { file: id, namespace: [].into() };
        let visible = self.scope.visible[id.0 as usize].iter().copied().collect();
        let (mut root, mut identifier, mut extension) = (Once::new(), Once::new(), Once::new());
        for item in &ast.items {
            match item {
                ast::Item::Namespace(names) => {
                    site.namespace = names.iter().map(|name| name.text.clone()).collect()
                }
                ast::Item::RootType(path) => {
                    if let Some(object) = self.root_type(path, &site) {
                        root.set(self, "root_type", object, path.span);
                    }
                }
                ast::Item::FileIdentifier(text) => {
                    if let Some(value) = self.identifier(text) {
                        identifier.set(self, "file_identifier", value, text.span);
                    }
                }
                ast::Item::FileExtension(text) => {
                    extension.set(self, "file_extension", text.value.clone(), text.span);
                }
                ast::Item::NativeInclude(span) => {
                    let message = "`native_include` has no effect here: it speaks of generated C++";
                    self.report(Diagnostic::new(Code::NoEffect, *span, message));
                }
                _ => {}
            }
        }
        if root.value.is_none() && !ast.broken {
            self.check_used("file_identifier", &identifier);
            self.check_used("file_extension", &extension);
        }
        self.check_agreement(&root, &identifier);
        File {
            is_input: false,
            visible,
            root: root.value.map(|(object, _)| object),
            identifier: identifier.value.map(|(text, _)| text).unwrap_or_default(),
            extension: extension.value.map(|(text, _)| text).unwrap_or_default(),
        }
    }

    /// What a file says of its root type, without having one.
    fn check_used(&mut self, keyword: &str, text: &Once<String>) {
        let Some((_, span)) = &text.value else { return };
        let message = format!("`{keyword}` has no effect: the file has no `root_type`");
        let help = "write `root_type T;` for the table that messages start with";
        self.report(Diagnostic::new(Code::NoEffect, *span, message).help(help));
    }

    /// Two files with one root type and two identifiers for it.
    fn check_agreement(&mut self, root: &Once<ObjectId>, identifier: &Once<String>) {
        let (Some((root, _)), Some((identifier, span))) = (&root.value, &identifier.value) else { return };
        let differs = |file: &&File| file.root == Some(*root) && !file.identifier.is_empty();
        let Some(first) = self.ir.files.iter().find(differs).filter(|file| file.identifier != *identifier)
        else {
            return;
        };
        let message = format!("this identifier has no effect: another file says `{}`", first.identifier);
        let help = "a type has one identifier: make the files agree";
        self.report(Diagnostic::new(Code::NoEffect, *span, message).help(help));
    }

    fn root_type(&mut self, path: &ast::Path, site: &Site) -> Option<ObjectId> {
        let element = self.element(path, site)?;
        if let Element::Table(object) = element {
            let declared = self.scope.objects[object.0].ast.name.span;
            self.is_declared_before("table", path, declared);
            return Some(object);
        }
        let message = format!("the root type must be a table, and `{}` is none", path.text());
        let mut diagnostic = Diagnostic::new(Code::InvalidRootType, path.span, message);
        if let Some((_, declared)) = self.scope.lookup(&path.text(), site) {
            diagnostic = diagnostic.note(declared, "declared here");
        }
        self.report(diagnostic.help("put it into a table, or make it one"));
        None
    }

    fn identifier(&mut self, text: &ast::Text) -> Option<String> {
        if text.value.len() == IDENTIFIER_BYTES {
            return Some(text.value.clone());
        }
        let message =
            format!("the file identifier has {} bytes, expected {IDENTIFIER_BYTES}", text.value.len());
        let help = "it stands in every message: four characters such as `\"MSG1\"`";
        self.report(Diagnostic::new(Code::InvalidFileIdentifier, text.span, message).help(help));
        None
    }

    /// Reports services: they are checked, and nothing is made from them.
    pub(super) fn services(&mut self) {
        let scope = self.scope;
        for declared in &scope.services {
            self.service(declared.ast, &declared.site);
        }
    }

    fn service(&mut self, ast: &ast::Service, site: &Site) {
        let name = qualified(&ast.name, site).dotted();
        let message = format!("no code is generated for service `{name}`");
        self.report(Diagnostic::new(Code::NoEffect, ast.name.span, message));
        self.check_procedures(ast);
        for method in &ast.methods {
            self.attributes(&method.attributes, super::attributes::Place::Procedure);
            for path in [&method.request, &method.response] {
                let is_table = match self.element(path, site) {
                    Some(Element::Table(_)) | None => true,
                    // FlatBuffers' own compiler does not know yet what a type further down is.
                    Some(Element::Struct(id)) => {
                        let declared = self.scope.objects[id.0].ast.name.span;
                        declared.file == path.span.file && declared.start > path.span.start
                    }
                    Some(_) => false,
                };
                if !is_table {
                    let message = format!("`{}` of `{}` is no table", path.text(), method.name.text);
                    let help = "requests and responses are tables";
                    self.report(Diagnostic::new(Code::InvalidService, path.span, message).help(help));
                }
            }
        }
    }
}

impl Resolver<'_, '_> {
    /// A service without procedures, or with two of one name.
    fn check_procedures(&mut self, ast: &ast::Service) {
        if ast.methods.is_empty() && !ast.broken {
            let message = format!("service `{}` has no procedures", ast.name.text);
            self.report(Diagnostic::new(Code::InvalidService, ast.name.span, message).help("give it one"));
        }
        for (at, method) in ast.methods.iter().enumerate() {
            let Some(first) = ast.methods[..at].iter().find(|first| first.name.text == method.name.text)
            else {
                continue;
            };
            let message = format!("procedure `{}` is declared twice", method.name.text);
            let diagnostic = Diagnostic::new(Code::InvalidService, method.name.span, message);
            self.report(diagnostic.note(first.name.span, "first declared here").help("rename one of them"));
        }
    }
}

/// A statement that counts once; FlatBuffers takes the last.
struct Once<T> {
    value: Option<(T, Span)>,
}

impl<T> Once<T> {
    fn new() -> Self {
        Self { value: None }
    }

    fn set(&mut self, resolver: &mut Resolver<'_, '_>, keyword: &str, value: T, span: Span) {
        if let Some((_, earlier)) = self.value.replace((value, span)) {
            let message = format!("this `{keyword}` has no effect: a later one replaces it");
            resolver.report(Diagnostic::new(Code::NoEffect, earlier, message).note(span, "the later one"));
        }
    }
}
