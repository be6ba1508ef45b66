//! From a text to its payload: tables, unions and vectors. Work goes by what the text holds, never by what the schema could.

use std::collections::HashMap;
use std::rc::Rc;

use super::text::{self, Json, Member, Node};
use super::{BYTES_PER_CHARACTER, FLOOR, JsonError, attributes, scalar};
use crate::dynamic::{Decoder, MAX_DEPTH};
use crate::flexbuffer;
use crate::model::{BaseType, Enum, EnumValue, Field, Object, ObjectKind, Type};
use crate::wire::{Draft, Place, Writer};

/// FlatBuffers end here.
const MAX_BYTES: usize = i32::MAX as usize;

impl Decoder<'_> {
    /// The payload of the schema's root that a JSON text tells of; the rules are in the documentation of the crate.
    ///
    /// # Errors
    /// The schema has no root, the text is no JSON, or it does not fit the schema.
    pub fn encode_json(&self, text: &str) -> Result<Vec<u8>, JsonError> {
        match self.schema().root.as_deref() {
            Some(root) => self.encode_json_of(root, text),
            None => Err(JsonError::at(text, 0, None, "the schema has no root: name the type to write")),
        }
    }

    /// The payload of the type of that name: for schemas without a root.
    ///
    /// # Errors
    /// As [`encode_json`](Self::encode_json); or the schema has no such type.
    pub fn encode_json_of(&self, root: &str, text: &str) -> Result<Vec<u8>, JsonError> {
        let Some(object) = self.object(root) else {
            return Err(JsonError::at(text, 0, None, format!("the schema has no type `{root}`")));
        };
        let node = text::parse(text)?;
        let limit = text.len().saturating_mul(BYTES_PER_CHARACTER).saturating_add(FLOOR).min(MAX_BYTES);
        let mut shared = Shared { limit, facts: HashMap::new(), numbers: scalar::Numbers::default() };
        let is_root = self.schema().root.as_deref() == Some(root);
        let identifier = Some(&self.schema().file_identifier).filter(|_| is_root);
        let identifier = identifier.and_then(|text| text.as_bytes().try_into().ok());
        let built = build_root(self, &mut shared, object, &node, (identifier, 0));
        let (bytes, _) =
            built.map_err(|error| JsonError::at(text, error.at, Some(error.place), error.what))?;
        Ok(bytes)
    }
}

/// A mistake, at a byte of the text.
pub(super) struct Mistake {
    pub(super) at: usize,
    pub(super) place: String,
    pub(super) what: String,
}

/// What is being written, for messages, and how many tables it is in.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    object: &'c str,
    field: Option<&'c str>,
    depth: u32,
}

impl<'c> Context<'c> {
    pub(super) fn field(self, name: &'c str) -> Self {
        Self { field: Some(name), ..self }
    }

    fn inner(self, object: &'c str) -> Self {
        Self { object, field: None, depth: self.depth + 1 }
    }

    pub(super) fn of_struct(self, object: &'c str) -> Self {
        Self { object, field: None, ..self }
    }

    pub(super) fn fail<T>(&self, node: &Node<'_>, what: impl Into<String>) -> Result<T, Mistake> {
        let place = match self.field {
            Some(field) => format!("{}.{field}", self.object),
            None => self.object.to_owned(),
        };
        Err(Mistake { at: node.at, place, what: what.into() })
    }

    pub(super) fn found<T>(&self, node: &Node<'_>, expected: &str) -> Result<T, Mistake> {
        self.fail(node, format!("found {}, expected {expected}", node.json.kind()))
    }
}

/// What the buffers of one text share.
pub(super) struct Shared<'s> {
    /// Bytes that may be made.
    limit: usize,
    facts: HashMap<&'s str, Rc<Facts<'s>>>,
    pub(super) numbers: scalar::Numbers,
}

/// The fields of an object by name, and those that have to be there.
struct Facts<'s> {
    fields: HashMap<&'s str, &'s Field>,
    required: Vec<&'s Field>,
}

/// A buffer and its alignment, from its root down; nested buffers are made the same way.
fn build_root<'s>(
    decoder: &Decoder<'s>,
    shared: &mut Shared<'s>,
    root: &'s Object,
    node: &Node<'_>,
    (identifier, depth): (Option<&[u8; 4]>, u32),
) -> Result<(Vec<u8>, usize), Mistake> {
    let (writer, place) = Writer::new(identifier);
    let mut builder = Builder { decoder, shared, writer };
    let context = Context { object: &root.name, field: None, depth };
    if root.kind == ObjectKind::Struct {
        return builder.structure(root, node, context);
    }
    builder.table(place, root, node, context)?;
    let align = builder.writer.alignment();
    Ok((builder.writer.finish(), align))
}

