//! Fields of types that are no messages: newtypes, skipped fields, and conversions of one's own.

use std::num::NonZeroU32;

use msg_runtime::{Message, Padding, decode, encode};
use msg_schema::{BaseType, Schema};

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(plain)]
#[repr(transparent)]
struct Celsius(f32);

#[derive(Message, Clone, Debug, PartialEq, Default)]
struct Name(String);

#[derive(Message, Clone, Debug, PartialEq)]
struct Names(Option<Vec<String>>);

#[derive(Message, Clone, Debug, PartialEq)]
struct Inside(Weather);

#[derive(Message)]
struct Borrowed<'a>(&'a str);

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Reading {
    celsius: Celsius,
    more: [Celsius; 2],
    padding: Padding<4>,
    stamp: u64,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Weather {
    now: Celsius,
    history: Vec<Celsius>,
    maybe: Option<Celsius>,
    place: Name,
    places: Vec<Name>,
    aliases: Names,
    reading: Reading,
}

fn weather() -> Weather {
    Weather {
        now: Celsius(3.5),
        history: vec![Celsius(1.0), Celsius(-2.0)],
        maybe: Some(Celsius(0.0)),
        place: Name("Oslo".into()),
        places: vec![Name::default(), Name("Rome".into())],
        aliases: Names(Some(vec!["a".into()])),
        reading: Reading {
            celsius: Celsius(1.0),
            more: [Celsius(2.0); 2],
            padding: Padding::default(),
            stamp: 9,
        },
    }
}

#[test]
fn a_newtype_is_its_field_on_the_wire() {
    let bytes = encode(&weather()).unwrap();
    let view = decode::<Weather>(&bytes).unwrap();
    assert_eq!((view.now(), view.history(), view.place()), (3.5, &[1.0, -2.0][..], "Oslo"));
    assert_eq!(view, weather());
    let schema = Schema::from_bytes(Weather::schema()).unwrap();
    let weather = schema.objects.iter().find(|object| object.name == "demo.Weather").unwrap();
    let now = weather.fields.iter().find(|field| field.name == "now").unwrap();
    assert_eq!(now.field_type.base, BaseType::Float);
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Holder<'a> {
    inside: Inside,
    text: Borrowed<'a>,
}

#[test]
fn a_newtype_may_hold_a_message_or_borrow() {
    let bytes = encode(&Holder { inside: Inside(weather()), text: Borrowed("t") }).unwrap();
    let view = decode::<Holder<'static>>(&bytes).unwrap();
    assert_eq!((view.inside().place(), view.text()), ("Oslo", "t"));
    assert_eq!(view.inside(), weather());
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Cache(Vec<(usize, char)>);

mod rgb {
    //! `(u8, u8, u8)` as three bytes.

    pub(super) type Field = [u8; 3];

    pub(super) fn to_field(&(r, g, b): &(u8, u8, u8)) -> Field {
        [r, g, b]
    }

    pub(super) fn from_field([r, g, b]: Field) -> (u8, u8, u8) {
        (r, g, b)
    }
}

mod counts {
    //! A number that is absent when there is none.
    use std::num::NonZeroU32;

    pub(super) type Field = Option<u32>;

    pub(super) fn to_field(count: &Option<NonZeroU32>) -> Field {
        count.map(NonZeroU32::get)
    }

    pub(super) fn from_field(count: Field) -> Option<NonZeroU32> {
        count.and_then(NonZeroU32::new)
    }
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Pixel {
    #[message(skip)]
    cache: Cache,
    x: u16,
    #[message(with = "rgb")]
    color: (u8, u8, u8),
    #[message(with = "counts", rename = "count")]
    uses: Option<NonZeroU32>,
}

#[test]
fn a_field_may_be_converted_or_skipped() {
    let pixel = Pixel { cache: Cache(vec![(1, 'a')]), x: 3, color: (1, 2, 3), uses: NonZeroU32::new(4) };
    let bytes = encode(&pixel).unwrap();
    let view = decode::<Pixel>(&bytes).unwrap();
    assert_eq!((view.x(), view.color(), view.uses()), (3, &[1, 2, 3], Some(4)));
    assert_eq!(Pixel::from(view), Pixel { cache: Cache::default(), ..pixel });
    let schema = Schema::from_bytes(Pixel::schema()).unwrap();
    let names: Vec<_> = schema.objects[0].fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["x", "color", "count"]);
}

#[test]
fn a_converted_option_is_absent() {
    let pixel = Pixel { cache: Cache::default(), x: 0, color: (0, 0, 0), uses: None };
    let bytes = encode(&pixel).unwrap();
    assert_eq!(decode::<Pixel>(&bytes).unwrap().uses(), None);
}
