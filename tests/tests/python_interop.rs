//! The same bytes in other hands: Python's FlatBuffers library with the classes that flatc generates, and flatc itself,
//! read what we encode and write what we decode; and flatc's binary schema is the one that the derive makes.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use msg_runtime::{AlignedBuffer, Encode, FromView, Message, Padding, decode, encode};
use msg_schema::Schema;
use msg_tests::json::read;
use msg_tests::schemas::assert_same;
use msg_tests::tools::{Folder, flatc, flatc_schema, python, run, schema_path};

// The twins of `schemas/person.fbs` and `tests/python/station.fbs`, comments included.

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "msg_tests")]
struct Person {
    id: i32,
    name: String,
    email: String,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "msg_tests.python")]
#[repr(u8)]
enum Mode {
    Idle,
    Busy,
    Failed = 7,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "msg_tests.python", plain)]
#[repr(C)]
struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "msg_tests.python", plain)]
#[repr(C)]
struct Mixed {
    flag: bool,
    after_flag: Padding<3>,
    number: i32,
    small: u16,
    after_small: Padding<2>,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "msg_tests.python")]
struct Reading {
    name: String,
    values: Vec<f32>,
    at: Option<Vec3>,
}

/// Everything that a weather station says.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "msg_tests.python")]
struct Station {
    id: u64,
    active: bool,
    #[message(default = -3)]
    level: i8,
    #[message(default = 1.5)]
    gain: f32,
    /// Not a number
    ///   when broken.
    wide: f64,
    #[message(default = Mode::Busy)]
    mode: Mode,
    maybe: Option<i32>,
    nothing: Option<f64>,
    #[message(required)]
    label: String,
    note: Option<String>,
    origin: Option<Vec3>,
    mixed: Option<Mixed>,
    trail: Vec<Vec3>,
    names: Vec<String>,
    readings: Vec<Reading>,
    best: Option<Reading>,
    bytes: Vec<u8>,
    modes: Vec<Mode>,
    counts: Vec<i64>,
}

fn person() -> Person {
    Person { id: -7, name: "Grace Hopper".into(), email: "grace@example.org".into() }
}

const PERSON: &str = r#"{"id": -7, "name": "Grace Hopper", "email": "grace@example.org"}"#;

fn vec3(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3 { x, y, z }
}

/// Every field away from its default; `tests/python/station.py` writes the same.
fn station() -> Station {
    let reading = |name: &str, values: &[f32], at| Reading { name: name.into(), values: values.into(), at };
    Station {
        id: u64::MAX,
        active: true,
        level: i8::MIN,
        gain: 0.25,
        wide: 1e10,
        mode: Mode::Failed,
        maybe: Some(0),
        nothing: None,
        label: "Zürich".into(),
        note: None,
        origin: Some(vec3(1.0, -2.0, 0.5)),
        mixed: Some(Mixed {
            flag: true,
            after_flag: Padding::default(),
            number: i32::MIN,
            small: u16::MAX,
            after_small: Padding::default(),
        }),
        trail: (0..3).map(f64::from).map(|n| vec3(n, 0.0, -n)).collect(),
        names: vec![String::new(), "a".into(), "bc".into()],
        readings: vec![reading("first", &[1.0, 2.5], None), reading("", &[], Some(vec3(0.0, 0.0, 1.0)))],
        best: Some(reading("best", &[0.5], Some(vec3(9.0, 8.0, 7.0)))),
        bytes: vec![0, 127, 255],
        modes: vec![Mode::Failed, Mode::Idle, Mode::Busy],
        counts: vec![i64::MIN, 0, i64::MAX],
    }
}

/// What Python reads, as it prints it.
const STATION: &str = r#"{"id": 18446744073709551615, "active": true, "level": -128, "gain": 0.25, "wide": 10000000000.0, "mode": 7, "maybe": 0, "nothing": null, "label": "Z\u00fcrich", "note": null, "origin": [1.0, -2.0, 0.5], "mixed": [true, -2147483648, 65535], "trail": [[0.0, 0.0, -0.0], [1.0, 0.0, -1.0], [2.0, 0.0, -2.0]], "names": ["", "a", "bc"], "readings": [{"name": "first", "values": [1.0, 2.5], "at": null}, {"name": "", "values": [], "at": [0.0, 0.0, 1.0]}], "best": {"name": "best", "values": [0.5], "at": [9.0, 8.0, 7.0]}, "bytes": [0, 127, 255], "modes": [7, 0, 1], "counts": [-9223372036854775808, 0, 9223372036854775807]}"#;

/// A station of nothing but defaults.
fn empty_station() -> Station {
    Station {
        id: 0,
        active: false,
        level: -3,
        gain: 1.5,
        wide: 0.0,
        mode: Mode::Busy,
        maybe: None,
        nothing: None,
        label: String::new(),
        note: None,
        origin: None,
        mixed: None,
        trail: Vec::new(),
        names: Vec::new(),
        readings: Vec::new(),
        best: None,
        bytes: Vec::new(),
        modes: Vec::new(),
        counts: Vec::new(),
    }
}

/// What a type's decoder makes of bytes from elsewhere, which may lie at any address.
fn decoded<M: FromView>(bytes: &[u8]) -> M {
    let bytes = AlignedBuffer::copy_of(bytes);
    M::from_view(decode::<M>(&bytes).expect("the bytes are such a message"))
}

