//! From a text to the bytes of a struct.

use super::build::{Builder, Context, Mistake};
use super::text::{Json, Node};
use crate::model::{BaseType, Field, Object};

/// More than any struct is aligned to.
const MAX_ALIGN: u32 = 1024;

impl<'s> Builder<'_, 's> {
    /// The bytes of a struct, and its alignment.
    pub(super) fn structure(
        &mut self,
        object: &'s Object,
        node: &Node<'_>,
        context: Context<'_>,
    ) -> Result<(Vec<u8>, usize), Mistake> {
        let (size, align) = (object.byte_size as usize, object.min_align);
        if !align.is_power_of_two() || align > MAX_ALIGN || !object.byte_size.is_multiple_of(align) {
            let what = format!("the schema says {size} bytes aligned to {align}, which no struct has");
            return context.of_struct(&object.name).fail(node, what);
        }
        self.charge(size, node, context)?;
        let mut bytes = vec![0; size];
        self.fill(&mut bytes, object, node, context)?;
        Ok((bytes, align as usize))
    }

    fn fill(
        &mut self,
        bytes: &mut [u8],
        object: &'s Object,
        node: &Node<'_>,
        context: Context<'_>,
    ) -> Result<(), Mistake> {
        let context = context.of_struct(&object.name);
        let present = self.present(object, node, context)?;
        for field in &object.fields {
            let context = context.field(&field.name);
            let Some(value) = present.get(field) else {
                return context.fail(node, "it is missing: a struct has all its fields");
            };
            let bytes = &mut bytes[usize::from(field.offset)..];
            match field.field_type.base {
                BaseType::Array => self.array(bytes, field, value, context)?,
                base => self.in_place(bytes, (field, base), value, context)?,
            }
        }
        Ok(())
    }

    fn array(
        &mut self,
        bytes: &mut [u8],
        field: &'s Field,
        node: &Node<'_>,
        context: Context<'_>,
    ) -> Result<(), Mistake> {
        let meant = &field.field_type;
        let Json::List(items) = &node.json else { return context.found(node, "a list") };
        let len = usize::from(meant.fixed_length);
        if items.len() != len {
            return context.fail(node, format!("found {} elements, expected {len}", items.len()));
        }
        let stride = self.struct_of(meant).map_or(meant.element.size(), |object| object.byte_size) as usize;
        for (index, item) in items.iter().enumerate() {
            self.in_place(&mut bytes[index * stride..], (field, meant.element), item, context)?;
        }
        Ok(())
    }

    /// A scalar or a struct at the start of these bytes; that it fits in was checked with the schema.
    fn in_place(
        &mut self,
        bytes: &mut [u8],
        (field, base): (&'s Field, BaseType),
        node: &Node<'_>,
        context: Context<'_>,
    ) -> Result<(), Mistake> {
        if base == BaseType::Obj
            && let Some(object) = self.struct_of(&field.field_type)
        {
            return self.fill(&mut bytes[..object.byte_size as usize], object, node, context);
        }
        let (scalar, size) = self.number(field, base, node, context)?;
        bytes[..size].copy_from_slice(&scalar[..size]);
        Ok(())
    }
}
