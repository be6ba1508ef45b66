//! The binary schema of a derived type against flatc's for the same schema text.

use msg_runtime::{Flags, Message, Open, Padding};
use msg_schema::Schema;
use msg_tests::{
    schemas::assert_same,
    tools::{flatc_schema, flatc_schema_of, schema_path},
};

#[track_caller]
fn check<M: Message>(text: &str) {
    let ours = Schema::from_bytes(M::schema()).expect("our schema can be read");
    let theirs = flatc_schema_of(text);
    assert_same(&ours, &theirs);
    assert_eq!(M::fingerprint(), theirs.fingerprint());
}

/// A person.
///
/// Second paragraph.
#[derive(Message)]
#[message(namespace = "demo.deep", identifier = "PERS", extension = "prs", attribute(unit = "m", checked))]
struct Everything {
    /// First.
    byte: i8,
    ubyte: u8,
    #[message(default = -7)]
    short: i16,
    #[message(deprecated)]
    ushort: u16,
    #[message(default = 2147483647, attribute(unit = "rad"))]
    int: i32,
    uint: Option<u32>,
    #[message(default = -9223372036854775808)]
    long: i64,
    #[message(default = 9223372036854775807)]
    ulong: u64,
    #[message(default = 1.25)]
    float: f32,
    #[message(default = f64::NEG_INFINITY)]
    double: f64,
    #[message(default = true)]
    flag: bool,
    maybe_flag: Option<bool>,
    name: String,
    nickname: Option<String>,
    #[message(required)]
    label: String,
    numbers: Vec<u16>,
    names: Option<Vec<String>>,
    flags: Vec<bool>,
    color: Color,
    #[message(default = Color::Blue)]
    open: Open<Color>,
    maybe: Option<Open<Color>>,
    #[message(default = 3)]
    access: Flags<Access>,
    no_access: Flags<Access>,
    colors: Vec<Color>,
    accesses: Vec<Flags<Access>>,
    #[message(rename = "type")]
    kind: u8,
    pose: Pose,
    maybe_pose: Option<Pose>,
    poses: Vec<Pose>,
    #[message(required)]
    word: Word,
    words: Vec<Word>,
    next: Option<Box<Everything>>,
}

const EVERYTHING: &str = r#"
attribute "unit"; attribute "checked";
namespace demo.deep;

/// What it looks like.
enum Color : ubyte {
  /// Warm.
  Red, Green = 5, Blue }
enum Access : ushort (bit_flags) { Read, Write, Seek = 9 }
enum Wide : long { Low = -9223372036854775808, Zero = 0, High = 9223372036854775807 }

struct Inner (force_align: 8) { a: short; b: ubyte; c: [Color:3]; }

/// Where.
struct Pose {
  /// Metres.
  at: [double:3];
  mode: Color (unit: "none");
  stamp: ulong (key);
  inner: [Inner:2];
  wide: Wide;
  ok: bool;
}
table Word { text: string (key); freq: uint; }

/// A person.
///
/// Second paragraph.
table Everything (unit: "m", checked) {
  /// First.
  byte: byte;
  ubyte: ubyte;
  short: short = -7;
  ushort: ushort (deprecated);
  int: int = 2147483647 (unit: "rad");
  uint: uint = null;
  long: long = -9223372036854775808;
  ulong: ulong = 9223372036854775807;
  float: float = 1.25;
  double: double = -inf;
  flag: bool = true;
  maybe_flag: bool = null;
  name: string;
  nickname: string;
  label: string (required);
  numbers: [ushort];
  names: [string];
  flags: [bool];
  color: Color;
  open: Color = Blue;
  maybe: Color = null;
  access: Access = "Read Write";
  no_access: Access;
  colors: [Color];
  accesses: [Access];
  type: ubyte;
  pose: Pose;
  maybe_pose: Pose;
  poses: [Pose];
  word: Word (required);
  words: [Word];
  next: Everything;
}
root_type Everything;
file_identifier "PERS";
file_extension "prs";
"#;

