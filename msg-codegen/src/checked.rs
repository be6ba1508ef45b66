//! Schemas that have been read and checked: what was found, and what can be made of them.

use std::{collections::HashSet, path::Path};

use crate::{
    custom::Custom,
    diagnostic::{Diagnostic, Severity, Span},
    emit,
    ir::Ir,
    reflection,
    render::{self, Colour},
    resolve,
    source::{Loaded, Sources},
};

/// The outcome of [`Config::check`](crate::Config::check).
///
/// # Examples
///
/// ```
/// let checked = msg_codegen::Config::new().check_text("a.fbs", "namespace demo; table A { x: int; }");
/// assert!(!checked.has_errors());
/// assert!(checked.generate().unwrap().contains("pub struct A"));
/// ```
#[derive(Debug)]
pub struct Checked {
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    /// Names of the files that were asked for.
    inputs: Vec<String>,
    ir: Ir,
    custom: Custom,
}

impl Checked {
    pub(crate) fn new(loaded: Loaded, custom: &Custom) -> Self {
        let Loaded { sources, files, mut diagnostics, inputs } = loaded;
        let ir = resolve::resolve(&files, &inputs, &mut diagnostics);
        let inputs = inputs.iter().map(|file| sources.path(*file).to_owned()).collect();
        if errors(&diagnostics).next().is_none() {
            diagnostics.extend(emit::refusals(&ir));
            diagnostics.extend(custom.check(&ir));
        }
        let mut checked = Self { sources, diagnostics, inputs, ir, custom: custom.clone() };
        checked.sort();
        checked
    }

    fn sort(&mut self) {
        let place = |diagnostic: &Diagnostic| {
            diagnostic.span.map(|span| (self.sources.path(span.file).to_owned(), span.start, diagnostic.code))
        };
        self.diagnostics.sort_by_cached_key(place);
        // A warning where there is a mistake says nothing more.
        let wrong: HashSet<Span> =
            errors(&self.diagnostics).filter_map(|diagnostic| diagnostic.span).collect();
        let adds = |diagnostic: &Diagnostic| diagnostic.span.is_none_or(|span| !wrong.contains(&span));
        self.diagnostics.retain(|diagnostic| diagnostic.severity() == Severity::Error || adds(diagnostic));
    }

    /// Adds what was found by others.
    pub(crate) fn extend(&mut self, diagnostics: Vec<Diagnostic>) {
        self.diagnostics.extend(diagnostics);
        self.sort();
    }

    pub(crate) fn ir(&self) -> &Ir {
        &self.ir
    }

    /// All mistakes and warnings, by file and place.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The files that were read.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Whether anything is wrong, so that no code is generated.
    pub fn has_errors(&self) -> bool {
        errors(&self.diagnostics).next().is_some()
    }

    /// A diagnostic as text of several lines, with the line of the schema and a caret.
    pub fn render(&self, diagnostic: &Diagnostic, colour: Colour) -> String {
        render::render(diagnostic, &self.sources, colour)
    }

    /// The Rust of all schemas as one module tree; `None` if anything is wrong.
    pub fn generate(&self) -> Option<String> {
        if self.has_errors() {
            return None;
        }
        // Names without directories: generated text is the same on every machine.
        let mut files: Vec<String> = self.inputs.iter().map(|path| file_name(path)).collect();
        files.sort();
        files.dedup();
        Some(emit::emit(&self.ir, &self.custom, &files))
    }

    /// The binary schema of each file that was asked for, with everything that it includes, under the file's name;
    /// empty if anything is wrong. What no Rust is generated for is in it all the same.
    pub fn schemas(&self) -> Vec<(String, msg_schema::Schema)> {
        if errors(&self.diagnostics).any(|diagnostic| !diagnostic.code.is_refusal()) {
            return Vec::new();
        }
        let inputs = self.ir.files.iter().filter(|file| file.is_input);
        self.inputs.iter().cloned().zip(inputs.map(|file| reflection::to_schema(&self.ir, file))).collect()
    }
}

fn errors(diagnostics: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> {
    diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error)
}

fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
