//! The walk over two schemas side by side: types, and the fields of tables and structs.

use std::collections::HashSet;

use super::{Breaks, Change, ChangeKind, Subject};
use crate::contract::{self, Absent, Named};
use crate::model::{BaseType, Field, Object, ObjectKind, Schema, Type};

/// How the schemas' types are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pairs {
    /// Equal names.
    ByName,
    /// Both roots, whatever their names, and what they refer to.
    FromRoots,
}

pub(super) struct Comparison<'a> {
    pub(super) old: &'a Schema,
    pub(super) new: &'a Schema,
    pairs: Pairs,
    /// Names in the old and in the new schema that have to mean the same.
    waiting: Vec<(&'a str, &'a str)>,
    pub(super) found: Vec<Change>,
}

impl<'a> Comparison<'a> {
    pub(super) fn by_name(old: &'a Schema, new: &'a Schema) -> Self {
        Self { old, new, pairs: Pairs::ByName, waiting: Vec::new(), found: Vec::new() }
    }

    pub(super) fn from_roots(old: &'a Schema, new: &'a Schema) -> Self {
        Self { pairs: Pairs::FromRoots, ..Self::by_name(old, new) }
    }

    /// What the schemas say beside their types.
    pub(super) fn heads(&mut self) {
        let (old, new) = (self.old, self.new);
        let schema = |kind, breaks| Change::new("", Subject::Schema, kind, breaks);
        let named =
            |name: &Option<String>| name.as_ref().map_or("none".to_owned(), |name| format!("`{name}`"));
        let roots_differ = match self.pairs {
            Pairs::ByName => old.root != new.root,
            Pairs::FromRoots => old.root.is_some() != new.root.is_some(),
        };
        if roots_differ {
            // A schema that only gains a root was none that messages came with.
            let breaks = if old.root.is_none() { Breaks::Nobody } else { Breaks::AllReaders };
            let change = schema(ChangeKind::Root, breaks).between(named(&old.root), named(&new.root));
            self.found.push(change.separating(true));
        }
        if old.file_identifier != new.file_identifier {
            let breaks = match (old.file_identifier.is_empty(), new.file_identifier.is_empty()) {
                (true, _) => Breaks::NewReaders,
                (_, true) => Breaks::OldReaders,
                _ => Breaks::AllReaders,
            };
            let text = |identifier: &str| match identifier {
                "" => "no file identifier".to_owned(),
                identifier => format!("file identifier `{identifier}`"),
            };
            let (one, other) = (text(&old.file_identifier), text(&new.file_identifier));
            self.found.push(schema(ChangeKind::Identifier, breaks).between(one, other));
        }
    }

    /// Compares the types that have the same name, and lists the others.
    pub(super) fn all_types(&mut self) {
        for name in names(self.old) {
            match Named::find(self.new, name) {
                Named::Missing => {
                    self.found.push(Change::new(
                        name,
                        Subject::Type,
                        ChangeKind::Removed,
                        Breaks::SourceCode,
                    ));
                }
                _ => self.named(name, name),
            }
        }
        let is_new = |name: &&str| matches!(Named::find(self.old, name), Named::Missing);
        for name in names(self.new).into_iter().filter(is_new) {
            self.found.push(Change::new(name, Subject::Type, ChangeKind::Added, Breaks::Nobody));
        }
    }

    /// Compares the roots and what they refer to, breadth first: what is found nearest to the root says most.
    pub(super) fn reachable_types(&mut self) {
        self.waiting.extend(self.old.root.as_deref().zip(self.new.root.as_deref()));
        let (mut seen, mut next) = (HashSet::new(), 0);
        while let Some(&(old, new)) = self.waiting.get(next) {
            if seen.insert(old) {
                self.named(old, new);
            }
            next += 1;
        }
    }

    fn named(&mut self, old_name: &'a str, new_name: &'a str) {
        let (old, new) = (Named::find(self.old, old_name), Named::find(self.new, new_name));
        match (&old, &new) {
            _ if old.kind() != new.kind() => {
                let change = Change::new(old_name, Subject::Type, ChangeKind::Kind, Breaks::AllReaders);
                self.found.push(change.between(old.kind(), new.kind()));
            }
            (Named::Object(old), Named::Object(new)) => self.objects(old, new),
            (Named::Enum(old), Named::Enum(new)) => self.enums(old, new),
            _ => {}
        }
    }

