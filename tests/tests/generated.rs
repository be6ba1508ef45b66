//! The code generated from `schemas/` by `build.rs`: it compiles without a warning wherever it stands, and each type
//! has the schema and the defaults that it was generated from.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::{collections::BTreeSet, fmt::Debug, fs, path::PathBuf};

use msg_codegen::Config;
use msg_runtime::{FromView, Message};
use msg_schema::{ObjectKind, Schema};
use msg_tests::schemas::difference;

/// Not at the root of the crate, so that no path can lead through it.
pub mod inside {
    include!(concat!(env!("OUT_DIR"), "/msg_schemas.rs"));
}

use inside::{RootPlace, RootPoint, msg_tests as generated};

/// The schemas of all files, under the names of the objects in them.
fn compiled() -> Vec<Schema> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir("../schemas").unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "fbs"));
    Config::new().check(&paths).schemas().into_iter().map(|(_, schema)| schema).collect()
}

/// What is compared of one type, by its name.
struct Types {
    compiled: Vec<Schema>,
    compared: BTreeSet<String>,
    differences: String,
}

impl Types {
    /// The type's own schema is the compiled one, as far as it reaches.
    fn compare<M: Message>(&mut self) {
        let derived = Schema::from_bytes(M::schema()).unwrap();
        let holds = |schema: &&Schema| schema.object(M::TYPE_NAME).is_some();
        let mut compiled = self.compiled.iter().find(holds).unwrap().clone();
        if compiled.root.as_deref() != Some(M::TYPE_NAME) {
            compiled.root = Some(M::TYPE_NAME.to_owned());
            compiled.file_identifier.clear();
            compiled.file_extension.clear();
        }
        if let Some(difference) = difference(&derived, &compiled) {
            self.differences.push_str(&difference);
        }
        self.compared.insert(M::TYPE_NAME.to_owned());
    }

    /// The same for a table, whose default is what an empty one reads as, too.
    fn table<M: FromView + Default + PartialEq + Debug + msg_runtime::Encode<Message = M>>(&mut self) {
        self.compare::<M>();
        let value = M::default();
        let bytes = msg_runtime::encode(&value).unwrap();
        let again = M::from_view(msg_runtime::decode::<M>(&bytes).unwrap());
        // NaN equals nothing, so it is shown.
        assert_eq!(format!("{again:?}"), format!("{value:?}"));
    }
}

fn compare_names(types: &mut Types) {
    types.table::<generated::names::core::Option>();
    types.table::<generated::names::core::String>();
    types.table::<generated::names::std::Vec>();
    types.table::<generated::names::std::u8>();
    types.table::<generated::names::std::Result>();
    types.table::<generated::names::std::Box>();
    types.table::<generated::names::std::A>();
    types.table::<generated::names::std::AView>();
    types.compare::<generated::names::std::f32>();
    types.table::<generated::names::std::person>();
    types.table::<generated::names::std::Person>();
    types.table::<generated::names::std::names>();
    types.table::<generated::names::std::Methods>();
    types.table::<generated::hostile::Hostile>();
    types.table::<generated::names::std::names_::Inner>();
}

fn compare_unions(types: &mut Types) {
    types.table::<generated::nested::Envelope>();
    types.table::<generated::nested::Letter>();
    types.compare::<generated::nested::inner::Pose>();
    types.table::<generated::unions::shapes::Circle>();
    types.compare::<generated::unions::shapes::Point>();
    types.table::<generated::unions::Square>();
    types.table::<generated::unions::Group>();
    types.table::<generated::unions::OddView>();
    types.table::<generated::unions::Drawing>();
    types.table::<generated::unions::Ordered>();
    types.table::<generated::unions::Old>();
}

