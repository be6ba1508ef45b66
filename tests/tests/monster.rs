//! The schemas and messages that FlatBuffers' own tests use: accepted or refused as by flatc, with the same layouts, and
//! messages that are decoded and encoded as flatc does it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use msg_codegen::{Checked, Colour, Config};
use msg_schema::{BaseType, Decoder, JsonLayout, Schema};
use msg_tests::{
    schemas::first_difference,
    tools::{Folder, flatbuffers_tests, flatc, run},
};

/// Schemas that we judge otherwise than flatc, and why.
const OTHERWISE: [(&str, &str); 3] = [
    ("default_vectors_strings_test.fbs", "64-bit offsets"),
    ("64bit/evolution/v2.fbs", "64-bit offsets"),
    ("64bit/test_64bit.fbs", "64-bit offsets"),
];

fn include_paths(schema: &Path) -> Vec<PathBuf> {
    let tests = flatbuffers_tests();
    vec![schema.parent().unwrap().to_owned(), tests.clone(), tests.join("include_test"), tests.join("ts")]
}

fn check(schema: &Path) -> Checked {
    include_paths(schema)
        .iter()
        .fold(Config::new(), |config, path| config.include_path(path))
        .check(&[schema])
}

/// What flatc makes of a schema; nothing if it refuses it.
fn flatc_schema(schema: &Path) -> Option<Schema> {
    let folder = Folder::new();
    let mut command = Command::new(flatc());
    command.args(["-b", "--schema", "--bfbs-comments", "--bfbs-builtins"]);
    for path in include_paths(schema) {
        command.arg("-I").arg(path);
    }
    let output = command.arg("-o").arg(folder.path()).arg(schema).output().unwrap();
    let name = schema.file_stem().unwrap().to_string_lossy();
    let written = folder.path().join(format!("{name}.bfbs"));
    output.status.success().then(|| comparable(Schema::from_bytes(&fs::read(written).unwrap()).unwrap()))
}

/// Without what flatc adds by itself to fields that have `cpp_type`.
fn comparable(mut schema: Schema) -> Schema {
    for field in schema.objects.iter_mut().flat_map(|object| &mut object.fields) {
        field.attributes.retain(|(name, value)| (name.as_str(), value.as_str()) != ("cpp_ptr_type", "naked"));
    }
    schema
}

/// The schema as flatc can write it: a default of `ulong` above the largest `long` is 0 there.
fn ours(checked: &Checked) -> Option<Schema> {
    let (_, schema) = checked.schemas().into_iter().next()?;
    let mut schema = Schema::from_bytes(&schema.to_bytes()).unwrap();
    for field in schema.objects.iter_mut().flat_map(|object| &mut object.fields) {
        if field.field_type.base == BaseType::ULong && field.default_integer < 0 {
            field.default_integer = 0;
        }
    }
    Some(comparable(schema))
}

fn schemas_in(folder: &Path) -> Vec<PathBuf> {
    let mut schemas = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            schemas.extend(schemas_in(&path));
        } else if path.extension().is_some_and(|extension| extension == "fbs") {
            schemas.push(path);
        }
    }
    schemas.sort();
    schemas
}

#[test]
fn flatbuffers_own_schemas_are_judged_and_laid_out_as_by_flatc() {
    let (root, mut wrong, mut compared) = (flatbuffers_tests(), String::new(), 0);
    for path in schemas_in(&root) {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let checked = check(&path);
        let said = || -> String {
            let render = |diagnostic| checked.render(diagnostic, Colour::Never);
            checked.diagnostics().iter().map(render).collect()
        };
        let reason = OTHERWISE.iter().find(|(known, _)| *known == name);
        match (ours(&checked), flatc_schema(&path)) {
            (ours, theirs) if (ours.is_some() == theirs.is_some()) != reason.is_none() => {
                wrong += &format!("{name}: flatc accepts it: {}; ours:\n{}\n", theirs.is_some(), said());
            }
            (Some(ours), Some(theirs)) => {
                compared += 1;
                let difference = first_difference(&format!("{ours:#?}"), &format!("{theirs:#?}"));
                wrong += &difference.map_or(String::new(), |difference| format!("{name}:\n{difference}\n"));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared > 60, "only {compared} were compared");
}

/// What flatc shows of a message.
fn shown_by_flatc(schema: &Path, message: &[u8]) -> String {
    let folder = Folder::new();
    let message = folder.write("message.bin", message);
    let mut command = Command::new(flatc());
    command.args(["--json", "--strict-json", "--raw-binary", "--defaults-json", "--natural-utf8"]);
    for path in include_paths(schema) {
        command.arg("-I").arg(path);
    }
    run(command.arg("-o").arg(folder.path()).arg(schema).arg("--").arg(message));
    fs::read_to_string(folder.path().join("message.json")).unwrap()
}

#[test]
fn messages_of_other_languages_are_decoded_and_encoded() {
    let root = flatbuffers_tests();
    for (schema, message) in [
        ("monster_test.fbs", "monsterdata_test.mon"),
        ("monster_test.fbs", "monsterdata_python_wire.mon"),
        ("monster_test.fbs", "FlatBuffers.Test/monsterdata_cstest.mon"),
        ("monster_test.fbs", "ts/monsterdata_javascript_wire.mon"),
        ("monster_test.fbs", "unicode_test.mon"),
        ("monster_test.fbs", "ts/unicode_test.mon"),
        ("alignment_test.fbs", "alignment_test_after_fix.bin"),
        ("annotated_binary/annotated_binary.fbs", "annotated_binary/annotated_binary.bin"),
    ] {
        let (path, bytes) = (root.join(schema), fs::read(root.join(message)).unwrap());
        let checked = check(&path);
        let (_, schema) = checked.schemas().into_iter().next().unwrap();
        let decoder = Decoder::new(&schema).unwrap();
        let show = |bytes: &[u8]| {
            let payload = decoder.payload(bytes).unwrap_or_else(|error| panic!("{message}: {error}"));
            payload.to_json(JsonLayout::Line).unwrap_or_else(|error| panic!("{message}: {error}"))
        };
        let text = show(&bytes);
        // flatc's text goes through our reader: it has another order, and other spellings of numbers.
        let read = |text: &str| {
            decoder.encode_json(text).unwrap_or_else(|error| panic!("{message}: {error} in {text}"))
        };
        assert_eq!(show(&read(&shown_by_flatc(&path, &bytes))), text, "{message}");
        let again = read(&text);
        assert_eq!(show(&again), text, "{message}");
        assert_eq!(show(&read(&shown_by_flatc(&path, &again))), text, "{message}");
    }
}

/// Damaged messages that flatc comes with: none is shown as if it were sound.
#[test]
fn damaged_messages_are_refused() {
    let folder = flatbuffers_tests().join("annotated_binary");
    let checked = check(&folder.join("annotated_binary.fbs"));
    let (_, schema) = checked.schemas().into_iter().next().unwrap();
    let decoder = Decoder::new(&schema).unwrap();
    let mut accepted = Vec::new();
    for entry in fs::read_dir(folder.join("tests")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "bin") {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        if decoder.payload(&bytes).and_then(|payload| payload.to_json(JsonLayout::Line)).is_ok() {
            accepted.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    accepted.sort();
    // The number of a member that is not known is a newer sender's.
    assert_eq!(accepted, ["invalid_union_type_value.bin", "invalid_vector_union_type_value.bin"]);
}
