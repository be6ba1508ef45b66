//! What views can do besides giving fields: be sent on, be fields themselves, be compared with the owned type.

use msg_runtime::{AlignedBuffer, Flags, Message, Open, Padding, decode, encode};

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo")]
#[repr(u8)]
enum Color {
    Red,
    Green,
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
enum Thing {
    Item(Box<Item>),
    Text(String),
    Pose(Pose),
    #[message(unknown)]
    Unknown(u8),
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo", identifier = "ITEM")]
struct Item {
    #[message(default = 7)]
    number: i32,
    maybe: Option<u64>,
    flag: bool,
    flags: Vec<bool>,
    color: Color,
    colors: Vec<Color>,
    open: Open<Color>,
    opens: Vec<Open<Color>>,
    set: Flags<Color>,
    name: String,
    names: Vec<String>,
    label: Option<String>,
    numbers: Vec<u16>,
    array: [f32; 3],
    pose: Pose,
    maybe_pose: Option<Pose>,
    poses: Vec<Pose>,
    thing: Thing,
    maybe_thing: Option<Thing>,
    things: Vec<Thing>,
    next: Option<Box<Item>>,
    items: Vec<Item>,
}

fn empty() -> Item {
    Item {
        number: 0,
        maybe: None,
        flag: false,
        flags: vec![],
        color: Color::Red,
        colors: vec![],
        open: Color::Red.into(),
        opens: vec![],
        set: Flags::empty(),
        name: String::new(),
        names: vec![],
        label: None,
        numbers: vec![],
        array: [0.0; 3],
        pose: Pose { x: 0.0, ok: false, padding: Padding::default() },
        maybe_pose: None,
        poses: vec![],
        thing: Thing::Unknown(0),
        maybe_thing: None,
        things: vec![],
        next: None,
        items: vec![],
    }
}

fn full() -> Item {
    let pose = Pose { x: -1.5, ok: true, padding: Padding::default() };
    Item {
        number: -3,
        maybe: Some(u64::MAX),
        flag: true,
        flags: vec![true, false],
        color: Color::Green,
        colors: vec![Color::Green, Color::Red],
        open: Open::from_number(200),
        opens: vec![Open::from_number(201), Color::Red.into()],
        set: Flags::from_bits(0xff),
        name: "é".into(),
        names: vec!["a".into(), String::new()],
        label: Some("l".into()),
        numbers: vec![1, 2, u16::MAX],
        array: [1.0, -2.0, 0.5],
        pose,
        maybe_pose: Some(pose),
        poses: vec![pose; 2],
        thing: Thing::Pose(pose),
        maybe_thing: Some(Thing::Item(Box::new(empty()))),
        things: vec![Thing::Text("t".into()), Thing::Unknown(0), Thing::Pose(pose)],
        next: Some(Box::new(empty())),
        items: vec![empty(), Item { label: Some("x".into()), ..empty() }],
    }
}

#[test]
fn a_view_is_sent_on_as_the_same_bytes() {
    for item in [empty(), full(), Item { next: Some(Box::new(full())), ..full() }] {
        let bytes = encode(&item).unwrap();
        let view = decode::<Item>(&bytes).unwrap();
        assert_eq!(encode(&view).unwrap()[..], bytes[..]);
    }
}

#[test]
fn a_view_inside_another_is_sent_by_itself() {
    let bytes = encode(&Item { next: Some(Box::new(full())), ..empty() }).unwrap();
    let next = decode::<Item>(&bytes).unwrap().next().unwrap();
    let sent = encode(&next).unwrap();
    assert_eq!(decode::<Item>(&sent).unwrap(), full());
}

/// A message that sends on what was received, beside more.
#[derive(Message)]
#[message(namespace = "demo")]
struct Batch<'a> {
    first: ItemView<'a>,
    all: Vec<ItemView<'a>>,
}

#[test]
fn a_view_is_a_field() {
    let bytes = encode(&full()).unwrap();
    let view = decode::<Item>(&bytes).unwrap();
    let batch = encode(&Batch { first: view, all: vec![view, view] }).unwrap();
    let batch = decode::<Batch<'static>>(&batch).unwrap();
    assert_eq!(batch.first(), full());
    assert_eq!(batch.all().get(1).unwrap(), full());
}

#[test]
fn views_compare_with_the_owned_type() {
    let bytes = encode(&full()).unwrap();
    let view = decode::<Item>(&bytes).unwrap();
    assert_eq!(view, full());
    assert_ne!(view, Item { numbers: vec![1, 2], ..full() });
    assert_ne!(view, Item { maybe_thing: None, ..full() });
    assert_eq!(view.thing(), full().thing);
    assert_ne!(view.thing(), Thing::Unknown(1));
}

/// The union and the message of a newer sender.
#[derive(Message)]
#[message(namespace = "demo", name = "Thing")]
enum Newer {
    #[message(id = 9)]
    More(String),
    #[message(unknown)]
    #[allow(dead_code, reason = "it is received only")]
    Unknown(u8),
}

#[derive(Message)]
#[message(namespace = "demo", name = "Holder")]
struct NewerHolder {
    thing: Newer,
    things: Vec<Newer>,
    more: u8,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Holder {
    thing: Option<Thing>,
    things: Vec<Thing>,
}

#[test]
fn what_is_unknown_is_left_out() {
    let more = || Newer::More("m".into());
    let bytes = encode(&NewerHolder { thing: more(), things: vec![more()], more: 1 }).unwrap();
    let view = decode::<Holder>(&bytes).unwrap();
    assert!(matches!(view.thing(), Some(ThingView::Unknown(9))));
    let sent = encode(&view).unwrap();
    assert_eq!(decode::<Holder>(&sent).unwrap(), Holder { thing: None, things: vec![Thing::Unknown(0)] });
}

/// Absent fields stay absent.
#[test]
fn an_empty_table_is_sent_on() {
    #[derive(Message)]
    #[message(namespace = "demo", identifier = "ITEM", name = "Item")]
    struct Nothing {}

    let bytes = encode(&Nothing {}).unwrap();
    let view = decode::<Item>(&bytes).unwrap();
    assert_eq!(view, Item { number: 7, ..empty() });
    let sent: AlignedBuffer = encode(&view).unwrap();
    assert_eq!(decode::<Item>(&sent).unwrap(), Item { number: 7, ..empty() });
}