    fn objects(&mut self, old: &'a Object, new: &'a Object) {
        let (old_fields, new_fields) = (contract::fields(old), contract::fields(new));
        let is_struct = old.kind == ObjectKind::Struct;
        // Fields that were seen in the place of one that is gone.
        let mut taken = HashSet::new();
        for field in &old_fields {
            match new_fields.iter().find(|other| other.name == field.name) {
                Some(other) => self.fields((old, field), (new, other)),
                None => taken.extend(self.missing((old, field), new)),
            }
        }
        let is_new = |field: &&&Field| old_fields.iter().all(|other| other.name != field.name);
        for field in new_fields.iter().filter(is_new).filter(|field| !taken.contains(field.name.as_str())) {
            let (breaks, what) = match (is_struct, field.required) {
                (true, _) => (Breaks::AllReaders, ""),
                (false, true) => (Breaks::NewReaders, "required"),
                (false, false) => (Breaks::Nobody, ""),
            };
            let subject = Subject::Field(field.name.clone());
            self.found.push(Change::new(&old.name, subject, ChangeKind::Added, breaks).between("", what));
        }
        let layout = |object: &Object| format!("{} bytes aligned to {}", object.byte_size, object.min_align);
        if is_struct && layout(old) != layout(new) {
            let change = Change::new(&old.name, Subject::Type, ChangeKind::Layout, Breaks::AllReaders);
            self.found.push(change.between(layout(old), layout(new)));
        }
    }

