//! Enums and unions side by side.

use super::compare::Comparison;
use super::{Breaks, Change, ChangeKind, Subject};
use crate::contract;
use crate::model::{Enum, EnumValue};

impl<'a> Comparison<'a> {
    pub(super) fn enums(&mut self, old: &'a Enum, new: &'a Enum) {
        self.heads_of_enums(old, new);
        let (old_values, new_values) = (contract::values(old), contract::values(new));
        for value in &old_values {
            match new_values.iter().find(|other| other.name == value.name) {
                Some(other) => self.values((old, value), (new, other)),
                None => {
                    let was_there = |name: &str| old_values.iter().any(|value| value.name == name);
                    let same_number = |other: &&&EnumValue| new.number(other) == old.number(value);
                    let other = new_values.iter().find(same_number).filter(|other| !was_there(&other.name));
                    self.missing_value((old, value), other.copied());
                }
            }
        }
        for value in &new_values {
            let named = |other: &&EnumValue| other.name == value.name;
            let numbered = |other: &&EnumValue| old.number(other) == new.number(value);
            // A number that another name had was told of with that name.
            if !old_values.iter().any(named) && !old_values.iter().any(numbered) {
                let subject = subject(new, value);
                self.found.push(Change::new(&old.name, subject, ChangeKind::Added, Breaks::Nobody));
            }
        }
    }

    fn heads_of_enums(&mut self, old: &Enum, new: &Enum) {
        let number = |one: &Enum| format!("`{}`", one.underlying.base.keyword());
        if number(old) != number(new) {
            let change = Change::new(&old.name, Subject::Type, ChangeKind::Underlying, Breaks::AllReaders);
            self.found.push(change.between(number(old), number(new)));
        }
        let flags = |one: &Enum| match one.attributes.iter().any(|(key, _)| key == "bit_flags") {
            true => "an enum of bit flags",
            false => "an enum of single values",
        };
        if flags(old) != flags(new) {
            let change = Change::new(&old.name, Subject::Type, ChangeKind::BitFlags, Breaks::SourceCode);
            self.found.push(change.between(flags(old), flags(new)));
        }
    }

    fn missing_value(&mut self, (of, value): (&Enum, &EnumValue), other: Option<&EnumValue>) {
        let change = |kind, breaks| Change::new(&of.name, subject(of, value), kind, breaks);
        let Some(other) = other else {
            self.found.push(change(ChangeKind::Removed, Breaks::SourceCode));
            return;
        };
        let member = |value: &EnumValue, schema| {
            value.union_type.as_ref().map(|member| self.type_text(member, schema))
        };
        let (one, two) = (member(value, self.old), member(other, self.new));
        let new_name = format!("`{}`", other.name);
        let change = match one == two {
            true => change(ChangeKind::Renamed, Breaks::SourceCode).between("", new_name).separating(true),
            false => change(ChangeKind::Replaced, Breaks::AllReaders)
                .between(one.unwrap_or_default(), format!("{new_name}, {}", two.unwrap_or_default())),
        };
        self.found.push(change);
    }

    fn values(&mut self, (of, old): (&'a Enum, &'a EnumValue), (new_of, new): (&'a Enum, &'a EnumValue)) {
        let change = |kind| Change::new(&of.name, subject(of, old), kind, Breaks::AllReaders);
        let (one, other) = (of.number(old), new_of.number(new));
        if one != other {
            self.found.push(change(ChangeKind::Renumbered).between(one.to_string(), other.to_string()));
        }
        let (Some(one), Some(other)) = (&old.union_type, &new.union_type) else { return };
        let texts = (self.type_text(one, self.old), self.type_text(other, self.new));
        if texts.0 != texts.1 {
            self.found.push(change(ChangeKind::Retyped).between(texts.0, texts.1));
        }
        self.follow(one, other);
    }
}

fn subject(of: &Enum, value: &EnumValue) -> Subject {
    let name = value.name.clone();
    if of.is_union { Subject::Member(name) } else { Subject::Enumerator(name) }
}
