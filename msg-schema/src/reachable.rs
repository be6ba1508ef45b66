//! The types that a root needs: a derived type knows no others, a schema file may hold many more.

use std::collections::{HashMap, HashSet};

use crate::model::{Enum, Object, Schema, Type};

impl Schema {
    /// The object of that name.
    pub fn object(&self, name: &str) -> Option<&Object> {
        self.objects.iter().find(|object| object.name == name)
    }

    /// The enum or union of that name.
    pub fn enumeration(&self, name: &str) -> Option<&Enum> {
        self.enums.iter().find(|enumeration| enumeration.name == name)
    }

    /// The schema without the types that the root does not refer to, directly or through others; objects and enums
    /// in the order of their names. Without a root nothing is left.
    #[must_use]
    pub fn reachable(&self) -> Self {
        let names = reachable_names(self);
        let mut result = Self {
            objects: self
                .objects
                .iter()
                .filter(|object| names.contains(object.name.as_str()))
                .cloned()
                .collect(),
            enums: self.enums.iter().filter(|one| names.contains(one.name.as_str())).cloned().collect(),
            ..self.clone_head()
        };
        result.objects.sort_by(|one, other| one.name.cmp(&other.name));
        result.enums.sort_by(|one, other| one.name.cmp(&other.name));
        result
    }

    fn clone_head(&self) -> Self {
        Self {
            objects: Vec::new(),
            enums: Vec::new(),
            file_identifier: self.file_identifier.clone(),
            file_extension: self.file_extension.clone(),
            root: self.root.clone(),
            advanced_features: self.advanced_features,
        }
    }
}

fn reachable_names(schema: &Schema) -> HashSet<&str> {
    let objects: HashMap<&str, &Object> = schema.objects.iter().map(|one| (one.name.as_str(), one)).collect();
    let enums: HashMap<&str, &Enum> = schema.enums.iter().map(|one| (one.name.as_str(), one)).collect();
    let mut found = HashSet::new();
    let mut waiting: Vec<&str> = schema.root.as_deref().into_iter().collect();
    while let Some(name) = waiting.pop() {
        if !found.insert(name) {
            continue;
        }
        if let Some(object) = objects.get(name) {
            waiting.extend(object.fields.iter().filter_map(|field| target(&field.field_type)));
        }
        if let Some(enumeration) = enums.get(name) {
            let members = enumeration.values.iter().filter_map(|value| value.union_type.as_ref());
            waiting.extend(members.filter_map(target));
        }
    }
    found
}

fn target(meant: &Type) -> Option<&str> {
    meant.target.as_deref()
}
