//! The model as the bytes of a `.bfbs` file, in the order that flatc keeps: objects, enums, fields and attributes by
//! name, enumerators by number, so that a reader may search them.

use std::collections::HashMap;

use crate::format::{self, attribute, enumeration, field, object, schema, types, value};
use crate::model::{Enum, EnumValue, Field, Object, ObjectKind, Schema, Type};
use crate::wire::{Draft, Place, Writer};

impl Schema {
    /// The schema as the bytes of a `.bfbs` file.
    ///
    /// The order within the model does not matter. A [`Type::target`] or a root that the schema does not hold is
    /// written as "none", which [`Schema::from_bytes`] refuses where a name is needed: a complete model has none such.
    pub fn to_bytes(&self) -> Vec<u8> {
        let objects = sorted(&self.objects, |object| &object.name);
        let enums = sorted(&self.enums, |enumeration| &enumeration.name);
        let (writer, root) = Writer::new(Some(format::IDENTIFIER));
        let mut output = Output {
            writer,
            objects: indices(objects.iter().map(|object| object.name.as_str())),
            enums: indices(enums.iter().map(|enumeration| enumeration.name.as_str())),
        };
        output.schema(root, self, &objects, &enums);
        output.writer.finish()
    }
}

fn sorted<'a, T>(items: &'a [T], name: impl Fn(&'a T) -> &'a str) -> Vec<&'a T> {
    let mut items: Vec<&T> = items.iter().collect();
    items.sort_by_key(|item| name(item));
    items
}

fn indices<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, i32> {
    (0..).zip(names).map(|(index, name)| (name, index)).collect()
}

/// The buffer, and where each name stands in its vectors.
struct Output<'a> {
    writer: Writer,
    objects: HashMap<&'a str, i32>,
    enums: HashMap<&'a str, i32>,
}

