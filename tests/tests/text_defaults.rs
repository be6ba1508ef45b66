//! Defaults of strings and vectors: what an absent one reads as, for us and for Google's compiler.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![deny(warnings)]

use std::{borrow::Cow, fs, path::Path, process::Command};

use msg_runtime::{AlignedBuffer, FromView, Message, decode, encode};
use msg_tests::tools::{Folder, flatc, run, schema_path};

/// The code generated from `schemas/`.
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/msg_schemas.rs"));
}

use generated::msg_tests::defaults::{Texts, TextsView};

const QUOTED: &str = "\"}é\n{}#";

/// What flatc writes for a JSON text, as a message of the root type `Texts`.
fn written_by_flatc(json: &str) -> AlignedBuffer {
    let folder = Folder::new();
    let text = fs::read_to_string(schema_path("defaults.fbs")).unwrap();
    let schema = folder.write("schema.fbs", text + "root_type Texts;");
    let data = folder.write("data.json", json);
    run(Command::new(flatc()).arg("-b").arg("-o").arg(folder.path()).args([&schema, &data]));
    AlignedBuffer::copy_of(&fs::read(folder.path().join("data.bin")).unwrap())
}

fn shown_by_flatc(value: &Texts) -> String {
    let folder = Folder::new();
    let text = fs::read_to_string(schema_path("defaults.fbs")).unwrap();
    let schema = folder.write("schema.fbs", text + "root_type Texts;");
    let data = folder.write("data.bin", encode(value).unwrap());
    let options = ["--json", "--strict-json", "--natural-utf8", "--raw-binary", "-o"];
    let inputs = [schema.as_path(), Path::new("--"), &data];
    run(Command::new(flatc()).args(options).arg(folder.path()).args(inputs));
    fs::read_to_string(folder.path().join("data.json")).unwrap()
}

fn check_defaults(view: TextsView<'_>) {
    assert_eq!((view.name(), view.quoted(), view.empty(), view.optional()), ("nobody", QUOTED, "", None));
    assert!(view.numbers().is_empty() && view.names().is_empty() && view.texts().is_empty());
}

#[test]
fn an_absent_string_reads_as_its_default() {
    let bytes = written_by_flatc("{}");
    let view = decode::<Texts>(&bytes).unwrap();
    check_defaults(view);
    assert_eq!(Texts::from_view(view), Texts::default());
    assert_eq!(view, Texts::default());
    assert!(format!("{view:?}").starts_with(r#"Texts { name: "nobody", quoted:"#), "{view:?}");
    let json = serde_json::to_value(view).unwrap();
    assert_eq!(
        (&json["name"], &json["quoted"], &json["empty"]),
        (&"nobody".into(), &QUOTED.into(), &"".into())
    );
    assert_eq!((&json["optional"], &json["numbers"]), (&().into(), &serde_json::json!([])));
}

#[test]
fn a_string_that_is_sent_is_there_whatever_its_default() {
    let bytes = written_by_flatc(r#"{"name": "", "quoted": "x", "numbers": [1]}"#);
    let view = decode::<Texts>(&bytes).unwrap();
    assert_eq!((view.name(), view.quoted(), view.numbers()), ("", "x", &[1][..]));
    // A reader whose schema has another default reads the sender's all the same.
    let shown: serde_json::Value = serde_json::from_str(&shown_by_flatc(&Texts::default())).unwrap();
    assert_eq!((&shown["name"], &shown["quoted"]), (&"nobody".into(), &QUOTED.into()));
    let again = written_by_flatc(&shown.to_string());
    assert_eq!(Texts::from_view(decode::<Texts>(&again).unwrap()), Texts::default());
}

#[test]
fn a_view_that_is_sent_on_leaves_out_what_was_absent() {
    let bytes = written_by_flatc("{}");
    let sent_on = encode(&decode::<Texts>(&bytes).unwrap()).unwrap();
    assert!(sent_on.len() < encode(&Texts::default()).unwrap().len());
    check_defaults(decode::<Texts>(&sent_on).unwrap());
}

/// The same, written by hand, of borrowed strings.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "msg_tests.defaults", name = "Texts")]
struct Hand<'a> {
    #[message(default = "nobody")]
    name: &'a str,
    #[message(default = "\"}é\n{}#")]
    quoted: Cow<'a, str>,
    #[message(default = "")]
    empty: &'a str,
    optional: Option<&'a str>,
    #[message(default = [])]
    numbers: &'a [i32],
    #[message(default = [])]
    names: Vec<&'a str>,
    #[message(default = [])]
    texts: Vec<Hand<'a>>,
}

#[test]
fn a_struct_written_by_hand_is_the_same_message() {
    assert_eq!(Hand::fingerprint(), Texts::fingerprint());
    let schema = |bytes| msg_schema::Schema::from_bytes(bytes).unwrap();
    let (mut hand, theirs) = (schema(Hand::schema()), schema(Texts::schema()));
    hand.objects[0].documentation = theirs.objects[0].documentation.clone();
    assert_eq!(hand, theirs);
    let bytes = written_by_flatc("{}");
    let view = decode::<Hand<'static>>(&bytes).unwrap();
    assert_eq!((view.name(), view.quoted(), view.empty(), view.optional()), ("nobody", QUOTED, "", None));
    let value = Hand {
        name: "nobody",
        quoted: QUOTED.into(),
        empty: "",
        optional: None,
        numbers: &[],
        names: vec![],
        texts: vec![],
    };
    assert_eq!(encode(&value).unwrap()[..], encode(&Texts::default()).unwrap()[..]);
}
