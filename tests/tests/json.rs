//! Payloads as JSON and back with nothing but their schema, beside flatc: each shows and reads what the other does.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use msg_runtime::{AlignedBuffer, Message};
use msg_schema::{BaseType, Decoder, JsonLayout, Object, ObjectKind, Schema, Type};
use msg_tests::json::read;
use msg_tests::random::Random;
use msg_tests::tools::{Folder, flatc, flatc_schema, flatc_schema_of, run};

const SCHEMA: &str = "namespace demo; enum Mode : ubyte { Idle, Busy = 7 } enum Wide : ulong { Low, High = 18446744073709551615 }
    enum Signed : short { Minus = -5, Zero = 0 } enum Flag : ubyte (bit_flags) { Red, Green, Blue }
    struct Vec3 { x: float; y: float; z: double; }
    struct Box { mode: Mode; corners: [Vec3: 2]; on: bool; numbers: [short: 3]; flags: Flag; }
    table Leaf { n: int = 3; next: Leaf; bytes: [ubyte] (nested_flatbuffer: \"Leaf\"); }
    union Shape { Leaf, Vec3, Text: string }
    table T { a: bool; b: byte; c: ubyte = 200; d: short; e: ushort; f: int; g: uint; h: long = -9; i: ulong;
        j: float = 1.5; k: double; mode: Mode = Busy; wide: Wide; signed: Signed = Minus; flag: Flag = Green;
        maybe: int = null; maybe_on: bool = null; maybe_mode: Mode = null; text: string; box: Box; leaf: Leaf;
        shape: Shape; shapes: [Shape]; ints: [int]; doubles: [double]; texts: [string]; leaves: [Leaf];
        boxes: [Box]; modes: [Mode]; bools: [bool]; bytes: [ubyte]; wides: [Wide]; flags: [Flag];
        old: int = 1 (deprecated); floats: [float]; shorts: [short]; longs: [long]; }
    root_type T; file_identifier \"JSON\";";

const FULL: &str = r#"{ "a": true, "b": -128, "d": -2, "e": 65535, "f": -2147483648, "g": 4294967295,
    "h": -9223372036854775808, "i": 18446744073709551615, "k": -0.25, "wide": "High", "flag": "Red Blue", "maybe": 0,
    "maybe_on": false, "maybe_mode": "Busy", "text": "hello \"world\" \\ \n \t é € 😀",
    "box": { "mode": "Busy", "corners": [{ "x": 1, "y": 2, "z": 3 }, { "x": 4, "y": 5, "z": 6.5 }], "on": true,
             "numbers": [1, -2, 3], "flags": "Green" },
    "leaf": { "n": 1, "next": { "next": { "n": 2 } }, "bytes": { "n": 4, "bytes": { "n": 5 } } },
    "shape_type": "Vec3", "shape": { "x": 7, "y": 8, "z": 9 },
    "shapes_type": ["Leaf", "Text", "Vec3", "Leaf"], "shapes": [{}, "text", { "x": 0.5, "y": 0, "z": 0 }, { "n": 4 }],
    "ints": [1, -1], "doubles": [0.5], "texts": ["a", "", "b"], "leaves": [{ "n": 5 }, {}],
    "boxes": [{ "mode": "Idle", "corners": [{ "x": 1, "y": 2, "z": 3 }, { "x": 4, "y": 5, "z": 6.5 }], "on": false,
                "numbers": [1, -2, 3], "flags": 0 }],
    "modes": ["Busy", "Idle"], "bools": [true, false], "bytes": [0, 255], "wides": ["High", "Low"],
    "flags": ["Red", "Red Green Blue", 0, 8], "old": 9, "floats": [], "shorts": [1], "longs": [-1] }"#;

/// A schema with flatc beside it, and a folder to work in.
struct Oracle {
    folder: Folder,
    path: PathBuf,
    schema: Schema,
}

impl Oracle {
    fn new(text: &str) -> Self {
        let folder = Folder::new();
        let path = folder.write("schema.fbs", text);
        let schema = flatc_schema(&path);
        Self { folder, path, schema }
    }

    /// The bytes that flatc makes of texts.
    fn bytes(&self, texts: &[String]) -> Vec<Vec<u8>> {
        let name = |number: usize| format!("text{number}");
        let files = texts.iter().enumerate();
        let files: Vec<_> =
            files.map(|(number, text)| self.folder.write(&format!("{}.json", name(number)), text)).collect();
        run(Command::new(flatc()).args(["-b", "-o"]).arg(self.folder.path()).arg(&self.path).args(files));
        let read = |number| {
            fs::read(self.folder.path().join(name(number)).with_extension("bin"))
                .expect("flatc has written bytes")
        };
        (0..texts.len()).map(read).collect()
    }

    /// The texts that flatc makes of bytes, without blanks outside strings, and with NaN and infinities in quotes.
    fn texts(&self, payloads: &[Vec<u8>]) -> Vec<String> {
        let name = |number: usize| format!("bytes{number}");
        let files = payloads.iter().enumerate();
        let files: Vec<_> =
            files.map(|(number, bytes)| self.folder.write(&format!("{}.bin", name(number)), bytes)).collect();
        let options = ["--json", "--strict-json", "--raw-binary", "--defaults-json", "--natural-utf8", "-o"];
        let mut command = Command::new(flatc());
        run(command.args(options).arg(self.folder.path()).arg(&self.path).arg("--").args(files));
        let read = |number| {
            fs::read_to_string(self.folder.path().join(name(number)).with_extension("json"))
                .expect("flatc has written text")
        };
        (0..payloads.len()).map(|number| squeezed(&read(number))).collect()
    }

    fn encode(&self, text: &str) -> Vec<u8> {
        let decoder = Decoder::new(&self.schema).expect("the schema is sound");
        decoder.encode_json(text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    fn show(&self, bytes: &[u8]) -> String {
        show(&self.schema, bytes)
    }
}

fn show(schema: &Schema, bytes: &[u8]) -> String {
    read(schema, bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// Without blanks outside strings; bare `nan` and `inf` in quotes.
fn squeezed(text: &str) -> String {
    let (mut out, mut in_string, mut escaped) = (String::new(), false, false);
    for character in text.chars() {
        if in_string || !character.is_whitespace() {
            out.push(character);
        }
        in_string ^= character == '"' && !escaped;
        escaped = in_string && character == '\\' && !escaped;
    }
    for (bare, quoted) in [(":nan", ":\"nan\""), (":inf", ":\"inf\""), (":-inf", ":\"-inf\"")] {
        out = out.replace(bare, quoted);
    }
    out
}

#[test]
fn what_flatc_shows_and_reads_is_what_we_do() {
    let oracle = Oracle::new(SCHEMA);
    let texts = [
        FULL,
        "{}",
        r#"{ "shape_type": "Text", "shape": "only" }"#,
        r#"{ "shape_type": "Leaf", "shape": {} }"#,
        r#"{ "c": 200, "j": 1.5, "mode": 200, "signed": 77, "flag": 200, "wide": 12345678901234567890 }"#,
        r#"{ "j": "nan", "k": "-inf" }"#,
        r#"{ "k": "inf", "ints": [], "texts": [], "bytes": [] }"#,
        r#"{ "text": "\u0041\ud83d\ude00\/" }"#,
    ]
    .map(str::to_owned);
    let theirs = oracle.bytes(&texts);
    let shown = oracle.texts(&theirs);
    for ((text, theirs), shown) in texts.iter().zip(&theirs).zip(&shown) {
        assert_eq!(&oracle.show(theirs), shown, "of flatc's bytes of {text}");
        assert_eq!(&oracle.show(&oracle.encode(text)), shown, "of our bytes of {text}");
        assert_eq!(oracle.encode(text)[4..8], theirs[4..8], "the file identifier");
    }
    // flatc reads our bytes, and our text.
    let ours: Vec<_> = texts.iter().map(|text| oracle.encode(text)).collect();
    assert_eq!(oracle.texts(&ours), shown);
    let written: Vec<_> = theirs.iter().map(|bytes| oracle.show(bytes)).collect();
    assert_eq!(oracle.texts(&oracle.bytes(&written)), shown);
}

/// Random values of every kind of field, in numbers that flatc's decimals can show.
#[test]
fn random_values_both_ways() {
    let oracle = Oracle::new(SCHEMA);
    let mut random = Random::new(11);
    let root = oracle.schema.object("demo.T").unwrap();
    let texts: Vec<String> = (0..200).map(|_| random_object(&oracle.schema, root, &mut random, 0)).collect();
    assert!(texts.iter().map(String::len).sum::<usize>() > 100_000, "there is something in them");
    let theirs = oracle.bytes(&texts);
    let ours: Vec<_> = texts.iter().map(|text| oracle.encode(text)).collect();
    let shown = oracle.texts(&theirs);
    assert_eq!(oracle.texts(&ours), shown, "flatc reads our bytes");
    for ((theirs, ours), shown) in theirs.iter().zip(&ours).zip(&shown) {
        assert_eq!(&oracle.show(theirs), shown);
        assert_eq!(&oracle.show(ours), shown);
        assert_eq!(&oracle.show(&oracle.encode(shown)), shown, "and again");
    }
}

fn random_object(schema: &Schema, object: &Object, random: &mut Random, depth: u32) -> String {
    let mut parts = Vec::new();
    for field in &object.fields {
        let meant = &field.field_type;
        let is_there = object.kind == ObjectKind::Struct || (random.below(3) > 0 && depth < 4);
        if meant.is_union_number() || !is_there {
            continue;
        }
        let name = &field.name;
        if meant.base == BaseType::Union || meant.element == BaseType::Union {
            let count = if meant.base == BaseType::Union { 1 } else { random.below(4) };
            let (numbers, values): (Vec<_>, Vec<_>) =
                (0..count).map(|_| random_member(schema, meant, random, depth)).unzip();
            let list = |items: &[String]| match meant.base {
                BaseType::Union => items[0].clone(),
                _ => format!("[{}]", items.join(",")),
            };
            parts.push(format!("\"{name}_type\":{},\"{name}\":{}", list(&numbers), list(&values)));
            continue;
        }
        let nested = field.attributes.iter().any(|(key, _)| key == "nested_flatbuffer");
        let value = match (nested, meant.base) {
            (true, _) => random_object(schema, object, random, depth + 1),
            (false, BaseType::Vector | BaseType::Array) => {
                let count =
                    if meant.base == BaseType::Array { meant.fixed_length.into() } else { random.below(5) };
                let items = (0..count).map(|_| random_value(schema, meant, meant.element, random, depth));
                format!("[{}]", items.collect::<Vec<_>>().join(","))
            }
            (false, base) => random_value(schema, meant, base, random, depth),
        };
        parts.push(format!("\"{name}\":{value}"));
    }
    format!("{{{}}}", parts.join(","))
}

fn random_member(schema: &Schema, union: &Type, random: &mut Random, depth: u32) -> (String, String) {
    let union = union.target.as_deref().and_then(|name| schema.enumeration(name)).expect("unions have names");
    let member = &union.values[1 + random.below(union.values.len() - 1)];
    let meant = member.union_type.as_ref().expect("a member has a type");
    (format!("\"{}\"", member.name), random_value(schema, meant, meant.base, random, depth))
}

fn random_value(schema: &Schema, meant: &Type, base: BaseType, random: &mut Random, depth: u32) -> String {
    if let Some(enumeration) = meant.target.as_deref().and_then(|name| schema.enumeration(name)) {
        return match random.below(4) {
            0 => random.below(100).to_string(),
            _ => format!("\"{}\"", enumeration.values[random.below(enumeration.values.len())].name),
        };
    }
    let bits = random.next_u64();
    match base {
        BaseType::Obj => {
            let object = meant.target.as_deref().and_then(|name| schema.object(name));
            random_object(schema, object.expect("objects have names"), random, depth + 1)
        }
        BaseType::String => {
            let characters = ["a", " ", "\\\"", "\\\\", "\\n", "é", "😀", "/", "{", "nan"];
            let text: String =
                (0..random.below(6)).map(|_| characters[random.below(characters.len())]).collect();
            format!("\"{text}\"")
        }
        BaseType::Bool => (bits & 1 == 1).to_string(),
        BaseType::Byte => (bits as i8).to_string(),
        BaseType::UByte => (bits as u8).to_string(),
        BaseType::Short => (bits as i16).to_string(),
        BaseType::UShort => (bits as u16).to_string(),
        BaseType::Int => (bits as i32).to_string(),
        BaseType::UInt => (bits as u32).to_string(),
        BaseType::Long => (bits as i64).to_string(),
        BaseType::ULong => bits.to_string(),
        BaseType::Float | BaseType::Double => format!("{:?}", f64::from(bits as i16) / 16.0),
        other => panic!("{other:?} is no value"),
    }
}

/// What flatc's decimals lose: every number comes back as it was.
#[test]
fn numbers_come_back_exactly() {
    let schema = flatc_schema_of("table T { f: [float]; d: [double]; } root_type T;");
    let decoder = Decoder::new(&schema).unwrap();
    let text = r#"{"f":[1e-45,3.4028235e38,0.1,1e-10,-0.0,16777216.0],"d":[5e-324,1.7976931348623157e308,0.1,1e-10,-0.0,1e300,"nan","inf","-inf"]}"#;
    assert_eq!(show(&schema, &decoder.encode_json(text).unwrap()), text);
    let mut random = Random::new(3);
    for _ in 0..10_000 {
        let bits = random.next_u64();
        let (float, double) = (f32::from_bits(bits as u32), f64::from_bits(bits.rotate_left(7)));
        if float.is_finite() && double.is_finite() {
            let text = format!("{{\"f\":[{float:?}],\"d\":[{double:?}]}}");
            assert_eq!(show(&schema, &decoder.encode_json(&text).unwrap()), text);
        }
    }
}

#[test]
fn indented_for_people() {
    let schema = flatc_schema_of("table T { a: int; b: [string]; c: T; } root_type T;");
    let decoder = Decoder::new(&schema).unwrap();
    let bytes = decoder.encode_json(r#"{"a":1,"b":["x","y"],"c":{"b":[]}}"#).unwrap();
    let text = decoder.payload(&bytes).unwrap().to_json(JsonLayout::Indented).unwrap();
    let expected = "{\n  \"a\": 1,\n  \"b\": [\n    \"x\",\n    \"y\"\n  ],\n  \"c\": {\n    \"a\": 0,\n    \"b\": []\n  }\n}";
    assert_eq!(text, expected);
}

#[test]
fn plain_roots_and_other_roots() {
    let mut schema = flatc_schema_of(
        "struct P { t: ulong; x: short; } table T { p: P; } table U { a: int; } root_type T; file_identifier \"ABCD\";",
    );
    let decoder = Decoder::new(&schema).unwrap();
    let bytes = decoder.encode_json_of("U", r#"{"a": 5}"#).unwrap();
    assert_ne!(&bytes[4..8], b"ABCD", "the identifier is the root's");
    assert_eq!(decoder.payload_of("U", &bytes).unwrap().to_json(JsonLayout::Line).unwrap(), r#"{"a":5}"#);
    schema.root = Some("P".to_owned());
    let decoder = Decoder::new(&schema).unwrap();
    let bytes = decoder.encode_json(r#"{"x": -1, "t": 7}"#).unwrap();
    assert_eq!(bytes, [7, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0]);
    assert_eq!(show(&schema, &bytes), r#"{"t":7,"x":-1}"#);
}

/// What a newer sender adds is shown as numbers; a value that nobody knows is not invented.
#[test]
fn from_a_newer_sender() {
    let newer = Oracle::new(
        &SCHEMA.replace("Busy = 7", "Busy = 7, New = 9").replace("Text: string", "Text: string, T"),
    );
    let older = flatc_schema_of(SCHEMA);
    let bytes = newer.encode(
        r#"{ "mode": "New", "shape_type": "T", "shape": {}, "shapes_type": ["T", "Text"], "shapes": [{}, "x"] }"#,
    );
    let shown = show(&older, &bytes);
    for part in [r#""mode":9"#, r#""shape_type":4,"shapes_type":[4,"Text"],"shapes":[null,"x"]"#] {
        assert!(shown.contains(part), "{shown} lacks {part}");
    }
    let error = Decoder::new(&older).unwrap().encode_json(&shown).unwrap_err().to_string();
    assert!(error.contains("`demo.T.shape_type`: the value of this member is missing"), "{error}");
}

/// A nested buffer that is none is shown, and read, as its bytes.
#[test]
fn nested_buffers() {
    let schema = flatc_schema_of(
        "namespace a.b; table In { q: double = 7; } table T { n: [ubyte] (nested_flatbuffer: \"In\"); } root_type T;",
    );
    let decoder = Decoder::new(&schema).unwrap();
    for text in [r#"{"n":{"q":1.0}}"#, r#"{"n":[1,2,3]}"#, r#"{"n":[]}"#] {
        assert_eq!(show(&schema, &decoder.encode_json(text).unwrap()), text);
    }
}

/// Whatever stands before them, vectors, structs and nested buffers are aligned for readers that use them in place.
#[test]
fn everything_is_aligned() {
    let schema = flatc_schema_of(
        "struct P { a: ubyte; b: double; } struct Q (force_align: 16) { c: double; } table In { q: double = 7; }
         union U { P } table T { s: string; d: [double]; n: [ubyte] (nested_flatbuffer: \"In\"); e: [ubyte];
         p: P; ps: [P]; u: U; q: Q; t: [string];
         w: [float] (force_align: 32); x: [string] (force_align: 16); } root_type T;",
    );
    let decoder = Decoder::new(&schema).unwrap();
    let number = |number: f64| (number, number.to_le_bytes());
    for len in 0..20 {
        let text = format!(
            r#"{{"e":[1,2,3],"s":"{}","d":[1.5],"n":{{"q":2.5}},"t":["{}"],"p":{{"a":1,"b":3.5}},"ps":[{{"a":1,"b":4.5}}],"u_type":"P","u":{{"a":1,"b":5.5}},"q":{{"c":6.5}},"w":[0,7.5,7.5],"x":["",""]}}"#,
            "x".repeat(len),
            "y".repeat(len / 3)
        );
        let bytes = decoder.encode_json(&text).unwrap();
        for (number, wanted) in [1.5, 2.5, 3.5, 4.5, 5.5, 6.5].map(number) {
            let at = bytes.windows(8).position(|window| window == wanted).unwrap();
            let align = if number == 6.5 { 16 } else { 8 };
            assert_eq!(at % align, 0, "{number} stands at byte {at} behind {len} characters");
        }
        let wanted = [[0; 4], 7.5_f32.to_le_bytes(), 7.5_f32.to_le_bytes()].concat();
        let at = bytes.windows(12).position(|window| window == wanted).unwrap();
        assert_eq!(at % 32, 0, "the aligned vector stands at byte {at} behind {len} characters");
    }
}

/// A FlexBuffer is the value in it, for us and for flatc, whoever wrote it.
#[test]
fn flexbuffers() {
    let text = "table T { f: [ubyte] (flexbuffer); n: int; } root_type T;";
    let (oracle, schema) = (Oracle::new(text), flatc_schema_of(text));
    let decoder = Decoder::new(&schema).unwrap();
    for value in [
        r#"{"a":1,"b":"x","c":[1,2,3],"d":1.5,"e":null,"f":true,"g":[],"h":{},"i":-5,"j":[1,"a",2.5]}"#,
        r#"{"n":[1.5,2.5],"o":["a","b"],"p":[true,false],"q":300,"r":[70000,-1],"s":{"t":[{"u":"é"}]}}"#,
        "5",
        r#""abc""#,
        "[[1],[2]]",
        "0.1",
    ] {
        let json = format!(r#"{{"f":{value},"n":7}}"#);
        for bytes in [decoder.encode_json(&json).unwrap(), oracle.encode(&json)] {
            assert_eq!(show(&schema, &bytes), json);
        }
        let bytes = decoder.encode_json(&json).unwrap();
        let theirs: serde_json::Value = serde_json::from_str(&oracle.show(&bytes)).unwrap();
        assert_eq!(theirs, serde_json::from_str::<serde_json::Value>(&json).unwrap());
    }
    // What is none is bytes.
    let bytes = flatc_schema_of("table T { f: [ubyte]; n: int; } root_type T;");
    let damaged = Decoder::new(&bytes).unwrap().encode_json(r#"{"f":[9,9,9],"n":7}"#).unwrap();
    assert_eq!(show(&schema, &damaged), r#"{"f":[9,9,9],"n":7}"#);
    let deep = format!(r#"{{"f":{}{}}}"#, "[".repeat(70), "]".repeat(70));
    let error = decoder.encode_json(&deep).unwrap_err().to_string();
    assert!(error.contains("nested more than 64 deep"), "{error}");
    let twice = decoder.encode_json(r#"{"f":{"a":1,"a":2}}"#).unwrap_err().to_string();
    assert!(twice.contains("the key `a` is given twice"), "{twice}");
}

/// A text in a field with `hash` is written as its hash, by us and by flatc. (flatc hashes no `short`, though it takes
/// the attribute there.)
#[test]
fn texts_are_hashed() {
    let text = "struct S { h: uint (hash: \"fnv1a_32\"); }
         table T { a: int (hash: \"fnv1_32\"); b: uint (hash: \"fnv1a_32\"); c: ulong (hash: \"fnv1_64\");
         d: long (hash: \"fnv1a_64\"); e: uint = null (hash: \"fnv1_32\"); v: [uint] (hash: \"fnv1_32\"); s: S; } root_type T;";
    let (oracle, schema) = (Oracle::new(text), flatc_schema_of(text));
    let decoder = Decoder::new(&schema).unwrap();
    for json in [
        r#"{"a":"abc","b":"abc","c":"abc","d":"abc","e":"","v":["abc","é",5],"s":{"h":"x"}}"#,
        r#"{"a":"123","b":"","c":"0x5","d":-7,"s":{"h":1}}"#,
    ] {
        let shown = show(&schema, &decoder.encode_json(json).unwrap());
        assert_eq!(shown, show(&schema, &oracle.encode(json)), "{json}");
    }
    let short = flatc_schema_of("table T { h: ushort (hash: \"fnv1_16\"); } root_type T;");
    let bytes = Decoder::new(&short).unwrap().encode_json(r#"{"h":"a"}"#).unwrap();
    assert_eq!(show(&short, &bytes), format!(r#"{{"h":{}}}"#, 0x050c ^ 0x5d7e));
}

#[test]
fn mistakes_say_where_and_what() {
    let schema = flatc_schema_of(SCHEMA);
    let decoder = Decoder::new(&schema).unwrap();
    let check = |text: &str, expected: &str| {
        let error = decoder.encode_json(text).expect_err(text).to_string();
        assert_eq!(error, expected, "{text}");
    };
    let column = |text: &str, expected: &str| check(text, &format!("line 1, column {expected}"));
    check(
        "{\n  \"a\": 1,\n  \"b\": 128\n}",
        "line 3, column 8: `demo.T.b`: found `128`, expected a number of type `byte`",
    );
    column("", "1: the text ends, expected a value");
    column("{ a: 1 }", "3: found `a`, expected a name in quotes");
    column("{} x", "4: found `x`, expected the end of the text");
    column(r#"{"f": 1,}"#, "9: found `}`, expected a name in quotes");
    column(r#"{"f": 01x}"#, "7: found `01x`, expected a value");
    column(r#"{"é": 1}"#, "2: `demo.T`: the type has no field `é`");
    column(r#"{"f": 1, "f": 2}"#, "10: `demo.T.f`: the field is given twice");
    column(r#"{"f": 1.5}"#, "7: `demo.T.f`: found `1.5`, expected a number of type `int`");
    column(r#"{"i": -1}"#, "7: `demo.T.i`: found `-1`, expected a number of type `ulong`");
    column(
        r#"{"i": 18446744073709551616}"#,
        "7: `demo.T.i`: found `18446744073709551616`, expected a number of type `ulong`",
    );
    column(r#"{"k": 1e400}"#, "7: `demo.T.k`: found `1e400`, expected a number of type `double`");
    column(r#"{"a": "maybe"}"#, "7: `demo.T.a`: found `\"maybe\"`, expected `true` or `false`");
    column(r#"{"mode": "Fast"}"#, "10: `demo.T.mode`: `demo.Mode` has no `Fast`");
    column(r#"{"flag": "Red Fast"}"#, "10: `demo.T.flag`: `demo.Flag` has no `Fast`");
    column(
        r#"{"mode": []}"#,
        "10: `demo.T.mode`: found a list, expected a name of `demo.Mode` or its number",
    );
    column(r#"{"text": 5}"#, "10: `demo.T.text`: found `5`, expected a string");
    column(r#"{"ints": 5}"#, "10: `demo.T.ints`: found `5`, expected a list");
    column(r#"{"leaf": 5}"#, "10: `demo.Leaf`: found `5`, expected an object");
    column(r#"{"shape": {}}"#, "11: `demo.T.shape`: `shape_type` is missing, which says what it is");
    column(r#"{"shape_type": "Leaf"}"#, "16: `demo.T.shape_type`: the value of this member is missing");
    column(
        r#"{"shape_type": "NONE", "shape": {}}"#,
        "33: `demo.T.shape`: found a value, but its type is `NONE`",
    );
    column(
        r#"{"shape_type": 9, "shape": {}}"#,
        "28: `demo.T.shape`: the schema has no member 9, whose value could be written",
    );
    column(r#"{"shapes_type": ["Leaf"], "shapes": []}"#, "37: `demo.T.shapes`: found 1 types for 0 values");
    column(r#"{"text": "\x"}"#, "11: an unknown escape in a string");
    column(r#"{"text": "\ud83d"}"#, "11: half a character: `\\ud8..` and `\\udc..` go together");
    column("{\"text\": \"\n\"}", "11: a control character in a string: write it as `\\u00..`");
}

#[test]
fn mistakes_in_structs_and_required_fields() {
    let plain = flatc_schema_of(
        "struct S { a: int; b: [int: 2]; } table T { s: S; r: string (required); } root_type T;",
    );
    let decoder = Decoder::new(&plain).unwrap();
    let check = |text: &str, expected: &str| {
        assert_eq!(
            decoder.encode_json(text).unwrap_err().to_string(),
            format!("line 1, column {expected}"),
            "{text}"
        );
    };
    check("{}", "1: `T.r`: the field is required, but absent");
    check(r#"{"r": null}"#, "1: `T.r`: the field is required, but absent");
    check(r#"{"r": "", "s": {"a": 1}}"#, "16: `S.b`: it is missing: a struct has all its fields");
    check(r#"{"r": "", "s": {"a": 1, "b": [1]}}"#, "30: `S.b`: found 1 elements, expected 2");
    let wide = flatc_schema_of("table T { a: [ubyte] (vector64); } root_type T;");
    let error = Decoder::new(&wide).unwrap().encode_json(r#"{"a": []}"#).unwrap_err().to_string();
    assert_eq!(error, "line 1, column 2: `T.a`: it is behind a 64-bit offset, which is not written here");
}

/// What is encoded passes the typed side's verifier and reads as the type.
#[test]
fn typed_messages_read_what_was_json() {
    #[derive(Message, Clone, Copy, Debug, PartialEq)]
    #[message(namespace = "json", plain)]
    #[repr(C)]
    struct Point {
        x: f64,
        y: f64,
    }
    #[derive(Message, Clone, Debug, PartialEq)]
    #[message(namespace = "json")]
    struct Scan {
        sequence: u64,
        name: String,
        points: Vec<Point>,
        origin: Option<Point>,
        parts: Vec<String>,
        levels: Vec<i16>,
    }
    let schema = Schema::from_bytes(Scan::schema()).unwrap();
    let decoder = Decoder::new(&schema).unwrap();
    let text = r#"{"sequence":18446744073709551615,"name":"left","points":[{"x":1.0,"y":2.5},{"x":-1.0,"y":0.0}],"origin":{"x":0.5,"y":0.0},"parts":["a","bc"],"levels":[-1,2,3]}"#;
    let bytes = AlignedBuffer::copy_of(&decoder.encode_json(text).unwrap());
    let scan: Scan = msg_runtime::decode::<Scan>(bytes.as_slice()).unwrap().into();
    let expected = Scan {
        sequence: u64::MAX,
        name: "left".into(),
        points: vec![Point { x: 1.0, y: 2.5 }, Point { x: -1.0, y: 0.0 }],
        origin: Some(Point { x: 0.5, y: 0.0 }),
        parts: vec!["a".into(), "bc".into()],
        levels: vec![-1, 2, 3],
    };
    assert_eq!(scan, expected);
    assert_eq!(show(&schema, msg_runtime::encode(&expected).unwrap().as_slice()), text);
}

/// Neither side grows beyond its budget, whatever schema, text and bytes say.
#[test]
fn hostile_texts_payloads_and_schemas() {
    let schema = flatc_schema_of(SCHEMA);
    let decoder = Decoder::new(&schema).unwrap();
    let error = decoder.encode_json(&"[".repeat(100_000)).unwrap_err().to_string();
    assert!(error.contains("values are nested more than 256 deep"), "{error}");
    let deep = |depth: usize| format!("{{\"leaf\":{}{{}}{}}}", "{\"next\":".repeat(depth), "}".repeat(depth));
    let error = decoder.encode_json(&deep(63)).unwrap_err().to_string();
    assert!(error.contains("nested more than 64 deep"), "{error}");
    let bytes = decoder.encode_json(&deep(62)).unwrap();
    assert_eq!(show(&schema, &bytes).matches("\"next\"").count(), 62);
    let deep =
        |depth: usize| format!("{{\"leaf\":{}{{}}{}}}", "{\"bytes\":".repeat(depth), "}".repeat(depth));
    let error = decoder.encode_json(&deep(63)).unwrap_err().to_string();
    assert!(error.contains("nested more than 64 deep"), "{error}");
    assert_eq!(show(&schema, &decoder.encode_json(&deep(20)).unwrap()).matches("\"bytes\"").count(), 20);

    // A struct of a gigabyte with one byte in it.
    let mut vast = flatc_schema_of("struct S { a: ubyte; } table T { s: [S]; t: S; } root_type T;");
    let object = vast.objects.iter_mut().find(|object| object.name == "S").unwrap();
    object.byte_size = 1 << 30;
    for text in [r#"{"s":[{"a":1}]}"#, r#"{"t":{"a":1}}"#] {
        let error = Decoder::new(&vast).unwrap().encode_json(text).unwrap_err().to_string();
        assert!(error.contains("which no text of this size needs"), "{error}");
    }

    // Buffers nested in buffers count as tables in tables; those that lie deeper stay bytes.
    let nest = flatc_schema_of("table T { n: [ubyte] (nested_flatbuffer: \"T\"); } root_type T;");
    let nest = Decoder::new(&nest).unwrap();
    let outer = |inner: Vec<u8>| nest.encode_json(&format!("{{\"n\":{inner:?}}}")).unwrap();
    let bytes = (0..100).fold(nest.encode_json("{}").unwrap(), |inner, _| outer(inner));
    let shown = nest.payload(&bytes).unwrap().to_json(JsonLayout::Line).unwrap();
    assert_eq!((shown.matches("\"n\":{").count(), shown.matches("\"n\":[").count()), (63, 1));
}

#[test]
fn damaged_texts_and_payloads() {
    let schema = flatc_schema_of(SCHEMA);
    let decoder = Decoder::new(&schema).unwrap();
    let bytes = decoder.encode_json(FULL).unwrap();
    let text = show(&schema, &bytes);
    let mut random = Random::new(5);
    let (mut sound, mut refused) = (0, 0);
    for _ in 0..4_000 {
        let mut damaged = text.clone().into_bytes();
        let at = random.below(damaged.len());
        damaged[at] = b"{}[]\",:0-e\\un"[random.below(13)];
        let Ok(damaged) = String::from_utf8(damaged) else { continue };
        match decoder.encode_json(&damaged) {
            Ok(bytes) => {
                show(&schema, &bytes);
                sound += 1;
            }
            Err(error) => {
                assert!(error.line() == 1 && error.column() >= 1);
                refused += 1;
            }
        }
        let mut damaged = bytes.clone();
        let bit = random.below(damaged.len() * 8);
        damaged[bit / 8] ^= 1 << (bit % 8);
        if let Ok(payload) = decoder.payload(&damaged) {
            let _ = payload.to_json(JsonLayout::Indented);
        }
    }
    assert!(sound > 20 && refused > 500, "{sound} read, {refused} refused");
}
