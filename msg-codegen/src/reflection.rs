//! The resolved model as a binary schema, the same as FlatBuffers' own compiler writes with `-b --schema`.

use msg_schema as schema;
use msg_schema::BaseType;

use crate::{
    diagnostic::FileId,
    ir::{
        Attributes, Default, Element, Enum, Field, File, Ir, Member, Object, ObjectKind, Presence, Scalar,
        Type, Union,
    },
};

/// Bits of `reflection.AdvancedFeatures`.
const ARRAYS: u64 = 1;
const UNIONS: u64 = 2;
const OPTIONAL_SCALARS: u64 = 4;
const DEFAULT_TEXTS_AND_VECTORS: u64 = 8;

/// Bytes of an offset, and of anything that stands behind one.
const OFFSET_BYTES: u32 = 4;

/// Everything that a file sees, with the file's own root type.
pub(crate) fn to_schema(ir: &Ir, file: &File) -> schema::Schema {
    let sees = |seen: FileId| file.visible.binary_search(&seen).is_ok();
    let objects: Vec<_> = ir.objects.iter().filter(|object| sees(object.declaration.span.file)).collect();
    let enums = ir.enums.iter().filter(|item| sees(item.declaration.span.file)).map(enumeration);
    let unions =
        ir.unions.iter().filter(|union| sees(union.declaration.span.file)).map(|item| union(ir, item));
    schema::Schema {
        enums: enums.chain(unions).collect(),
        file_identifier: file.identifier.clone(),
        file_extension: file.extension.clone(),
        root: file.root.map(|root| ir.objects[root.0].declaration.name.dotted()),
        advanced_features: objects
            .iter()
            .flat_map(|object| &object.fields)
            .fold(0, |bits, f| bits | features(f)),
        objects: objects.into_iter().map(|item| object(ir, item)).collect(),
    }
}

fn features(field: &Field) -> u64 {
    let of_default = match &field.default {
        Default::Text(_) | Default::EmptyVector => DEFAULT_TEXTS_AND_VECTORS,
        _ => 0,
    };
    let of_type = match field.field_type {
        Type::Array(..) => ARRAYS,
        Type::Vector(Element::Union(_)) => UNIONS,
        Type::One(Element::Scalar(_) | Element::Enum(_)) if field.presence == Presence::Optional => {
            OPTIONAL_SCALARS
        }
        _ => 0,
    };
    of_default | of_type
}

fn object(ir: &Ir, object: &Object) -> schema::Object {
    let mut fields = Vec::with_capacity(object.fields.len());
    for item in &object.fields {
        fields.extend(union_type_field(ir, item));
        fields.push(field(ir, object.kind, item));
    }
    schema::Object {
        name: object.declaration.name.dotted(),
        kind: match object.kind {
            ObjectKind::Table => schema::ObjectKind::Table,
            ObjectKind::Struct => schema::ObjectKind::Struct,
        },
        fields,
        min_align: object.align,
        byte_size: object.size,
        attributes: object.declaration.attributes.clone(),
        documentation: object.declaration.documentation.clone(),
    }
}

fn field(ir: &Ir, kind: ObjectKind, field: &Field) -> schema::Field {
    let (default_integer, default_real) = match field.default {
        // Unsigned numbers keep their bits.
        Default::Integer(number) => (number as i64, 0.0),
        Default::Real(number) => (0, number),
        Default::Zero | Default::Text(_) | Default::EmptyVector => (0, 0.0),
    };
    schema::Field {
        name: field.name.clone(),
        field_type: field_type(ir, field.field_type),
        id: field.id,
        offset: if kind == ObjectKind::Struct { field.offset } else { vtable_offset(field.id) },
        default_integer,
        default_real,
        deprecated: field.is_deprecated,
        required: field.presence == Presence::Required,
        key: field.is_key,
        optional: field.presence == Presence::Optional,
        padding: field.padding,
        attributes: field.attributes.clone(),
        documentation: field.documentation.clone(),
        offset64: false,
    }
}

/// The field that says which member a union field holds, or a vector of them for a vector of unions.
fn union_type_field(ir: &Ir, field: &Field) -> Option<schema::Field> {
    let (union, is_vector) = match field.field_type {
        Type::One(Element::Union(union)) => (union, false),
        Type::Vector(Element::Union(union)) => (union, true),
        _ => return None,
    };
    let target = Some(ir.unions[union.0].declaration.name.dotted());
    let field_type = match is_vector {
        false => schema::Type {
            base: BaseType::UType,
            base_size: 1,
            element_size: 1,
            target,
            ..schema::Type::default()
        },
        true => schema::Type {
            base: BaseType::Vector,
            element: BaseType::UType,
            base_size: OFFSET_BYTES,
            element_size: 1,
            target,
            fixed_length: 0,
        },
    };
    let id = field.id - 1;
    let explicit = field.has_explicit_id.then(|| ("id".to_owned(), id.to_string()));
    Some(schema::Field {
        name: format!("{}_type", field.name),
        field_type,
        id,
        offset: vtable_offset(id),
        deprecated: field.is_deprecated,
        required: is_vector && field.presence == Presence::Required,
        optional: is_vector && field.presence == Presence::Optional,
        attributes: explicit.into_iter().collect(),
        ..schema::Field::default()
    })
}

