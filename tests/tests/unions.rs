//! Enums with data: members of every kind, absence, vectors, recursion, and members that only newer senders know.

use msg_runtime::{AlignedBuffer, Encode, FromView, Message, decode, encode, error::Invalid};
use msg_schema::Schema;
use msg_tests::{schemas::assert_same, tools::flatc_schema_of};

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Node {
    value: i32,
    thing: Option<Thing>,
    next: Option<Box<Thing>>,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Pose {
    x: f64,
    y: f64,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "demo", plain)]
#[repr(C)]
struct Answer {
    sure: bool,
}

/// One of several.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
enum Thing {
    /// A tree.
    Node(Box<Node>),
    Text(String),
    #[message(id = 7, rename = "pose")]
    Pose(Pose),
    Answer(Answer),
    #[message(unknown)]
    Unknown(u8),
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo")]
struct Envelope {
    first: u8,
    thing: Thing,
    maybe: Option<Thing>,
    things: Vec<Thing>,
    #[allow(clippy::vec_box, reason = "people write it, and it has to work")]
    boxed: Option<Vec<Box<Thing>>>,
    last: u16,
}

fn node(value: i32, thing: Option<Thing>) -> Thing {
    Thing::Node(Box::new(Node { value, thing, next: None }))
}

fn things() -> Vec<Thing> {
    let pose = Thing::Pose(Pose { x: 1.5, y: -2.0 });
    let deep = Node {
        value: 3,
        thing: Some(node(4, Some(pose.clone()))),
        next: Some(Box::new(Thing::Text("é".into()))),
    };
    vec![
        Thing::Text(String::new()),
        pose,
        Thing::Answer(Answer { sure: true }),
        Thing::Node(Box::new(deep)),
        Thing::Text("last".into()),
    ]
}

fn envelope(thing: Thing) -> Envelope {
    Envelope { first: 9, thing: thing.clone(), maybe: Some(thing), things: vec![], boxed: None, last: 300 }
}

#[track_caller]
fn check<M>(value: &M)
where
    M: Message + Encode<Message = M> + FromView + PartialEq + std::fmt::Debug,
{
    let bytes = encode(value).expect("it is valid");
    assert_eq!(M::from_view(decode::<M>(&bytes).expect("it is valid")), *value);
}

#[test]
fn every_member_comes_back() {
    for thing in things() {
        check(&envelope(thing));
    }
    let all = Envelope {
        maybe: None,
        things: things(),
        boxed: Some(things().into_iter().map(Box::new).collect()),
        ..envelope(Thing::Text("a".into()))
    };
    check(&all);
}

#[test]
fn views_are_matched() {
    let bytes = encode(&Envelope { things: things(), ..envelope(things().remove(3)) }).unwrap();
    let view = decode::<Envelope>(&bytes).unwrap();
    let ThingView::Node(node) = view.thing() else { panic!("{view:?}") };
    let (Some(ThingView::Node(inner)), Some(ThingView::Text("é"))) = (node.thing(), node.next()) else {
        panic!("{node:?}")
    };
    assert_eq!((node.value(), inner.value()), (3, 4));
    let poses: Vec<&Pose> = view
        .things()
        .iter()
        .filter_map(|thing| if let ThingView::Pose(pose) = thing { Some(pose) } else { None })
        .collect();
    assert_eq!(poses, [&Pose { x: 1.5, y: -2.0 }]);
    assert_eq!(view.things().len(), 5);
    assert!(matches!(view.things().get(0), Some(ThingView::Text(""))));
    assert_eq!(format!("{:?}", view.things().get(1).unwrap()), "Pose(Pose { x: 1.5, y: -2.0 })");
}

#[test]
fn an_unknown_member_is_received_and_not_sent_on() {
    let unknown = envelope(Thing::Unknown(200));
    let bytes =
        encode(&Envelope { things: vec![Thing::Unknown(3), Thing::Text("b".into())], ..unknown }).unwrap();
    let view = decode::<Envelope>(&bytes).unwrap();
    assert!(matches!(view.thing(), ThingView::Unknown(0)), "{view:?}");
    assert!(view.maybe().is_none(), "{view:?}");
    let things: Vec<Thing> = view.things().iter().map(Thing::from).collect();
    assert_eq!(things, [Thing::Unknown(0), Thing::Text("b".into())]);
}

/// The union of a newer sender.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo", name = "Thing")]
enum Newer {
    #[message(id = 2)]
    Text(String),
    #[message(id = 9)]
    More(Answer),
    #[message(unknown)]
    Unknown(u8),
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "demo", name = "Envelope")]
struct NewerEnvelope {
    first: u8,
    thing: Newer,
    maybe: Option<Newer>,
    things: Vec<Newer>,
}

#[test]
fn a_member_that_only_the_sender_knows_is_its_number() {
    let more = Newer::More(Answer { sure: true });
    let sent = NewerEnvelope {
        first: 1,
        thing: more.clone(),
        maybe: Some(more.clone()),
        things: vec![Newer::Text("a".into()), more],
    };
    let bytes = encode(&sent).unwrap();
    let got = Envelope::from(decode::<Envelope>(&bytes).unwrap());
    assert_eq!((got.thing, got.maybe), (Thing::Unknown(9), Some(Thing::Unknown(9))));
    assert_eq!(got.things, [Thing::Text("a".into()), Thing::Unknown(9)]);
}

/// A struct that borrows, and a union of such.
#[derive(Message)]
#[message(namespace = "demo")]
struct Iq<'a> {
    samples: &'a [f32],
}

