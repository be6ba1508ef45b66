//! Schemas are accepted and refused as by flatc, and those that both accept mean the same to both.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{collections::BTreeMap, env, fs, process::Command};

use msg_codegen::{Checked, Code, Colour, Config, Diagnostic, Severity};
use msg_schema::{BaseType, Schema};
use msg_tests::{
    random::Random,
    schema_text::random_schema,
    schemas::first_difference,
    tools::{Folder, flatc},
    wrong_schemas::change,
};

/// Changed schemas that are judged; a count in `MSG_RANDOM` overrides it.
const CHANGED: u64 = 1_500;

fn rendered(checked: &Checked) -> String {
    let render = |diagnostic| checked.render(diagnostic, Colour::Never);
    checked.diagnostics().iter().map(render).collect()
}

/// A schema before both compilers.
struct Both {
    text: String,
    ours: Checked,
    /// The binary schema, or what flatc complained about.
    theirs: Result<Vec<u8>, String>,
}

impl Both {
    fn of(folder: &Folder, text: &str) -> Self {
        let path = folder.write("schema.fbs", text);
        let mut flatc = Command::new(flatc());
        let options = ["-b", "--schema", "--bfbs-comments", "--bfbs-builtins", "-o"];
        let output = flatc.args(options).arg(folder.path()).arg(&path).output().unwrap();
        let binary = || fs::read(path.with_extension("bfbs")).unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let theirs = if output.status.success() { Ok(binary()) } else { Err(said.into_owned()) };
        Self { text: text.to_owned(), ours: Config::new().check(&[&path]), theirs }
    }

    /// What is only not generated yet is accepted.
    fn is_ours(&self) -> bool {
        !self.ours.schemas().is_empty()
    }

    /// Both judge the same, and what both accept is the same to both; otherwise the reason why not.
    fn agree(&self) -> Result<(), String> {
        let theirs = match (&self.theirs, self.is_ours()) {
            (Ok(theirs), true) => theirs,
            (Err(_), false) => return Ok(()),
            (theirs, _) => {
                let theirs = theirs.as_ref().err().map_or("accepted", String::as_str);
                return Err(format!("ours:\n{}\ntheirs: {theirs}\n", rendered(&self.ours)));
            }
        };
        let theirs = Schema::from_bytes(theirs).unwrap();
        let mut ours = Schema::from_bytes(&self.ours.schemas()[0].1.to_bytes()).unwrap();
        for field in ours.objects.iter_mut().flat_map(|object| &mut object.fields) {
            // flatc writes 0 for a default of `ulong` above the largest `long`.
            if field.field_type.base == BaseType::ULong && field.default_integer < 0 {
                field.default_integer = 0;
            }
        }
        match first_difference(&format!("{ours:#?}"), &format!("{theirs:#?}")) {
            Some(difference) => Err(difference),
            None => Ok(()),
        }
    }
}

/// What only we refuse, each with what the message says, and why.
const STRICTER: [(Code, &str, &str); 11] = [
    (
        Code::DuplicateEnumValue,
        " are both ",
        "two Rust enumerators cannot have one number; flatc looks at neighbours",
    ),
    (Code::DefaultOutOfRange, "`bool`", "a bool is true or false"),
    (Code::StructRecursion, "contains itself", "a struct that contains itself has no size"),
    (Code::StructTooLarge, "has fields beyond its first", "flatc cuts the offsets to 16 bits"),
    (Code::InfiniteMessage, "requires", "no message is finite"),
    (Code::InvalidEnumType, "must be an integer", "an enum is no integer type"),
    (Code::MisplacedAttribute, "`hash` stands on", "the hash of a name is no enumerator"),
    (Code::MisplacedAttribute, "`nested_flatbuffer` stands on", "enumerators are no bytes"),
    (Code::MisplacedAttribute, "`bit_flags` cannot stand on a union", "flatc gives NONE the number 1"),
    (Code::Unsupported, "buffers have 32-bit offsets here", "no 64-bit offsets"),
    (
        Code::UnknownType,
        NESTED,
        "flatc finds the type of a nested message in other namespaces, if it stands further down",
    ),
];

/// Stands for the text of a message about the type of a nested message: a name in quotes.
const NESTED: &str = "\"";

/// What only flatc refuses: its message, and why.
const LAXER: [(&str, &str); 1] = [("declaration expected", "a file without declarations is no mistake")];

/// The reasons why a schema is judged differently, each of which suffices; none if there is something else.
fn reasons(judged: &Both) -> Option<Vec<&'static str>> {
    if let Err(message) = &judged.theirs {
        let known = LAXER.iter().find(|(text, _)| message.contains(text));
        return known.map(|(_, reason)| vec![*reason]);
    }
    let errors = judged.ours.diagnostics().iter().filter(|found| found.severity() == Severity::Error);
    let at = |found: &Diagnostic| found.span.map_or("", |span| &judged.text[span.start as usize..]);
    let reason = |found: &Diagnostic| {
        let says = |text: &str| match text {
            NESTED => at(found).starts_with(NESTED),
            text => found.message.contains(text),
        };
        let fits = |(code, text, _): &&(Code, &str, &str)| *code == found.code && says(text);
        STRICTER.iter().find(fits).map(|(.., reason)| *reason)
    };
    errors.map(reason).collect()
}

/// Mistakes and unusual mixtures: the verdicts are the same, and so are the layouts of what is accepted.
#[test]
fn changed_schemas_are_judged_as_by_flatc() {
    let setting = |name: &str, usual: u64| env::var(name).map_or(usual, |text| text.parse().unwrap());
    let (folder, mut random) = (Folder::new(), Random::new(setting("MSG_SEED", 1)));
    let (mut accepted, mut refused, mut wrong) = (0, 0, String::new());
    let mut differently: BTreeMap<&str, usize> = BTreeMap::new();
    let count = setting("MSG_RANDOM", CHANGED);
    for _ in 0..count {
        let text = change(&random_schema(&mut random), &mut random);
        let judged = Both::of(&folder, &text);
        match judged.agree() {
            Ok(()) if judged.is_ours() => accepted += 1,
            Ok(()) => refused += 1,
            Err(difference) => match reasons(&judged).filter(|_| judged.is_ours() != judged.theirs.is_ok()) {
                Some(known) => known.iter().for_each(|reason| *differently.entry(reason).or_default() += 1),
                None => wrong += &format!("=====\n{text}\n-----\n{difference}"),
            },
        }
    }
    assert!(wrong.is_empty(), "{wrong}\njudged differently for a reason: {differently:#?}");
    assert!(accepted > count / 8 && refused > count / 2, "{accepted} accepted, {refused} refused");
}

#[test]
fn schemas_are_accepted_and_refused_as_by_flatc() {
    let (folder, mut wrong) = (Folder::new(), String::new());
    for line in fs::read_to_string("verdicts.txt").unwrap().lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let exception = line.strip_prefix("! ").and_then(|line| line.split_once(" ! "));
        let text = exception.map_or(line, |(_, text)| text).replace("\\n", "\n");
        let judged = Both::of(&folder, &text);
        if (judged.is_ours() == judged.theirs.is_ok()) != exception.is_none() {
            let theirs = judged.theirs.as_ref().err().map_or("accepted", String::as_str);
            wrong += &format!("{line}\nours:\n{}theirs: {theirs}\n", rendered(&judged.ours));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
