//! Tables and unions that contain themselves: which fields need a pointer in Rust, and whether any message is finite.

use super::{
    Resolver,
    cycle::{components, is_cycle},
    object::dotted,
};
use crate::{
    diagnostic::{Code, Diagnostic},
    ir::{Element, Ir, ObjectId, ObjectKind, Presence, Type, UnionId},
};

impl Resolver<'_, '_> {
    /// Marks what must be boxed, and reports tables that require themselves.
    pub(super) fn recursion(&mut self) {
        self.check_finite();
        let edges = inline_edges(&self.ir);
        let component_of = component_of(&edges);
        let objects = self.ir.objects.len();
        for (node, object) in self.ir.objects.iter_mut().enumerate() {
            for field in &mut object.fields {
                if let Type::One(Element::Table(target)) = field.field_type {
                    field.is_boxed = component_of[node] == component_of[target.0];
                }
            }
        }
        for (node, union) in self.ir.unions.iter_mut().enumerate() {
            for member in &mut union.members {
                if let Element::Table(ObjectId(target)) = member.element {
                    member.is_boxed = component_of[objects + node] == component_of[target];
                }
            }
        }
    }

    /// `table T { next: T (required); }` has no finite value.
    fn check_finite(&mut self) {
        let edges: Vec<Vec<usize>> = self.ir.objects.iter().map(required_tables).collect();
        for component in components(&edges) {
            if !is_cycle(&component, &edges) {
                continue;
            }
            let mut members = component;
            members.sort_unstable();
            let declared: Vec<_> = members.iter().map(|object| &self.scope.objects[*object]).collect();
            let message = format!("every `{}` requires another one, without end", dotted(declared[0]));
            let mut diagnostic = Diagnostic::new(Code::InfiniteMessage, declared[0].ast.name.span, message);
            for other in &declared[1..] {
                diagnostic = diagnostic.note(other.ast.name.span, format!("through `{}`", dotted(other)));
            }
            self.report(diagnostic.help("remove `required` from one of the fields that lead back"));
        }
    }
}

fn required_tables(object: &crate::ir::Object) -> Vec<usize> {
    let required = object.fields.iter().filter(|field| field.presence == Presence::Required);
    required
        .filter_map(|field| match field.field_type {
            Type::One(Element::Table(target)) => Some(target.0),
            _ => None,
        })
        .collect()
}

/// What holds what without a vector between them; unions are numbered after the objects.
fn inline_edges(ir: &Ir) -> Vec<Vec<usize>> {
    let node = |element| match element {
        Element::Table(ObjectId(object)) => Some(object),
        Element::Union(UnionId(union)) => Some(ir.objects.len() + union),
        _ => None,
    };
    let of_objects = ir.objects.iter().map(|object| {
        let inline = object.fields.iter().filter_map(|field| match field.field_type {
            Type::One(element) => node(element),
            _ => None,
        });
        if object.kind == ObjectKind::Table { inline.collect() } else { Vec::new() }
    });
    let of_unions =
        ir.unions.iter().map(|union| union.members.iter().filter_map(|m| node(m.element)).collect());
    of_objects.chain(of_unions).collect()
}

fn component_of(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut component_of = vec![0; edges.len()];
    for (index, component) in components(edges).into_iter().enumerate() {
        component.into_iter().for_each(|node| component_of[node] = index);
    }
    component_of
}
