//! Maps, lookup by key, times, and messages inside messages.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use msg_runtime::{Message, Nested, Open, Padding, decode, encode, error::Invalid};
use msg_schema::Schema;
use msg_tests::{random::Random, schemas::assert_same, tools::flatc_schema_of};

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Leaf {
    name: String,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
enum Thing {
    Leaf(Leaf),
    Text(String),
    #[message(unknown)]
    Unknown(u8),
}

#[derive(Message, Clone, Debug, PartialEq, Default)]
#[message(namespace = "demo")]
struct Maps {
    limits: HashMap<String, f64>,
    by_number: BTreeMap<i32, Leaf>,
    things: BTreeMap<u8, Thing>,
    maybe: Option<HashMap<u64, Vec<f32>>>,
    nested: BTreeMap<String, BTreeMap<i8, bool>>,
    optional: BTreeMap<u16, Option<String>>,
}

fn maps() -> Maps {
    let leaf = |name: &str| Leaf { name: name.into() };
    Maps {
        limits: [("b", 2.0), ("a", 1.0), ("ab", -0.5)].map(|(key, value)| (key.into(), value)).into(),
        by_number: [(3, leaf("three")), (-1, leaf("minus")), (0, leaf(""))].into(),
        things: [(1, Thing::Text("t".into())), (2, Thing::Leaf(leaf("l"))), (9, Thing::Unknown(0))].into(),
        maybe: Some([(u64::MAX, vec![1.0, 2.0]), (0, vec![])].into()),
        nested: [("x".to_owned(), [(1, true), (-1, false)].into())].into(),
        optional: [(1, None), (2, Some("s".into()))].into(),
    }
}

#[test]
fn maps_come_back() {
    for maps in [Maps::default(), maps()] {
        let bytes = encode(&maps).unwrap();
        let view = decode::<Maps>(&bytes).unwrap();
        assert_eq!(view, maps);
        assert_eq!(encode(&view).unwrap()[..], bytes[..]);
    }
}

#[test]
fn views_of_maps_are_searched() {
    let bytes = encode(&maps()).unwrap();
    let view = decode::<Maps>(&bytes).unwrap();
    assert_eq!(view.limits().iter().collect::<Vec<_>>(), [("a", 1.0), ("ab", -0.5), ("b", 2.0)]);
    assert_eq!((view.limits().get("ab"), view.limits().get("c")), (Some(-0.5), None));
    assert_eq!(view.by_number().get(-1).map(|leaf| leaf.name()), Some("minus"));
    assert!(matches!(view.things().get(1), Some(ThingView::Text("t"))));
    assert_eq!(view.maybe().unwrap().get(u64::MAX), Some(&[1.0, 2.0][..]));
    assert_eq!(view.nested().get("x").unwrap().get(-1), Some(false));
    assert_eq!(view.optional().get(1), Some(None));
    assert_eq!((view.limits().len(), view.limits().is_empty()), (3, false));
    assert_eq!(format!("{:?}", view.limits()), r#"{"a": 1.0, "ab": -0.5, "b": 2.0}"#);
}

#[test]
fn a_map_equals_the_vector_that_other_languages_use() {
    let theirs = flatc_schema_of(
        "namespace demo;
         table Leaf { name: string; }
         union Thing { Leaf, Text: string }
         table MapsLimitsEntry { key: string (key); value: double; }
         table MapsByNumberEntry { key: int (key); value: Leaf; }
         table MapsThingsEntry { key: ubyte (key); value: Thing; }
         table MapsMaybeEntry { key: ulong (key); value: [float]; }
         table MapsNestedEntryValueEntry { key: byte (key); value: bool; }
         table MapsNestedEntry { key: string (key); value: [MapsNestedEntryValueEntry]; }
         table MapsOptionalEntry { key: ushort (key); value: string; }
         table Maps {
           limits: [MapsLimitsEntry]; by_number: [MapsByNumberEntry]; things: [MapsThingsEntry];
           maybe: [MapsMaybeEntry]; nested: [MapsNestedEntry]; optional: [MapsOptionalEntry]; }
         root_type Maps;",
    );
    assert_same(&Schema::from_bytes(Maps::schema()).unwrap(), &theirs);
}

macro_rules! keyed {
    ($test:ident $table:ident $holder:ident $key:ty, $keys:expr, $absent:expr) => {
        #[derive(Message, Clone, Debug, PartialEq)]
        #[message(namespace = "demo")]
        struct $table {
            before: u8,
            #[message(key)]
            key: $key,
        }

        #[derive(Message, Clone, Debug, PartialEq)]
        #[message(namespace = "demo")]
        struct $holder {
            all: Vec<$table>,
        }

        #[test]
        fn $test() {
            // In the order of the keys.
            let keys = $keys;
            let all = keys.iter().cloned().map(|key| $table { before: 1, key }).collect();
            let bytes = encode(&$holder { all }).unwrap();
            let view = decode::<$holder>(&bytes).unwrap();
            for at in 0..keys.len() {
                let wanted = view.all().get(at).unwrap().key();
                let found = view.all().get_by_key(wanted).map(|element| element.key());
                assert_eq!(found, Some(wanted));
            }
            assert!(view.all().get_by_key($absent).is_none());
        }
    };
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo")]
#[repr(i8)]
enum Level {
    Low = -5,
    Middle = 0,
    High = 3,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Cell {
    x: i16,
    #[message(key)]
    y: i16,
}

keyed!(strings_are_found Word Words String, ["", "a", "ab", "b", "é"].map(String::from), "c");
keyed!(integers_are_found Number Numbers i64, [i64::MIN, -1, 0, 5, i64::MAX], 4);
keyed!(floats_are_found Real Reals f64, [f64::NEG_INFINITY, -0.0, 0.0, 1.5, f64::INFINITY], 1.0);
keyed!(enums_are_found Leveled Levels Level, [Level::Low, Level::High], Level::Middle);
keyed!(open_enums_are_found Opened Opens Open<Level>, [Open::from_number(-9), Open::from(Level::High)],
    Open::from(Level::Low));
keyed!(structs_are_found Celled Cells Cell, [Cell { x: 9, y: -1 }, Cell { x: 0, y: 4 }], &Cell { x: 9, y: 4 + 1 });
keyed!(durations_are_found Lap Laps Duration, [Duration::ZERO, Duration::from_nanos(7)], Duration::from_secs(1));

#[test]
fn a_search_among_many_finds_each() {
    let mut random = Random::new(7);
    let mut keys: Vec<i64> = (0..1000).map(|_| random.next_u64() as i64).collect();
    keys.sort_unstable();
    let all = keys.iter().map(|key| Number { before: 0, key: *key }).collect();
    let bytes = encode(&Numbers { all }).unwrap();
    let view = decode::<Numbers>(&bytes).unwrap();
    assert!(keys.iter().all(|key| view.all().get_by_key(*key).map(|found| found.key()) == Some(*key)));
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Times {
    timeout: Duration,
    at: SystemTime,
    maybe: Option<SystemTime>,
    laps: Vec<Duration>,
}

fn times(at: SystemTime) -> Times {
    Times {
        timeout: Duration::new(1, 5),
        at,
        maybe: Some(at),
        laps: vec![Duration::ZERO, Duration::from_nanos(u64::MAX)],
    }
}

#[test]
fn times_are_nanoseconds() {
    let second = Duration::from_secs(1);
    for at in [UNIX_EPOCH, UNIX_EPOCH + Duration::from_nanos(i64::MAX as u64), UNIX_EPOCH - second] {
        let bytes = encode(&times(at)).unwrap();
        let view = decode::<Times>(&bytes).unwrap();
        assert_eq!((view.timeout(), view.at()), (Duration::new(1, 5), at));
        assert_eq!(view, times(at));
    }
    let theirs = flatc_schema_of(
        "namespace demo; table Times { timeout: ulong; at: long; maybe: long = null; laps: [ulong]; } root_type Times;",
    );
    assert_same(&Schema::from_bytes(Times::schema()).unwrap(), &theirs);
}

#[test]
fn times_out_of_reach_are_the_nearest() {
    let far = UNIX_EPOCH + Duration::from_secs(1 << 40);
    let bytes = encode(&Times { timeout: Duration::MAX, ..times(far) }).unwrap();
    let view = decode::<Times>(&bytes).unwrap();
    assert_eq!(view.timeout(), Duration::from_nanos(u64::MAX));
    assert_eq!(view.at(), UNIX_EPOCH + Duration::from_nanos(i64::MAX as u64));
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Pose {
    x: f64,
    ok: bool,
    padding: Padding<7>,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Envelope {
    before: u8,
    leaf: Nested<Leaf>,
    pose: Option<Nested<Pose>>,
}

#[test]
fn a_nested_message_is_verified_when_it_is_looked_at() {
    let pose = Pose { x: 1.5, ok: true, padding: Padding::default() };
    let leaf = Leaf { name: "oak".into() };
    let envelope =
        Envelope { before: 1, leaf: Nested::new(&leaf).unwrap(), pose: Some(Nested::new(&pose).unwrap()) };
    let bytes = encode(&envelope).unwrap();
    let view = decode::<Envelope>(&bytes).unwrap();
    assert_eq!(view.leaf().view().unwrap(), leaf);
    assert_eq!(view.pose().unwrap().view(), Ok(&pose));
    assert_eq!(view, envelope);
    assert_eq!(encode(&view).unwrap()[..], bytes[..]);

    let damaged = Envelope { leaf: Nested::from_bytes(vec![9; 12]), pose: None, ..envelope };
    let bytes = encode(&damaged).unwrap();
    let view = decode::<Envelope>(&bytes).unwrap();
    assert_eq!(view.leaf().view().unwrap_err(), Invalid::OutOfRange);
    assert_eq!(view.leaf().bytes(), [9; 12]);
}

#[test]
fn a_nested_message_is_named_in_the_schema() {
    let theirs = flatc_schema_of(
        r#"namespace demo; table Leaf { name: string; } table Pose { x: double; }
           table Envelope {
             before: ubyte; leaf: [ubyte] (nested_flatbuffer: "demo.Leaf");
             pose: [ubyte] (nested_flatbuffer: "demo.Pose"); }
           root_type Envelope;"#,
    );
    assert_same(&Schema::from_bytes(Envelope::schema()).unwrap(), &theirs);
}
