//! Every supported type, from a value to bytes, to its view and back.

use std::borrow::Cow;
use std::fmt::Debug;

use msg_runtime::{
    AlignedBuffer, Encode, FillWith, Flags, FromView, Message, Open, Padding, decode, encode, error::Invalid,
};

/// The value comes back equal, and a view of it exists.
#[track_caller]
fn check<M>(value: &M)
where
    M: Message + Encode<Message = M> + FromView + PartialEq + Debug,
{
    let bytes = encode(value).expect("a value encodes");
    let view = decode::<M>(&bytes).expect("an encoded value is valid");
    assert_eq!(M::from_view(view), *value);
}

#[derive(Message, Clone, Debug, PartialEq, Default)]
#[message(namespace = "demo")]
struct Numbers {
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
}

#[test]
fn numbers_keep_their_extremes() {
    check(&Numbers::default());
    check(&Numbers {
        a: u8::MAX,
        b: i8::MIN,
        c: u16::MAX,
        d: i16::MIN,
        e: u32::MAX,
        f: i32::MIN,
        g: u64::MAX,
        h: i64::MIN,
        i: f32::NEG_INFINITY,
        j: f64::MIN_POSITIVE,
        k: true,
    });
    let bytes = encode(&Numbers { i: f32::NAN, ..Numbers::default() }).unwrap();
    assert!(decode::<Numbers>(&bytes).unwrap().i().is_nan());
}

#[derive(Message, Clone, Debug, PartialEq, Default)]
#[message(namespace = "demo")]
struct Person {
    id: i32,
    name: String,
    email: Option<String>,
    nickname: Cow<'static, str>,
    age: Option<u8>,
    tags: Vec<f32>,
    friends: Option<Vec<u64>>,
}

#[test]
fn strings_and_options() {
    check(&Person::default());
    check(&Person {
        id: -1,
        name: "Alice Exämple 😀".into(),
        email: Some(String::new()),
        nickname: Cow::Borrowed("al"),
        age: Some(0),
        tags: vec![1.5, -0.0],
        friends: Some(vec![]),
    });
}

#[test]
fn views_borrow_from_the_payload() {
    let bytes = encode(&Person { name: "Alice".into(), tags: vec![1.0, 2.0], ..Person::default() }).unwrap();
    let view = decode::<Person>(&bytes).unwrap();
    let (name, tags): (&str, &[f32]) = (view.name(), view.tags());
    let inside = bytes.as_ptr_range();
    assert!(inside.contains(&name.as_ptr()));
    assert!(inside.contains(&tags.as_ptr().cast()));
    assert_eq!((name, tags, view.email(), view.age()), ("Alice", &[1.0, 2.0][..], None, None));
}

