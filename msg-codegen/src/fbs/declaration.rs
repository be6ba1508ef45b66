//! Single declarations: their attributes, fields, enumerators, members and comments.

use msg_schema::{BaseType, Enum, EnumValue, Field, Object, ObjectKind, Type};

use super::{
    FbsError, Writer, identifier, quoted,
    scope::{is_identifier, split},
};

const INDENT: &str = "  ";

impl<'a> Writer<'a> {
    /// ```text
    /// struct Point (force_align: 16) {
    ///   x: float;
    /// }
    /// ```
    pub(super) fn object(&mut self, object: &'a Object) -> Result<(), FbsError> {
        self.documentation("", &object.documentation);
        let keyword = match object.kind {
            ObjectKind::Table => "table",
            ObjectKind::Struct => "struct",
        };
        let mut attributes = object.attributes.clone();
        if object.kind == ObjectKind::Struct && object.min_align > self.natural_align(object) {
            ensure(&mut attributes, "force_align", &object.min_align.to_string());
        }
        self.line(&format!("{keyword} {}{} {{", split(&object.name).1, list(&attributes)));
        let mut fields: Vec<&Field> = object.fields.iter().filter(|field| !is_union_type(field)).collect();
        fields.sort_by_key(|field| field.id);
        for field in fields {
            self.field(object, field)?;
        }
        self.line("}");
        Ok(())
    }

    fn natural_align(&self, object: &Object) -> u32 {
        let align = |field: &Field| {
            let held = &field.field_type;
            match (held.names_object(), &held.target) {
                (true, Some(target)) => self.schema.object(target).map_or(1, |inner| inner.min_align),
                _ => match held.base {
                    BaseType::Array => held.element.size(),
                    base => base.size(),
                },
            }
        };
        object.fields.iter().map(align).max().unwrap_or(1)
    }

    fn field(&mut self, object: &Object, field: &Field) -> Result<(), FbsError> {
        if field.offset64 {
            return Err(FbsError::new(format!("`{}` is reached through a 64-bit offset", field.name)));
        }
        self.documentation(INDENT, &field.documentation);
        let default = match object.kind {
            ObjectKind::Table => self.default(field),
            ObjectKind::Struct => None,
        };
        if default.as_deref() == Some("\"\"") {
            self.line(&format!("{INDENT}// A binary schema does not hold the default of a string."));
        }
        let mut attributes = field.attributes.clone();
        self.drop_unknown_nested(&mut attributes);
        // A string that is the key is required without a word.
        let is_text_key = field.key && field.field_type.base == BaseType::String;
        for (name, holds) in [
            ("deprecated", field.deprecated),
            ("key", field.key),
            ("required", field.required && !is_text_key),
        ] {
            if holds {
                ensure(&mut attributes, name, "0");
            }
        }
        let (name, field_type) = (identifier(&field.name)?, self.type_text(&field.field_type)?);
        let default = default.map(|default| format!(" = {default}")).unwrap_or_default();
        self.line(&format!("{INDENT}{name}: {field_type}{default}{};", list(&attributes)));
        Ok(())
    }

    /// A type does not describe the messages that travel as bytes in it, and compilers want to know them.
    fn drop_unknown_nested(&mut self, attributes: &mut Vec<(String, String)>) {
        let is_unknown = |(name, value): &(String, String)| {
            name == "nested_flatbuffer" && self.scope.lookup(value, &self.namespace).is_none()
        };
        let Some(at) = attributes.iter().position(is_unknown) else { return };
        let (name, value) = attributes.remove(at);
        let comment = format!("{INDENT}// {name}: {}, which is not in this schema.", quoted(&value));
        self.line(&comment);
    }

    /// What stands behind the `=`, if anything does.
    fn default(&self, field: &Field) -> Option<String> {
        let field_type = &field.field_type;
        match field_type.base {
            BaseType::String | BaseType::Vector if field.optional || field.required => None,
            BaseType::String => Some("\"\"".to_owned()),
            BaseType::Vector => Some("[]".to_owned()),
            BaseType::Obj | BaseType::Union | BaseType::Array | BaseType::UType => None,
            _ if field.optional => Some("null".to_owned()),
            BaseType::Float | BaseType::Double => match field.default_real {
                // Negative zero has other bits.
                zero if zero.to_bits() == 0 => None,
                number if number.is_nan() => Some("nan".to_owned()),
                // Infinite numbers are `inf` in Rust too.
                number => Some(format!("{number:?}")),
            },
            _ if field.default_integer == 0 => None,
            BaseType::Bool => Some("true".to_owned()),
            BaseType::ULong => Some((field.default_integer as u64).to_string()),
            _ => Some(self.enumerator(field).unwrap_or_else(|| field.default_integer.to_string())),
        }
    }

    /// The enumerator that an integer default is.
    fn enumerator(&self, field: &Field) -> Option<String> {
        let item = self.schema.enumeration(field.field_type.target.as_deref()?)?;
        let value = item.values.iter().find(|value| value.value == field.default_integer)?;
        // `null` would make the field optional.
        (!is_flags(item) && value.name != "null").then(|| value.name.clone())
    }

