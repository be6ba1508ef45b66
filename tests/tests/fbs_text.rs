//! Schemas back to text: what `to_fbs` writes is taken by Google's compiler and by ours, and is the same schema.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use msg_codegen::{Checked, Config, to_fbs};
use msg_runtime::{Flags, Message, Nested, Open};
use msg_schema::{BaseType, Enum, EnumValue, Field, Object, Schema, Type};
use msg_tests::{
    random::Random,
    schema_text::random_schema,
    schemas::{CONSTRUCTS, first_difference},
    tools::{Folder, flatc, flatc_schema, flatc_schema_of, run, schema_path},
};

/// Every `.fbs` file in a directory and those in it.
fn schemas_in(directory: &Path) -> Vec<PathBuf> {
    let mut schemas = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            schemas.extend(schemas_in(&path));
        } else if path.extension().is_some_and(|extension| extension == "fbs") {
            schemas.push(path);
        }
    }
    schemas
}

/// The schema that our compiler makes of a text, in the format's own order.
fn parsed(text: &str) -> Schema {
    schema_of(&Config::new().check_text("text.fbs", text))
}

fn parsed_file(path: &Path) -> Schema {
    schema_of(&Config::new().check(&[path]))
}

fn schema_of(checked: &Checked) -> Schema {
    let show = |diagnostic| checked.render(diagnostic, msg_codegen::Colour::Never);
    let found: String = checked.diagnostics().iter().map(show).collect();
    let schemas = checked.schemas();
    let (_, schema) = schemas.first().unwrap_or_else(|| panic!("{found}"));
    Schema::from_bytes(&schema.to_bytes()).unwrap()
}

/// Panics with the lines in which two schemas differ, if they do.
fn assert_same(left: &Schema, right: &Schema, text: &str) {
    let difference = first_difference(&format!("{left:#?}"), &format!("{right:#?}"));
    assert!(difference.is_none(), "{text}\n{}", difference.unwrap_or_default());
}

fn check(path: &Path) {
    let schema = parsed_file(path);
    let text = to_fbs(&schema).unwrap();
    assert_same(&parsed(&text), &schema, &text);
    assert_eq!(to_fbs(&parsed(&text)).unwrap(), text);
    let theirs = flatc_schema(path);
    assert_same(&flatc_schema_of(&text), &theirs, &text);
    assert_same(&flatc_schema_of(&to_fbs(&theirs).unwrap()), &theirs, &text);
}

#[test]
fn every_schema_is_the_same_after_text() {
    let mut schemas = schemas_in(&schema_path(""));
    schemas.extend(schemas_in(Path::new("cases")));
    assert!(schemas.len() > 25);
    schemas.iter().for_each(|path| check(path));
    check(Path::new("reflection.fbs"));
}

#[test]
fn every_construct_is_the_same_after_text() {
    let folder = Folder::new();
    for text in CONSTRUCTS.iter().chain(&[
        "namespace a.a.b; table C { x: int; } namespace a.b; table C { y: int; } namespace a; table T { c: b.C; d: a.b.C; }",
        "namespace b; table C { x: int; } namespace a; table C { t: T; } table T { c: C; d: b.C; }",
        "table T { c: C; } table C { t: T; C_: int; } namespace a; table C { x: int; t: T; }",
        "table A { b: int; } struct b { x: int; } table c { A_: b; } root_type A;",
        "enum E : ubyte { x, null } table T { e: E = 1; } table U { e: E = x; }",
        "enum E : long (bit_flags) { A = 62 } enum F : byte (bit_flags) { A = 6 } table T { e: E = A; f: F = A; }",
        "attribute \"a b\"; attribute \"c\"; table T (\"a b\": \"d\\\"e\\\\\", c: -5) { x: float = -0.0; y: float = -0.1; }",
        "table T { z: int (id: 1); y: int (id: 0); } file_identifier \"a\\\"b\\\\\"; root_type T;",
    ]) {
        check(&folder.write("construct.fbs", text));
    }
}

/// Random schemas that are compared; each takes four runs of flatc.
const RANDOM_SCHEMAS: usize = 200;

#[test]
fn random_schemas_are_those_of_flatc_before_and_after_text() {
    let folder = Folder::new();
    let mut random = Random::new(0x5c4e);
    for _ in 0..RANDOM_SCHEMAS {
        let text = random_schema(&mut random);
        let path = folder.write("random.fbs", &text);
        check(&path);
        let mut ours = parsed_file(&path);
        for field in ours.objects.iter_mut().flat_map(|object| &mut object.fields) {
            // flatc writes 0 for a default of `ulong` above the largest `long`.
            if field.field_type.base == BaseType::ULong && field.default_integer < 0 {
                field.default_integer = 0;
            }
        }
        assert_same(&ours, &flatc_schema(&path), &text);
        assert!(Config::new().check(&[&path]).generate().is_some(), "{text}");
    }
}