impl Output<'_> {
    fn schema(&mut self, root: Place, schema: &Schema, objects: &[&Object], enums: &[&Enum]) {
        let root_index = schema.root.as_deref().and_then(|name| self.objects.get(name).copied());
        let mut draft = Draft::new();
        for slot in [schema::OBJECTS, schema::ENUMS, schema::FILE_IDENTIFIER, schema::FILE_EXTENSION] {
            draft.reference(slot);
        }
        if root_index.is_some() {
            draft.reference(schema::ROOT);
        }
        draft.number(schema::ADVANCED_FEATURES, schema.advanced_features, 0);
        let table = self.writer.table(root, draft);
        let places = self.writer.references(table.place(schema::OBJECTS), objects.len());
        for (index, (place, object)) in (0..).zip(places.into_iter().zip(objects)) {
            let root_place = (Some(index) == root_index).then(|| table.place(schema::ROOT));
            self.object(place, root_place, object);
        }
        let places = self.writer.references(table.place(schema::ENUMS), enums.len());
        for (place, enumeration) in places.into_iter().zip(enums) {
            self.enumeration(place, enumeration);
        }
        self.writer.string(table.place(schema::FILE_IDENTIFIER), &schema.file_identifier);
        self.writer.string(table.place(schema::FILE_EXTENSION), &schema.file_extension);
    }

    /// `root` is a second reference to the object, from the schema itself.
    fn object(&mut self, place: Place, root: Option<Place>, object: &Object) {
        let mut draft = Draft::new();
        draft.reference(object::NAME);
        draft.reference(object::FIELDS);
        draft.flag(object::IS_STRUCT, object.kind == ObjectKind::Struct);
        draft.number(object::MIN_ALIGN, object.min_align, 0);
        draft.number(object::BYTE_SIZE, object.byte_size, 0);
        reserve(&mut draft, object::ATTRIBUTES, &object.attributes);
        reserve(&mut draft, object::DOCUMENTATION, &object.documentation);
        let table = self.writer.table(place, draft);
        if let Some(root) = root {
            self.writer.refer(root, &table);
        }
        self.writer.string(table.place(object::NAME), &object.name);
        let fields = sorted(&object.fields, |field| &field.name);
        let places = self.writer.references(table.place(object::FIELDS), fields.len());
        for (place, field) in places.into_iter().zip(fields) {
            self.field(place, field);
        }
        self.attributes(|| table.place(object::ATTRIBUTES), &object.attributes);
        self.documentation(|| table.place(object::DOCUMENTATION), &object.documentation);
    }

    fn field(&mut self, place: Place, field: &Field) {
        let mut draft = Draft::new();
        draft.reference(field::NAME);
        draft.reference(field::TYPE);
        draft.number(field::ID, field.id, 0);
        draft.number(field::OFFSET, field.offset, 0);
        draft.number(field::DEFAULT_INTEGER, field.default_integer, 0);
        draft.number(field::DEFAULT_REAL, field.default_real, 0.0);
        draft.flag(field::DEPRECATED, field.deprecated);
        draft.flag(field::REQUIRED, field.required);
        draft.flag(field::KEY, field.key);
        reserve(&mut draft, field::ATTRIBUTES, &field.attributes);
        reserve(&mut draft, field::DOCUMENTATION, &field.documentation);
        draft.flag(field::OPTIONAL, field.optional);
        draft.number(field::PADDING, field.padding, 0);
        draft.flag(field::OFFSET64, field.offset64);
        let table = self.writer.table(place, draft);
        self.writer.string(table.place(field::NAME), &field.name);
        self.type_of(table.place(field::TYPE), &field.field_type);
        self.attributes(|| table.place(field::ATTRIBUTES), &field.attributes);
        self.documentation(|| table.place(field::DOCUMENTATION), &field.documentation);
    }

    fn enumeration(&mut self, place: Place, enumeration: &Enum) {
        let mut draft = Draft::new();
        draft.reference(enumeration::NAME);
        draft.reference(enumeration::VALUES);
        draft.flag(enumeration::IS_UNION, enumeration.is_union);
        draft.reference(enumeration::UNDERLYING);
        reserve(&mut draft, enumeration::ATTRIBUTES, &enumeration.attributes);
        reserve(&mut draft, enumeration::DOCUMENTATION, &enumeration.documentation);
        let table = self.writer.table(place, draft);
        self.writer.string(table.place(enumeration::NAME), &enumeration.name);
        let mut by_number = enumeration.clone();
        by_number.sort_values();
        let places = self.writer.references(table.place(enumeration::VALUES), by_number.values.len());
        for (place, value) in places.into_iter().zip(&by_number.values) {
            self.value(place, value);
        }
        self.type_of(table.place(enumeration::UNDERLYING), &enumeration.underlying);
        self.attributes(|| table.place(enumeration::ATTRIBUTES), &enumeration.attributes);
        self.documentation(|| table.place(enumeration::DOCUMENTATION), &enumeration.documentation);
    }

    fn value(&mut self, place: Place, value: &EnumValue) {
        let mut draft = Draft::new();
        draft.reference(value::NAME);
        draft.number(value::VALUE, value.value, 0);
        draft.reference(value::UNION_TYPE);
        reserve(&mut draft, value::ATTRIBUTES, &value.attributes);
        reserve(&mut draft, value::DOCUMENTATION, &value.documentation);
        let table = self.writer.table(place, draft);
        self.writer.string(table.place(value::NAME), &value.name);
        // flatc gives every enumerator a type: that of plain ones and of `NONE` is "none".
        let none = Type::plain(crate::BaseType::None);
        self.type_of(table.place(value::UNION_TYPE), value.union_type.as_ref().unwrap_or(&none));
        self.attributes(|| table.place(value::ATTRIBUTES), &value.attributes);
        self.documentation(|| table.place(value::DOCUMENTATION), &value.documentation);
    }

    fn type_of(&mut self, place: Place, meant: &Type) {
        let mut draft = Draft::new();
        draft.number(types::BASE, meant.base as u8, 0);
        draft.number(types::ELEMENT, meant.element as u8, 0);
        draft.number(types::INDEX, self.index(meant), types::NO_INDEX);
        draft.number(types::FIXED_LENGTH, meant.fixed_length, 0);
        draft.number(types::BASE_SIZE, meant.base_size, types::DEFAULT_BASE_SIZE);
        draft.number(types::ELEMENT_SIZE, meant.element_size, 0);
        self.writer.table(place, draft);
    }

    fn index(&self, meant: &Type) -> i32 {
        let Some(name) = meant.target.as_deref() else { return types::NO_INDEX };
        let names = if meant.names_object() { &self.objects } else { &self.enums };
        names.get(name).copied().unwrap_or(types::NO_INDEX)
    }

    fn attributes(&mut self, place: impl FnOnce() -> Place, attributes: &[(String, String)]) {
        if attributes.is_empty() {
            return;
        }
        let attributes = sorted(attributes, |(key, _)| key);
        let places = self.writer.references(place(), attributes.len());
        for (place, (key, text)) in places.into_iter().zip(attributes) {
            let mut draft = Draft::new();
            draft.reference(attribute::KEY);
            draft.reference(attribute::VALUE);
            let table = self.writer.table(place, draft);
            self.writer.string(table.place(attribute::KEY), key);
            self.writer.string(table.place(attribute::VALUE), text);
        }
    }

    fn documentation(&mut self, place: impl FnOnce() -> Place, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let places = self.writer.references(place(), lines.len());
        for (place, line) in places.into_iter().zip(lines) {
            self.writer.string(place, line);
        }
    }
}

