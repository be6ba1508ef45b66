//! The difference between two types in words, for the error when two programs meet that do not agree on a type.

use std::collections::HashSet;

use crate::contract::{self, Absent, Named};
use crate::model::{Enum, Field, Object, ObjectKind, Schema, Type};

/// The difference between the roots of two schemas that is nearest to the root, in words that name the field; `None`
/// if their [fingerprints](Schema::fingerprint) are equal.
///
/// ```
/// # use msg_schema::{difference, BaseType, Field, Object, Schema, Type};
/// # let schema = |base| Schema {
/// #     objects: vec![Object {
/// #         name: "demo.Imu".into(),
/// #         fields: vec![Field { name: "x".into(), field_type: Type::plain(base), ..Field::default() }],
/// #         ..Object::default()
/// #     }],
/// #     root: Some("demo.Imu".into()),
/// #     ..Schema::default()
/// # };
/// let (ours, theirs) = (schema(BaseType::Float), schema(BaseType::Double));
/// assert_eq!(difference(&ours, &theirs).unwrap(), "field `x`: ours is `float`, theirs is `double`");
/// ```
pub fn difference(ours: &Schema, theirs: &Schema) -> Option<String> {
    let mut comparison = Comparison { ours, theirs, waiting: Vec::new(), seen: HashSet::new() };
    match (&ours.root, &theirs.root) {
        (None, None) => return None,
        (Some(_), None) => return Some("theirs has no root".to_owned()),
        (None, Some(_)) => return Some("ours has no root".to_owned()),
        (Some(one), Some(other)) => comparison.waiting.push((one, other)),
    }
    let mut next = 0;
    // Breadth first: what is found nearest to the root says most.
    while let Some(&(one, other)) = comparison.waiting.get(next) {
        if comparison.seen.insert(one) {
            let found = comparison.named(one, other);
            if found.is_some() {
                return found;
            }
        }
        next += 1;
    }
    None
}

struct Comparison<'a> {
    ours: &'a Schema,
    theirs: &'a Schema,
    /// Pairs of names that mean the same if the schemas do.
    waiting: Vec<(&'a str, &'a str)>,
    seen: HashSet<&'a str>,
}

/// `what: ours is .., theirs is ..`, if they are not the same.
fn unequal(what: impl FnOnce() -> String, ours: &str, theirs: &str) -> Option<String> {
    (ours != theirs).then(|| format!("{}: ours is {ours}, theirs is {theirs}", what()))
}

impl<'a> Comparison<'a> {
    fn named(&mut self, ours: &'a str, theirs: &'a str) -> Option<String> {
        let (one, other) = (Named::find(self.ours, ours), Named::find(self.theirs, theirs));
        let kinds = unequal(|| format!("type `{ours}`"), one.kind(), other.kind());
        if kinds.is_some() {
            return kinds;
        }
        // The root needs no name: the reader knows which type is meant.
        let of =
            if Some(ours) == self.ours.root.as_deref() { String::new() } else { format!(" of `{ours}`") };
        match (one, other) {
            (Named::Object(one), Named::Object(other)) => self.objects(&of, one, other),
            (Named::Enum(one), Named::Enum(other)) => self.enums(&of, one, other),
            _ => None,
        }
    }

    fn objects(&mut self, of: &str, ours: &'a Object, theirs: &'a Object) -> Option<String> {
        let (our_fields, their_fields) = (contract::fields(ours), contract::fields(theirs));
        for field in &our_fields {
            let what = || format!("field `{}`{of}", field.name);
            let Some(other) = their_fields.iter().find(|other| other.name == field.name) else {
                return Some(missing(&what(), field, &our_fields, &their_fields));
            };
            let found = self.fields((ours, field), (theirs, other), &what);
            if found.is_some() {
                return found;
            }
        }
        let added = their_fields.iter().find(|other| our_fields.iter().all(|field| field.name != other.name));
        if let Some(added) = added {
            return Some(format!("field `{}`{of}: theirs has it, ours does not", added.name));
        }
        let bytes = |object: &Object| match object.kind {
            ObjectKind::Table => String::new(),
            ObjectKind::Struct => format!("{} bytes aligned to {}", object.byte_size, object.min_align),
        };
        unequal(|| format!("the size{of}"), &bytes(ours), &bytes(theirs))
    }

