//! Schemas that other tools stumbled over, in `cases/`: what is generated from them compiles and holds what the
//! schema says.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::mem::{offset_of, size_of};

use msg_runtime::{FromView, Message, decode, encode};

/// Generated from the cases without unions.
pub mod cases {
    include!(concat!(env!("OUT_DIR"), "/cases/msg_schemas.rs"));
}

/// A value that has been sent and received.
fn sent<M: FromView + msg_runtime::Encode<Message = M>>(value: &M) -> M {
    M::from_view(decode::<M>(&encode(value).unwrap()).unwrap())
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
fn types_that_nobody_uses_are_no_warning() {
    // That this file compiles is the test: nothing else names these types.
    assert_eq!(size_of::<cases::Lone>(), 1);
}
