//! Payloads read with nothing but their schema, against what flatc shows of the same bytes.
use std::fs;
use std::process::Command;

use msg_schema::{Decoder, Schema, Value};
use msg_tests::json::read;
use msg_tests::random::Random;
use msg_tests::tools::{Folder, flatc, flatc_schema_of, run};

/// The bytes that flatc makes of JSON, and the JSON that it makes of the bytes, without blanks outside strings.
fn flatc_both_ways(schema: &str, json: &str) -> (Vec<u8>, String) {
    let folder = Folder::new();
    let (schema, json) = (folder.write("schema.fbs", schema), folder.write("data.json", json));
    let command = || Command::new(flatc());
    run(command().args(["-b", "-o"]).arg(folder.path()).arg(&schema).arg(&json));
    let bytes = fs::read(folder.path().join("data.bin")).expect("flatc has written data");
    let options = ["--json", "--strict-json", "--raw-binary", "--defaults-json", "-o"];
    let binary = folder.path().join("data.bin");
    run(command().args(options).arg(folder.path()).arg(&schema).arg("--").arg(binary));
    let shown = fs::read_to_string(json).expect("flatc has written JSON");
    (bytes, shown.chars().filter(|character| !character.is_whitespace()).collect())
}

const SCHEMA: &str = "namespace demo; enum Mode : ubyte { Idle, Busy = 7 } enum Wide : ulong { Low, High = 18446744073709551615 }
    enum Signed : short { Minus = -5, Zero = 0 }
    struct Vec3 { x: float; y: float; z: float; }
    struct Box { mode: Mode; corners: [Vec3: 2]; on: bool; numbers: [short: 3]; }
    table Leaf { n: int = 3; next: Leaf; } union Shape { Leaf, Vec3, Text: string }
    table T { a: bool; b: byte; c: ubyte = 200; d: short; e: ushort; f: int; g: uint; h: long = -9; i: ulong; j: float = 1.5;
        k: double; mode: Mode = Busy; wide: Wide; signed: Signed = Minus; maybe: int = null; text: string; box: Box; leaf: Leaf;
        shape: Shape; shapes: [Shape]; ints: [int]; doubles: [double]; texts: [string]; leaves: [Leaf];
        boxes: [Box]; modes: [Mode]; bools: [bool]; bytes: [ubyte]; wides: [Wide]; }
    root_type T;";

const JSON: &str = r#"{ "a": true, "b": -128, "d": -2, "e": 65535, "f": -2147483648, "g": 4294967295, "i": 18446744073709551615,
    "k": -0.25, "wide": "High", "maybe": 0, "text": "hello",
    "box": { "mode": "Busy", "corners": [{ "x": 1, "y": 2, "z": 3 }, { "x": 4, "y": 5, "z": 6.5 }], "on": true, "numbers": [1, -2, 3] },
    "leaf": { "n": 1, "next": { "next": { "n": 2 } } }, "shape_type": "Vec3", "shape": { "x": 7, "y": 8, "z": 9 },
    "shapes_type": ["Leaf", "Text", "Vec3", "Leaf"], "shapes": [{}, "text", { "x": 0.5, "y": 0, "z": 0 }, { "n": 4 }],
    "ints": [1, -1], "doubles": [0.5], "texts": ["a", "", "b"], "leaves": [{ "n": 5 }, {}],
    "boxes": [{ "mode": "Idle", "corners": [{ "x": 1, "y": 2, "z": 3 }, { "x": 4, "y": 5, "z": 6.5 }], "on": false, "numbers": [1, -2, 3] }],
    "modes": ["Busy", "Idle"], "bools": [true, false], "bytes": [0, 255], "wides": ["High", "Low"] }"#;

#[test]
fn what_flatc_shows_is_what_we_read() {
    let schema = flatc_schema_of(SCHEMA);
    for json in [
        JSON,
        "{}",
        r#"{ "shape_type": "Text", "shape": "only" }"#,
        r#"{ "shape_type": "Leaf", "shape": {} }"#,
    ] {
        let (bytes, shown) = flatc_both_ways(SCHEMA, json);
        assert_eq!(read(&schema, &bytes).unwrap(), shown);
    }
}

