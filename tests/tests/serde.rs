//! Views through serde, by way of JSON.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, SystemTime},
};

use msg_runtime::{Flags, Message, Nested, Open, Padding, decode, encode};
use msg_schema::Schema;
use msg_tests::json;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo")]
#[repr(i8)]
enum Level {
    Low = -1,
    #[message(rename = "MIDDLE")]
    Middle,
    High = 100,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo", bit_flags)]
#[repr(u16)]
enum Access {
    Read = 1,
    Write = 2,
    Hidden = 0x8000,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Point {
    x: f32,
    level: Open<Level>,
    sure: bool,
    padding: Padding<2>,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Segment {
    ends: [Point; 2],
    ids: [i16; 3],
    padding: Padding<2>,
}

#[derive(Message, Clone, Debug, PartialEq, Default)]
#[message(namespace = "demo")]
struct Leaf {
    number: i32,
    text: String,
}

/// What both ways to JSON show alike.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Alike {
    a: u8,
    b: i8,
    c: u16,
    d: i16,
    e: u32,
    f: i32,
    g: u64,
    h: i64,
    i: f32,
    j: f64,
    k: bool,
    #[message(default = 7)]
    l: u8,
    text: String,
    #[message(rename = "wire_name")]
    r#type: String,
    bytes: Vec<u8>,
    floats: Vec<f32>,
    flags: Vec<bool>,
    texts: Vec<String>,
    leaf: Leaf,
    leaves: Vec<Leaf>,
    segment: Segment,
    segments: Vec<Segment>,
    array: [u16; 3],
    level: Level,
    levels: Vec<Open<Level>>,
    access: Flags<Access>,
    maybe: Option<i32>,
    some: Option<String>,
    open: Option<Open<Level>>,
    lasted: Duration,
    at: SystemTime,
}

fn point(x: f32, level: i8) -> Point {
    Point { x, level: Open::from_number(level), sure: true, padding: Padding::default() }
}

fn segment() -> Segment {
    Segment { ends: [point(1.5, 0), point(-0.25, 9)], ids: [1, -2, 3], padding: Padding::default() }
}

fn alike() -> Alike {
    Alike {
        a: u8::MAX,
        b: i8::MIN,
        c: u16::MAX,
        d: i16::MIN,
        e: u32::MAX,
        f: i32::MIN,
        g: u64::MAX,
        h: i64::MIN,
        i: 0.1,
        j: -1e-7,
        k: true,
        l: 7,
        text: "a \"b\"\n\u{1} é 😀".into(),
        r#type: String::new(),
        bytes: vec![0, 255],
        floats: vec![0.5, 3.4e38],
        flags: vec![true, false],
        texts: vec!["x".into(), String::new()],
        leaf: Leaf { number: -1, text: "leaf".into() },
        leaves: vec![Leaf::default(), Leaf { number: 2, text: "two".into() }],
        segment: segment(),
        segments: vec![segment(), segment()],
        array: [1, 2, 3],
        level: Level::Low,
        levels: vec![Level::Middle.into(), Open::from_number(-7)],
        access: Flags::from(Access::Read) | Access::Hidden,
        maybe: None,
        some: Some("there".into()),
        open: Some(Level::High.into()),
        lasted: Duration::from_nanos(5),
        at: SystemTime::UNIX_EPOCH + Duration::from_secs(1),
    }
}

#[track_caller]
fn value(of: impl Serialize) -> Value {
    serde_json::to_value(of).expect("a view serializes")
}

#[test]
fn what_the_tool_shows_is_shown_alike() {
    let bytes = encode(&alike()).unwrap();
    let shown = serde_json::to_string(&decode::<Alike>(&bytes).unwrap()).unwrap();
    let schema = Schema::from_bytes(Alike::schema()).unwrap();
    let tool = json::read(&schema, &bytes).unwrap();
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(parsed(&shown), parsed(&tool));
    assert!(shown.starts_with(r#"{"a":255,"b":-128,"#), "fields stand in their order: {shown}");
}

#[test]
fn the_rules_by_example() {
    let bytes = encode(&alike()).unwrap();
    let shown = value(decode::<Alike>(&bytes).unwrap());
    assert_eq!(shown["wire_name"], json!(""));
    assert_eq!(shown["level"], json!("Low"));
    assert_eq!(shown["levels"], json!(["MIDDLE", -7]));
    assert_eq!(shown["access"], json!("Read Hidden"));
    assert_eq!(shown["bytes"], json!([0, 255]));
    assert_eq!(shown["maybe"], Value::Null);
    assert_eq!(shown["lasted"], json!(5));
    let ends = json!([
        { "x": 1.5, "level": "MIDDLE", "sure": true },
        { "x": -0.25, "level": 9, "sure": true },
    ]);
    assert_eq!(shown["segment"], json!({ "ends": ends, "ids": [1, -2, 3] }));
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
enum Thing {
    Leaf(Leaf),
    Text(String),
    #[message(rename = "segment")]
    Segment(Segment),
    #[message(unknown)]
    Unknown(u8),
}

/// What the JSON of the tool has otherwise.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Other {
    thing: Option<Thing>,
    nothing: Option<Thing>,
    things: Vec<Thing>,
    limits: HashMap<String, f64>,
    leaves: BTreeMap<i16, Leaf>,
    maybe: BTreeMap<String, Option<String>>,
    nested: Nested<Leaf>,
    absent: Option<Box<Leaf>>,
    list: Option<Vec<u8>>,
}

fn other() -> Other {
    let leaf = || Leaf { number: 1, text: "one".into() };
    Other {
        thing: Some(Thing::Leaf(leaf())),
        nothing: None,
        things: vec![Thing::Text("t".into()), Thing::Unknown(0), Thing::Segment(segment())],
        limits: HashMap::from([("b".into(), 2.0), ("a".into(), 1.0)]),
        leaves: BTreeMap::from([(-1, leaf())]),
        maybe: BTreeMap::from([("x".into(), None), ("y".into(), Some("z".into()))]),
        nested: Nested::from_bytes(vec![1, 2]),
        absent: None,
        list: None,
    }
}

#[test]
fn unions_are_tagged_and_maps_are_maps() {
    let bytes = encode(&other()).unwrap();
    let view = decode::<Other>(&bytes).unwrap();
    let leaf = json!({ "number": 1, "text": "one" });
    let shown = json!({
        "thing": { "Leaf": leaf },
        "nothing": null,
        "things": [{ "Text": "t" }, null, { "segment": value(view)["things"][2]["segment"] }],
        "limits": { "a": 1.0, "b": 2.0 },
        "leaves": { "-1": leaf },
        "maybe": { "x": null, "y": "z" },
        "nested": [1, 2],
        "absent": null,
        "list": null,
    });
    assert_eq!(value(view), shown);
    assert_eq!(value(view)["things"][2]["segment"]["ids"], json!([1, -2, 3]));
    assert_eq!(value(view.things()), shown["things"], "a part of a view is shown as in the whole");
    assert_eq!(value(view.limits()), shown["limits"]);
    assert_eq!(value(view.maybe()), shown["maybe"]);
    assert_eq!(value(view.nested()), shown["nested"]);
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
enum Newer {
    Leaf(Leaf),
    #[message(id = 9)]
    More(String),
    #[message(unknown)]
    Unknown(u8),
}

#[derive(Message)]
#[message(namespace = "demo", name = "Holder")]
struct NewerHolder {
    thing: Newer,
    things: Vec<Newer>,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Holder {
    thing: Option<Thing>,
    things: Vec<Thing>,
}

#[test]
fn unknown_members_are_numbers() {
    let more = || Newer::More("m".into());
    let bytes = encode(&NewerHolder { thing: more(), things: vec![Newer::Leaf(Leaf::default()), more()] });
    let bytes = bytes.unwrap();
    let leaf = json!({ "Leaf": { "number": 0, "text": "" } });
    assert_eq!(value(decode::<Holder>(&bytes).unwrap()), json!({ "thing": 9, "things": [leaf, 9] }));
}

/// The accessors say what absent fields are, and so does serde.
#[test]
fn absent_fields_are_what_accessors_give() {
    #[derive(Message)]
    #[message(namespace = "demo", name = "Absent")]
    struct Nothing {}

    #[derive(Message)]
    #[message(namespace = "demo")]
    struct Absent {
        #[message(default = -3)]
        number: i16,
        text: String,
        list: Vec<Leaf>,
        leaf: Leaf,
        point: Point,
        map: BTreeMap<String, u8>,
        maybe: Option<Leaf>,
        #[message(deprecated)]
        old: u8,
        #[message(default = Level::High)]
        level: Level,
        nested: Nested<Leaf>,
    }

    let bytes = encode(&Nothing {}).unwrap();
    let shown = json!({
        "number": -3,
        "text": "",
        "list": [],
        "leaf": { "number": 0, "text": "" },
        "point": { "x": 0.0, "level": "MIDDLE", "sure": false },
        "map": {},
        "maybe": null,
        "level": "High",
        "nested": [],
    });
    assert_eq!(value(decode::<Absent>(&bytes).unwrap()), shown);
}

#[test]
fn flags_without_names_are_numbers() {
    assert_eq!(value(Flags::<Access>::empty()), json!(0));
    assert_eq!(value(Flags::<Access>::from_bits(1)), json!("Read"));
    assert_eq!(value(Flags::<Access>::from_bits(0x8002)), json!("Write Hidden"));
    assert_eq!(value(Flags::<Access>::from_bits(5)), json!(5));
    assert_eq!(value(Open::<Level>::from_number(-1)), json!("Low"));
    assert_eq!(value(Open::<Level>::from_number(-2)), json!(-2));
}

/// A message may borrow, and its view serializes.
#[test]
fn borrowed_messages_serialize() {
    #[derive(Message)]
    #[message(namespace = "demo")]
    struct Iq<'a> {
        samples: &'a [f32],
        label: &'a str,
    }

    let bytes = encode(&Iq { samples: &[0.5, 1.5], label: "iq" }).unwrap();
    let view = decode::<Iq<'static>>(&bytes).unwrap();
    assert_eq!(value(view), json!({ "samples": [0.5, 1.5], "label": "iq" }));
}
