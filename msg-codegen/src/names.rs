//! Names in Rust for the names of a schema: case is kept, keywords are escaped, collisions end in an underscore.
//! Everything that is generated takes its names from here.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Declaration, EnumId, Ir, Object, ObjectId, ObjectKind, QualifiedName, Union, UnionId};

/// Keywords of every edition, and words that are reserved to become one.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Words that cannot be escaped with `r#`.
const UNESCAPABLE: [&str; 5] = ["self", "Self", "super", "crate", "_"];

/// The Rust names of everything in a set of schemas.
#[derive(Debug, Default)]
pub(crate) struct Names {
    objects: Vec<String>,
    enums: Vec<String>,
    unions: Vec<String>,
    /// View names of tables and unions, where they are not the name and `View`.
    views: BTreeMap<QualifiedName, String>,
    /// The names of modules on the way to each namespace.
    modules: BTreeMap<Vec<String>, Vec<String>>,
    /// What is taken in each module.
    taken: BTreeMap<Vec<String>, BTreeSet<String>>,
}

impl Names {
    /// Chooses all names.
    pub(crate) fn choose(ir: &Ir) -> Self {
        let mut names = Self::default();
        names.types(ir);
        names.namespaces(ir);
        names.view_names(ir);
        names
    }

    fn types(&mut self, ir: &Ir) {
        // Names that stay as they are come first, so that only the escaped ones give way.
        for declaration in declarations(ir).filter(|declaration| !is_changed(&declaration.name.name)) {
            self.take(&declaration.name.namespace, &declaration.name.name);
        }
        let mut chosen = BTreeMap::new();
        for declaration in declarations(ir) {
            let QualifiedName { namespace, name } = &declaration.name;
            let rust_name = match is_changed(name) {
                false => escape(name),
                true => self.take(namespace, &escape(name)),
            };
            chosen.insert(&declaration.name, rust_name);
        }
        let of = |declaration: &Declaration| chosen[&declaration.name].clone();
        self.objects = ir.objects.iter().map(|object| of(&object.declaration)).collect();
        self.enums = ir.enums.iter().map(|item| of(&item.declaration)).collect();
        self.unions = ir.unions.iter().map(|union| of(&union.declaration)).collect();
    }

    fn namespaces(&mut self, ir: &Ir) {
        let all: BTreeSet<&[String]> = declarations(ir)
            .flat_map(|declaration| {
                (0..=declaration.name.namespace.len()).map(|len| &declaration.name.namespace[..len])
            })
            .collect();
        self.modules.insert(Vec::new(), Vec::new());
        // Sorted, so that an outer namespace comes before those in it.
        for namespace in all {
            let Some((last, outer)) = namespace.split_last() else { continue };
            let name = self.take(outer, &escape(last));
            let mut path = self.modules.get(outer).cloned().unwrap_or_default();
            path.push(name);
            self.modules.insert(namespace.to_vec(), path);
        }
    }

    fn view_names(&mut self, ir: &Ir) {
        let tables =
            ir.objects.iter().zip(&self.objects).filter(|(object, _)| object.kind == ObjectKind::Table);
        let with_view = tables.map(|(object, name)| (&object.declaration, name.clone()));
        let unions =
            ir.unions.iter().zip(&self.unions).map(|(union, name)| (&union.declaration, name.clone()));
        let mut with_view: Vec<_> = with_view.chain(unions).collect();
        with_view.sort_by_key(|(declaration, _)| &declaration.name);
        for (declaration, name) in with_view {
            let wanted = format!("{}View", name.strip_prefix("r#").unwrap_or(&name));
            let view = self.take(&declaration.name.namespace, &wanted);
            if view != wanted {
                self.views.insert(declaration.name.clone(), view);
            }
        }
    }

    /// Takes a name in a module, with underscores added until it is free.
    fn take(&mut self, namespace: &[String], wanted: &str) -> String {
        unique(self.taken.entry(namespace.to_vec()).or_default(), wanted)
    }

    /// A table or struct.
    pub(crate) fn object(&self, id: ObjectId) -> &str {
        &self.objects[id.0]
    }

    /// An enum.
    pub(crate) fn enumeration(&self, id: EnumId) -> &str {
        &self.enums[id.0]
    }

    /// A union.
    pub(crate) fn union(&self, id: UnionId) -> &str {
        &self.unions[id.0]
    }

    /// The name of a view that cannot have its usual one.
    pub(crate) fn view(&self, name: &QualifiedName) -> Option<&str> {
        self.views.get(name).map(String::as_str)
    }

