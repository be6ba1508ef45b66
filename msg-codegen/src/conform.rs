//! May readers of the old schema read the new one? The comparison is `msg_schema`'s; here are the files, and the
//! defaults of strings and vectors, which binary schemas do not hold.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use msg_schema::{Change, ChangeKind, Schema, Subject};

use crate::{
    Config,
    checked::Checked,
    diagnostic::{Code, Diagnostic, Span},
    ir::{Declaration, Default, Ir},
    source,
};

/// Why a schema file gives no schema.
#[derive(Debug)]
#[non_exhaustive]
pub enum SchemaError {
    /// It has mistakes.
    Mistakes(Box<Checked>),
    /// It cannot be read, or is no binary schema; the text says which and why.
    Unreadable(String),
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mistakes(checked) => {
                let paths = checked.sources().paths().next();
                let path = paths.map(|path| path.display().to_string()).unwrap_or_default();
                write!(f, "`{path}` has mistakes; `msg check {path}` shows them")
            }
            Self::Unreadable(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for SchemaError {}

/// One of the two schemas.
struct Side {
    schema: Schema,
    /// Type and field with the default as the schema has it; `None` if it came from a binary schema.
    texts: Option<BTreeMap<(String, String), String>>,
}

impl Side {
    fn read(config: &Config, path: &Path) -> Result<Self, SchemaError> {
        if !source::is_binary(path) {
            return Self::of(config.check_alone(path), 0);
        }
        let unreadable =
            |why: String| SchemaError::Unreadable(format!("cannot read `{}`: {why}", path.display()));
        let bytes = source::read_binary(path).map_err(|error| unreadable(error.to_string()))?;
        let schema = Schema::from_bytes(&bytes).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self { schema, texts: None })
    }

    fn of(checked: Checked, input: usize) -> Result<Self, SchemaError> {
        let Some((_, schema)) = checked.schemas().into_iter().nth(input) else {
            // A file that was not read is no file with mistakes.
            if let (None, Some(first)) = (checked.sources().paths().next(), checked.diagnostics().first()) {
                return Err(SchemaError::Unreadable(first.message.clone()));
            }
            return Err(SchemaError::Mistakes(Box::new(checked)));
        };
        Ok(Self { schema, texts: Some(default_texts(checked.ir())) })
    }

    fn changes(&self, new: &Self) -> Vec<Change> {
        let mut found = msg_schema::changes(&self.schema, &new.schema);
        if let (Some(old), Some(new_texts)) = (&self.texts, &new.texts) {
            for ((of, field), old) in old {
                // Fields that are not in both were told of already.
                let same = new_texts.get(&(of.clone(), field.clone()));
                if let Some(new) = same.filter(|new| *new != old) {
                    found.push(Change::of_default(of, field, old, new));
                }
            }
        }
        found
    }
}

/// What absent strings and vectors read as.
fn default_texts(ir: &Ir) -> BTreeMap<(String, String), String> {
    let mut texts = BTreeMap::new();
    for object in &ir.objects {
        for field in &object.fields {
            let text = match &field.default {
                Default::Text(text) => format!("`\"{}\"`", text.escape_debug()),
                Default::EmptyVector => "`[]`".to_owned(),
                Default::Zero => "none".to_owned(),
                Default::Integer(_) | Default::Real(_) => continue,
            };
            // Only references can be without one.
            let is_reference = !matches!(
                field.field_type,
                crate::ir::Type::One(crate::ir::Element::Scalar(_) | crate::ir::Element::Enum(_))
            );
            if is_reference {
                texts.insert((object.declaration.name.dotted(), field.name.clone()), text);
            }
        }
    }
    texts
}

/// The schema of a file.
pub(crate) fn read(config: &Config, path: &Path) -> Result<Schema, SchemaError> {
    Side::read(config, path).map(|side| side.schema)
}

/// Every change from one schema file to another.
pub(crate) fn diff(config: &Config, old: &Path, new: &Path) -> Result<Vec<Change>, SchemaError> {
    let old = Side::read(config, old)?;
    Ok(old.changes(&Side::read(config, new)?))
}

/// The breaking changes from what lies at `baseline` to the checked schemas, as mistakes in these.
pub(crate) fn check(config: &Config, baseline: &Path, checked: &Checked) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let schemas = checked.schemas();
    let files: Vec<PathBuf> = schemas.iter().map(|(file, _)| PathBuf::from(file)).collect();
    let pairs = match pairs(baseline, &files) {
        Ok(pairs) => pairs,
        Err(diagnostic) => return vec![*diagnostic],
    };
    for (input, path) in pairs {
        let old = match Side::read(config, &path) {
            Ok(old) => old,
            Err(error) => {
                let message = format!("cannot compare with the old schema: {error}");
                found.push(Diagnostic::without_place(Code::UnreadableFile, message));
                continue;
            }
        };
        let new = Side { schema: schemas[input].1.clone(), texts: Some(default_texts(checked.ir())) };
        let breaking = old.changes(&new).into_iter().filter(|change| change.breaks.any_reader());
        found.extend(breaking.map(|change| diagnostic(&change, &path, checked.ir())));
    }
    found
}

