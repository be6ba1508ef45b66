//! Random schemas, the same in every build: what `tests/random_structs.rs` compares with flatc.

use std::fmt::Write as _;

use crate::random::Random;

/// How many schemas there are.
pub(crate) const SCHEMAS: usize = 40;

const INTEGERS: [&str; 8] = ["byte", "ubyte", "short", "ushort", "int", "uint", "long", "ulong"];

/// The text of the schema of this number: namespace `random_<number>`, root `Root`.
pub(crate) fn schema(number: usize) -> String {
    let mut schema = Schema { random: Random::new(number as u64), ..Schema::default() };
    let _ = writeln!(schema.text, "namespace random_{number};");
    for index in 0..schema.below(3) {
        schema.enumeration(index);
    }
    for index in 0..schema.below(4) {
        schema.structure(index);
    }
    for index in 0..schema.below(3) {
        schema.table(&format!("Table{index}"), 6);
    }
    if !schema.tables.is_empty() {
        schema.union();
    }
    schema.table("Root", 14);
    schema.text.push_str("root_type Root;\n");
    if schema.below(2) == 0 {
        schema.text.push_str("file_identifier \"RAND\";\n");
    }
    schema.text
}

/// What was declared so far can be a field of what follows.
struct Schema {
    random: Random,
    text: String,
    /// With the names of their enumerators.
    enums: Vec<(String, Vec<String>)>,
    /// Those with a value 0, without which an enum cannot be in a struct.
    zero_enums: Vec<String>,
    structs: Vec<String>,
    tables: Vec<String>,
    unions: Vec<String>,
}

impl Default for Schema {
    fn default() -> Self {
        let (text, enums) = (String::new(), vec![]);
        Self {
            random: Random::new(0),
            text,
            enums,
            zero_enums: vec![],
            structs: vec![],
            tables: vec![],
            unions: vec![],
        }
    }
}

impl Schema {
    fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn one_of(&mut self, all: &[&str]) -> String {
        all[self.below(all.len())].to_owned()
    }

    fn enumeration(&mut self, index: usize) {
        let name = format!("Enum{index}");
        let is_flags = self.below(3) == 0;
        let underlying =
            self.one_of(if is_flags { &["ubyte", "ushort", "uint", "ulong"] } else { &INTEGERS });
        let attribute = if is_flags { " (bit_flags)" } else { "" };
        let _ = writeln!(self.text, "enum {name} : {underlying}{attribute} {{");
        let mut names = Vec::new();
        let mut value = if underlying.starts_with('u') { 0 } else { -3 };
        for index in 0..=self.below(5) {
            value += self.below(2) as i32;
            if value == 0 && !is_flags {
                self.zero_enums.push(name.clone());
            }
            let enumerator = format!("Value{index}");
            let _ = writeln!(self.text, "    {enumerator} = {value},");
            names.push(enumerator);
            value += 1;
        }
        self.text.push_str("}\n");
        self.enums.push((name, names));
    }

    fn structure(&mut self, index: usize) {
        let name = format!("Struct{index}");
        let _ = writeln!(self.text, "struct {name} {{");
        for field in 0..=self.below(6) {
            let element = match self.below(5) {
                0 if !self.zero_enums.is_empty() => {
                    let index = self.below(self.zero_enums.len());
                    self.zero_enums[index].clone()
                }
                1 if !self.structs.is_empty() => self.a_struct(),
                _ => self.scalar(),
            };
            let field_type = match self.below(4) {
                0 => format!("[{element}:{}]", 1 + self.below(5)),
                _ => element,
            };
            let _ = writeln!(self.text, "    f{field}: {field_type};");
        }
        self.text.push_str("}\n");
        self.structs.push(name);
    }

    fn union(&mut self) {
        let mut members = self.tables.clone();
        members.extend(self.structs.iter().cloned());
        if self.below(2) == 0 {
            members.push("Text: string".into());
        }
        let _ = writeln!(self.text, "union Choice {{ {} }}", members.join(", "));
        self.unions.push("Choice".into());
    }