    /// The modules on the way to a namespace, from the outermost.
    pub(crate) fn module(&self, namespace: &[String]) -> &[String] {
        self.modules.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// Whether a bare name means something of the schema in this module.
    pub(crate) fn is_taken(&self, namespace: &[String], name: &str) -> bool {
        self.taken.get(namespace).is_some_and(|taken| taken.contains(name))
    }
}

/// The names inside one object: its fields, and the gaps between them.
#[derive(Debug)]
pub(crate) struct FieldNames {
    /// Of each field, in order of declaration.
    pub(crate) fields: Vec<String>,
    /// Of the padding after each field that has some.
    pub(crate) padding: Vec<Option<String>>,
}

impl FieldNames {
    /// Chooses the names of an object's fields.
    pub(crate) fn choose(object: &Object) -> Self {
        let fields = choose_all(object.fields.iter().map(|field| field.name.as_str()));
        let mut taken: BTreeSet<String> = fields.iter().cloned().collect();
        let mut gaps = 0;
        let padding = object.fields.iter().map(|field| {
            (field.padding > 0).then(|| {
                gaps += 1;
                unique(&mut taken, &format!("padding{}", gaps - 1))
            })
        });
        let padding = padding.collect();
        Self { fields, padding }
    }
}

/// The names inside one union.
#[derive(Debug)]
pub(crate) struct VariantNames {
    /// Of each member, in order of declaration.
    pub(crate) members: Vec<String>,
    /// Of the variant for members that are not known.
    pub(crate) unknown: String,
}

impl VariantNames {
    /// Chooses the names of a union's variants.
    pub(crate) fn choose(union: &Union) -> Self {
        let members = choose_all(union.members.iter().map(|member| member.name.as_str()));
        let mut taken: BTreeSet<String> = members.iter().cloned().collect();
        let unknown = unique(&mut taken, "Unknown");
        Self { members, unknown }
    }
}

/// Names for fields, enumerators or members of one thing.
pub(crate) fn choose_all<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut taken: BTreeSet<String> =
        names.clone().filter(|name| !is_changed(name)).map(str::to_owned).collect();
    names
        .map(|name| if is_changed(name) { unique(&mut taken, &escape(name)) } else { escape(name) })
        .collect()
}

/// Whether a Rust name is not what the schema says, beside the `r#`.
pub(crate) fn differs(rust_name: &str, name: &str) -> bool {
    rust_name.strip_prefix("r#").unwrap_or(rust_name) != name
}

fn declarations(ir: &Ir) -> impl Iterator<Item = &Declaration> {
    let objects = ir.objects.iter().map(|object| &object.declaration);
    let enums = ir.enums.iter().map(|item| &item.declaration);
    objects.chain(enums).chain(ir.unions.iter().map(|union| &union.declaration))
}

fn unique(taken: &mut BTreeSet<String>, wanted: &str) -> String {
    let mut name = wanted.to_owned();
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

fn is_changed(name: &str) -> bool {
    UNESCAPABLE.contains(&name)
}

/// A schema's name as Rust takes it.
fn escape(name: &str) -> String {
    match name {
        "_" => "underscore_".to_owned(),
        _ if is_changed(name) => format!("{name}_"),
        _ if KEYWORDS.contains(&name) => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_escaped() {
        let check = |name: &str, expected: &str| assert_eq!(escape(name), expected);
        check("type", "r#type");
        check("gen", "r#gen");
        check("async", "r#async");
        check("self", "self_");
        check("Self", "Self_");
        check("crate", "crate_");
        check("_", "underscore_");
        check("union", "union");
        check("Type", "Type");
    }

    #[test]
    fn every_keyword_becomes_an_identifier() {
        // `gen` is one since edition 2024 only, which the parser does not know of.
        for keyword in KEYWORDS.into_iter().filter(|keyword| *keyword != "gen") {
            assert!(syn::parse_str::<syn::Ident>(keyword).is_err(), "{keyword} needs no escape");
        }
        for keyword in KEYWORDS.iter().chain(&UNESCAPABLE) {
            assert!(syn::parse_str::<syn::Ident>(&escape(keyword)).is_ok(), "{keyword}");
        }
    }

    #[test]
    fn escaped_names_give_way() {
        let check =
            |names: &[&str], expected: &[&str]| assert_eq!(choose_all(names.iter().copied()), expected);
        check(&["self", "self_"], &["self__", "self_"]);
        check(&["_", "underscore_"], &["underscore__", "underscore_"]);
        check(&["a", "match"], &["a", "r#match"]);
    }
}