/// The inputs, by their place, with the old file of each.
fn pairs(baseline: &Path, inputs: &[PathBuf]) -> Result<Vec<(usize, PathBuf)>, Box<Diagnostic>> {
    let names_it = |input: &Path, path: &Path| input.file_stem() == path.file_stem();
    if baseline.is_dir() {
        let old = |input: &PathBuf| {
            let place = baseline.join(input.file_name()?);
            let binary = place.with_extension("bfbs");
            // A schema without an old one is new.
            [place, binary].into_iter().find(|path| path.exists())
        };
        return Ok(inputs.iter().enumerate().filter_map(|(at, input)| Some((at, old(input)?))).collect());
    }
    let found = match inputs {
        [_] => Some(0),
        inputs => inputs.iter().position(|input| names_it(input, baseline)),
    };
    match found {
        Some(at) => Ok(vec![(at, baseline.to_owned())]),
        None if inputs.is_empty() => Ok(Vec::new()),
        None => {
            let message = format!(
                "none of the schemas has the name of `{}`, to which they have to conform",
                baseline.display()
            );
            let help = "name a directory that holds an old schema under each one's name";
            Err(Box::new(Diagnostic::without_place(Code::UnreadableFile, message).help(help)))
        }
    }
}

fn diagnostic(change: &Change, old: &Path, ir: &Ir) -> Diagnostic {
    let message = change.to_string();
    let diagnostic = match span(change, ir) {
        Some(span) => Diagnostic::new(Code::BreaksReaders, span, message).label(change.breaks.to_string()),
        None => Diagnostic::without_place(Code::BreaksReaders, format!("{message}: {}", change.breaks)),
    };
    diagnostic.fact(format!("compared with `{}`", old.display())).help(
        "add fields at the end or with an `id`, keep old ones as `deprecated`, and give what changed a new name",
    )
}

/// What changed, where the new schema still has it or something in its place; otherwise the type that it was in.
fn span(change: &Change, ir: &Ir) -> Option<Span> {
    if change.subject == Subject::Schema {
        return None;
    }
    let declarations = ir.objects.iter().map(|item| &item.declaration);
    let declarations = declarations.chain(ir.enums.iter().map(|item| &item.declaration));
    let mut declarations = declarations.chain(ir.unions.iter().map(|item| &item.declaration));
    let found = declarations.find(|declaration| declaration.name.dotted() == change.type_name)?;
    Some(part_span(change, ir).unwrap_or(found.span))
}

/// The field, enumerator or member that changed.
fn part_span(change: &Change, ir: &Ir) -> Option<Span> {
    // What is new stands in backquotes, a field with its type.
    let name = match (&change.subject, change.kind) {
        (_, ChangeKind::Renamed | ChangeKind::Replaced) => change.new.split(['`', ':']).nth(1)?,
        (Subject::Field(name) | Subject::Enumerator(name) | Subject::Member(name), _) => name,
        _ => return None,
    };
    let is_it = |declaration: &Declaration| declaration.name.dotted() == change.type_name;
    match change.subject {
        Subject::Field(_) => {
            let object = ir.objects.iter().find(|object| is_it(&object.declaration))?;
            object.fields.iter().find(|field| field.name == name).map(|field| field.span)
        }
        Subject::Enumerator(_) => {
            let item = ir.enums.iter().find(|item| is_it(&item.declaration))?;
            item.values.iter().find(|value| value.name == name).map(|value| value.span)
        }
        Subject::Member(_) => {
            let union = ir.unions.iter().find(|union| is_it(&union.declaration))?;
            union.members.iter().find(|member| member.name == name).map(|member| member.span)
        }
        _ => None,
    }
}