    fn fields(
        &mut self,
        (our_object, ours): (&Object, &'a Field),
        (their_object, theirs): (&Object, &'a Field),
        what: &dyn Fn() -> String,
    ) -> Option<String> {
        let place = |object: &Object, field: &Field| match object.kind {
            ObjectKind::Table => format!("at id {}", field.id),
            ObjectKind::Struct => format!("at byte {}", field.offset),
        };
        let required = |field: &Field| if field.required { "required" } else { "not required" };
        let wide =
            |field: &Field| if field.offset64 { "behind 64-bit offsets" } else { "behind 32-bit offsets" };
        self.types(what, &ours.field_type, &theirs.field_type)
            .or_else(|| unequal(what, &place(our_object, ours), &place(their_object, theirs)))
            .or_else(|| defaults(what, Absent::of(our_object, ours), Absent::of(their_object, theirs)))
            .or_else(|| unequal(what, required(ours), required(theirs)))
            .or_else(|| unequal(what, wide(ours), wide(theirs)))
    }

    /// Compares by the names as they are spelled, and leaves what the names stand for to a later round.
    fn types(&mut self, what: &dyn Fn() -> String, ours: &'a Type, theirs: &'a Type) -> Option<String> {
        let (one, other) = (contract::type_text(ours, self.ours), contract::type_text(theirs, self.theirs));
        if one != other {
            // The full names say more than `*` for the root, but not whether a vector is behind 64-bit offsets.
            let in_full = unequal(what, &format!("`{}`", ours.text()), &format!("`{}`", theirs.text()));
            return in_full.or_else(|| unequal(what, &format!("`{one}`"), &format!("`{other}`")));
        }
        if let (Some(one), Some(other)) = (&ours.target, &theirs.target) {
            self.waiting.push((one, other));
        }
        None
    }

    fn enums(&mut self, of: &str, ours: &'a Enum, theirs: &'a Enum) -> Option<String> {
        let number = |one: &Enum| format!("`{}`", one.underlying.base.keyword());
        let numbers = unequal(|| format!("the number{of}"), &number(ours), &number(theirs));
        if numbers.is_some() {
            return numbers;
        }
        let word = if ours.is_union { "member" } else { "enumerator" };
        let (our_values, their_values) = (contract::values(ours), contract::values(theirs));
        for value in &our_values {
            let what = || format!("{word} `{}`{of}", value.name);
            let Some(other) = their_values.iter().find(|other| other.name == value.name) else {
                return Some(format!("{}: ours has it, theirs does not", what()));
            };
            let found = unequal(what, &ours.number(value).to_string(), &theirs.number(other).to_string())
                .or_else(|| match (&value.union_type, &other.union_type) {
                    (Some(one), Some(other)) => self.types(&what, one, other),
                    _ => None,
                });
            if found.is_some() {
                return found;
            }
        }
        let added = their_values.iter().find(|other| our_values.iter().all(|value| value.name != other.name));
        added.map(|added| format!("{word} `{}`{of}: theirs has it, ours does not", added.name))
    }
}

/// A field that theirs does not have: or has it another name there?
fn missing(what: &str, field: &Field, ours: &[&Field], theirs: &[&Field]) -> String {
    let in_its_place = theirs.iter().find(|other| other.id == field.id);
    match in_its_place.filter(|other| ours.iter().all(|field| field.name != other.name)) {
        Some(other) => format!("{what}: theirs has `{}` in its place", other.name),
        None => format!("{what}: ours has it, theirs does not"),
    }
}

fn defaults(what: &dyn Fn() -> String, ours: Option<Absent>, theirs: Option<Absent>) -> Option<String> {
    let (ours, theirs) = (ours?, theirs?);
    let same = ours.canonical() == theirs.canonical();
    (!same).then(|| format!("{}: the default of ours is `{ours}`, of theirs `{theirs}`", what()))
}
