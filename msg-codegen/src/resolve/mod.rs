//! Syntax trees to the resolved model: names, numbers, ids, defaults, layouts, cycles.
//!
//! Every rule that is broken is reported, and only once: what could not be resolved is left out, and what depends on
//! it is not judged.

mod attributes;
mod cycle;
mod defaults;
mod enumeration;
mod facts;
mod ids;
mod layout;
mod number;
mod object;
mod recursion;
mod rules;
mod scope;

use crate::{
    ast,
    diagnostic::{Diagnostic, FileId},
    ir::Ir,
};
pub(crate) use attributes::is_known_attribute;
use scope::{Scope, Site};

/// Resolves all files together. The model is whole only when no error was added to `diagnostics`.
pub(crate) fn resolve(files: &[ast::File], inputs: &[FileId], diagnostics: &mut Vec<Diagnostic>) -> Ir {
    let scope = Scope::collect(files, diagnostics);
    let mut resolver = Resolver { scope: &scope, ir: Ir::default(), diagnostics };
    resolver.enums();
    resolver.unions();
    resolver.objects();
    resolver.layouts();
    resolver.recursion();
    resolver.files(files, inputs);
    resolver.services();
    resolver.ir
}

/// The passes share what is declared, what is resolved so far, and the mistakes.
struct Resolver<'s, 'a> {
    scope: &'s Scope<'a>,
    ir: Ir,
    diagnostics: &'s mut Vec<Diagnostic>,
}

/// After that many diagnostics nothing is suggested any more: nobody reads so far, and each search takes its time.
const MOST_SUGGESTIONS: usize = 200;

impl Resolver<'_, '_> {
    /// Whether a misspelling is worth the search for what was meant.
    fn suggests(&self) -> bool {
        self.diagnostics.len() < MOST_SUGGESTIONS
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