/// How the robot drives.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "robot")]
#[repr(u8)]
enum Gear {
    Park = 1,
    Drive = 4,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "robot", bit_flags)]
#[repr(u16)]
enum Fault {
    Heat = 1,
    Current = 256,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "geometry", plain)]
#[repr(C)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

/// A motor.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "robot", identifier = "MOTR")]
struct Motor {
    /// Its name.
    #[message(required)]
    name: String,
    #[message(default = Gear::Drive)]
    gear: Open<Gear>,
    faults: Flags<Fault>,
    axis: Option<Vec3>,
    #[message(default = 0.5, attribute(unit = "A"))]
    limit: f32,
    torque: Option<f64>,
    samples: Vec<i16>,
    parts: Vec<Motor>,
}

/// What a colleague gets.
const MOTOR: &str = r#"attribute "unit";

namespace robot;

enum Fault : ushort (bit_flags) {
  Heat = 0,
  Current = 8,
}

/// How the robot drives.
enum Gear : ubyte {
  Park = 1,
  Drive = 4,
}

namespace geometry;

struct Vec3 {
  x: float;
  y: float;
  z: float;
}

namespace robot;

/// A motor.
table Motor {
  /// Its name.
  name: string (required);
  gear: Gear = Drive;
  faults: Fault;
  axis: geometry.Vec3;
  limit: float = 0.5 (unit: "A");
  torque: double = null;
  samples: [short];
  parts: [Motor];
}

root_type Motor;
file_identifier "MOTR";
"#;

#[test]
fn a_derived_type_gives_the_text_that_a_colleague_compiles() {
    let schema = Schema::from_bytes(Motor::schema()).unwrap();
    let text = to_fbs(&schema).unwrap();
    assert_eq!(text, MOTOR);
    // A type does not know which features of the format its schema needs.
    let advanced_features = parsed(&text).advanced_features;
    let schema = Schema { advanced_features, ..schema };
    assert_same(&parsed(&text), &schema, &text);
    let folder = Folder::new();
    let path = folder.write("motor.fbs", &text);
    assert_same(&flatc_schema(&path), &schema, &text);
    run(Command::new(flatc()).arg("--cpp").arg("-o").arg(folder.path()).arg(&path));
    let header = fs::read_to_string(folder.path().join("motor_generated.h")).unwrap();
    assert!(header.contains("struct Motor FLATBUFFERS_FINAL_CLASS : private ::flatbuffers::Table"));
}

#[derive(Message)]
#[message(namespace = "robot")]
struct Envelope {
    motor: Nested<Motor>,
}

#[test]
fn a_nested_message_that_the_schema_does_not_hold_is_a_comment() {
    let text = to_fbs(&Schema::from_bytes(Envelope::schema()).unwrap()).unwrap();
    let expected = "namespace robot;\n\ntable Envelope {\n  \
                    // nested_flatbuffer: \"robot.Motor\", which is not in this schema.\n  \
                    motor: [ubyte];\n}\n\nroot_type Envelope;\n";
    assert_eq!(text, expected);
    assert_same(&flatc_schema_of(&text), &parsed(&text), &text);
}

#[test]
fn a_binary_schema_is_an_input_like_its_text() {
    let folder = Folder::new();
    for name in ["enums", "structs", "names", "recursion", "includes", "documented", "ids"] {
        let source = schema_path(name).with_extension("fbs");
        let schema = parsed_file(&source);
        let binary = folder.write(&format!("{name}.bfbs"), schema.to_bytes());
        let (of_text, of_binary) = (Config::new().check(&[source]), Config::new().check(&[binary]));
        assert!(of_binary.diagnostics().is_empty(), "{name}: {:?}", of_binary.diagnostics());
        assert_same(&schema_of(&of_binary), &schema, name);
        // The order of declarations differs, and the name of the file.
        let lines = |checked: &Checked| {
            let text = checked.generate().unwrap();
            let mut lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
            lines.sort();
            lines.retain(|line| !line.trim().is_empty());
            lines
        };
        assert_eq!(lines(&of_binary), lines(&of_text), "{name}");
    }
}