#[test]
fn views_show_their_fields() {
    let bytes = encode(&Person { id: 7, email: Some("a@b".into()), ..Person::default() }).unwrap();
    assert_eq!(
        format!("{:?}", decode::<Person>(&bytes).unwrap()),
        r#"Person { id: 7, name: "", email: Some("a@b"), nickname: "", age: None, tags: [], friends: None }"#
    );
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Node {
    value: i32,
    next: Option<Box<Node>>,
    children: Vec<Node>,
    #[allow(clippy::vec_box, reason = "people write it, and it has to work")]
    boxed: Vec<Box<Leaf>>,
    leaf: Leaf,
}

#[derive(Message, Clone, Debug, PartialEq, Default)]
#[message(namespace = "demo")]
struct Leaf {
    names: Vec<String>,
    flags: Vec<bool>,
}

impl Node {
    fn new(value: i32) -> Self {
        Self { value, next: None, children: vec![], boxed: vec![], leaf: Leaf::default() }
    }
}

#[test]
fn tables_nest_and_recur() {
    let leaf = Leaf { names: vec!["a".into(), String::new()], flags: vec![true, false] };
    let tree = Node {
        next: Some(Box::new(Node::new(2))),
        children: vec![Node::new(3), Node { leaf: leaf.clone(), ..Node::new(4) }],
        boxed: vec![Box::new(leaf)],
        ..Node::new(1)
    };
    check(&tree);
    let bytes = encode(&tree).unwrap();
    let view = decode::<Node>(&bytes).unwrap();
    assert_eq!(view.children().iter().rev().map(|child| child.value()).collect::<Vec<_>>(), [4, 3]);
    assert_eq!(view.children().get(1).unwrap().leaf().names().get(0), Some("a"));
    assert!(view.children().get(2).is_none());
}

fn list(tables: i32) -> Node {
    (1..tables).fold(Node::new(0), |list, value| Node { next: Some(Box::new(list)), ..Node::new(value) })
}

#[test]
fn sixty_five_tables_deep_is_refused_on_sending() {
    // Each `Node` holds a `Leaf`, one table deeper.
    check(&list(63));
    assert_eq!(encode(&list(64)).unwrap_err(), Invalid::TooDeep);
}

#[derive(Message, Clone, Copy, Debug, PartialEq, Default)]
#[message(namespace = "demo")]
#[repr(u8)]
enum Color {
    Red = 1,
    #[default]
    Green,
    Blue = 8,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo")]
#[repr(i64)]
enum Wide {
    Low = i64::MIN,
    Zero = 0,
    High = i64::MAX,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo", bit_flags)]
#[repr(u16)]
enum Access {
    Read = 1,
    Write = 2,
    Seek = 1 << 9,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Enums {
    #[message(default = Color::Green)]
    closed: Color,
    maybe: Option<Color>,
    #[message(default = Color::Blue)]
    open: Open<Color>,
    #[message(default = 3)]
    flags: Flags<Access>,
    wide: Wide,
    closed_all: Vec<Color>,
    open_all: Vec<Open<Color>>,
    flags_maybe: Option<Flags<Access>>,
}

fn enums() -> Enums {
    Enums {
        closed: Color::Red,
        maybe: Some(Color::Blue),
        open: Open::from_number(77),
        flags: Flags::from(Access::Seek) | Access::Read,
        wide: Wide::Low,
        closed_all: vec![Color::Red, Color::Green],
        open_all: vec![Color::Red.into(), Open::from_number(0)],
        flags_maybe: Some(Flags::from_bits(0x8000)),
    }
}

#[test]
fn enums_are_closed_open_or_sets() {
    check(&enums());
    check(&Enums { wide: Wide::High, ..enums() });
    let bytes = encode(&enums()).unwrap();
    let view = decode::<Enums>(&bytes).unwrap();
    assert_eq!((view.open().known(), view.open().number()), (None, 77));
    assert!(view.flags().contains(Access::Seek) && !view.flags().contains(Access::Write));
    assert_eq!(format!("{:?}", view.flags()), "Read | Seek");
    assert_eq!(format!("{:?} {:?}", view.open(), view.closed()), "77 Red");
}

#[derive(Message, Debug, PartialEq)]
#[message(namespace = "demo", name = "Enums")]
struct Numbered {
    closed: u8,
}

#[test]
fn a_number_that_a_closed_enum_does_not_know_is_invalid() {
    check(&Numbered { closed: 5 });
    let known = encode(&Numbered { closed: 8 }).unwrap();
    assert_eq!(decode::<Enums>(&known).unwrap().closed(), Color::Blue);
    let unknown = encode(&Numbered { closed: 3 }).unwrap();
    assert_eq!(decode::<Enums>(&unknown).unwrap_err(), Invalid::UnknownValue);
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Nothing {}

#[derive(Message, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Defaults {
    #[message(default = -7)]
    a: i8,
    #[message(default = 1.5)]
    b: f32,
    #[message(default = f64::NAN)]
    c: f64,
    #[message(default = true)]
    d: bool,
    #[message(default = u64::MAX)]
    e: u64,
    #[message(default = Color::Blue)]
    f: Color,
    #[message(default = 1 | 2)]
    g: Flags<Access>,
    #[message(default = Wide::Low)]
    h: Open<Wide>,
    name: String,
    list: Vec<String>,
    leaf: Leaf,
    pose: Pose,
    array: [f32; 3],
}

#[test]
fn absent_fields_read_as_their_defaults() {
    let bytes = encode(&Nothing {}).unwrap();
    let view = decode::<Defaults>(&bytes).unwrap();
    assert_eq!((view.a(), view.b(), view.d(), view.e()), (-7, 1.5, true, u64::MAX));
    assert!(view.c().is_nan());
    assert_eq!((view.f(), view.g().bits(), view.h()), (Color::Blue, 3, Wide::Low.into()));
    assert_eq!((view.name(), view.list().len(), view.leaf().names().len()), ("", 0, 0));
    assert_eq!(
        (*view.pose(), view.array()),
        (Pose { mode: Open::from_number(0), ..Pose::default() }, &[0.0; 3])
    );
}

#[derive(Message, Clone, Copy, Debug, PartialEq, Default)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Message, Clone, Copy, Debug, PartialEq, Default)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Pose {
    at: Vec3,
    stamp: u64,
    cells: [u8; 20],
    mode: Open<Color>,
    valid: bool,
    padding: Padding<2>,
}

#[test]
fn plain_messages_are_their_memory() {
    let pose = Pose { stamp: 7, valid: true, mode: Color::Blue.into(), ..Pose::default() };
    check(&pose);
    let bytes = encode(&pose).unwrap();
    assert_eq!(Pose::PLAIN_BYTES, Some(bytes.len()));
    let view: &Pose = decode::<Pose>(&bytes).unwrap();
    assert_eq!(std::ptr::from_ref(view).cast(), bytes.as_ptr());
    assert_eq!(bytes[24..32], 7u64.to_le_bytes());
}

#[test]
fn plain_messages_of_another_size_or_with_bad_values_are_invalid() {
    let mut bytes = encode(&Pose::default()).unwrap();
    let len = bytes.len();
    assert_eq!(
        decode::<Pose>(&bytes[..len - 8]).unwrap_err(),
        Invalid::WrongSize { len: len - 8, expected: len }
    );
    bytes.as_mut_slice()[53] = 2;
    assert_eq!(decode::<Pose>(&bytes).unwrap_err(), Invalid::UnknownValue);
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Lamp {
    color: Color,
}

#[derive(Message, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Street {
    first: Lamp,
    lamps: Vec<Lamp>,
    path: Vec<Vec3>,
    pair: [Lamp; 2],
    pose: Option<Pose>,
}

#[test]
fn plain_structs_stand_in_tables_and_vectors() {
    let street = Street {
        first: Lamp { color: Color::Red },
        lamps: vec![Lamp { color: Color::Blue }; 3],
        path: vec![Vec3 { x: 1.0, y: 2.0, z: 3.0 }],
        pair: [Lamp { color: Color::Red }; 2],
        pose: Some(Pose::default()),
    };
    check(&street);
    let bytes = encode(&street).unwrap();
    let view = decode::<Street>(&bytes).unwrap();
    assert_eq!((view.path()[0].y, view.lamps().len()), (2.0, 3));
}

#[test]
fn an_absent_plain_struct_for_which_zeros_are_no_value_is_invalid() {
    assert_eq!(decode::<Street>(&encode(&Nothing {}).unwrap()).unwrap_err(), Invalid::MissingField);
}

#[derive(Message, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Four {
    array: [f32; 4],
}

#[derive(Message, Debug, PartialEq)]
#[message(namespace = "demo", name = "Four")]
struct Five {
    array: Vec<f32>,
}

#[test]
fn arrays_in_tables_have_their_length() {
    check(&Four { array: [1.0, 2.0, 3.0, 4.0] });
    let decoded =
        |array: Vec<f32>| decode::<Four>(&encode(&Five { array }).unwrap()).map(|view| *view.array());
    assert_eq!(decoded(vec![5.0; 4]), Ok([5.0; 4]));
    assert_eq!(decoded(vec![5.0; 5]), Err(Invalid::WrongLength));
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Iq<'a, 'b> {
    rate: f64,
    samples: &'a [f32],
    label: &'b str,
    names: &'a [&'b str],
    note: Cow<'b, str>,
    rest: Cow<'a, [u16]>,
}

#[test]
fn structs_that_borrow_are_sent_and_not_made() {
    let samples = vec![1.0, 2.0, 3.0];
    let label = String::from("left");
    let value = Iq {
        rate: 48e3,
        samples: &samples,
        label: &label,
        names: &["a", &label],
        note: Cow::Borrowed("n"),
        rest: Cow::Owned(vec![7]),
    };
    let bytes = encode(&value).unwrap();
    let view = decode::<Iq<'static, 'static>>(&bytes).unwrap();
    assert_eq!((view.rate(), view.samples(), view.label()), (48e3, &samples[..], "left"));
    assert_eq!(view.names().iter().collect::<Vec<_>>(), ["a", "left"]);
    assert_eq!((view.note(), view.rest()), ("n", &[7][..]));
    assert_eq!(Iq::TYPE_NAME, "demo.Iq");
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Outer<'a, 'b>
where
    'a: 'b,
{
    first: Inner<'a>,
    rest: &'b [Inner<'a>],
    maybe: Option<Inner<'b>>,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Inner<'text> {
    text: &'text str,
}

#[test]
fn structs_that_borrow_nest() {
    let text = String::from("text");
    let inner = || Inner { text: &text };
    let bytes = encode(&Outer { first: inner(), rest: &[inner(), Inner { text: "" }], maybe: None }).unwrap();
    let view = decode::<Outer<'static, 'static>>(&bytes).unwrap();
    assert_eq!((view.first().text(), view.rest().get(1).unwrap().text()), ("text", ""));
    assert!(view.maybe().is_none());
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Scan<'a> {
    stamp: u64,
    ranges: FillWith<'a, f32>,
}

#[test]
fn a_vector_is_filled_in_the_slot() {
    let mut fill =
        |out: &mut [f32]| out.iter_mut().enumerate().for_each(|(index, range)| *range = index as f32);
    let scan = Scan { stamp: 9, ranges: FillWith::new(4, &mut fill) };
    for _ in 0..2 {
        let bytes = encode(&scan).unwrap();
        let view = decode::<Scan<'static>>(&bytes).unwrap();
        assert_eq!((view.stamp(), view.ranges()), (9, &[0.0, 1.0, 2.0, 3.0][..]));
    }
}

#[derive(Message, Debug, PartialEq)]
#[message(namespace = "demo", identifier = "TST1", topic = "left.image", extension = "tst")]
struct Tagged {
    #[message(rename = "type")]
    kind: u8,
    r#match: u8,
}

#[test]
fn the_file_identifier_is_written_and_checked() {
    let tagged = Tagged { kind: 1, r#match: 2 };
    check(&tagged);
    let mut bytes = encode(&tagged).unwrap();
    assert_eq!(bytes[4..8], *b"TST1");
    assert_eq!(
        (Tagged::TOPIC, Tagged::FILE_IDENTIFIER, Tagged::FILE_EXTENSION),
        ("left.image", Some("TST1"), "tst")
    );
    bytes.as_mut_slice()[7] = b'2';
    assert_eq!(decode::<Tagged>(&bytes).unwrap_err(), Invalid::WrongIdentifier);
}

#[derive(Message, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Old {
    #[message(id = 1)]
    second: u32,
    #[message(id = 0)]
    first: u64,
}

#[derive(Message, Debug, PartialEq)]
#[message(namespace = "demo", name = "Old")]
struct New {
    first: u64,
    #[message(deprecated)]
    second: u32,
    #[message(default = 9)]
    third: i16,
    text: Option<String>,
}

#[test]
fn old_and_new_programs_understand_each_other() {
    let old = encode(&Old { second: 2, first: 1 }).unwrap();
    let new = New::from_view(decode::<New>(&old).unwrap());
    assert_eq!(new, New { first: 1, second: 2, third: 9, text: None });
    let bytes = encode(&New { text: Some("x".into()), ..new }).unwrap();
    assert_eq!(Old::from_view(decode::<Old>(&bytes).unwrap()), Old { second: 2, first: 1 });
}

#[derive(Message, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Strict {
    #[message(required)]
    name: String,
}

#[test]
fn a_missing_required_field_is_invalid() {
    check(&Strict { name: "x".into() });
    assert_eq!(decode::<Strict>(&encode(&Nothing {}).unwrap()).unwrap_err(), Invalid::MissingField);
}

/// Nobody can make a value of it, but bytes without the field arrive all the same.
#[derive(Message)]
#[message(namespace = "demo")]
struct Endless {
    next: Box<Endless>,
}

#[test]
fn a_type_without_an_end_is_invalid_and_not_a_stack_overflow() {
    let bytes = encode(&Nothing {}).unwrap();
    assert_eq!(decode::<Endless>(&bytes).map(|view| view.next()).unwrap_err(), Invalid::TooDeep);
}

#[test]
fn unaligned_payloads_are_refused_and_readable_after_a_copy() {
    let person = Person { id: 4, tags: vec![0.5; 3], ..Person::default() };
    let bytes = encode(&person).unwrap();
    let mut shifted = AlignedBuffer::zeroed(bytes.len() + 1);
    shifted.as_mut_slice()[1..].copy_from_slice(&bytes);
    let payload = &shifted[1..];
    assert_eq!(decode::<Person>(payload).unwrap_err(), Invalid::Unaligned);
    let copy = AlignedBuffer::copy_of(payload);
    assert_eq!(Person::from(decode::<Person>(&copy).unwrap()), person);
}

/// An implementation written by hand, in safe code, whose accessors and facts disagree.
mod forged {
    use msg_runtime::__private::{About, Cursor, Field, FieldSpec, Table, Wire, assign_ids};

    type WireOf<F> = <F as Field>::Wire;

    #[derive(Debug)]
    pub(super) struct Forged;

    #[derive(Clone, Copy, Debug)]
    pub(super) struct ForgedView<'view>(Cursor<'view, Forged>);

    impl Table for Forged {
        const NAME: &'static str = "demo.Forged";
        const FIELDS: &'static [FieldSpec] = &const {
            assign_ids([FieldSpec::of::<WireOf<i32>>("a"), FieldSpec::of::<WireOf<u64>>("no text")])
        };
        const VTABLE: &'static [u16] = &[4, 4];
        const ABOUT: &'static About = About::NONE;
        type View<'view> = ForgedView<'view>;

        fn from_cursor(cursor: Cursor<'_, Self>) -> ForgedView<'_> {
            ForgedView(cursor)
        }
    }

    impl<'view> ForgedView<'view> {
        pub(super) fn a(&self) -> i32 {
            self.0.get::<WireOf<i32>, 0>()
        }

        pub(super) fn text(&self) -> <WireOf<String> as Wire>::View<'view> {
            self.0.get::<WireOf<String>, 1>()
        }
    }

    impl Field for Forged {
        type Wire = msg_runtime::__private::TableOf<Self>;

        fn encode(&self, _: &mut msg_runtime::__private::Encoder<'_>, _: msg_runtime::__private::Place) {}
    }
}

#[derive(Message)]
#[message(namespace = "demo")]
struct HoldsNumbers {
    inner: TwoNumbers,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct TwoNumbers {
    a: u64,
    b: u64,
}

#[derive(Message)]
#[message(namespace = "demo", name = "HoldsNumbers")]
struct HoldsForged<'a> {
    inner: forged::Forged,
    unused: Option<&'a str>,
}

#[test]
fn an_accessor_that_lies_only_panics() {
    let bytes = encode(&HoldsNumbers { inner: TwoNumbers { a: 1, b: 2 } }).unwrap();
    let view = decode::<HoldsForged<'static>>(&bytes).unwrap().inner();
    assert_eq!(view.a(), 1);
    assert!(std::panic::catch_unwind(|| view.text().len()).is_err());
}

/// A key may be required: the one attribute does not undo the other.
#[test]
fn a_required_key_stays_required() {
    #[derive(Message, Clone, Copy)]
    #[message(namespace = "roundtrip", plain)]
    #[repr(C)]
    struct Number {
        value: u64,
    }
    #[derive(Message)]
    #[message(namespace = "roundtrip")]
    struct Without {}
    #[derive(Message)]
    #[message(namespace = "roundtrip")]
    struct Entry {
        #[message(required, key)]
        number: Number,
    }
    let bytes = encode(&Without {}).unwrap();
    assert_eq!(decode::<Entry>(&bytes).err(), Some(Invalid::MissingField));
    let bytes = encode(&Entry { number: Number { value: 7 } }).unwrap();
    assert_eq!(decode::<Entry>(&bytes).unwrap().number().value, 7);
}

/// More elements than any payload holds are refused before anything is counted with them.
#[test]
fn too_many_elements_to_fill_are_refused() {
    #[derive(Message)]
    #[message(namespace = "roundtrip")]
    struct Samples<'a> {
        values: FillWith<'a, f32>,
    }
    for len in [usize::MAX, (1 << 62) + 1, 1 << 62, 1 << 61, 1 << 31, 1 << 29] {
        let mut fill = |_: &mut [f32]| panic!("there is no room to fill");
        let refused = encode(&Samples { values: FillWith::new(len, &mut fill) });
        assert_eq!(refused.err(), Some(Invalid::OutOfRange), "{len} elements");
    }
}

/// Somebody's own `Vec`, `Option` and `Box` are not the standard library's.
#[test]
fn types_may_have_names_of_the_standard_library() {
    mod own {
        #[derive(msg_runtime::Message, Clone, Debug, PartialEq)]
        #[message(namespace = "roundtrip")]
        pub(super) struct Vec {
            pub(super) x: u8,
        }
        #[derive(msg_runtime::Message, Clone, Debug, PartialEq)]
        #[message(namespace = "roundtrip")]
        pub(super) struct Option {
            pub(super) x: u8,
        }
    }
    #[derive(Message, Clone, Debug, PartialEq)]
    #[message(namespace = "roundtrip")]
    struct Holder {
        vectors: Vec<own::Vec>,
        options: Vec<own::Option>,
        option: Option<own::Option>,
    }
    check(&Holder {
        vectors: vec![own::Vec { x: 1 }],
        options: vec![own::Option { x: 2 }],
        option: Some(own::Option { x: 3 }),
    });
}