/// Room for the reference to a vector, if there will be one.
fn reserve<T>(draft: &mut Draft, slot: u16, items: &[T]) {
    if !items.is_empty() {
        draft.reference(slot);
    }
}

#[cfg(test)]
mod tests {
    use crate::{BaseType, Enum, EnumValue, Field, Object, Schema, Type};

    fn object(name: &str, fields: &[(&str, Type)]) -> Object {
        let fields = (0..).zip(fields).map(|(id, (name, field_type))| {
            let (name, field_type) = ((*name).to_owned(), field_type.clone());
            Field { name, field_type, id, offset: 4 + 2 * id, default_real: f64::NAN, ..Field::default() }
        });
        Object { name: name.to_owned(), fields: fields.collect(), min_align: 1, ..Object::default() }
    }

    fn schema() -> Schema {
        let (mode, leaf) = (Type::named(BaseType::Byte, "a.Mode"), Type::named(BaseType::Obj, "a.Leaf"));
        let value = |name: &str, value| EnumValue { name: name.to_owned(), value, ..EnumValue::default() };
        Schema {
            objects: vec![
                object(
                    "a.Root",
                    &[("z", leaf.clone()), ("a", mode.clone()), ("m", Type::vector(&leaf, None))],
                ),
                object(
                    "a.Leaf",
                    &[("y", Type::plain(BaseType::Double)), ("b", Type::plain(BaseType::String))],
                ),
            ],
            enums: vec![Enum {
                name: "a.Mode".to_owned(),
                values: vec![value("Busy", 1), value("Idle", 0), value("Off", -1)],
                underlying: mode,
                ..Enum::default()
            }],
            root: Some("a.Root".to_owned()),
            ..Schema::default()
        }
    }

    #[test]
    fn the_order_in_the_model_does_not_matter() {
        let mut other = schema();
        other.objects.reverse();
        other.objects[1].fields.reverse();
        other.enums[0].values.reverse();
        assert_eq!(schema().to_bytes(), other.to_bytes());
        assert_eq!(schema().fingerprint(), other.fingerprint());
    }

    #[test]
    fn names_find_their_way_back() {
        let read = Schema::from_bytes(&schema().to_bytes()).unwrap();
        assert_eq!(read.root.as_deref(), Some("a.Root"));
        // Fields come by id, types by name, enumerators by number.
        assert_eq!(read.object("a.Root"), Some(&schema().objects[0]));
        assert_eq!(
            read.objects.iter().map(|object| object.name.as_str()).collect::<Vec<_>>(),
            ["a.Leaf", "a.Root"]
        );
        assert_eq!(read.enums[0].values.iter().map(|value| value.value).collect::<Vec<_>>(), [-1, 0, 1]);
    }

    #[test]
    fn a_name_that_is_not_there_is_refused_by_the_reader() {
        let mut dangling = schema();
        dangling.objects.pop();
        let error = Schema::from_bytes(&dangling.to_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "not a binary schema: a type is an object or a union, but does not say which"
        );
        let mut twice = schema();
        twice.objects.push(object("a.Mode", &[]));
        let error = Schema::from_bytes(&twice.to_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "not a binary schema: `a.Mode` is defined twice");
    }
}
