//! Schemas that other tools stumbled over, in `cases/`: what is generated from them compiles and holds what the
//! schema says.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::{
    fs,
    mem::{offset_of, size_of},
    path::Path,
    process::Command,
};

use msg_runtime::{AlignedBuffer, Encode, FromView, Message, decode, encode};
use msg_tests::tools::{Folder, flatc, run};

/// Generated from the cases.
pub mod cases {
    include!(concat!(env!("OUT_DIR"), "/cases/msg_schemas.rs"));
}

/// A value that has been sent and received.
fn sent<M: FromView + Encode<Message = M>>(value: &M) -> M {
    M::from_view(decode::<M>(&encode(value).unwrap()).unwrap())
}

/// A value that has been sent, read by Google's compiler, shown as JSON, written by it, and received; and the JSON.
fn through_flatc<M: FromView + Encode<Message = M>>(schema: &str, value: &M) -> (M, String) {
    let folder = Folder::new();
    let schema = Path::new("cases").join(schema).canonicalize().unwrap();
    let data = folder.write("data.bin", encode(value).unwrap());
    let tool = |options: &[&str], inputs: &[&Path]| {
        run(Command::new(flatc()).args(options).arg("-o").arg(folder.path()).arg(&schema).args(inputs));
    };
    tool(&["--json", "--strict-json", "--natural-utf8", "--raw-binary"], &[Path::new("--"), &data]);
    let json = folder.path().join("data.json");
    fs::remove_file(&data).unwrap();
    tool(&["-b"], &[&json]);
    let json = fs::read_to_string(json).unwrap();
    let bytes = AlignedBuffer::copy_of(&fs::read(data).unwrap());
    let again = M::from_view(decode::<M>(&bytes).unwrap());
    (again, json.split_whitespace().collect())
}

#[test]
fn two_files_share_a_namespace() {
    use cases::plant::shared::{Origin, Reading, Stamp};
    let at = Some(Stamp::new(1, 2));
    let reading = Reading { origin: Some(Origin { site: Some("roof".into()), at }), at, value: 0.5 };
    assert_eq!(sent(&reading), reading);
    assert_eq!(Reading::TYPE_NAME, "plant.shared.Reading");
}

#[test]
fn an_empty_namespace_is_the_root() {
    use cases::{Area, Box2, geo::P};
    let lo = P::new(1, 2);
    let area = Area { b: Some(Box2 { lo, hi: P { x: 3, ..lo } }) };
    assert_eq!(sent(&area), area);
    assert_eq!((Area::TYPE_NAME, size_of::<P>(), size_of::<Box2>()), ("Area", 8, 16));
}

#[test]
fn defaults_are_exact() {
    use cases::opt::{E, T};
    let value = T::default();
    assert_eq!((value.a, value.b, value.c), (None, None, None));
    assert_eq!(value.d, E::Two);
    assert!(value.e.is_nan());
    assert_eq!((value.f, value.g, value.h), (f32::NEG_INFINITY, i64::MIN, u64::MAX));
    let bytes = encode(&value).unwrap();
    let view = decode::<T>(&bytes).unwrap();
    assert_eq!((view.g(), view.h(), view.f()), (i64::MIN, u64::MAX, f32::NEG_INFINITY));
    assert!(view.e().is_nan() && view.d() == E::Two && view.c().is_none());
    let set = T { a: Some(0), b: Some(false), c: Some(E::One.into()), e: 0.0, ..T::default() };
    assert_eq!(sent(&set), set);
}

#[test]
fn structs_are_laid_out_as_in_flatbuffers() {
    use cases::clock::{Kind, Log, Moment, Span};
    assert_eq!((size_of::<Moment>(), size_of::<Span>()), (16, 48));
    let offsets =
        [offset_of!(Span, kind), offset_of!(Span, from), offset_of!(Span, flag), offset_of!(Span, to)];
    assert_eq!((offsets, offset_of!(Span, scale)), ([0, 4, 20, 24], 40));
    let moment = Moment::new(2026, 3, 4, 5);
    let span = Span::new(Kind::Closed.into(), moment, true, moment, 0.25);
    let log = Log { span: Some(span), spans: vec![span, Span::default()] };
    assert_eq!(sent(&log), log);
}