    /// A field whose name the new type does not have; gives the name of the field that stands in its place.
    fn missing(&mut self, (of, field): (&'a Object, &'a Field), new: &'a Object) -> Option<&'a str> {
        let change = |kind, breaks| Change::new(&of.name, Subject::Field(field.name.clone()), kind, breaks);
        let Some(other) = occupant((of, field), new) else {
            let is_struct = of.kind == ObjectKind::Struct;
            let breaks = if is_struct { Breaks::AllReaders } else { Breaks::OldReaders };
            let removed = change(ChangeKind::Removed, breaks);
            self.found.push(removed.separating(is_struct || field.required));
            return None;
        };
        let same_type =
            self.type_text(&field.field_type, self.old) == self.type_text(&other.field_type, self.new);
        if same_type && place(of, field) == place(new, other) {
            let renamed = change(ChangeKind::Renamed, Breaks::SourceCode);
            self.found.push(renamed.between("", format!("`{}`", other.name)).separating(true));
            self.fields((of, field), (new, other));
        } else {
            let text = |field: &Field| format!("`{}: {}`", field.name, field.field_type.text());
            let replaced = change(ChangeKind::Replaced, Breaks::AllReaders);
            self.found.push(replaced.between(text(field), text(other)));
        }
        Some(&other.name)
    }

    fn fields(&mut self, (of, old): (&Object, &'a Field), (new_of, new): (&Object, &'a Field)) {
        let mut found = Vec::new();
        let mut compare = |kind, breaks, one: String, other: String| {
            if one != other {
                let change = Change::new(&of.name, Subject::Field(old.name.clone()), kind, breaks);
                found.push(change.between(one, other));
            }
        };
        let word = |is: bool, word: &str| if is { word.to_owned() } else { format!("not {word}") };
        let types = (self.type_text(&old.field_type, self.old), self.type_text(&new.field_type, self.new));
        let same_type = types.0 == types.1;
        if !same_type {
            let in_full = (format!("`{}`", old.field_type.text()), format!("`{}`", new.field_type.text()));
            let (one, other) = if in_full.0 == in_full.1 { types } else { in_full };
            compare(ChangeKind::Retyped, Breaks::AllReaders, one, other);
        }
        compare(ChangeKind::Moved, Breaks::AllReaders, place(of, old), place(new_of, new));
        let absent = (Absent::of(of, old), Absent::of(new_of, new));
        if let (true, (Some(one), Some(other))) = (same_type, absent)
            && one.canonical() != other.canonical()
        {
            compare(ChangeKind::Default, Breaks::AllReaders, format!("`{one}`"), format!("`{other}`"));
        }
        let breaks = if new.required { Breaks::NewReaders } else { Breaks::OldReaders };
        let (one, other) = (word(old.required, "required"), word(new.required, "required"));
        compare(ChangeKind::Required, breaks, one, other);
        let offsets = |field: &Field| format!("behind {}-bit offsets", if field.offset64 { 64 } else { 32 });
        compare(ChangeKind::Wide, Breaks::AllReaders, offsets(old), offsets(new));
        let (one, other) = (word(old.deprecated, "deprecated"), word(new.deprecated, "deprecated"));
        compare(ChangeKind::Deprecated, Breaks::Nobody, one, other);
        let (one, other) = (word(old.key, "the key"), word(new.key, "the key"));
        compare(ChangeKind::Key, Breaks::SourceCode, one, other);
        let (one, other) = (nested(old), nested(new));
        let breaks = if one.is_some() && other.is_some() { Breaks::AllReaders } else { Breaks::SourceCode };
        let buffer = |of: Option<&str>| of.map_or("bytes".to_owned(), |of| format!("a buffer of `{of}`"));
        compare(ChangeKind::Nested, breaks, buffer(one), buffer(other));
        self.found.extend(found);
        self.follow(&old.field_type, &new.field_type);
    }

    /// Leaves what two types name to a later round.
    pub(super) fn follow(&mut self, old: &'a Type, new: &'a Type) {
        let same = self.type_text(old, self.old) == self.type_text(new, self.new);
        if let (true, Pairs::FromRoots, Some(one), Some(other)) = (same, self.pairs, &old.target, &new.target)
        {
            self.waiting.push((one, other));
        }
    }

    /// A type's name for comparison: both roots are the same if the pairs start from them.
    pub(super) fn type_text(&self, meant: &Type, schema: &Schema) -> String {
        match self.pairs {
            Pairs::FromRoots => format!("`{}`", contract::type_text(meant, schema)),
            Pairs::ByName if meant.base == BaseType::Vector64 => format!("`{}` vector64", meant.text()),
            Pairs::ByName => format!("`{}`", meant.text()),
        }
    }
}

/// The names of all types, sorted: the same changes come in the same order from a file and from its binary form.
fn names(schema: &Schema) -> Vec<&str> {
    let objects = schema.objects.iter().map(|object| object.name.as_str());
    let mut names: Vec<&str> = objects.chain(schema.enums.iter().map(|one| one.name.as_str())).collect();
    names.sort_unstable();
    names
}

/// What stands in the new type where a field stood that is gone, and was not in the old type under its name.
fn occupant<'a>((of, field): (&Object, &Field), new: &'a Object) -> Option<&'a Field> {
    let is_union = field.field_type.base == BaseType::Union || field.field_type.element == BaseType::Union;
    // A union's number stands before it.
    let first = if is_union { field.id.saturating_sub(1) } else { field.id };
    let is_there = |other: &&Field| match of.kind {
        ObjectKind::Table => (first..=field.id).contains(&other.id),
        ObjectKind::Struct => other.offset == field.offset,
    };
    let was_there = |name: &str| of.fields.iter().any(|field| field.name == name);
    let mut there: Vec<&Field> = new.fields.iter().filter(is_there).collect();
    // The union itself rather than its number.
    there.sort_by_key(|other| (other.id != field.id, other.field_type.is_union_number()));
    there.into_iter().find(|other| !was_there(&other.name))
}

fn place(of: &Object, field: &Field) -> String {
    match of.kind {
        ObjectKind::Table => format!("id {}", field.id),
        ObjectKind::Struct => format!("byte {}", field.offset),
    }
}

/// The type whose buffer is in the field, if its schema says so.
fn nested(field: &Field) -> Option<&str> {
    let attribute = field.attributes.iter().find(|(key, _)| key == "nested_flatbuffer");
    attribute.map(|(_, value)| value.as_str())
}
