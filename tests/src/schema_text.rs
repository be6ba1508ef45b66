//! Random schemas that are without mistakes, with every construct and mixtures of them.

use std::fmt::Write as _;

use crate::random::Random;

const NAMESPACES: [&str; 6] = ["", "a", "a.b", "b", "a.b.c", "b.a"];
const INTEGERS: [(&str, u32); 8] = [
    ("byte", 8),
    ("ubyte", 8),
    ("short", 16),
    ("ushort", 16),
    ("int", 32),
    ("uint", 32),
    ("long", 64),
    ("ulong", 64),
];
const REALS: [&str; 12] =
    ["0.1", "-1.5e-30", "nan", "inf", "-inf", "+3", "0x1.8p3", ".5", "7.", "rad(90)", "cos(0)", "\"2.5\""];
const DOCS: [&str; 3] =
    ["/// One line.\n", "///Two\n/// lines, \"quoted\" \\ é.\n", "/* none */ // at all\n"];

/// A schema as text; the same for the same random numbers.
pub fn random_schema(random: &mut Random) -> String {
    let mut writer = Writer { random, text: String::new(), namespace: "", types: Types::default() };
    writer.schema();
    writer.text
}

/// What has been declared, by full name.
#[derive(Default)]
struct Types {
    /// With the names of their values, and whether they may be joined.
    enums: Vec<(String, Vec<String>, bool)>,
    structs: Vec<String>,
    tables: Vec<String>,
    unions: Vec<String>,
    count: usize,
}

struct Writer<'a> {
    random: &'a mut Random,
    text: String,
    namespace: &'static str,
    types: Types,
}

