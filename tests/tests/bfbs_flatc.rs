//! Binary schemas against Google's schema compiler: we read what it writes, and it reads what we write.
use std::fs;
use std::process::Command;

use msg_schema::Schema;
use msg_tests::schemas::{assert_same, difference};
use msg_tests::tools::{Folder, flatc, flatc_bfbs, flatc_schema, run, schema_path};

/// flatc's file is read, written by us and read again: the model stays what it was, and so do the bytes.
fn check_round_trip(bytes: &[u8]) -> Schema {
    let schema = Schema::from_bytes(bytes).expect("flatc's file is a schema");
    let written = schema.to_bytes();
    let again = Schema::from_bytes(&written).expect("our file is a schema");
    assert_eq!(schema, again);
    assert_same(&schema, &again);
    assert_eq!(again.to_bytes(), written);
    schema
}

#[test]
fn every_schema_file_is_read_written_and_read_again() {
    let mut files = 0;
    for entry in fs::read_dir(schema_path("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "fbs") {
            check_round_trip(&flatc_bfbs(&path));
            files += 1;
        }
    }
    assert!(files > 0);
}

#[test]
fn person_is_what_its_schema_says() {
    let schema = flatc_schema(&schema_path("person.fbs"));
    let person = schema.object("msg_tests.Person").unwrap();
    let fields: Vec<_> =
        person.fields.iter().map(|field| (field.name.as_str(), field.id, field.field_type.text())).collect();
    let expected = [("id", 0, "int"), ("name", 1, "string"), ("email", 2, "string")];
    assert_eq!(fields, expected.map(|(name, id, text)| (name, id, text.to_owned())));
    assert_eq!(schema.root.as_deref(), Some("msg_tests.Person"));
    assert_eq!(difference(&schema, &Schema::default()).map(|text| text.lines().count() > 5), Some(true));
}

#[test]
fn flatc_reads_data_with_our_binary_schema() {
    let folder = Folder::new();
    let json = folder.write("person.json", r#"{ "id": 7, "name": "Ada", "email": "ada@example.org" }"#);
    let schema = schema_path("person.fbs");
    run(Command::new(flatc()).args(["-b", "-o"]).arg(folder.path()).arg(&schema).arg(json));
    let ours = folder.write("ours.bfbs", flatc_schema(&schema).to_bytes());
    let mut command = Command::new(flatc());
    command.args(["--json", "--strict-json", "--raw-binary", "-o"]).arg(folder.path().join("out/"));
    run(command.arg(ours).arg("--").arg(folder.path().join("person.bin")));
    let shown = fs::read_to_string(folder.path().join("out/person.json")).unwrap();
    let shown: String = shown.split_whitespace().collect();
    assert_eq!(shown, r#"{"id":7,"name":"Ada","email":"ada@example.org"}"#);
}