#[derive(Message)]
#[message(namespace = "demo")]
enum Signal<'a> {
    Iq(Iq<'a>),
    Name(&'a str),
    #[message(unknown)]
    #[allow(dead_code, reason = "only the view's is read")]
    Unknown(u8),
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Signals<'a> {
    one: Signal<'a>,
    all: Vec<Signal<'a>>,
}

#[test]
fn members_may_borrow() {
    let samples = [1.0, 2.0];
    let signals = Signals {
        one: Signal::Name("left"),
        all: vec![Signal::Iq(Iq { samples: &samples }), Signal::Unknown(0)],
    };
    let bytes = encode(&signals).unwrap();
    let view = decode::<Signals<'static>>(&bytes).unwrap();
    assert!(matches!(view.one(), SignalView::Name("left")));
    let Some(SignalView::Iq(iq)) = view.all().get(0) else { panic!("{view:?}") };
    assert_eq!(iq.samples(), samples);
}

#[derive(Message, Debug)]
#[message(namespace = "demo")]
struct Required {
    #[message(required)]
    thing: Thing,
}

#[derive(Message)]
#[message(namespace = "demo", name = "Required")]
struct NotRequired {
    thing: Option<Thing>,
}

#[test]
fn a_required_union_is_there() {
    check_required(Some(Thing::Text("a".into())), None);
    check_required(None, Some(Invalid::MissingField));
}

/// Every receiver would refuse it.
#[test]
fn a_required_union_that_is_unknown_is_not_sent() {
    assert_eq!(encode(&Required { thing: Thing::Unknown(1) }).unwrap_err(), Invalid::MissingField);
    let newer = encode(&RequiredNewer { thing: Newer::More(Answer { sure: true }) }).unwrap();
    let view = decode::<Required>(&newer).unwrap();
    assert!(matches!(view.thing(), ThingView::Unknown(9)));
    assert_eq!(encode(&view).unwrap_err(), Invalid::MissingField);
}

#[derive(Message)]
#[message(namespace = "demo", name = "Required")]
struct RequiredNewer {
    thing: Newer,
}

#[track_caller]
fn check_required(thing: Option<Thing>, expected: Option<Invalid>) {
    let bytes = encode(&NotRequired { thing }).expect("it is valid");
    assert_eq!(decode::<Required>(&bytes).err(), expected);
}

/// A payload of 32-bit words.
fn payload(words: &[u32]) -> AlignedBuffer {
    AlignedBuffer::copy_of(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())
}

#[derive(Message, Debug)]
#[message(namespace = "demo")]
struct Only {
    things: Vec<Thing>,
}

/// A table with a vector of numbers and a vector of offsets, which lead to the string behind them.
fn two_vectors(numbers: &[u8], values: &[u32]) -> Result<Vec<Thing>, Invalid> {
    let mut words = vec![12, 0x000c_0008, 0x0008_0004, 8, 8, 4 + 4 + 8];
    // The numbers, padded to eight bytes.
    words.push(numbers.len() as u32);
    let mut padded = numbers.to_vec();
    padded.resize(8, 0);
    words.extend(padded.chunks(4).map(|chunk| u32::from_le_bytes(chunk.try_into().expect("four bytes"))));
    words.push(values.len() as u32);
    let from_here = |index: usize| 4 * (values.len() - index) as u32;
    words.extend(
        values.iter().enumerate().map(|(index, value)| if *value == 0 { 0 } else { from_here(index) }),
    );
    words.extend([1, u32::from(b'x')]);
    decode::<Only>(&payload(&words)).map(|view| view.things().iter().map(Thing::from).collect())
}

#[test]
fn the_two_vectors_go_together() {
    let text = || Thing::Text("x".into());
    assert_eq!(two_vectors(&[2, 2], &[1, 1]), Ok(vec![text(), text()]));
    assert_eq!(two_vectors(&[2, 0], &[1, 0]), Ok(vec![text(), Thing::Unknown(0)]));
    assert_eq!(two_vectors(&[2, 99], &[1, 0]), Ok(vec![text(), Thing::Unknown(99)]));
    assert_eq!(two_vectors(&[2], &[1, 1]), Err(Invalid::Union));
    assert_eq!(two_vectors(&[2, 2, 2], &[1, 1]), Err(Invalid::Union));
    assert_eq!(two_vectors(&[], &[]), Ok(vec![]));
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Everything {
    #[message(id = 1)]
    thing: Thing,
    #[message(id = 6, required)]
    needed: Thing,
    #[message(id = 2)]
    between: u64,
    #[message(id = 4, deprecated)]
    things: Vec<Thing>,
    #[message(id = 8, required)]
    all: Vec<Thing>,
}

#[test]
fn the_schema_is_flatcs() {
    let theirs = flatc_schema_of(
        "namespace demo;
         struct Pose { x: double; y: double; }
         struct Answer { sure: bool; }
         /// One of several.
         union Thing {
           /// A tree.
           Node, Text: string, pose: Pose = 7, Answer }
         table Node { value: int; thing: Thing; next: Thing; }
         table Everything {
           thing: Thing (id: 1); needed: Thing (id: 6, required); between: ulong (id: 2);
           things: [Thing] (id: 4, deprecated); all: [Thing] (id: 8, required); }
         root_type Everything;",
    );
    let ours = Schema::from_bytes(Everything::schema()).unwrap();
    assert_same(&ours, &theirs);
    assert_eq!(Everything::fingerprint(), theirs.fingerprint());
}
