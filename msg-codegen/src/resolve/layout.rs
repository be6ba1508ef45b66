//! Structs: where fields stand, how large and how aligned the whole is, and that none contains itself.

use super::{
    Resolver,
    attributes::find,
    cycle::{components, is_cycle},
    enumeration::integer,
    object::dotted,
};
use crate::{
    ast,
    diagnostic::{Code, Diagnostic},
    ir::{Element, ObjectKind, Scalar, Type},
};

/// FlatBuffers' limit for `force_align`.
pub(super) const LARGEST_ALIGNMENT: u32 = 32;

impl Resolver<'_, '_> {
    /// Lays out every struct, the inner before the outer.
    pub(super) fn layouts(&mut self) {
        let edges: Vec<Vec<usize>> =
            (0..self.ir.objects.len()).map(|object| self.inner_structs(object)).collect();
        let mut is_sized = vec![true; edges.len()];
        for component in components(&edges) {
            if is_cycle(&component, &edges) {
                self.struct_cycle(&component);
                component.iter().for_each(|object| is_sized[*object] = false);
                continue;
            }
            let object = component[0];
            is_sized[object] = edges[object].iter().all(|inner| is_sized[*inner]);
            if self.ir.objects[object].kind == ObjectKind::Struct && is_sized[object] {
                self.check_order(object);
                is_sized[object] = self.lay_out(object).is_some();
            }
        }
    }

    fn inner_structs(&self, object: usize) -> Vec<usize> {
        let object = &self.ir.objects[object];
        if object.kind == ObjectKind::Table {
            return Vec::new();
        }
        let inner = object.fields.iter().filter_map(|field| match field.field_type {
            Type::One(Element::Struct(inner)) | Type::Array(Element::Struct(inner), _) => Some(inner.0),
            _ => None,
        });
        inner.collect()
    }

    fn struct_cycle(&mut self, component: &[usize]) {
        let mut members = component.to_vec();
        members.sort_unstable();
        let declared: Vec<_> = members.iter().map(|object| &self.scope.objects[*object]).collect();
        let first = declared[0];
        let message = format!("struct `{}` contains itself", dotted(first));
        let mut diagnostic = Diagnostic::new(Code::StructRecursion, first.ast.name.span, message);
        for other in &declared[1..] {
            diagnostic = diagnostic.note(other.ast.name.span, format!("through `{}`", dotted(other)));
        }
        self.report(diagnostic.help("a struct has a fixed size: make one of them a table"));
    }

    /// FlatBuffers' own compiler wants inner structs above outer ones.
    fn check_order(&mut self, object: usize) {
        let scope = self.scope;
        let declared = &scope.objects[object];
        for field in &declared.ast.fields {
            if Scalar::from_name(&field.field_type.name.text()).is_some() {
                continue;
            }
            let found = scope.lookup(&field.field_type.name.text(), &declared.site);
            if let Some((super::scope::Symbol::Object(_), span)) = found {
                self.is_declared_before("struct", &field.field_type.name, span);
            }
        }
    }

    fn lay_out(&mut self, index: usize) -> Option<()> {
        let (mut size, mut align) = (0_u64, 1_u32);
        let mut offsets = Vec::new();
        for field in &self.ir.objects[index].fields {
            let (field_size, field_align) = self.size_and_align(field.field_type);
            let offset = size.next_multiple_of(u64::from(field_align));
            offsets.push((offset, offset - size));
            (size, align) = (offset + field_size, align.max(field_align));
        }
        let natural = align;
        align = self.force_align(index, align)?;
        let end = size.next_multiple_of(u64::from(align));
        if offsets.iter().any(|(offset, _)| *offset > u64::from(u16::MAX)) || end > u64::from(u32::MAX >> 1) {
            self.too_large(index);
            return None;
        }
        let object = &mut self.ir.objects[index];
        let last = offsets.len().wrapping_sub(1);
        for (at, field) in object.fields.iter_mut().enumerate() {
            field.offset = offsets[at].0 as u16;
            let padding = if at == last { end - size } else { offsets[at + 1].1 };
            field.padding = padding as u16;
        }
        (object.size, object.align, object.is_over_aligned) = (end as u32, align, align > natural);
        Some(())
    }

    /// Bytes and alignment of what may stand in a struct.
    fn size_and_align(&self, field_type: Type) -> (u64, u32) {
        let (element, count) = match field_type {
            Type::One(element) | Type::Vector(element) => (element, 1),
            Type::Array(element, count) => (element, u64::from(count)),
        };
        let (size, align) = match element {
            Element::Scalar(scalar) => (scalar.size(), scalar.size()),
            Element::Enum(id) => {
                (self.ir.enums[id.0].underlying.size(), self.ir.enums[id.0].underlying.size())
            }
            Element::Struct(id) => (self.ir.objects[id.0].size, self.ir.objects[id.0].align),
            Element::Text | Element::Table(_) | Element::Union(_) => (0, 1),
        };
        (u64::from(size) * count, align)
    }

    /// `struct S (force_align: 16)`
    fn force_align(&mut self, index: usize, natural: u32) -> Option<u32> {
        let Some(attribute) = find(&self.scope.objects[index].ast.attributes, "force_align") else {
            return Some(natural);
        };
        let number = written_align(attribute);
        let align = number.and_then(|number| u32::try_from(number).ok());
        let align =
            align.filter(|align| align.is_power_of_two() && (natural..=LARGEST_ALIGNMENT).contains(align));
        if align.is_none() {
            let span = attribute.value.as_ref().map_or(attribute.name.span, |value| value.span);
            let name = dotted(&self.scope.objects[index]);
            let message = match number {
                Some(number) => format!("struct `{name}` cannot have an alignment of {number} bytes"),
                None => format!("`force_align` gives struct `{name}` no alignment"),
            };
            let help = format!(
                "write a power of two from {natural}, which its fields need, to {LARGEST_ALIGNMENT}, \
                 such as `force_align: {LARGEST_ALIGNMENT}`"
            );
            self.report(Diagnostic::new(Code::InvalidAlignment, span, message).help(help));
        }
        align
    }

    fn too_large(&mut self, index: usize) {
        let declared = &self.scope.objects[index];
        let message = format!("struct `{}` has fields beyond its first 65535 bytes", dotted(declared));
        let help = "put the last large field last, or use a table with vectors";
        self.report(Diagnostic::new(Code::StructTooLarge, declared.ast.name.span, message).help(help));
    }
}

/// The number that `force_align` is given.
pub(super) fn written_align(attribute: &ast::Attribute) -> Option<i128> {
    match &attribute.value {
        Some(ast::Value { kind: ast::ValueKind::Integer(text) | ast::ValueKind::Text(text), .. }) => {
            integer(text)
        }
        _ => None,
    }
}