#[test]
fn arrays_have_any_length() {
    use cases::img::{Frame, Level, Pair, Tile};
    let mut tile = Tile::default();
    assert!(tile.px == [0; 64] && tile.lv.iter().all(|level| *level == Level::Low));
    (tile.px[63], tile.w[39], tile.lv[32], tile.ok[47]) = (9, 0.5, Level::High.into(), true);
    tile.pairs[35] = Pair::new(-1, 7);
    let frame = Frame { tile: Some(tile) };
    assert_eq!(sent(&frame), frame);
}

#[test]
fn keys_are_required_and_fields_like_others() {
    use cases::dict::{Book, Gauge, Page, Slot, Word};
    let book = Book {
        words: vec![Word { text: "a".into(), freq: 1 }],
        pages: vec![Page { number: 2 }],
        gauges: vec![Gauge { level: -0.5, unit: None }],
        slots: vec![Slot::new(3, 4)],
    };
    assert_eq!(sent(&book), book);
}

#[test]
fn elements_are_found_by_their_keys() {
    use cases::dict::{Book, Gauge, Page, Slot, Word};
    let word = |(text, freq): (&str, u32)| Word { text: text.into(), freq };
    let book = Book {
        words: [("a", 1), ("ab", 2), ("b", 3)].map(word).into(),
        pages: [1, 7, u32::MAX].map(|number| Page { number }).into(),
        gauges: [f32::NEG_INFINITY, -0.0, 0.0, 2.5].map(|level| Gauge { level, unit: None }).into(),
        slots: [1, 3, u64::MAX].map(|id| Slot::new(id, 9)).into(),
    };
    let bytes = encode(&book).unwrap();
    let view = decode::<Book>(&bytes).unwrap();
    assert_eq!(view.words().get_by_key("ab").map(|word| word.freq()), Some(2));
    assert!(view.words().get_by_key("c").is_none());
    assert_eq!(view.pages().get_by_key(7).map(|page| page.number()), Some(7));
    assert!(view.pages().get_by_key(8).is_none());
    assert_eq!(view.gauges().get_by_key(2.5).map(|gauge| gauge.level()), Some(2.5));
    // Floats are in their total order, in which the two zeros differ.
    assert_eq!(
        view.gauges().get_by_key(-0.0).map(|gauge| gauge.level().to_bits()),
        Some((-0.0_f32).to_bits())
    );
    let slots = view.slots();
    assert_eq!(slots.binary_search_by_key(&3, |slot| slot.id), Ok(1));
}

#[test]
fn flags_combine_and_the_identifier_is_written() {
    use cases::dev::{Cap, Dev, Mac};
    let value = Dev::default();
    assert_eq!((value.caps.bits(), value.all.bits()), (1, 3));
    let mut mac = Mac::default();
    (mac.oct, mac.caps) = ([1, 2, 3, 4, 5, 6], Cap::Seek.into());
    let dev = Dev { mac: Some(mac), all: value.caps | Cap::Seek, ..value };
    assert_eq!(sent(&dev), dev);
    assert_eq!(dev.all.bits(), 0x201);
    assert_eq!(&encode(&dev).unwrap()[4..8], b"DEV1");
    assert_eq!((Dev::FILE_IDENTIFIER, Dev::FILE_EXTENSION), (Some("DEV1"), "dev"));
}

#[test]
fn a_required_string_and_a_namespace_of_three_parts() {
    use cases::lab::bench::rig::Note;
    let note = Note { text: "hello".into(), tags: vec!["a".into(), "b".into()] };
    assert_eq!(sent(&note), note);
    assert_eq!(Note::TYPE_NAME, "lab.bench.rig.Note");
}