impl Writer<'_> {
    fn schema(&mut self) {
        self.text.push_str("attribute \"unit\"; attribute priority;\n");
        for _ in 0..4 + self.random.below(10) {
            if self.one_in(3) {
                self.namespace = NAMESPACES[self.random.below(NAMESPACES.len())];
                let _ = writeln!(self.text, "namespace {};", self.namespace);
            }
            match self.random.below(7) {
                0 => self.enumeration(),
                1 | 2 => self.structure(),
                3 if !self.types.tables.is_empty() => self.union(),
                _ => self.table(),
            }
        }
        if let Some(root) = self.types.tables.last() {
            // From here the full name always means the type.
            let _ = write!(self.text, "namespace;\nroot_type {root};\nfile_identifier \"TEST\";");
            let _ = writeln!(self.text, "file_extension \"t{}\";", self.random.below(10));
        }
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.random.below(count) == 0
    }

    fn pick(&mut self, names: &[String]) -> Option<String> {
        (!names.is_empty()).then(|| names[self.random.below(names.len())].clone())
    }

    /// A new name, and how it is called from everywhere.
    fn declare(&mut self, kind: &str) -> (String, String) {
        self.types.count += 1;
        let name = format!("{kind}{}", self.types.count);
        let full =
            if self.namespace.is_empty() { name.clone() } else { format!("{}.{name}", self.namespace) };
        (name, full)
    }

    fn documentation(&mut self) {
        if self.one_in(4) {
            let doc = DOCS[self.random.below(DOCS.len())];
            self.text.push('\n');
            self.text.push_str(doc);
        }
    }

    /// ` (unit: "m")`, with what must be there.
    fn attributes(&mut self, mut list: Vec<String>) -> String {
        if self.one_in(5) {
            list.push(
                ["unit: \"m/s\\n\"", "priority", "priority: 0x1F", "\"unit\": -3"][self.random.below(4)]
                    .to_owned(),
            );
        }
        if list.is_empty() { String::new() } else { format!(" ({})", list.join(", ")) }
    }

    fn enumeration(&mut self) {
        let (name, full) = self.declare("E");
        let (base, bits) = INTEGERS[self.random.below(8)];
        let is_flags = base.starts_with('u') && self.one_in(2);
        self.documentation();
        let attributes = self.attributes(if is_flags { vec!["bit_flags".into()] } else { vec![] });
        let _ = write!(self.text, "enum {name} : {base}{attributes} {{ ");
        let mut values = Vec::new();
        // The step keeps numbers different; the order is turned round now and then.
        let (count, step, turned) = (1 + self.random.below(5), 1 + self.random.below(3), self.one_in(3));
        for at in 0..count {
            let at = if turned { count - 1 - at } else { at };
            let number = if is_flags && bits == 8 { at } else { at * step };
            self.documentation();
            let attributes = self.attributes(vec![]);
            let value = format!("V{at}");
            let _ = write!(self.text, "{value} = {number}{attributes}, ");
            values.push(value);
        }
        if !is_flags && !base.starts_with('u') && self.one_in(2) {
            let _ = write!(self.text, "Least = {}", -(1_i128 << (bits - 1)));
            values.push("Least".into());
        }
        self.text.push_str(" }\n");
        self.types.enums.push((full, values, is_flags));
    }

    fn structure(&mut self) {
        let (name, full) = self.declare("S");
        self.documentation();
        let align = if self.one_in(6) { vec!["force_align: 16".to_owned()] } else { vec![] };
        let attributes = self.attributes(align);
        let _ = write!(self.text, "struct {name}{attributes} {{ ");
        for field in 0..1 + self.random.below(6) {
            let held = self.struct_field_type();
            self.documentation();
            let attributes = self.attributes(vec![]);
            let _ = write!(self.text, "f{field}: {held}{attributes}; ");
        }
        self.text.push_str("}\n");
        self.types.structs.push(full);
    }

    fn struct_field_type(&mut self) -> String {
        // Without a value 0 an enum could not stand in a struct; `V0` is 0 in all but flags.
        let plain = self.types.enums.iter().filter(|(_, _, is_flags)| !is_flags);
        let enums: Vec<String> = plain.map(|(name, ..)| name.clone()).collect();
        let structs = self.types.structs.clone();
        let element = match self.random.below(5) {
            0 => self.pick(&enums),
            1 => self.pick(&structs),
            2 => Some(["float", "double", "bool"][self.random.below(3)].to_owned()),
            _ => None,
        };
        let element = element.unwrap_or_else(|| INTEGERS[self.random.below(8)].0.to_owned());
        if self.one_in(4) { format!("[{element}:{}]", 1 + self.random.below(40)) } else { element }
    }

    fn union(&mut self) {
        let (name, full) = self.declare("U");
        self.documentation();
        let attributes = self.attributes(vec![]);
        let _ = write!(self.text, "union {name}{attributes} {{ ");
        let mut number = 0;
        for member in 0..1 + self.random.below(4) {
            let (structs, tables) = (self.types.structs.clone(), self.types.tables.clone());
            let held = match self.random.below(4) {
                0 => self.pick(&structs),
                1 => None,
                _ => self.pick(&tables),
            };
            let held = held.unwrap_or_else(|| "string".to_owned());
            number += 1 + self.random.below(3);
            let attributes = self.attributes(vec![]);
            let _ = write!(self.text, "M{member}: {held} = {number}{attributes}, ");
        }
        self.text.push_str("}\n");
        self.types.unions.push(full);
    }

    fn table(&mut self) {
        let (name, full) = self.declare("T");
        self.documentation();
        let attributes = self.attributes(vec![]);
        let _ = writeln!(self.text, "table {name}{attributes} {{");
        // A table may hold itself.
        self.types.tables.push(full);
        let fields: Vec<Field> = (0..self.random.below(9)).map(|_| self.field()).collect();
        let ids = self.one_in(3).then(|| self.ids(&fields));
        let key = fields.iter().position(|field| field.can_be_key).filter(|_| self.one_in(3));
        for (at, field) in fields.into_iter().enumerate() {
            let mut list = field.attributes;
            list.extend(ids.as_ref().map(|ids| format!("id: {}", ids[at])));
            if key == Some(at) {
                list.push("key".into());
            } else if self.one_in(8) {
                list.push("deprecated".into());
            }
            self.documentation();
            let attributes = self.attributes(list);
            let _ = writeln!(self.text, "  f{at}: {}{attributes};", field.text);
        }
        self.text.push_str("}\n");
    }

    /// The places of fields in the vtable, in any order.
    fn ids(&mut self, fields: &[Field]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..fields.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.random.below(at + 1));
        }
        let (mut ids, mut next) = (vec![0; fields.len()], 0);
        for at in order {
            // A union takes two places and is named by the second.
            next += fields[at].width;
            ids[at] = next - 1;
        }
        ids
    }

    fn field(&mut self) -> Field {
        let types = [&self.types.structs, &self.types.tables, &self.types.unions];
        let [structs, tables, unions] = types.map(Clone::clone);
        match self.random.below(10) {
            0 => self.number(),
            1 => self.enum_field(),
            2 => self.text_field(),
            3 => self.bytes(),
            4 => match self.pick(&unions) {
                Some(union) if self.one_in(2) => Field { width: 2, ..Field::new(format!("[{union}]")) },
                Some(union) => Field { width: 2, ..Field::new(union) },
                None => self.number(),
            },
            5 => {
                let held = if self.one_in(2) { self.pick(&structs) } else { self.pick(&tables) };
                held.map_or_else(|| self.number(), Field::new)
            }
            6 => {
                let held = if self.one_in(2) { self.pick(&structs) } else { self.pick(&tables) };
                let held = held.unwrap_or_else(|| "string".into());
                let required = if self.one_in(3) { vec!["required".to_owned()] } else { vec![] };
                Field { attributes: required, ..Field::new(format!("[{held}]")) }
            }
            7 => Field::new(format!("[{}]", INTEGERS[self.random.below(8)].0)),
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Field {
        if self.one_in(3) {
            let base = ["float", "double"][self.random.below(2)];
            return match self.random.below(4) {
                0 => Field { can_be_key: true, ..Field::new(base.into()) },
                1 => Field::new(format!("{base} = null")),
                _ => Field::new(format!("{base} = {}", REALS[self.random.below(REALS.len())])),
            };
        }
        if self.one_in(5) {
            return Field::new(["bool", "bool = true", "bool = null"][self.random.below(3)].into());
        }
        let (base, bits) = INTEGERS[self.random.below(8)];
        let most = if base.starts_with('u') { (1_i128 << bits) - 1 } else { (1 << (bits - 1)) - 1 };
        match self.random.below(6) {
            0 => Field::new(format!("{base} = null")),
            1 => Field::new(format!("{base} = {most}")),
            2 if !base.starts_with('u') => Field::new(format!("{base} = {}", -most - 1)),
            3 => Field::new(format!("{base} = 0x{:x}", self.random.below(128))),
            4 if bits >= 32 => {
                let hash = format!("hash: \"fnv1a_{bits}\"");
                Field { attributes: vec![hash], ..Field::new(base.into()) }
            }
            _ => Field { can_be_key: true, ..Field::new(base.into()) },
        }
    }

    fn enum_field(&mut self) -> Field {
        if self.types.enums.is_empty() {
            return self.number();
        }
        let (name, values, is_flags) = self.types.enums[self.random.below(self.types.enums.len())].clone();
        let value = &values[self.random.below(values.len())];
        Field::new(match self.random.below(4) {
            0 => format!("[{name}]"),
            1 => format!("{name} = null"),
            2 if is_flags => format!("{name} = \"{value} {}\"", values[0]),
            _ => format!("{name} = {value}"),
        })
    }

    fn text_field(&mut self) -> Field {
        match self.random.below(3) {
            0 => Field { attributes: vec!["required".into()], ..Field::new("string".into()) },
            1 => Field::new("[string]".into()),
            _ => Field { can_be_key: true, ..Field::new("string".into()) },
        }
    }

    fn bytes(&mut self) -> Field {
        let own = self.types.tables.last().map_or("", |name| name.rsplit('.').next().unwrap_or(name));
        let attribute = match self.random.below(3) {
            0 => format!("nested_flatbuffer: \"{own}\""),
            1 => "flexbuffer".to_owned(),
            _ => return Field::new("[ubyte] = []".into()),
        };
        Field { attributes: vec![attribute], ..Field::new("[ubyte]".into()) }
    }
}

/// A field of a table before it has its name.
struct Field {
    /// Type and default.
    text: String,
    attributes: Vec<String>,
    can_be_key: bool,
    width: usize,
}

impl Field {
    fn new(text: String) -> Self {
        Self { text, attributes: Vec::new(), can_be_key: false, width: 1 }
    }
}
