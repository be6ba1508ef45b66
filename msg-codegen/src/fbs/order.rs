//! The order of declarations.
//!
//! Some things must stand above others: enums, structs in structs, unions. Others should: a table above what refers to
//! it, and a table with a field that is called like a type above that type. What should be gives way in a cycle.

use std::collections::{BTreeSet, HashMap};

use msg_schema::{Enum, ObjectKind, Schema, Type};

use super::{
    Item,
    scope::{Scope, split},
};

/// What has to come before one item, counted.
#[derive(Default)]
struct Node {
    /// Without these the item is not understood.
    needed: usize,
    /// These are better read first.
    wanted: usize,
    /// The items that wait for this one, and whether they need it.
    waiting: Vec<(usize, Wait)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Needs,
    Wants,
}

/// All items in an order that compilers understand.
pub(super) fn sorted<'a>(schema: &'a Schema, scope: &Scope<'a>) -> Vec<Item<'a>> {
    let enums = schema.enums.iter().map(Item::Enum);
    let mut items: Vec<Item<'a>> = enums.chain(schema.objects.iter().map(Item::Object)).collect();
    items.sort_by_key(|item| (rank(*item), split(item.name())));
    let mut nodes = nodes(&items, scope);
    let mut ready: BTreeSet<(bool, usize)> = BTreeSet::new();
    let key = |nodes: &[Node], at: usize| (nodes[at].wanted > 0, at);
    ready.extend((0..items.len()).filter(|at| nodes[*at].needed == 0).map(|at| key(&nodes, at)));
    let mut order = Vec::with_capacity(items.len());
    let mut is_placed = vec![false; items.len()];
    while let Some((_, at)) = ready.pop_first() {
        is_placed[at] = true;
        order.push(items[at]);
        for (other, wait) in std::mem::take(&mut nodes[at].waiting) {
            if is_placed[other] {
                continue;
            }
            ready.remove(&key(&nodes, other));
            match wait {
                Wait::Needs => nodes[other].needed -= 1,
                Wait::Wants => nodes[other].wanted -= 1,
            }
            if nodes[other].needed == 0 {
                ready.insert(key(&nodes, other));
            }
        }
    }
    // Structs that contain themselves: whoever reads the text will say so.
    order.extend((0..items.len()).filter(|at| !is_placed[*at]).map(|at| items[at]));
    order
}

fn rank(item: Item<'_>) -> usize {
    match item {
        Item::Enum(Enum { is_union: false, .. }) => 0,
        Item::Object(object) if object.kind == ObjectKind::Struct => 1,
        Item::Enum(_) => 2,
        Item::Object(_) => 3,
    }
}

fn nodes(items: &[Item<'_>], scope: &Scope<'_>) -> Vec<Node> {
    let places: HashMap<&str, usize> = items.iter().enumerate().map(|(at, item)| (item.name(), at)).collect();
    let mut nodes: Vec<Node> = items.iter().map(|_| Node::default()).collect();
    let mut wait = |first: usize, second: usize, wait: Wait| {
        match wait {
            _ if first == second => return,
            Wait::Needs => nodes[second].needed += 1,
            Wait::Wants => nodes[second].wanted += 1,
        }
        nodes[first].waiting.push((second, wait));
    };
    for (at, item) in items.iter().enumerate() {
        for used in types_of(*item).filter_map(|used| places.get(used.target.as_deref()?)) {
            let is_table = rank(items[*used]) == 3;
            wait(*used, at, if is_table { Wait::Wants } else { Wait::Needs });
        }
        let Item::Object(object) = item else { continue };
        for field in &object.fields {
            let alike = scope.lookup(&field.name, split(&object.name).0);
            if let Some(Item::Object(alike)) = alike.map(|name| items[places[name]]) {
                wait(at, places[alike.name.as_str()], Wait::Wants);
            }
        }
    }
    nodes
}

/// The types that a declaration names.
fn types_of(item: Item<'_>) -> Box<dyn Iterator<Item = &Type> + '_> {
    match item {
        Item::Enum(item) => Box::new(item.values.iter().filter_map(|value| value.union_type.as_ref())),
        Item::Object(object) => Box::new(object.fields.iter().map(|field| &field.field_type)),
    }
}
