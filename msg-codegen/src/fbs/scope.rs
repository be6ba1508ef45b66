//! What a name means at a place of the text, and so how a type is to be named there.

use std::collections::{HashMap, HashSet};

use msg_schema::Schema;

use super::{FbsError, identifier};
use crate::ir::Scalar;

/// The names of all types of a schema.
pub(super) struct Scope<'a> {
    types: HashSet<&'a str>,
    /// How many types have a last name, in whatever namespaces.
    last_names: HashMap<&'a str, usize>,
}

impl<'a> Scope<'a> {
    /// Takes in the names, and refuses those that are none.
    pub(super) fn new(schema: &'a Schema) -> Result<Self, FbsError> {
        let names = schema.objects.iter().map(|object| object.name.as_str());
        let names = names.chain(schema.enums.iter().map(|item| item.name.as_str()));
        let mut scope = Self { types: HashSet::new(), last_names: HashMap::new() };
        for name in names {
            name.split('.').try_for_each(|part| identifier(part).map(drop))?;
            if !scope.types.insert(name) {
                return Err(FbsError::new(format!("`{name}` is defined twice")));
            }
            *scope.last_names.entry(split(name).1).or_default() += 1;
        }
        Ok(scope)
    }

    /// The type that a name means in a namespace: the innermost counts.
    pub(super) fn lookup(&self, name: &str, namespace: &str) -> Option<&'a str> {
        if Scalar::from_name(name).is_some() || name == "string" {
            return None;
        }
        let mut outer = Some(namespace).filter(|namespace| !namespace.is_empty());
        while let Some(namespace) = outer {
            if let Some(found) = self.types.get(format!("{namespace}.{name}").as_str()) {
                return Some(found);
            }
            outer = namespace.rsplit_once('.').map(|(outer, _)| outer);
        }
        self.types.get(name).copied()
    }

    /// How a type is named in a namespace: by its last name where no other type has it, otherwise in full.
    ///
    /// FlatBuffers' own compiler takes a short name that it does not know yet for any later type of that name.
    pub(super) fn spell(&self, target: &str, namespace: &str) -> Result<String, FbsError> {
        if !self.types.contains(target) {
            let target = target.escape_debug();
            return Err(FbsError::new(format!("there is no type `{target}`, but something is of it")));
        }
        let (own, last) = split(target);
        let is_near = own == namespace && self.last_names.get(last) == Some(&1);
        let short = is_near.then_some(last);
        let suffixes = std::iter::successors(Some(target), |name| Some(name.split_once('.')?.1));
        let found =
            short.into_iter().chain(suffixes).find(|name| self.lookup(name, namespace) == Some(target));
        found.map(str::to_owned).ok_or_else(|| {
            let place = if namespace.is_empty() { "the root namespace" } else { namespace };
            FbsError::new(format!("in `{place}` every spelling of `{target}` means another type"))
        })
    }
}

/// The namespace of a full name, and the name in it.
pub(super) fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

pub(super) fn is_identifier(name: &str) -> bool {
    let is_start = |first: char| first == '_' || first.is_ascii_alphabetic();
    name.starts_with(is_start) && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}
