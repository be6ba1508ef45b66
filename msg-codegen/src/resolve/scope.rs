//! What is declared where, and what a name means at a place.
//!
//! A name is looked up as FlatBuffers does it: in the namespace of the place, then in each one around it, then at
//! the root; a dotted name is taken as a whole. Files see what they include, directly or through others. Other
//! files of the run are a second choice, used with a warning.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    rc::Rc,
};

use super::Resolver;
use crate::{
    ast,
    diagnostic::{Code, Diagnostic, FileId, Span, closest},
    ir::{Declaration, Element, EnumId, ObjectId, QualifiedName, Scalar, UnionId},
};

/// A place in a file from which names are looked up.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) file: FileId,
    pub(super) namespace: Rc<[String]>,
}

/// A declared type before it is resolved.
#[derive(Debug)]
pub(super) struct Declared<'a, T> {
    pub(super) ast: &'a T,
    pub(super) site: Site,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Object(ObjectId),
    Enum(EnumId),
    Union(UnionId),
}

/// Everything that is declared in a set of files.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    pub(super) objects: Vec<Declared<'a, ast::Object>>,
    pub(super) enums: Vec<Declared<'a, ast::Enum>>,
    pub(super) unions: Vec<Declared<'a, ast::Union>>,
    pub(super) services: Vec<Declared<'a, ast::Service>>,
    /// Attributes that the files declare, with the places where they do.
    pub(super) attributes: BTreeMap<&'a str, Vec<Span>>,
    /// Types by their dotted name, with the place of the name.
    types: HashMap<String, (Symbol, Span)>,
    /// For each file, which files it sees; a file sees itself.
    pub(super) visible: Vec<BTreeSet<FileId>>,
    /// For each file, whether a declaration may be missing in what it sees.
    incomplete: Vec<bool>,
}

impl<'a> Scope<'a> {
    /// Gathers the declarations of all files; the second of two of one name is reported and left out.
    pub(super) fn collect(files: &'a [ast::File], diagnostics: &mut Vec<Diagnostic>) -> Self {
        let visible: Vec<_> = (0..files.len()).map(|file| reachable(files, FileId(file as u32))).collect();
        let broken = |file: &FileId| files[file.0 as usize].broken;
        let incomplete = visible.iter().map(|seen| seen.iter().any(broken)).collect();
        let mut scope = Self { visible, incomplete, ..Self::default() };
        for (index, file) in files.iter().enumerate() {
            let mut site = Site { file: FileId(index as u32), namespace: Rc::from([]) };
            for item in &file.items {
                match item {
                    ast::Item::Namespace(names) => {
                        site.namespace = names.iter().map(|name| name.text.clone()).collect();
                    }
                    _ => scope.add(item, &site, diagnostics),
                }
            }
        }
        scope
    }

    fn add(&mut self, item: &'a ast::Item, site: &Site, diagnostics: &mut Vec<Diagnostic>) {
        let site = site.clone();
        match item {
            ast::Item::Object(ast) => {
                let symbol = Symbol::Object(ObjectId(self.objects.len()));
                if self.declare(&ast.name, &site, symbol, diagnostics) {
                    self.objects.push(Declared { ast, site });
                }
            }
            ast::Item::Enum(ast) => {
                let symbol = Symbol::Enum(EnumId(self.enums.len()));
                if self.declare(&ast.name, &site, symbol, diagnostics) {
                    self.enums.push(Declared { ast, site });
                }
            }
            ast::Item::Union(ast) => {
                let symbol = Symbol::Union(UnionId(self.unions.len()));
                if self.declare(&ast.name, &site, symbol, diagnostics) {
                    self.unions.push(Declared { ast, site });
                }
            }
            ast::Item::Service(ast) => self.services.push(Declared { ast, site }),
            ast::Item::Attribute(name) => {
                self.attributes.entry(&name.value).or_default().push(name.span);
            }
            _ => {}
        }
    }

