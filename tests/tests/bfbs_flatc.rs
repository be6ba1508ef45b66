//! Binary schemas against Google's schema compiler: we read what it writes, and it reads what we write.
//!
//! A schema's file from flatc is read, written by us, and read again. Then flatc itself shows both files as JSON, with
//! the schema of binary schemas: the same text proves that we lost and invented nothing.
use std::fs;
use std::path::Path;
use std::process::Command;

use msg_schema::Schema;
use msg_tests::schemas::{assert_same, difference};
use msg_tests::tools::{Folder, flatc, flatc_bfbs, flatc_schema, flatc_schema_of, run, schema_path};

fn check(text: &str) -> Schema {
    let folder = Folder::new();
    check_file(&folder.write("schema.fbs", text))
}

fn check_file(path: &Path) -> Schema {
    let theirs = flatc_bfbs(path);
    let schema = Schema::from_bytes(&theirs).expect("flatc's file is a schema");
    let ours = schema.to_bytes();
    let again = Schema::from_bytes(&ours).expect("our file is a schema");
    assert_eq!(schema, again);
    assert_same(&schema, &again);
    assert_eq!(again.to_bytes(), ours);
    let (ours, theirs) = (shown_by_flatc(&ours), shown_by_flatc(&theirs));
    let first = ours.iter().zip(&theirs).position(|(one, other)| one != other);
    let first = first.unwrap_or(ours.len().min(theirs.len()));
    let around = |lines: &[String]| lines[first.saturating_sub(8)..(first + 3).min(lines.len())].join("\n");
    assert!(ours == theirs, "ours:\n{}\ntheirs:\n{}", around(&ours), around(&theirs));
    schema
}

/// The content of a binary schema as flatc shows it, a line an entry, without the names of source files and services,
/// which we do not write.
fn shown_by_flatc(bytes: &[u8]) -> Vec<String> {
    let reflection = Path::new(env!("CARGO_MANIFEST_DIR")).join("reflection.fbs");
    let mut left_out = false;
    let mut lines = Vec::new();
    for line in flatc_json(&reflection, bytes).lines() {
        left_out |= line.starts_with("  \"services\"") || line.starts_with("  \"fbs_files\"");
        if !left_out && !line.contains("\"declaration_file\"") {
            lines.push(line.trim_end_matches(',').to_owned());
        }
        left_out &= !line.starts_with("  ]");
    }
    lines
}

/// Data as JSON, read by flatc with a schema (`.fbs` or `.bfbs`).
fn flatc_json(schema: &Path, data: &[u8]) -> String {
    let folder = Folder::new();
    let data = folder.write("data.bin", data);
    let options = ["--json", "--strict-json", "--raw-binary", "--defaults-json", "-o"];
    let mut command = Command::new(flatc());
    run(command.args(options).arg(folder.path()).arg(schema).arg("--").arg(data));
    fs::read_to_string(folder.path().join("data.json")).expect("flatc has written JSON")
}

#[test]
fn every_schema_file() {
    let mut folders = vec![schema_path("")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "fbs") {
                check_file(&path);
                files += 1;
            }
        }
    }
    assert!(files > 0);
}

#[test]
fn the_schema_of_schemas() {
    check_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("reflection.fbs"));
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
}

#[test]
fn scalars_and_their_defaults() {
    let schema = check(
        "table T {
            a: bool = true; b: byte = -128; c: ubyte = 255; d: short = -32768; e: ushort = 65535;
            f: int = -2147483648; g: uint = 4294967295; h: long = -9223372036854775808; i: ulong = 9223372036854775807;
            j: float = 0.1; k: double = 0.1; l: float = nan; m: double = -inf; n: float = +inf; o: double = 1e308;
            p: bool; q: byte; r: ubyte; s: short; t: ushort; u: int; v: uint; w: long; x: ulong; y: float; z: double;
        } root_type T;",
    );
    let table = schema.object("T").unwrap();
    let default = |name: &str| table.fields.iter().find(|field| field.name == name).unwrap().default_integer;
    assert_eq!((default("a"), default("b"), default("h")), (1, -128, i64::MIN));
    let real = |name: &str| table.fields.iter().find(|field| field.name == name).unwrap().default_real;
    assert!(real("l").is_nan());
    assert_eq!((real("k"), real("m"), real("o")), (0.1, f64::NEG_INFINITY, 1e308));
}

#[test]
fn optional_scalars() {
    check(
        "enum E : ushort { A = 1, B } table T { a: bool = null; b: byte = null; c: ulong = null; d: float = null;
         e: double = null; f: E = null; } root_type T;",
    );
}