#[test]
fn a_damaged_binary_schema_is_a_mistake() {
    let folder = Folder::new();
    let path = folder.write("a.bfbs", b"no schema");
    let checked = Config::new().check(&[path]);
    assert_eq!(checked.diagnostics()[0].code, msg_codegen::Code::UnreadableFile);
    let message = &checked.diagnostics()[0].message;
    assert!(message.contains("a.bfbs`: not a binary schema"), "{message}");
}

fn table(name: &str, fields: Vec<Field>) -> Object {
    Object { name: name.to_owned(), fields, min_align: 1, ..Object::default() }
}

fn field(name: &str, field_type: Type) -> Field {
    Field { name: name.to_owned(), field_type, optional: true, ..Field::default() }
}

#[test]
fn what_has_no_spelling_is_refused() {
    let refuse = |schema: Schema, expected: &str| {
        let error = to_fbs(&schema).unwrap_err().to_string();
        assert_eq!(error, format!("the schema cannot be written as `.fbs` text: {expected}"));
    };
    let of = |objects: Vec<Object>| Schema { objects, ..Schema::default() };
    let text = || Type::plain(BaseType::String);
    refuse(of(vec![table("a; table B {}", vec![])]), "`a; table B {}` is no name");
    refuse(of(vec![table("a..B", vec![])]), "`` is no name");
    refuse(of(vec![table("T", vec![field("x: int;\n y", text())])]), "`x: int;\\n y` is no name");
    refuse(of(vec![table("T", vec![]), table("T", vec![])]), "`T` is defined twice");
    let named = |name: &str| field("x", Type::named(BaseType::Obj, name));
    refuse(of(vec![table("T", vec![named("U")])]), "there is no type `U`, but something is of it");
    let shadowed = vec![table("P", vec![]), table("geo.P", vec![]), table("geo.T", vec![named("P")])];
    refuse(of(shadowed), "in `geo` every spelling of `P` means another type");
    refuse(of(vec![table("int", vec![]), table("T", vec![named("int")])]), {
        "in `the root namespace` every spelling of `int` means another type"
    });
    let far = Field { offset64: true, ..field("x", text()) };
    refuse(of(vec![table("T", vec![far])]), "`x` is reached through a 64-bit offset");
    let flag = EnumValue { name: "AB".into(), value: 3, ..EnumValue::default() };
    let flags = Enum {
        name: "F".into(),
        values: vec![flag],
        underlying: Type::plain(BaseType::UByte),
        attributes: vec![("bit_flags".into(), "0".into())],
        ..Enum::default()
    };
    refuse(Schema { enums: vec![flags], ..Schema::default() }, "flag `AB` of `F` is not one bit");
}

#[test]
fn text_stays_where_it_belongs() {
    let mut object = table("T", vec![field("x", Type::plain(BaseType::String))]);
    object.documentation = vec![" a\ntable Evil {}\r*/ table Evil2 {}\u{0}".into()];
    object.attributes = vec![("note\") {} table Evil3 {} //".into(), "\"\n); table Evil4 {}".into())];
    let schema = Schema {
        objects: vec![object],
        file_extension: "x\"; table Evil5 {}".into(),
        root: Some("T".into()),
        ..Schema::default()
    };
    let text = to_fbs(&schema).unwrap();
    let again = parsed(&text);
    assert_eq!(again.objects.len(), 1, "{text}");
    assert_eq!(again.objects[0].attributes, schema.objects[0].attributes);
    assert_eq!(again.file_extension, schema.file_extension);
    assert_eq!(flatc_schema_of(&text).objects.len(), 1, "{text}");
}

/// Bytes of a schema with some of them changed.
fn damage(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        bytes[at] = match random.below(3) {
            0 => random.below(256) as u8,
            1 => bytes[at].wrapping_add(1),
            _ => bytes[at] ^ (1 << random.below(8)),
        };
    }
    bytes
}

#[test]
fn damaged_binary_schemas_never_panic() {
    let seeds: Vec<Vec<u8>> = ["enums", "structs", "unions", "recursion", "attributes", "defaults"]
        .iter()
        .map(|name| parsed_file(&schema_path(name).with_extension("fbs")).to_bytes())
        .collect();
    let mut random = Random::new(0xbf85);
    let (mut checked, mut generated) = (0, 0);
    for number in 0..12_000 {
        let Ok(schema) = Schema::from_bytes(&damage(&seeds[number % seeds.len()], &mut random)) else {
            continue;
        };
        let Ok(found) = Config::new().check_schema("damaged.bfbs", &schema) else { continue };
        checked += 1;
        if !found.has_errors() && number % 5 == 0 {
            found.generate().unwrap();
            generated += 1;
        }
    }
    assert!(checked > 1000 && generated > 100, "only {checked} were checked, {generated} generated");
}