    fn table(&mut self, name: &str, most: usize) {
        if self.below(2) == 0 {
            let _ = writeln!(self.text, "/// A table of random fields.");
        }
        let _ = writeln!(self.text, "table {name} {{");
        let fields: Vec<_> = (0..=self.below(most)).map(|_| self.field(name)).collect();
        let ids = (self.below(3) == 0).then(|| self.ids(&fields));
        for (index, (field_type, rest, mut attributes)) in fields.into_iter().enumerate() {
            attributes.extend(ids.iter().map(|ids| format!("id: {}", ids[index])));
            let attributes =
                if attributes.is_empty() { String::new() } else { format!(" ({})", attributes.join(", ")) };
            if self.below(4) == 0 {
                let _ = writeln!(self.text, "    /// The field {index}.\n    /// It has \"two\" lines.");
            }
            let _ = writeln!(self.text, "    f{index}: {field_type}{rest}{attributes};");
        }
        self.text.push_str("}\n");
        self.tables.push(name.into());
    }

    /// Ids in another order than the fields.
    fn ids(&mut self, fields: &[(String, String, Vec<String>)]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..fields.len()).collect();
        for index in (1..order.len()).rev() {
            order.swap(index, self.below(index + 1));
        }
        let (mut ids, mut next) = (vec![0; fields.len()], 0);
        for index in order {
            // The number of a union's member has the id before its own.
            next += usize::from(fields[index].0.contains("Choice"));
            ids[index] = next;
            next += 1;
        }
        ids
    }

    /// Type, default and attributes.
    fn field(&mut self, table: &str) -> (String, String, Vec<String>) {
        let none = String::new;
        match self.below(16) {
            0 => (self.scalar(), " = null".into(), vec![]),
            1 | 2 if !self.enums.is_empty() => self.enum_field(),
            3 => ("string".into(), none(), vec![]),
            4 => ("string".into(), none(), vec!["required".into()]),
            5 => ("[string]".into(), none(), vec![]),
            6 => (format!("[{}]", self.scalar()), none(), vec![]),
            7 if !self.enums.is_empty() => (format!("[{}]", self.an_enum().0), none(), vec![]),
            8 if !self.structs.is_empty() => (self.a_struct(), none(), vec![]),
            9 if !self.structs.is_empty() => (format!("[{}]", self.a_struct()), none(), vec![]),
            10 => (self.a_table(table), none(), vec![]),
            11 => (format!("[{}]", self.a_table(table)), none(), vec![]),
            12 if !self.unions.is_empty() => ("Choice".into(), none(), vec![]),
            13 if !self.unions.is_empty() => ("[Choice]".into(), none(), vec![]),
            14 => (self.scalar(), none(), vec!["deprecated".into()]),
            _ => self.scalar_field(),
        }
    }

    fn scalar_field(&mut self) -> (String, String, Vec<String>) {
        let scalar = self.scalar();
        let default = match scalar.as_str() {
            _ if self.below(2) == 0 => String::new(),
            "bool" => " = true".into(),
            "float" | "double" => format!(" = {}.25", self.below(100)),
            unsigned if unsigned.starts_with('u') => format!(" = {}", self.below(256)),
            _ => format!(" = -{}", 1 + self.below(128)),
        };
        (scalar, default, vec![])
    }

    fn enum_field(&mut self) -> (String, String, Vec<String>) {
        let (name, values) = self.an_enum();
        let default =
            if self.below(3) == 0 { "null".into() } else { values[self.below(values.len())].clone() };
        (name, format!(" = {default}"), vec![])
    }

    fn scalar(&mut self) -> String {
        match self.below(11) {
            8 => "bool".into(),
            9 => "float".into(),
            10 => "double".into(),
            integer => INTEGERS[integer].into(),
        }
    }

    fn an_enum(&mut self) -> (String, Vec<String>) {
        let index = self.below(self.enums.len());
        self.enums[index].clone()
    }

    fn a_struct(&mut self) -> String {
        let index = self.below(self.structs.len());
        self.structs[index].clone()
    }

    /// One that was declared before, or the one that is being declared.
    fn a_table(&mut self, this: &str) -> String {
        let index = self.below(self.tables.len() + 1);
        self.tables.get(index).cloned().unwrap_or_else(|| this.to_owned())
    }
}