    fn declare(
        &mut self,
        name: &ast::Name,
        site: &Site,
        symbol: Symbol,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> bool {
        let dotted = qualified(name, site).dotted();
        if let Some((_, first)) = self.types.get(&dotted) {
            let message = format!("type `{dotted}` is declared twice");
            let diagnostic = Diagnostic::new(Code::DuplicateType, name.span, message)
                .note(*first, "first declared here")
                .help("rename one of them, or put it into another namespace");
            diagnostics.push(diagnostic);
            return false;
        }
        self.types.insert(dotted, (symbol, name.span));
        true
    }

    /// What a name means at a place, and where it is declared.
    pub(super) fn lookup(&self, name: &str, site: &Site) -> Option<(Symbol, Span)> {
        let visible = &self.visible[site.file.0 as usize];
        let candidates = || spellings(name, &site.namespace).filter_map(|spelling| self.types.get(&spelling));
        let seen = candidates().find(|(_, span)| visible.contains(&span.file));
        seen.or_else(|| candidates().next()).copied()
    }

    /// A type of the last name of this one that is somewhere else.
    fn elsewhere(&self, name: &str) -> Option<&str> {
        let last = name.rsplit('.').next()?;
        let fits = |dotted: &&String| dotted.rsplit('.').next() == Some(last) && dotted.as_str() != last;
        self.types.keys().filter(fits).min().map(String::as_str)
    }

    fn last_names(&self) -> impl Iterator<Item = &str> {
        self.types.keys().filter_map(|dotted| dotted.rsplit('.').next())
    }
}

/// The full spellings that a name may stand for, the innermost first.
fn spellings<'n>(name: &'n str, namespace: &'n [String]) -> impl Iterator<Item = String> + 'n {
    (0..=namespace.len()).rev().map(move |outer| match outer {
        0 => name.to_owned(),
        _ => format!("{}.{name}", namespace[..outer].join(".")),
    })
}

/// A file and all that it includes.
fn reachable(files: &[ast::File], from: FileId) -> BTreeSet<FileId> {
    let mut seen = BTreeSet::from([from]);
    let mut rest = vec![from];
    while let Some(file) = rest.pop() {
        let new = files[file.0 as usize].included.iter().filter(|included| seen.insert(**included));
        rest.extend(new);
    }
    seen
}

/// A declared name with its namespace.
pub(super) fn qualified(name: &ast::Name, site: &Site) -> QualifiedName {
    QualifiedName { namespace: site.namespace.to_vec(), name: name.text.clone() }
}

impl Resolver<'_, '_> {
    /// What the name of a type means, or a report that it means nothing.
    pub(super) fn element(&mut self, path: &ast::Path, site: &Site) -> Option<Element> {
        let name = path.text();
        if let Some(scalar) = Scalar::from_name(&name) {
            return Some(Element::Scalar(scalar));
        }
        if name == "string" {
            return Some(Element::Text);
        }
        let Some((symbol, declared)) = self.scope.lookup(&name, site) else {
            self.unknown_type(&name, path.span, site);
            return None;
        };
        if !self.scope.visible[site.file.0 as usize].contains(&declared.file) {
            let message = format!("`{name}` is declared in a file that this one does not include");
            let diagnostic =
                Diagnostic::new(Code::NotIncluded, path.span, message).note(declared, "declared here").help(
                    "add the `include`: this file alone, and FlatBuffers' own compiler, do not find the type",
                );
            self.report(diagnostic);
        }
        Some(match symbol {
            Symbol::Enum(id) => Element::Enum(id),
            Symbol::Union(id) => Element::Union(id),
            Symbol::Object(id) => match self.scope.objects[id.0].ast.kind {
                ast::ObjectKind::Table => Element::Table(id),
                ast::ObjectKind::Struct => Element::Struct(id),
            },
        })
    }

    pub(super) fn unknown_type(&mut self, name: &str, span: Span, site: &Site) {
        if self.scope.incomplete[site.file.0 as usize] {
            // It may be in what could not be read, and that has been reported.
            return;
        }
        let diagnostic = Diagnostic::new(Code::UnknownType, span, format!("unknown type `{name}`"));
        if !self.suggests() {
            return self.report(diagnostic);
        }
        let diagnostic = match self.scope.elsewhere(name) {
            Some(elsewhere) if !name.contains('.') => {
                diagnostic.help(format!("there is one in another namespace: write `{elsewhere}`"))
            }
            Some(elsewhere) => diagnostic.suggest(Some(elsewhere)),
            None => {
                let candidates = self.scope.last_names().chain(Scalar::NAMES).chain(["string"]);
                diagnostic.suggest(closest(name, candidates))
            }
        };
        self.report(diagnostic);
    }

    /// Reports the use of something that is declared further down in the same file, which FlatBuffers' own compiler
    /// does not find. True when it is in order.
    pub(super) fn is_declared_before(&mut self, what: &str, path: &ast::Path, declared: Span) -> bool {
        let is_later = declared.file == path.span.file && declared.start > path.span.start;
        if is_later {
            let message = format!("{what} `{}` is used before its declaration", path.text());
            let diagnostic = Diagnostic::new(Code::UsedBeforeDeclared, path.span, message)
                .note(declared, "declared here")
                .help(
                    "move the declaration above its use: FlatBuffers' own compiler reads from top to bottom",
                );
            self.report(diagnostic);
        }
        !is_later
    }

    /// The common part of a resolved type.
    pub(super) fn declaration(
        &mut self,
        name: &ast::Name,
        documentation: &[String],
        attributes: crate::ir::Attributes,
        site: &Site,
    ) -> Declaration {
        let (name, span) = (qualified(name, site), name.span);
        Declaration { name, documentation: documentation.to_vec(), attributes, span }
    }
}