fn vtable_offset(id: u16) -> u16 {
    4 + 2 * id
}

fn enumeration(item: &Enum) -> schema::Enum {
    let mut values: Vec<_> = item.values.iter().collect();
    values.sort_by_key(|value| value.value);
    let values = values.into_iter().map(|value| schema::EnumValue {
        name: value.name.clone(),
        // Unsigned numbers keep their bits.
        value: value.value as i64,
        union_type: None,
        attributes: value.attributes.clone(),
        documentation: value.documentation.clone(),
    });
    let target = Some(item.declaration.name.dotted());
    schema::Enum {
        name: item.declaration.name.dotted(),
        values: values.collect(),
        is_union: false,
        underlying: schema::Type { target, ..scalar_type(item.underlying) },
        attributes: item.declaration.attributes.clone(),
        documentation: item.declaration.documentation.clone(),
    }
}

fn union(ir: &Ir, item: &Union) -> schema::Enum {
    let none = schema::EnumValue {
        name: "NONE".to_owned(),
        union_type: Some(schema::Type { base_size: 1, element_size: 1, ..schema::Type::default() }),
        ..schema::EnumValue::default()
    };
    let mut members: Vec<_> = item.members.iter().collect();
    members.sort_by_key(|member| member.number);
    let values = [none].into_iter().chain(members.into_iter().map(|item| member(ir, item))).collect();
    let target = Some(item.declaration.name.dotted());
    let tag = match item.underlying {
        Some(scalar) => schema::Type { target, ..scalar_type(scalar) },
        None => schema::Type { target, base: BaseType::UType, ..scalar_type(Scalar::U8) },
    };
    schema::Enum {
        name: item.declaration.name.dotted(),
        values,
        is_union: true,
        underlying: tag,
        attributes: item.declaration.attributes.clone(),
        documentation: item.declaration.documentation.clone(),
    }
}

fn member(ir: &Ir, member: &Member) -> schema::EnumValue {
    schema::EnumValue {
        name: member.name.clone(),
        value: member.number as i64,
        union_type: Some(field_type(ir, Type::One(member.element))),
        attributes: Attributes::clone(&member.attributes),
        documentation: member.documentation.clone(),
    }
}

fn field_type(ir: &Ir, field_type: Type) -> schema::Type {
    match field_type {
        Type::One(element) => schema::Type {
            base: base(ir, element),
            base_size: size(ir, element),
            element_size: 1,
            target: target(ir, element),
            ..schema::Type::default()
        },
        Type::Vector(element) => schema::Type {
            base: BaseType::Vector,
            element: base(ir, element),
            target: target(ir, element),
            fixed_length: 0,
            base_size: OFFSET_BYTES,
            // In a vector structs stand side by side.
            element_size: match element {
                Element::Struct(id) => ir.objects[id.0].size,
                _ => size(ir, element),
            },
        },
        Type::Array(element, length) => schema::Type {
            base: BaseType::Array,
            element: base(ir, element),
            target: target(ir, element),
            fixed_length: length,
            base_size: OFFSET_BYTES,
            element_size: size(ir, element),
        },
    }
}

fn scalar_type(scalar: Scalar) -> schema::Type {
    schema::Type {
        base: scalar_base(scalar),
        base_size: scalar.size(),
        element_size: 1,
        ..schema::Type::default()
    }
}

fn base(ir: &Ir, element: Element) -> BaseType {
    match element {
        Element::Scalar(scalar) => scalar_base(scalar),
        Element::Enum(id) => scalar_base(ir.enums[id.0].underlying),
        Element::Text => BaseType::String,
        Element::Struct(_) | Element::Table(_) => BaseType::Obj,
        Element::Union(_) => BaseType::Union,
    }
}

fn scalar_base(scalar: Scalar) -> BaseType {
    match scalar {
        Scalar::Bool => BaseType::Bool,
        Scalar::I8 => BaseType::Byte,
        Scalar::U8 => BaseType::UByte,
        Scalar::I16 => BaseType::Short,
        Scalar::U16 => BaseType::UShort,
        Scalar::I32 => BaseType::Int,
        Scalar::U32 => BaseType::UInt,
        Scalar::I64 => BaseType::Long,
        Scalar::U64 => BaseType::ULong,
        Scalar::F32 => BaseType::Float,
        Scalar::F64 => BaseType::Double,
    }
}

fn size(ir: &Ir, element: Element) -> u32 {
    match element {
        Element::Scalar(scalar) => scalar.size(),
        Element::Enum(id) => ir.enums[id.0].underlying.size(),
        _ => OFFSET_BYTES,
    }
}

fn target(ir: &Ir, element: Element) -> Option<String> {
    let declaration = match element {
        Element::Scalar(_) | Element::Text => return None,
        Element::Enum(id) => &ir.enums[id.0].declaration,
        Element::Struct(id) | Element::Table(id) => &ir.objects[id.0].declaration,
        Element::Union(id) => &ir.unions[id.0].declaration,
    };
    Some(declaration.name.dotted())
}