#[test]
fn types_have_the_schema_that_they_come_from() {
    let mut types = Types { compiled: compiled(), compared: BTreeSet::new(), differences: String::new() };
    types.table::<generated::Person>();
    types.table::<generated::enums::Paint>();
    types.table::<generated::defaults::Defaults>();
    types.table::<generated::defaults::Texts>();
    types.table::<generated::optional::Optional>();
    types.table::<generated::vectors::Vectors>();
    types.table::<generated::vectors::Name>();
    types.compare::<generated::vectors::Point>();
    types.table::<generated::structs::Log>();
    types.compare::<generated::structs::Moment>();
    types.compare::<generated::structs::Span>();
    types.compare::<generated::structs::Aligned>();
    types.compare::<generated::structs::Tile>();
    types.table::<generated::places::Place>();
    types.compare::<generated::places::Point>();
    types.table::<generated::places::city::Street>();
    types.table::<generated::place::Place>();
    types.table::<RootPlace>();
    types.compare::<RootPoint>();
    types.table::<generated::includes::Reading>();
    types.table::<generated::includes::Cycle>();
    types.compare::<generated::includes::Stamp>();
    types.table::<generated::ids::Versioned>();
    types.table::<generated::ids::Owner>();
    types.compare::<generated::ids::Slot>();
    types.table::<generated::ids::Book>();
    types.table::<generated::keywords::r#type::Self_>();
    types.table::<generated::keywords::r#type::crate_>();
    types.compare::<generated::keywords::r#type::r#struct>();
    types.table::<generated::recursion::Node>();
    types.table::<generated::recursion::Question>();
    types.table::<generated::recursion::Answer>();
    types.table::<generated::recursion::Note>();
    types.table::<generated::documented::Documented>();
    types.table::<generated::documented::Example>();
    types.table::<generated::attributes::Motor>();
    types.compare::<generated::attributes::Speed>();
    types.table::<generated::identifier::Recording>();
    types.table::<generated::identifier::Header>();
    types.table::<inside::msg::Announce>();
    compare_names(&mut types);
    compare_unions(&mut types);
    assert!(types.differences.is_empty(), "\n{}", types.differences);
    let objects = types.compiled.iter().flat_map(|schema| &schema.objects);
    let missed: BTreeSet<_> =
        objects.map(|object| &object.name).filter(|name| !types.compared.contains(*name)).collect();
    assert!(missed.is_empty(), "not compared: {missed:?}");
}

#[test]
fn a_struct_is_laid_out_as_its_schema_says() {
    for object in compiled().iter().flat_map(|schema| &schema.objects) {
        let (size, align) = match object.name.as_str() {
            "msg_tests.structs.Moment" => {
                (size_of::<generated::structs::Moment>(), align_of::<generated::structs::Moment>())
            }
            "msg_tests.structs.Span" => {
                (size_of::<generated::structs::Span>(), align_of::<generated::structs::Span>())
            }
            "msg_tests.structs.Aligned" => {
                (size_of::<generated::structs::Aligned>(), align_of::<generated::structs::Aligned>())
            }
            "msg_tests.structs.Tile" => {
                (size_of::<generated::structs::Tile>(), align_of::<generated::structs::Tile>())
            }
            _ => continue,
        };
        assert_eq!(object.kind, ObjectKind::Struct);
        assert_eq!((size, align), (object.byte_size as usize, object.min_align as usize), "{}", object.name);
    }
    assert_eq!((size_of::<generated::structs::Moment>(), size_of::<generated::structs::Span>()), (16, 48));
}

#[test]
fn defaults_are_those_of_the_schema() {
    let defaults = generated::defaults::Defaults::default();
    assert_eq!((defaults.on, defaults.off, defaults.least8, defaults.most8), (true, false, i8::MIN, u8::MAX));
    assert_eq!((defaults.least16, defaults.most16), (i16::MIN, u16::MAX));
    assert_eq!((defaults.least32, defaults.most32), (i32::MIN, u32::MAX));
    assert_eq!((defaults.least64, defaults.most64), (i64::MIN, u64::MAX));
    assert_eq!((defaults.tenth, defaults.small, defaults.whole), (0.1, -1.5e-300, 3.0));
    assert!(defaults.unknown.is_nan());
    assert_eq!((defaults.above, defaults.below, defaults.zero), (f64::INFINITY, f32::NEG_INFINITY, 0));
    let paint = generated::enums::Paint::default();
    assert_eq!(paint.color, generated::enums::Color::Green);
    assert_eq!(paint.huge.number(), u64::MAX);
    assert_eq!((paint.access.bits(), paint.no_access.bits()), (513, 0));
    assert_eq!(paint.maybe, None);
}