fn encoded(value: &impl Encode) -> AlignedBuffer {
    encode(value).expect("the value can be sent")
}

fn python_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("python").join(name)
}

/// Python with the classes that flatc generates for a schema, started on one of our scripts.
fn script(schema: &Path, folder: &Folder, name: &str) -> Command {
    let classes = folder.path().join("classes");
    run(Command::new(flatc()).args(["--python", "--gen-object-api", "-o"]).arg(&classes).arg(schema));
    let mut command = python();
    let path = command.get_envs().find(|(key, _)| *key == "PYTHONPATH").and_then(|(_, path)| path);
    let mut path = path.expect("python() sets it").to_owned();
    path.push(":");
    path.push(classes);
    command.env("PYTHONPATH", path).arg(python_file(name));
    command
}

fn python_reads(schema: &Path, name: &str, bytes: &[u8]) -> String {
    let folder = Folder::new();
    let data = folder.write("data.bin", bytes);
    run(script(schema, &folder, name).arg("read").arg(data)).trim_end().to_owned()
}

fn python_writes(schema: &Path, name: &str) -> Vec<u8> {
    let folder = Folder::new();
    let data = folder.path().join("data.bin");
    run(script(schema, &folder, name).arg("write").arg(&data));
    fs::read(data).expect("the script has written data")
}

/// What flatc makes of our bytes, and what it makes of that again.
fn through_flatc(schema: &Path, bytes: &[u8]) -> (String, Vec<u8>) {
    let folder = Folder::new();
    let data = folder.write("data.bin", bytes);
    let options = ["--json", "--strict-json", "--raw-binary", "--defaults-json", "--natural-utf8", "-o"];
    run(Command::new(flatc()).args(options).arg(folder.path()).arg(schema).arg("--").arg(&data));
    let json = folder.path().join("data.json");
    let text = fs::read_to_string(&json).expect("flatc has written JSON");
    fs::remove_file(&data).expect("the data can be removed");
    run(Command::new(flatc()).args(["-b", "-o"]).arg(folder.path()).arg(schema).arg(&json));
    (text.chars().filter(|c| !c.is_whitespace()).collect(), fs::read(data).expect("flatc has written data"))
}

#[test]
fn python_and_person() {
    let schema = schema_path("person.fbs");
    assert_eq!(python_reads(&schema, "person.py", &encoded(&person())), PERSON);
    let written = python_writes(&schema, "person.py");
    assert_eq!(decoded::<Person>(&written), person());
}

#[test]
fn python_and_station() {
    let schema = python_file("station.fbs");
    assert_eq!(python_reads(&schema, "station.py", &encoded(&station())), STATION);
    let written = python_writes(&schema, "station.py");
    assert_eq!(decoded::<Station>(&written), station());
}

#[test]
fn python_reads_defaults() {
    let shown = python_reads(&python_file("station.fbs"), "station.py", &encoded(&empty_station()));
    let expected = r#"{"id": 0, "active": false, "level": -3, "gain": 1.5, "wide": 0.0, "mode": 1, "maybe": null, "nothing": null, "label": "", "#;
    assert!(shown.starts_with(expected), "{shown}");
    assert!(shown.contains(r#""origin": null, "mixed": null, "trail": [], "#), "{shown}");
}

#[test]
fn flatc_and_person() {
    let (shown, again) = through_flatc(&schema_path("person.fbs"), &encoded(&person()));
    assert_eq!(shown, r#"{"id":-7,"name":"GraceHopper","email":"grace@example.org"}"#);
    assert_eq!(decoded::<Person>(&again), person());
}

#[test]
fn flatc_and_station() {
    for station in [station(), empty_station()] {
        let bytes = encoded(&station);
        let (shown, again) = through_flatc(&python_file("station.fbs"), &bytes);
        // With the schema that the type itself carries we show what flatc shows.
        let schema = Schema::from_bytes(Station::schema()).unwrap();
        assert_eq!(read(&schema, &bytes).unwrap(), shown);
        assert_eq!(decoded::<Station>(&again), station, "{shown}");
    }
    let (shown, _) = through_flatc(&python_file("station.fbs"), &encoded(&station()));
    let expected = r#"{"id":18446744073709551615,"active":true,"level":-128,"gain":0.25,"wide":10000000000.0,"mode":"Failed","maybe":0,"nothing":null,"label":"Zürich","origin":{"x":1.0,"y":-2.0,"z":0.5},"mixed":{"flag":true,"number":-2147483648,"small":65535},"#;
    assert!(shown.starts_with(expected), "{shown}");
}

/// The binary schema of the derive against flatc's for the `.fbs` twin.
#[test]
fn schemas_are_flatcs() {
    let check = |ours: &[u8], twin: &Path| {
        let (ours, theirs) = (Schema::from_bytes(ours).expect("our schema is one"), flatc_schema(twin));
        assert_same(&ours, &theirs);
        assert_eq!(ours.fingerprint(), theirs.fingerprint());
    };
    check(Person::schema(), &schema_path("person.fbs"));
    check(Station::schema(), &python_file("station.fbs"));
    assert_eq!(Person::fingerprint(), flatc_schema(&schema_path("person.fbs")).fingerprint());
}