/// What it looks like.
#[derive(Message, Clone, Copy)]
#[message(namespace = "demo.deep")]
#[repr(u8)]
enum Color {
    /// Warm.
    Red,
    Green = 5,
    Blue,
}

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo.deep", bit_flags)]
#[repr(u16)]
enum Access {
    Read = 1,
    Write = 2,
    Seek = 1 << 9,
}

// Out of order: the schema sorts by number.
#[derive(Message, Clone, Copy)]
#[message(namespace = "demo.deep")]
#[repr(i64)]
enum Wide {
    High = i64::MAX,
    Low = i64::MIN,
    Zero = 0,
}

/// Where.
#[derive(Message, Clone, Copy)]
#[message(namespace = "demo.deep", plain)]
#[repr(C)]
struct Pose {
    /// Metres.
    at: [f64; 3],
    #[message(attribute(unit = "none"))]
    mode: Open<Color>,
    padding0: Padding<7>,
    #[message(key)]
    stamp: u64,
    inner: [Inner; 2],
    wide: Wide,
    ok: bool,
    padding1: Padding<7>,
}

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo.deep", plain)]
#[repr(C, align(8))]
struct Inner {
    a: i16,
    b: u8,
    c: [Color; 3],
    padding: Padding<2>,
}

#[derive(Message)]
#[message(namespace = "demo.deep")]
struct Word {
    #[message(key)]
    text: String,
    freq: u32,
}

#[test]
fn a_table_of_everything() {
    check::<Everything>(EVERYTHING);
}

#[derive(Message)]
#[message(namespace = "")]
struct Area {
    #[message(id = 1)]
    second: u8,
    #[message(id = 0)]
    first: Box2,
}

#[derive(Message, Clone, Copy)]
#[message(namespace = "", plain, name = "Box")]
#[repr(C)]
struct Box2 {
    lo: P,
    hi: P,
}

#[derive(Message, Clone, Copy)]
#[message(namespace = "geo", plain)]
#[repr(C)]
struct P {
    x: u8,
    padding: Padding<3>,
    y: i32,
}

#[derive(Message, Clone, Copy)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Cell {
    x: i16,
    #[message(key)]
    y: i16,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Place {
    #[message(key)]
    cell: Cell,
    access: u8,
}

#[test]
fn a_small_struct_may_be_a_key() {
    check::<Place>(
        "namespace demo; struct Cell { x: short; y: short (key); }
         table Place { cell: Cell (key); access: ubyte; } root_type Place;",
    );
}

#[test]
fn ids_and_the_root_namespace() {
    check::<Area>(
        "namespace geo; struct P { x: ubyte; y: int; }
         namespace; struct Box { lo: geo.P; hi: geo.P; }
         table Area { second: ubyte (id: 1); first: Box (id: 0); } root_type Area;",
    );
}

#[derive(Message)]
#[message(namespace = "msg_tests")]
struct Person {
    id: i32,
    name: Option<String>,
    email: Option<String>,
}

#[test]
fn the_person_of_the_schema_file() {
    let theirs = flatc_schema(&schema_path("person.fbs"));
    assert_eq!(Person::fingerprint(), theirs.fingerprint());
}

#[derive(Message)]
#[message(namespace = "other")]
struct Renamed {
    id: i32,
    name: Option<String>,
    email: String,
}

#[derive(Message)]
#[message(namespace = "msg_tests", name = "Person")]
struct Changed {
    id: u32,
    name: Option<String>,
    email: Option<String>,
}

#[test]
fn the_fingerprint_is_of_the_contents_and_not_of_the_name() {
    assert_eq!(Renamed::fingerprint(), Person::fingerprint());
    assert_ne!(Changed::fingerprint(), Person::fingerprint());
}

#[test]
fn the_schema_is_made_once() {
    assert_eq!(Person::schema().as_ptr(), Person::schema().as_ptr());
}