#[test]
fn a_file_identifier_goes_with_the_root_type() {
    assert_eq!(generated::identifier::Recording::FILE_IDENTIFIER, Some("REC1"));
    assert_eq!(generated::identifier::Recording::FILE_EXTENSION, "rec");
    assert_eq!(generated::identifier::Header::FILE_IDENTIFIER, None);
}

#[test]
fn elements_stand_where_the_schema_wants_them() {
    use generated::vectors::{Name, Vectors};
    for len in 0..40 {
        let vectors = Vectors {
            bytes: vec![1; len],
            names: vec![Name { text: Some("x".repeat(len / 2)) }],
            wide: vec![1.0, 2.0],
            ..Vectors::default()
        };
        let bytes = msg_runtime::encode(&vectors).unwrap();
        let view = msg_runtime::decode::<Vectors>(&bytes).unwrap();
        let again = msg_runtime::encode(&view).unwrap();
        for (bytes, what) in [(&bytes, "sent"), (&again, "sent on")] {
            let view = msg_runtime::decode::<Vectors>(bytes).unwrap();
            assert_eq!(view.wide(), [1.0, 2.0]);
            let address = view.wide().as_ptr().addr();
            assert_eq!(address % 32, 0, "{what} behind {len} bytes");
        }
    }
}

#[test]
fn unions_come_back() {
    use generated::unions::{Drawing, Group, Odd, Shape, Square, shapes};
    let circle = shapes::Circle { center: Some(shapes::Point { x: 1.0, y: 2.0 }), radius: 3.0 };
    let square = |side| Square { side };
    let all = vec![
        Shape::msg_tests_unions_shapes_Circle(circle),
        Shape::Square(square(1.0)),
        Shape::Spot(shapes::Point { x: 0.5, y: -0.5 }),
        Shape::Label("é".into()),
        Shape::Large(square(9.0)),
        Shape::Small(square(7.0)),
    ];
    let inner = Group { members: all.clone(), first: Some(Shape::Label(String::new())) };
    let group = Group { members: vec![], first: Some(Shape::Group(Box::new(inner))) };
    let drawing = Drawing {
        shape: Some(Shape::Group(Box::new(group))),
        shapes: all,
        r#type: Odd::u8("x".into()),
        ..Drawing::default()
    };
    let bytes = msg_runtime::encode(&drawing).unwrap();
    assert_eq!(Drawing::from_view(msg_runtime::decode::<Drawing>(&bytes).unwrap()), drawing);
    // A required union is its first member.
    assert_eq!(Drawing::default().r#type, Odd::Self_(Square::default()));
}

#[test]
fn nested_messages_are_looked_into() {
    use generated::nested::{Envelope, Letter, inner::Pose};
    use msg_runtime::Nested;
    let letter = Letter { text: Some("hello".into()) };
    let pose = Pose::new(1.5, true);
    let inner = Envelope { must: Nested::new(&pose).unwrap(), ..Envelope::default() };
    let envelope = Envelope {
        letter: Some(Nested::new(&letter).unwrap()),
        inner: Some(Nested::new(&inner).unwrap()),
        ..inner.clone()
    };
    let bytes = msg_runtime::encode(&envelope).unwrap();
    let view = msg_runtime::decode::<Envelope>(&bytes).unwrap();
    assert_eq!(view.letter().unwrap().view().unwrap().text(), Some("hello"));
    assert_eq!(view.must().view().unwrap(), &pose);
    assert_eq!(view.inner().unwrap().view().unwrap().must().view().unwrap(), &pose);
    assert_eq!(Envelope::from_view(view), envelope);
    assert!(Envelope::default().letter.is_none());
}