#[test]
fn a_union_holds_tables_structs_and_strings() {
    use cases::wire::{Blob, Cell, CellView, Point, Value, ValueView};
    for (value, json) in [
        (Value::Point(Point { x: 1.5, y: -2.0 }), r#"{"value_type":"Point","value":{"x":1.5,"y":-2.0}}"#),
        (Value::text("é".into()), r#"{"value_type":"text","value":"é"}"#),
        (Value::Blob(Blob { data: vec![1, 2] }), r#"{"value_type":"Blob","value":{"data":[1,2]}}"#),
    ] {
        let cell = Cell { value: Some(value) };
        assert_eq!(sent(&cell), cell);
        assert_eq!(through_flatc("struct_and_string_in_union/mixed.fbs", &cell), (cell, json.to_owned()));
    }
    let bytes = encode(&Cell { value: Some(Value::text("a".into())) }).unwrap();
    let view: CellView<'_> = decode::<Cell>(&bytes).unwrap();
    assert!(matches!(view.value(), Some(ValueView::text("a"))));
    assert_eq!(sent(&Cell::default()), Cell { value: None });
}

#[test]
fn a_vector_of_unions_comes_back() {
    use cases::wire::{Batch, Packet, Ping, Pong};
    let packets = vec![
        Packet::Pong(Pong { seq: 1, rtt_us: 20 }),
        Packet::Ping(Ping { seq: 2 }),
        Packet::Ping(Ping { seq: 3 }),
    ];
    let batch = Batch { packets };
    assert_eq!(sent(&batch), batch);
    let (again, json) = through_flatc("vector_of_unions/packets.fbs", &batch);
    assert_eq!(again, batch);
    let shown =
        r#"{"packets_type":["Pong","Ping","Ping"],"packets":[{"seq":1,"rtt_us":20},{"seq":2},{"seq":3}]}"#;
    assert_eq!(json, shown);
}

#[test]
fn fields_and_unions_may_be_called_like_keywords() {
    use cases::store::{Item, Tool, Type};
    let item = Item { r#type: Some(Type::Tool(Tool { watts: 5 })), r#match: 2, r#ref: Some("a".into()) };
    assert_eq!(sent(&item), item);
    let (again, json) = through_flatc("union_field_named_type/typed.fbs", &item);
    assert_eq!(again, item);
    assert_eq!(json, r#"{"type_type":"Tool","type":{"watts":5},"match":2,"ref":"a"}"#);
}

/// What a newer sender has: a member and an enumerator more.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "fut", name = "Plant")]
enum NewerPlant {
    Leaf(cases::fut::Leaf),
    Stem(cases::fut::Leaf),
    #[message(unknown)]
    Unknown(u8),
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "fut", name = "Msg")]
struct NewerMsg {
    hue: i8,
    plant: Option<NewerPlant>,
}

#[test]
fn values_of_a_newer_sender_survive_as_numbers() {
    use cases::fut::{Hue, Leaf, Msg, Plant, PlantView};
    let known = Msg { hue: Hue::Green.into(), plant: Some(Plant::Leaf(Leaf { n: 1 })) };
    assert_eq!(sent(&known), known);
    let newer = NewerMsg { hue: 77, plant: Some(NewerPlant::Stem(Leaf { n: 1 })) };
    let bytes = encode(&newer).unwrap();
    let view = decode::<Msg>(&bytes).unwrap();
    assert!(matches!(view.plant(), Some(PlantView::Unknown(2))));
    let received = Msg::from_view(view);
    assert_eq!((received.hue.number(), &received.plant), (77, &Some(Plant::Unknown(2))));
    // The enum goes on as its number; the member's bytes are not known, so it does not.
    let passed_on = sent(&received);
    assert_eq!((passed_on.hue.number(), passed_on.plant), (77, None));
}

#[test]
fn types_that_nobody_uses_are_no_warning() {
    // That this file compiles is the test: nothing else names these types.
    assert_eq!(size_of::<cases::Lone>(), 1);
}