#[test]
fn fields_by_name_and_bytes() {
    let schema = flatc_schema_of(SCHEMA);
    let (bytes, _) = flatc_both_ways(SCHEMA, JSON);
    let decoder = Decoder::new(&schema).unwrap();
    let payload = decoder.payload(&bytes).unwrap();
    let root = payload.root().unwrap();
    assert!(matches!(root.get("i"), Ok(Some(Value::Integer(number))) if number == i128::from(u64::MAX)));
    assert!(matches!(root.get("none such"), Ok(None)));
    let Ok(Some(Value::Vector(vector))) = root.get("bytes") else { panic!("`bytes` is a vector") };
    assert_eq!(vector.bytes(), Some(&[0, 255][..]));
    let Ok(Some(Value::Vector(vector))) = root.get("ints") else { panic!("`ints` is a vector") };
    assert_eq!(vector.bytes(), None);
}

#[test]
fn what_a_newer_sender_adds_is_shown_as_numbers() {
    let newer = SCHEMA.replace("Busy = 7", "Busy = 7, New = 9").replace("Text: string", "Text: string, T");
    let json = r#"{ "mode": "New", "shape_type": "T", "shape": {}, "shapes_type": ["T"], "shapes": [{}] }"#;
    let (bytes, _) = flatc_both_ways(&newer, json);
    let shown = read(&flatc_schema_of(SCHEMA), &bytes).unwrap();
    assert!(shown.contains(r#""mode":9"#), "{shown}");
    assert!(shown.contains(r#""shape_type":4,"shapes_type":[4],"shapes":[null]"#), "{shown}");
}

#[test]
fn a_plain_root() {
    let mut schema = flatc_schema_of("struct P { t: ulong; x: short; } table T { p: P; } root_type T;");
    schema.root = Some("P".to_owned());
    let bytes = [7, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0];
    assert_eq!(read(&schema, &bytes).unwrap(), r#"{"t":7,"x":-1}"#);
    assert_eq!(read(&schema, &bytes[..12]).unwrap_err().to_string(), "`P`: found 12 bytes, expected 16");
}

#[test]
fn mistakes_are_named() {
    let schema = flatc_schema_of("table T { a: int; text: string (required); } root_type T;");
    let check = |schema: &Schema, bytes: &[u8], expected: &str| {
        assert_eq!(read(schema, bytes).unwrap_err().to_string(), expected);
    };
    check(&schema, b"", "`T`: 4 bytes are needed at byte 0, but there are 0 bytes in all");
    check(&schema, b"\x08\0\0\0\x04\0\x04\0\x04\0\0\0", "`T.text`: the field is required, but absent");
    let none = flatc_schema_of("table T { a: int; }");
    check(&none, b"", "the schema has no root: name the type to read");
    let decoder = Decoder::new(&none).unwrap();
    assert_eq!(decoder.payload_of("U", b"").unwrap_err().to_string(), "`U`: the schema has no type `U`");
    let wide = flatc_schema_of("table T { a: [ubyte] (vector64); } root_type T;");
    let wide = read(&wide, b"\x08\0\0\0\x04\0\x04\0\x04\0\0\0").unwrap_err().to_string();
    assert_eq!(wide, "`T.a`: it is behind a 64-bit offset, which is not read here");
}

#[test]
fn a_schema_with_an_unsound_struct_is_refused() {
    let sound =
        flatc_schema_of("struct A { x: int; y: int; } struct B { a: A; } table T { b: B; } root_type T;");
    let check = |change: fn(&mut Schema), expected: &str| {
        let mut schema = sound.clone();
        change(&mut schema);
        assert_eq!(Decoder::new(&schema).unwrap_err().to_string(), expected);
    };
    assert!(Decoder::new(&sound).is_ok());
    let overlap = "the fields of the struct overlap or reach past its end";
    check(|schema| schema.objects[0].fields[1].offset = 2, &format!("`A.y`: {overlap}"));
    check(|schema| schema.objects[0].byte_size = 7, &format!("`A`: {overlap}"));
    check(
        |schema| schema.objects[1].fields[0].field_type.target = Some("B".into()),
        "`B.a`: it is nested more than 64 deep",
    );
    check(
        |schema| schema.objects[1].fields[0].field_type.target = Some("C".into()),
        "`B.a`: the schema has no type `C`",
    );
    check(
        |schema| schema.objects[1].fields[0].field_type.target = Some("T".into()),
        "`B.a`: `T` cannot stand in a struct",
    );
}

#[test]
fn depth_is_limited() {
    let text = "table T { next: T; } root_type T;";
    let nested = |depth: usize| format!("{}{{}}{}", "{\"next\":".repeat(depth - 1), "}".repeat(depth - 1));
    let schema = flatc_schema_of(text);
    let (bytes, shown) = flatc_both_ways(text, &nested(60));
    assert_eq!(read(&schema, &bytes).unwrap(), shown);
    let error = read(&schema, &chain(65, 1)).unwrap_err().to_string();
    assert_eq!(error, "`T.next`: it is nested more than 64 deep");
    assert!(read(&schema, &chain(64, 1)).is_ok());
}

#[test]
fn shared_tables_do_not_multiply_the_work() {
    // Two references in each of 40 tables, both to the next: 2^40 tables for who follows them all.
    let schema = flatc_schema_of("table T { a: T; b: T; } root_type T;");
    let error = read(&schema, &chain(40, 2)).unwrap_err().to_string();
    assert!(error.contains("which no payload of this size needs"), "{error}");
    assert!(read(&schema, &chain(10, 2)).is_ok());
}

/// So many tables in a row, each with so many references, all to the next table; the last one is empty.
fn chain(tables: u32, references: u16) -> Vec<u8> {
    let vtable =
        [4 + 2 * references, 4 + 4 * references].into_iter().chain((0..references).map(|slot| 4 + 4 * slot));
    let vtable: Vec<u8> = vtable.flat_map(u16::to_le_bytes).collect();
    let first = (4 + vtable.len()).next_multiple_of(4) as u32;
    let mut bytes = first.to_le_bytes().to_vec();
    bytes.extend(vtable);
    bytes.resize(first as usize, 0);
    for _ in 1..tables {
        let back = bytes.len() as u32 - 4;
        bytes.extend(back.to_le_bytes());
        for reference in (1..=u32::from(references)).rev() {
            bytes.extend((4 * reference).to_le_bytes());
        }
    }
    // Its vtable stands behind it.
    bytes.extend((-4i32).to_le_bytes());
    bytes.extend([4, 0, 4, 0]);
    bytes
}

#[test]
fn damaged_payloads_and_schemas() {
    let schema = flatc_schema_of(SCHEMA);
    let schema_bytes = schema.to_bytes();
    let (bytes, _) = flatc_both_ways(SCHEMA, JSON);
    for len in 0..bytes.len() {
        let _ = read(&schema, &bytes[..len]);
    }
    let mut random = Random::new(7);
    let mut flip = |bytes: &[u8]| {
        let mut damaged = bytes.to_vec();
        let bit = random.below(damaged.len() * 8);
        damaged[bit / 8] ^= 1 << (bit % 8);
        damaged
    };
    let (mut sound, mut refused) = (0, 0);
    for round in 0..20_000 {
        let damaged = flip(&bytes);
        let result = if round % 2 == 0 {
            read(&schema, &damaged)
        } else {
            let Ok(schema) = Schema::from_bytes(&flip(&schema_bytes)) else { continue };
            read(&schema, &damaged)
        };
        *(if result.is_ok() { &mut sound } else { &mut refused }) += 1;
    }
    assert!(sound > 1_000 && refused > 1_000, "{sound} read, {refused} refused");
}