    /// ```text
    /// enum Color : ubyte { Red = 0, Green = 1 }
    /// ```
    pub(super) fn enumeration(&mut self, item: &'a Enum) -> Result<(), FbsError> {
        self.documentation("", &item.documentation);
        let keyword = item.underlying.base.keyword();
        self.line(&format!("enum {} : {keyword}{} {{", split(&item.name).1, list(&item.attributes)));
        for value in &item.values {
            self.documentation(INDENT, &value.documentation);
            let number = match is_flags(item) {
                false => item.number(value).to_string(),
                true => bit(item, value)?.to_string(),
            };
            let (name, attributes) = (identifier(&value.name)?, list(&value.attributes));
            self.line(&format!("{INDENT}{name} = {number}{attributes},"));
        }
        self.line("}");
        Ok(())
    }

    /// ```text
    /// union Shape { Circle, Label: string, Square = 7 }
    /// ```
    pub(super) fn union(&mut self, item: &'a Enum) -> Result<(), FbsError> {
        self.documentation("", &item.documentation);
        let underlying = match item.underlying.base {
            BaseType::UType => String::new(),
            base => format!(" : {}", base.keyword()),
        };
        self.line(&format!("union {}{underlying}{} {{", split(&item.name).1, list(&item.attributes)));
        let mut previous = 0;
        for value in &item.values {
            // `NONE` is in every union, and holds nothing.
            let Some(member) = value.union_type.as_ref().filter(|member| member.base != BaseType::None)
            else {
                continue;
            };
            self.documentation(INDENT, &value.documentation);
            let (name, type_text) = (identifier(&value.name)?, self.type_text(member)?);
            let member = match type_text.replace('.', "_") == name && member.base == BaseType::Obj {
                true => type_text,
                false => format!("{name}: {type_text}"),
            };
            let number = item.number(value);
            let written = if number == previous + 1 { String::new() } else { format!(" = {number}") };
            previous = number;
            self.line(&format!("{INDENT}{member}{written}{},", list(&value.attributes)));
        }
        self.line("}");
        Ok(())
    }

    fn type_text(&self, meant: &Type) -> Result<String, FbsError> {
        let one = |base: BaseType| match (&meant.target, base) {
            (Some(target), _) => self.scope.spell(target, &self.namespace),
            (None, BaseType::None | BaseType::UType | BaseType::Vector64) => {
                Err(FbsError::new(format!("no field is of type `{}`", base.keyword())))
            }
            (None, base) => Ok(base.keyword().to_owned()),
        };
        match meant.base {
            BaseType::Vector => Ok(format!("[{}]", one(meant.element)?)),
            BaseType::Array => Ok(format!("[{}:{}]", one(meant.element)?, meant.fixed_length)),
            BaseType::Vector64 => Err(FbsError::new("it has a vector with a 64-bit length")),
            base => one(base),
        }
    }

    fn documentation(&mut self, indent: &str, lines: &[String]) {
        for line in lines {
            // A line end or a zero would end the comment.
            self.line(&format!("{indent}///{}", line.replace(['\n', '\r', '\0'], " ")));
        }
    }
}

/// The field that says which member a union field holds: it comes with that field.
fn is_union_type(field: &Field) -> bool {
    let Type { base, element, .. } = field.field_type;
    base == BaseType::UType || (base == BaseType::Vector && element == BaseType::UType)
}

fn is_flags(item: &Enum) -> bool {
    item.attributes.iter().any(|(name, _)| name == "bit_flags")
}

/// The position of a flag.
fn bit(item: &Enum, value: &EnumValue) -> Result<u32, FbsError> {
    let mask = value.value as u64 & (u64::MAX >> (64 - 8 * item.underlying.base.size().clamp(1, 8)));
    match mask.is_power_of_two() {
        true => Ok(mask.trailing_zeros()),
        false => Err(FbsError::new(format!("flag `{}` of `{}` is not one bit", value.name, item.name))),
    }
}

fn ensure(attributes: &mut Vec<(String, String)>, name: &str, value: &str) {
    if attributes.iter().all(|(known, _)| known != name) {
        attributes.push((name.to_owned(), value.to_owned()));
    }
}

/// ` (key, id: 3, unit: "m/s")`, or nothing.
fn list(attributes: &[(String, String)]) -> String {
    let texts = attributes.iter().map(|(name, value)| {
        let name_text = if is_identifier(name) { name.clone() } else { quoted(name) };
        match value.as_str() {
            // What a flag has for a value.
            "0" if name != "id" => name_text,
            number if number.parse::<i32>().is_ok_and(|parsed| parsed.to_string() == number) => {
                format!("{name_text}: {number}")
            }
            text => format!("{name_text}: {}", quoted(text)),
        }
    });
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() { String::new() } else { format!(" ({})", texts.join(", ")) }
}
