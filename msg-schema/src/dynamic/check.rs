//! What has to hold of a schema before bytes are read with it.

use std::collections::HashSet;

use super::{DecodeError, Decoder, Reason};
use crate::model::{BaseType, Field, Object, ObjectKind, Type};

/// Names lead to types of the right kind; structs are as large as their fields need and contain no struct that
/// contains them, so that a walk through a struct ends, and takes no longer than its bytes allow.
pub(super) fn schema(decoder: &Decoder<'_>) -> Result<(), DecodeError> {
    let mut sound = HashSet::new();
    for object in &decoder.schema.objects {
        for field in &object.fields {
            let place = || format!("{}.{}", object.name, field.name);
            field_type(decoder, &field.field_type).map_err(|reason| DecodeError::new(place(), reason))?;
        }
        if object.kind == ObjectKind::Struct {
            structure(decoder, object, &mut sound, 0)?;
        }
    }
    for enumeration in &decoder.schema.enums {
        for value in &enumeration.values {
            // `NONE` has the type of nothing in some files, and no type in others.
            let member = value.union_type.as_ref().filter(|member| member.base != BaseType::None);
            let Some(member) = member else { continue };
            let place = || format!("{}.{}", enumeration.name, value.name);
            field_type(decoder, member).map_err(|reason| DecodeError::new(place(), reason))?;
        }
    }
    Ok(())
}

fn field_type(decoder: &Decoder<'_>, meant: &Type) -> Result<(), Reason> {
    let is_list = matches!(meant.base, BaseType::Vector | BaseType::Vector64 | BaseType::Array);
    let inner = if is_list { meant.element } else { meant.base };
    let unknown = || Reason::Missing(meant.target.clone().unwrap_or_default());
    match inner {
        BaseType::Obj => decoder.target_object(meant).map(|_| ()).ok_or_else(unknown),
        BaseType::Union | BaseType::UType => {
            let union = decoder.target_enum(meant).filter(|union| union.is_union);
            union.map(|_| ()).ok_or_else(unknown)
        }
        BaseType::None | BaseType::Vector | BaseType::Vector64 | BaseType::Array => {
            Err(Reason::NotAType(meant.text()))
        }
        _ if meant.target.is_some() => decoder.target_enum(meant).map(|_| ()).ok_or_else(unknown),
        _ => Ok(()),
    }
}

/// `inside` counts the structs that the walk is in: a real one is never that deep, so that it goes in circles then.
fn structure<'s>(
    decoder: &Decoder<'s>,
    object: &'s Object,
    sound: &mut HashSet<&'s str>,
    inside: u32,
) -> Result<(), DecodeError> {
    if sound.contains(object.name.as_str()) {
        return Ok(());
    }
    let refuse = |field: &Field, reason| DecodeError::new(format!("{}.{}", object.name, field.name), reason);
    let mut fields: Vec<&Field> = object.fields.iter().collect();
    fields.sort_by_key(|field| field.offset);
    let mut end = 0;
    for field in fields {
        if inside >= super::MAX_DEPTH {
            return Err(refuse(field, Reason::Depth));
        }
        let inner = decoder.target_object(&field.field_type);
        if let Some(inner) = inner.filter(|inner| inner.kind == ObjectKind::Struct) {
            structure(decoder, inner, sound, inside + 1)?;
        }
        let extent = extent(decoder, &field.field_type);
        let extent = extent.ok_or_else(|| refuse(field, Reason::NotInStruct(field.field_type.text())))?;
        if usize::from(field.offset) < end {
            return Err(refuse(field, Reason::Overlap));
        }
        end = usize::from(field.offset) + extent;
    }
    if end > object.byte_size as usize || object.byte_size == 0 {
        return Err(DecodeError::new(&object.name, Reason::Overlap));
    }
    sound.insert(&object.name);
    Ok(())
}

/// Bytes of a field of a struct; `None` for what cannot be one.
fn extent(decoder: &Decoder<'_>, meant: &Type) -> Option<usize> {
    let one = |base: BaseType| match base {
        BaseType::Obj => {
            let object = decoder.target_object(meant)?;
            (object.kind == ObjectKind::Struct).then_some(object.byte_size as usize)
        }
        base if base.is_scalar() => Some(base.size() as usize),
        _ => None,
    };
    match meant.base {
        BaseType::Array => one(meant.element)?.checked_mul(usize::from(meant.fixed_length)),
        base => one(base),
    }
}
