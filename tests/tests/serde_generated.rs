//! `Config::serde(true)`: every generated type derives serde's traits, has the form of its view, and comes back.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::fmt::Debug;

use msg_runtime::{Encode, FromView, Message, Nested, decode, encode};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Generated from all schemas.
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/serde/msg_schemas.rs"));
}

use generated::msg_tests as schemas;

/// The JSON of a value, which is that of its view, and from which it comes back.
fn check<M>(value: &M) -> Value
where
    M: FromView + Encode<Message = M> + Serialize + DeserializeOwned + PartialEq + Debug,
    for<'view> M::View<'view>: Serialize,
{
    let json = serde_json::to_value(value).unwrap();
    let bytes = encode(value).unwrap();
    assert_eq!(serde_json::to_value(decode::<M>(&bytes).unwrap()).unwrap(), json);
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<M>(&text).unwrap(), value);
    json
}

/// An empty text is a message of defaults.
fn check_default<M>()
where
    M: FromView + Encode<Message = M> + Serialize + DeserializeOwned + PartialEq + Debug + Default,
    for<'view> M::View<'view>: Serialize,
{
    assert_eq!(serde_json::from_str::<M>("{}").unwrap(), M::default());
    check(&M::default());
}

#[test]
fn defaults_come_back() {
    check_default::<schemas::Person>();
    check_default::<schemas::enums::Paint>();
    check_default::<schemas::defaults::Texts>();
    check_default::<schemas::optional::Optional>();
    check_default::<schemas::vectors::Vectors>();
    check_default::<schemas::structs::Log>();
    check_default::<schemas::recursion::Node>();
    check_default::<schemas::documented::Documented>();
    check_default::<schemas::attributes::Motor>();
    check_default::<schemas::identifier::Recording>();
    check_default::<schemas::keywords::r#type::Self_>();
}

#[test]
fn enums_are_names_or_numbers() {
    use msg_runtime::Open;
    use schemas::enums::{Color, Paint};
    let paint = Paint { color: Open::from_number(77), ..Paint::default() };
    assert_eq!(check(&paint)["color"], 77);
    let named = Paint { color: Color::Green.into(), ..Paint::default() };
    assert_eq!(check(&named)["color"], "Green");
    let refused = serde_json::from_value::<Paint>(json!({"color": "Gren"})).unwrap_err().to_string();
    assert!(refused.contains("`msg_tests.enums.Color` has no `Gren`"), "{refused}");
    let outside = serde_json::from_value::<Paint>(json!({"color": 1_000_000})).unwrap_err().to_string();
    assert!(outside.contains("1000000 is no number of `msg_tests.enums.Color`"), "{outside}");
    let access = Paint::default().access;
    assert_eq!(serde_json::from_value::<Paint>(json!({"access": access.bits()})).unwrap().access, access);
}

#[test]
fn unions_are_tagged_by_their_members() {
    use schemas::unions::{Drawing, Shape, Square, shapes::Point};
    let shapes = vec![
        Shape::Label("é".into()),
        Shape::Spot(Point { x: 0.5, y: -0.5 }),
        Shape::Large(Square { side: 1.0 }),
    ];
    let json = check(&Drawing { shape: Some(Shape::Label("a".into())), shapes, ..Drawing::default() });
    assert_eq!(json["shape"], json!({"Label": "a"}));
    assert_eq!(json["shapes"][1], json!({"Spot": {"x": 0.5, "y": -0.5}}));
    // A member of a newer sender is its number.
    let unknown: Drawing = serde_json::from_value(json!({"shape": 200})).unwrap();
    assert_eq!(unknown.shape, Some(Shape::Unknown(200)));
    assert_eq!(serde_json::to_value(&unknown).unwrap()["shape"], 200);
}

#[test]
fn structs_have_no_padding_and_arrays_any_length() {
    use generated::img::{Frame, Level, Pair, Tile};
    let mut tile = Tile::default();
    (tile.px[63], tile.lv[32], tile.pairs[35]) = (9, Level::High.into(), Pair::new(-1, 7));
    let frame = Frame { tile: Some(tile) };
    let json = check(&frame);
    assert_eq!((&json["tile"]["px"][63], &json["tile"]["lv"][32]), (&json!(9), &json!("High")));
    assert!(!json.to_string().contains("padding"), "{json}");
    let mut short = json;
    short["tile"]["px"].as_array_mut().unwrap().pop();
    let refused = serde_json::from_value::<Frame>(short).unwrap_err().to_string();
    assert!(refused.contains("found 63 elements, expected 64"), "{refused}");
}

#[test]
fn nested_messages_are_their_bytes() {
    use schemas::nested::{Envelope, Letter, inner::Pose};
    let letter = Letter { text: Some("hello".into()) };
    let envelope = Envelope {
        letter: Some(Nested::new(&letter).unwrap()),
        must: Nested::new(&Pose::new(1.5, true)).unwrap(),
        ..Envelope::default()
    };
    let json = check(&envelope);
    assert_eq!(json["must"].as_array().unwrap().len(), encode(&Pose::default()).unwrap().len());
}

#[test]
fn names_are_those_of_the_schema() {
    use generated::store::{Item, Tool, Type};
    let item = Item { r#type: Some(Type::Tool(Tool { watts: 5 })), r#match: 2, r#ref: None };
    assert_eq!(check(&item), json!({"type": {"Tool": {"watts": 5}}, "match": 2, "ref": null}));
    let plain = <schemas::structs::Moment as Message>::TYPE_NAME;
    assert_eq!(plain, "msg_tests.structs.Moment");
    let moment = schemas::structs::Moment::default();
    let text = serde_json::to_string(&moment).unwrap();
    assert_eq!(serde_json::from_str::<schemas::structs::Moment>(&text).unwrap(), moment);
}

#[test]
fn a_type_that_hides_one_of_rusts_is_refused() {
    let config = msg_codegen::Config::new();
    let schema = "namespace a; table u8 { x: int; }";
    assert!(config.check_text("a.fbs", schema).generate().is_some());
    let checked = config.serde(true).check_text("a.fbs", schema);
    assert!(checked.generate().is_none());
    assert!(checked.diagnostics()[0].message.contains("the type `a.u8`, which hides Rust's own `u8`"));
}