pub(super) struct Builder<'a, 's> {
    pub(super) decoder: &'a Decoder<'s>,
    pub(super) shared: &'a mut Shared<'s>,
    writer: Writer,
}

/// The fields that a text gives, but for those that are `null`.
pub(super) struct Present<'n, 's, 't> {
    fields: Vec<(&'s Field, &'n Node<'t>)>,
    by_id: HashMap<u16, &'n Node<'t>>,
}

impl<'n, 't> Present<'n, '_, 't> {
    pub(super) fn get(&self, field: &Field) -> Option<&'n Node<'t>> {
        self.at(field.id)
    }

    /// What is given for the field with that id, if there is such an id.
    fn at(&self, id: impl Into<Option<u16>>) -> Option<&'n Node<'t>> {
        let node = self.by_id.get(&id.into()?).copied();
        node.filter(|node| !matches!(node.json, Json::Null))
    }
}

impl<'s> Builder<'_, 's> {
    /// Refuses what would make the buffer longer than it may become.
    pub(super) fn charge(&self, bytes: usize, node: &Node<'_>, context: Context<'_>) -> Result<(), Mistake> {
        if self.writer.len().saturating_add(bytes) <= self.shared.limit {
            return Ok(());
        }
        let limit = self.shared.limit;
        context.fail(
            node,
            format!("the message would be longer than {limit} bytes, which no text of this size needs"),
        )
    }

    fn facts(&mut self, object: &'s Object) -> Rc<Facts<'s>> {
        let make = || {
            let fields = object.fields.iter().map(|field| (field.name.as_str(), field)).collect();
            let required = object.fields.iter().filter(|field| field.required).collect();
            Rc::new(Facts { fields, required })
        };
        Rc::clone(self.shared.facts.entry(&object.name).or_insert_with(make))
    }

    pub(super) fn present<'n, 't>(
        &mut self,
        object: &'s Object,
        node: &'n Node<'t>,
        context: Context<'_>,
    ) -> Result<Present<'n, 's, 't>, Mistake> {
        let Json::Object(members) = &node.json else { return context.found(node, "an object") };
        let facts = self.facts(object);
        let mut present = Present { fields: Vec::new(), by_id: HashMap::new() };
        for Member { at, name, value } in members {
            let there = Node { at: *at, json: Json::Null };
            let Some(field) = facts.fields.get(name.as_ref()) else {
                return context.fail(&there, format!("the type has no field `{name}`"));
            };
            let context = context.field(&field.name);
            if present.by_id.insert(field.id, value).is_some() {
                return context.fail(&there, "the field is given twice");
            }
            if field.offset64 || field.field_type.base == BaseType::Vector64 {
                return context.fail(&there, "it is behind a 64-bit offset, which is not written here");
            }
            if !matches!(value.json, Json::Null) {
                present.fields.push((field, value));
            }
        }
        let absent =
            |field: &&&Field| present.by_id.get(&field.id).is_none_or(|node| matches!(node.json, Json::Null));
        if let Some(field) = facts.required.iter().find(absent) {
            return context.field(&field.name).fail(node, "the field is required, but absent");
        }
        Ok(present)
    }

    pub(super) fn scalar(
        &mut self,
        meant: &Type,
        base: BaseType,
        node: &Node<'_>,
        context: Context<'_>,
    ) -> Result<scalar::Bytes, Mistake> {
        let of = self.decoder.target_enum(meant);
        let bytes = scalar::read(&mut self.shared.numbers, base, of, &node.json);
        bytes.or_else(|what| context.fail(node, what))
    }

    /// A scalar of a field, which may take a text for its hash.
    pub(super) fn number(
        &mut self,
        field: &Field,
        base: BaseType,
        node: &Node<'_>,
        context: Context<'_>,
    ) -> Result<scalar::Bytes, Mistake> {
        match attributes::hash(field, base, &node.json) {
            Some(bytes) => Ok(bytes),
            None => self.scalar(&field.field_type, base, node, context),
        }
    }

    fn table(
        &mut self,
        place: Place,
        object: &'s Object,
        node: &Node<'_>,
        context: Context<'_>,
    ) -> Result<(), Mistake> {
        if context.depth >= MAX_DEPTH {
            return context.fail(node, format!("it is nested more than {MAX_DEPTH} deep"));
        }
        let present = self.present(object, node, context)?;
        let mut draft = Draft::new();
        for (field, value) in &present.fields {
            self.draft(&mut draft, (field, value), &present, context.field(&field.name))?;
        }
        if !draft.fits() {
            return context.fail(node, "the table is larger than 64 KiB in place, the most there can be");
        }
        let table = self.writer.table(place, draft);
        self.charge(0, node, context)?;
        for (field, value) in &present.fields {
            if !self.is_in_place(&field.field_type) {
                let place = table.place(field.id);
                self.reference(place, (field, value), &present, context.field(&field.name))?;
            }
        }
        Ok(())
    }

    /// The struct that a type is.
    pub(super) fn struct_of(&self, meant: &Type) -> Option<&'s Object> {
        self.decoder.target_object(meant).filter(|object| object.kind == ObjectKind::Struct)
    }

    fn is_in_place(&self, meant: &Type) -> bool {
        meant.base.is_scalar() || (meant.base == BaseType::Obj && self.struct_of(meant).is_some())
    }

    /// Adds a field to its table: the value itself, or room for the reference to it.
    fn draft(
        &mut self,
        draft: &mut Draft,
        (field, node): (&'s Field, &Node<'_>),
        present: &Present<'_, 's, '_>,
        context: Context<'_>,
    ) -> Result<(), Mistake> {
        let meant = &field.field_type;
        if meant.base == BaseType::Union || meant.element == BaseType::Union {
            self.number_of(field, node, present, context)?;
        }
        if meant.is_union_number()
            && !self.is_none(meant, node, context)?
            && present.at(field.id.checked_add(1)).is_none()
        {
            return context.fail(node, "the value of this member is missing");
        }
        if meant.base.is_scalar() {
            let (bytes, size) = self.number(field, meant.base, node, context)?;
            if scalar::default(field) != Some((bytes, size)) {
                draft.scalar(field.id, bytes, size);
            }
            return Ok(());
        }
        match self.struct_of(meant).filter(|_| meant.base == BaseType::Obj) {
            Some(object) => {
                let (bytes, align) = self.structure(object, node, context)?;
                draft.structure(field.id, bytes, align);
            }
            None => draft.reference(field.id),
        }
        Ok(())
    }

    /// Whether a union's number says that there is no value; a list of numbers always has a list of values.
    fn is_none(&mut self, meant: &Type, node: &Node<'_>, context: Context<'_>) -> Result<bool, Mistake> {
        Ok(meant.base == BaseType::UType && self.scalar(meant, meant.base, node, context)?.0[0] == 0)
    }

    /// The text of a union's number, which stands beside its value.
    fn number_of<'n, 't>(
        &self,
        field: &Field,
        node: &Node<'_>,
        present: &Present<'n, 's, 't>,
        context: Context<'_>,
    ) -> Result<&'n Node<'t>, Mistake> {
        match present.at(field.id.checked_sub(1)) {
            Some(number) => Ok(number),
            None => context.fail(node, format!("`{}_type` is missing, which says what it is", field.name)),
        }
    }

    fn reference(
        &mut self,
        place: Place,
        (field, node): (&'s Field, &Node<'_>),
        present: &Present<'_, 's, '_>,
        context: Context<'_>,
    ) -> Result<(), Mistake> {
        let meant = &field.field_type;
        match (meant.base, meant.element) {
            (BaseType::Union, _) => {
                let number = self.number_of(field, node, present, context)?;
                self.union(place, meant, (number, node), context)
            }
            (BaseType::Vector, BaseType::Union) => {
                let numbers = self.number_of(field, node, present, context)?;
                self.unions(place, meant, (numbers, node), context)
            }
            (BaseType::Vector, _) => self.vector(place, field, node, context),
            _ => self.target(place, meant, node, context),
        }
    }

    /// A table or a string.
    fn target(
        &mut self,
        place: Place,
        meant: &Type,
        node: &Node<'_>,
        context: Context<'_>,
    ) -> Result<(), Mistake> {
        if let Some(object) = self.decoder.target_object(meant) {
            return self.table(place, object, node, context.inner(&object.name));
        }
        let Json::Text(text) = &node.json else { return context.found(node, "a string") };
        self.charge(text.len(), node, context)?;
        self.writer.string(place, text);
        Ok(())
    }

    fn union(
        &mut self,
        place: Place,
        meant: &Type,
        (number, node): (&Node<'_>, &Node<'_>),
        context: Context<'_>,
    ) -> Result<(), Mistake> {
        let (bytes, _) = self.scalar(meant, BaseType::UType, number, context)?;
        let union = self.decoder.target_enum(meant);
        let found = union.and_then(|union| member(union, bytes[0]));
        let Some(member) = found else {
            let what = match bytes[0] {
                0 => "found a value, but its type is `NONE`".to_owned(),
                number => format!("the schema has no member {number}, whose value could be written"),
            };
            return context.fail(node, what);
        };
        match self.struct_of(member) {
            Some(object) => {
                let (bytes, align) = self.structure(object, node, context)?;
                self.writer.structure(place, &bytes, align);
                Ok(())
            }
            None => self.target(place, member, node, context),
        }
    }

    fn unions(
        &mut self,
        place: Place,
        meant: &Type,
        (numbers, node): (&Node<'_>, &Node<'_>),
        context: Context<'_>,
    ) -> Result<(), Mistake> {
        let (Json::List(numbers), Json::List(values)) = (&numbers.json, &node.json) else {
            return context.found(node, "a list, and a list of its types");
        };
        if numbers.len() != values.len() {
            let (numbers, values) = (numbers.len(), values.len());
            return context.fail(node, format!("found {numbers} types for {values} values"));
        }
        self.charge(4 * values.len(), node, context)?;
        let places = self.writer.references(place, values.len());
        for (place, (number, value)) in places.into_iter().zip(numbers.iter().zip(values)) {
            if self.scalar(meant, BaseType::UType, number, context)?.0[0] == 0
                && matches!(value.json, Json::Null)
            {
                // Readers never follow the reference of `NONE`; it stays empty.
                continue;
            }
            self.union(place, meant, (number, value), context)?;
        }
        Ok(())
    }

    fn vector(
        &mut self,
        place: Place,
        field: &'s Field,
        node: &Node<'_>,
        context: Context<'_>,
    ) -> Result<(), Mistake> {
        let meant = &field.field_type;
        self.writer.align_elements(attributes::element_align(field));
        if let (Json::Object(_), Some(root)) = (&node.json, self.decoder.nested(context.object, field)) {
            let inside = (None, context.depth + 1);
            let (bytes, align) = build_root(self.decoder, self.shared, root, node, inside)?;
            self.charge(bytes.len(), node, context)?;
            self.writer.elements(place, bytes.len(), &bytes, align);
            return Ok(());
        }
        if attributes::is_flexbuffer(field) {
            return self.flexbuffer(place, node, context);
        }
        let Json::List(items) = &node.json else { return context.found(node, "a list") };
        let structure = self.struct_of(meant);
        let is_reference = structure.is_none() && matches!(meant.element, BaseType::Obj | BaseType::String);
        if is_reference {
            self.charge(4 * items.len(), node, context)?;
            let places = self.writer.references(place, items.len());
            return places
                .into_iter()
                .zip(items)
                .try_for_each(|(place, item)| self.target(place, meant, item, context));
        }
        let size = structure.map_or(meant.element.size(), |object| object.byte_size) as usize;
        self.charge(items.len().saturating_mul(size), node, context)?;
        let mut bytes = Vec::with_capacity(items.len() * size);
        let mut align = size;
        for item in items {
            if let Some(object) = structure {
                let (item, its_align) = self.structure(object, item, context)?;
                bytes.extend(item);
                align = its_align;
            } else {
                let (item, size) = self.number(field, meant.element, item, context)?;
                bytes.extend(&item[..size]);
            }
        }
        let align = if items.is_empty() { 4 } else { align };
        self.writer.elements(place, items.len(), &bytes, align);
        Ok(())
    }
}

impl Builder<'_, '_> {
    /// A value without a schema, as the bytes of a vector.
    fn flexbuffer(&mut self, place: Place, node: &Node<'_>, context: Context<'_>) -> Result<(), Mistake> {
        let flex = attributes::flex(node, flexbuffer::MAX_DEPTH)
            .or_else(|(at, what)| context.fail(&Node { at, json: Json::Null }, what))?;
        let bytes = flexbuffer::write(&flex);
        self.charge(bytes.len(), node, context)?;
        // Eight bytes are the widest number in it.
        self.writer.elements(place, bytes.len(), &bytes, 8);
        Ok(())
    }
}

/// The type of a union's member.
fn member(union: &Enum, number: u8) -> Option<&Type> {
    let found: Option<&EnumValue> = union.values.iter().find(|value| value.value == i64::from(number));
    found.and_then(|value| value.union_type.as_ref())
}