#[test]
fn enums_of_every_base_type() {
    for (base, low, high) in [
        ("byte", "-128", "127"),
        ("ubyte", "0", "255"),
        ("short", "-32768", "32767"),
        ("ushort", "0", "65535"),
        ("int", "-2147483648", "2147483647"),
        ("uint", "0", "4294967295"),
        ("long", "-9223372036854775808", "9223372036854775807"),
        ("ulong", "0", "18446744073709551615"),
    ] {
        let text = format!(
            "namespace demo; enum E : {base} {{ Low = {low}, One = 1, High = {high} }}
             table T {{ e: E = One; es: [E]; }} root_type T;"
        );
        let schema = check(&text);
        let names: Vec<_> = schema.enums[0].values.iter().map(|value| value.name.as_str()).collect();
        assert_eq!(names, ["Low", "One", "High"], "enum of {base}");
        let numbers = [low, "1", high].map(str::to_owned);
        assert_eq!(
            schema.enums[0].values.iter().map(|v| schema.enums[0].number(v).to_string()).collect::<Vec<_>>(),
            numbers
        );
    }
}

#[test]
fn flags() {
    let schema = check(
        "enum F : ulong (bit_flags) { A, B, Z = 63 } enum G : ubyte (bit_flags) { X = 2, Y = 7 }
         table T { f: F = \"A Z\"; g: G; } root_type T;",
    );
    assert_eq!(schema.enums[0].values.iter().map(|value| value.value).collect::<Vec<_>>(), [1, 2, i64::MIN]);
}

#[test]
fn structs_with_padding_alignment_and_arrays() {
    let schema = check(
        "namespace geo; enum Kind : short { A }
         struct Inner { a: ubyte; b: uint; c: ushort; }
         struct Outer (force_align: 16) {
            first: bool; inner: Inner; xs: [double: 3]; many: [Inner: 300]; kinds: [Kind: 2]; kind: Kind; last: byte;
         }
         table T { outer: Outer; outers: [Outer]; inners: [Inner]; } root_type T;",
    );
    let inner = schema.object("geo.Inner").unwrap();
    assert_eq!((inner.byte_size, inner.min_align), (12, 4));
    assert_eq!(inner.fields.iter().map(|field| field.offset).collect::<Vec<_>>(), [0, 4, 8]);
    assert_eq!(inner.fields.iter().map(|field| field.padding).collect::<Vec<_>>(), [3, 0, 2]);
    assert_eq!(schema.object("geo.Outer").unwrap().fields[3].field_type.text(), "[geo.Inner:300]");
}

#[test]
fn vectors_of_everything() {
    check(
        "enum E : byte { A } struct S { x: float; } table U { x: int; } union V { U }
         table T {
            a: [bool]; b: [byte]; c: [ubyte]; d: [short]; e: [ushort]; f: [int]; g: [uint]; h: [long]; i: [ulong];
            j: [float]; k: [double]; l: [string]; m: [E]; n: [S]; o: [U]; p: [V]; q: [T];
         } root_type T;",
    );
}

#[test]
fn unions() {
    let schema = check(
        "namespace a; table One { x: int; } struct Two { x: int; } namespace b; table Three { x: int; }
         union U { a.One, Second: a.Two, Text: string, Three = 7, Again: Three }
         table T { first: U; list: [U]; rest: U; } root_type T;",
    );
    let union = schema.enumeration("b.U").unwrap();
    let members: Vec<_> = union
        .values
        .iter()
        .map(|value| {
            (value.name.as_str(), value.value, value.union_type.as_ref().map(|member| member.text()))
        })
        .collect();
    let text = |text: &str| Some(text.to_owned());
    let expected = [
        ("NONE", 0, None),
        ("a_One", 1, text("a.One")),
        ("Second", 2, text("a.Two")),
        ("Text", 3, text("string")),
        ("Three", 7, text("b.Three")),
        ("Again", 8, text("b.Three")),
    ];
    assert_eq!(members, expected);
}

#[test]
fn attributes_ids_and_comments() {
    check(
        "attribute \"priority\"; attribute \"flag\";
         /// A table
         ///   with two lines
         table T (priority: 9) {
            /// the second
            second: string (id: 1, required, flag);
            first: int (id: 0, priority: 3, deprecated);
            bytes: [ubyte] (id: 2, nested_flatbuffer: \"T\");
            flex: [ubyte] (id: 3, flexbuffer);
            hashed: uint (id: 4, hash: \"fnv1a_32\");
         }
         /// Keyed
         table K { name: string (key); value: long; }
         struct S { id: uint (key); }
         /// An enum
         enum E : ubyte (priority: 1) {
            /// with a comment
            A (flag), B }
         table R { ks: [K]; ss: [S]; e: E; t: T; text: string = \"default\"; list: [int] = []; } root_type R;",
    );
}

#[test]
fn identifiers_extensions_and_namespaces() {
    let schema = check(
        "namespace one.two; table A { x: int; } namespace one; table A { y: two.A; } namespace; table A { z: one.A; }
         root_type A; file_identifier \"ABCD\"; file_extension \"abc\";",
    );
    assert_eq!((schema.file_identifier.as_str(), schema.file_extension.as_str()), ("ABCD", "abc"));
    assert_eq!(schema.root.as_deref(), Some("A"));
    let names: Vec<_> = schema.objects.iter().map(|object| object.name.as_str()).collect();
    assert_eq!(names, ["A", "one.A", "one.two.A"]);
}

#[test]
fn no_root() {
    assert_eq!(check("table T { x: int; }").root, None);
    check("enum E : int { A }");
}

#[test]
fn services_and_file_names_are_left_out() {
    let schema =
        flatc_schema_of("table Q { x: int; } table A { x: int; } rpc_service S { Call(Q): A; } root_type Q;");
    assert_eq!(Schema::from_bytes(&schema.to_bytes()), Ok(schema));
}

/// The budget for memory that stops an attack leaves room for schemas of any size.
#[test]
fn large_schemas() {
    let mut text = "enum E : ushort { A0".to_owned();
    (1..5_000).for_each(|number| text += &format!(", A{number}"));
    text += " }\n";
    for table in 0..500 {
        text += &format!("table T{table} {{ next: T{}; e: E;", (table + 1) % 500);
        (0..20).for_each(|field| text += &format!(" f{field}: int = {field};"));
        text += " }\n";
    }
    let theirs = flatc_schema_of(&format!("{text} root_type T0;"));
    assert_eq!((theirs.objects.len(), theirs.enums[0].values.len()), (500, 5_000));
    assert_eq!(Schema::from_bytes(&theirs.to_bytes()), Ok(theirs));
}

#[test]
fn wide_offsets() {
    let schema = check("table T { a: [ubyte] (vector64); b: string (offset64); x: int; } root_type T;");
    assert_eq!(schema.object("T").unwrap().fields.iter().filter(|field| field.offset64).count(), 2);
}

#[test]
fn flatc_reads_data_with_our_binary_schema() {
    let text = "namespace demo; enum Color : ubyte { Red = 1, Green }
         struct Vec3 { x: float; y: float; z: float; } table Leaf { n: int = 3; } union Shape { Leaf, Vec3 }
         table T { id: ulong; color: Color = Red; at: Vec3; leaves: [Leaf]; shape: Shape; ys: [double]; maybe: int = null; }
         root_type T; file_identifier \"DEMO\";";
    let json = r#"{ "id": 18446744073709551615, "color": "Green", "at": { "x": 1, "y": 2.5, "z": -3 },
         "leaves": [{}, { "n": 9 }], "shape_type": "Leaf", "shape": { "n": 1 }, "ys": [0.5, 1e300], "maybe": 0 }"#;
    let folder = Folder::new();
    let (schema, json) = (folder.write("demo.fbs", text), folder.write("data.json", json));
    run(Command::new(flatc()).args(["-b", "-o"]).arg(folder.path()).arg(&schema).arg(json));
    let data = fs::read(folder.path().join("data.bin")).unwrap();
    let ours = folder.write("ours.bfbs", flatc_schema(&schema).to_bytes());
    let shown = flatc_json(&ours, &data);
    assert_eq!(shown, flatc_json(&schema, &data));
    assert!(shown.contains("\"color\": \"Green\"") && shown.contains("18446744073709551615"), "{shown}");
}

#[test]
fn the_comparison_finds_every_kind_of_difference() {
    let base =
        "attribute \"priority\"; enum E : byte { A }\n/// comment\ntable T (priority: 1) { a: int = 1; b: string; e: E; s: S; }
         struct S { x: float; } root_type T;";
    let ours = flatc_schema_of(base);
    assert_eq!(difference(&ours, &ours.clone()), None);
    for (from, to) in [
        ("comment", "other comment"),
        ("priority: 1", "priority: 2"),
        ("int = 1", "int = 2"),
        ("int = 1", "uint = 1"),
        ("b: string", "c: string"),
        ("b: string", "b: string (required)"),
        ("x: float", "x: double"),
        ("x: float", "x: float; y: float"),
        ("E : byte", "E : ubyte"),
        ("{ A }", "{ A, B }"),
        ("root_type T;", ""),
        ("root_type T;", "root_type T; file_identifier \"ABCD\";"),
    ] {
        let theirs = flatc_schema_of(&base.replace(from, to));
        assert!(difference(&ours, &theirs).is_some(), "`{from}` changed to `{to}`");
    }
    let unreachable = flatc_schema_of(&format!("{base} table Unused {{ x: int; }}"));
    assert_eq!(difference(&ours, &unreachable), None);
}
