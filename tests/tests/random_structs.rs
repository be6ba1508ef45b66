//! Random values of every kind of field come back, and damaged payloads of them are no panic, whatever is done with
//! their views.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Debug,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use msg_runtime::{AlignedBuffer, Encode, Flags, FromView, Message, Nested, Open, Padding, decode, encode};
use msg_tests::random::Random;

/// Values of each kind; a count in `MSG_RANDOM` overrides it.
const VALUES: u64 = 2_000;
/// Tables inside each other.
const DEPTH: u32 = 3;

/// A source of values that ends.
struct Source {
    random: Random,
    depth: u32,
}

trait Arbitrary: Sized {
    fn arbitrary(source: &mut Source) -> Self;
}

macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl Arbitrary for $number {
            fn arbitrary(source: &mut Source) -> Self {
                let bits = source.random.next_u64();
                match source.random.below(4) {
                    0 => 0 as $number,
                    1 => $number::MAX,
                    2 => $number::MIN,
                    _ => bits as $number,
                }
            }
        }
    )*};
}

numbers!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl Arbitrary for bool {
    fn arbitrary(source: &mut Source) -> Self {
        source.random.below(2) == 0
    }
}

impl Arbitrary for String {
    fn arbitrary(source: &mut Source) -> Self {
        let len = source.random.below(9);
        (0..len).map(|_| ['a', 'é', '😀', '\0', ' '][source.random.below(5)]).collect()
    }
}

impl<T: Arbitrary> Arbitrary for Option<T> {
    fn arbitrary(source: &mut Source) -> Self {
        bool::arbitrary(source).then(|| T::arbitrary(source))
    }
}

impl<T: Arbitrary> Arbitrary for Box<T> {
    fn arbitrary(source: &mut Source) -> Self {
        Box::new(T::arbitrary(source))
    }
}

impl<T: Arbitrary> Arbitrary for Vec<T> {
    fn arbitrary(source: &mut Source) -> Self {
        let len = source.random.below(4);
        (0..len).map(|_| T::arbitrary(source)).collect()
    }
}

impl<T: Arbitrary + Copy + Default, const N: usize> Arbitrary for [T; N] {
    fn arbitrary(source: &mut Source) -> Self {
        [T::default(); N].map(|_| T::arbitrary(source))
    }
}

impl<K: Arbitrary + Ord, V: Arbitrary> Arbitrary for BTreeMap<K, V> {
    fn arbitrary(source: &mut Source) -> Self {
        Vec::<(K, V)>::arbitrary(source).into_iter().collect()
    }
}

impl<V: Arbitrary> Arbitrary for HashMap<String, V> {
    fn arbitrary(source: &mut Source) -> Self {
        Vec::<(String, V)>::arbitrary(source).into_iter().collect()
    }
}

impl<A: Arbitrary, B: Arbitrary> Arbitrary for (A, B) {
    fn arbitrary(source: &mut Source) -> Self {
        (A::arbitrary(source), B::arbitrary(source))
    }
}

impl Arbitrary for Duration {
    fn arbitrary(source: &mut Source) -> Self {
        Duration::from_nanos(u64::arbitrary(source))
    }
}

impl Arbitrary for SystemTime {
    fn arbitrary(source: &mut Source) -> Self {
        UNIX_EPOCH + Duration::from_nanos(u64::arbitrary(source) / 2)
    }
}

/// A struct of these fields, and random values of it.
macro_rules! messages {
    ($($(#[$meta:meta])* struct $name:ident { $($field:ident: $ty:ty,)* })*) => {$(
        #[derive(Message, Clone, Debug, PartialEq)]
        #[message(namespace = "random")]
        $(#[$meta])*
        struct $name {
            $($field: $ty,)*
        }

        impl Arbitrary for $name {
            fn arbitrary(source: &mut Source) -> Self {
                Self { $($field: Arbitrary::arbitrary(source),)* }
            }
        }
    )*};
}

messages! {
    struct Numbers {
        a: u8, b: i8, c: u16, d: i16, e: u32, f: i32, g: u64, h: i64, i: f32, j: f64, k: bool,
    }

    struct Optional {
        a: Option<u8>, b: Option<i64>, c: Option<f32>, d: Option<bool>, e: Option<String>, f: Option<Vec<u16>>,
        g: Option<Box<Numbers>>, h: Option<Level>, i: Option<Place>, j: Option<Duration>,
    }

    struct Vectors {
        a: Vec<u8>, b: Vec<i64>, c: Vec<f64>, d: Vec<bool>, e: Vec<String>, f: Vec<Numbers>, g: Vec<Level>,
        h: Vec<Place>, i: [f32; 3], j: Vec<SystemTime>, k: [u64; 2], l: Vec<Celsius>,
    }

    struct Maps {
        a: HashMap<String, f64>, b: BTreeMap<i32, String>, c: BTreeMap<u64, Numbers>, d: BTreeMap<i8, Thing>,
        e: Option<BTreeMap<String, Vec<u8>>>,
    }

    struct Tree {
        before: u8, numbers: Numbers, optional: Optional, vectors: Vectors, maps: Maps, thing: Thing,
        maybe: Option<Thing>, things: Vec<Thing>, children: Vec<Child>, open: Open<Level>, flags: Flags<Level>,
        place: Place, nested: Nested<Numbers>, celsius: Celsius, at: SystemTime, after: u16,
    }
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "random")]
#[repr(i16)]
enum Level {
    Low = -1,
    Middle,
    High = 300,
}

impl Arbitrary for Level {
    fn arbitrary(source: &mut Source) -> Self {
        [Self::Low, Self::Middle, Self::High][source.random.below(3)]
    }
}

impl Arbitrary for Open<Level> {
    fn arbitrary(source: &mut Source) -> Self {
        Self::from_number(i16::arbitrary(source))
    }
}

impl Arbitrary for Flags<Level> {
    fn arbitrary(source: &mut Source) -> Self {
        Self::from_bits(i16::arbitrary(source))
    }
}

#[derive(Message, Clone, Copy, Debug, PartialEq, Default)]
#[message(plain)]
#[repr(transparent)]
struct Celsius(f32);

impl Arbitrary for Celsius {
    fn arbitrary(source: &mut Source) -> Self {
        Self(f32::arbitrary(source))
    }
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "random", plain)]
#[repr(C)]
struct Place {
    x: f64,
    level: Level,
    open: Open<Level>,
    sure: bool,
    padding: Padding<3>,
    more: [u32; 2],
}

impl Arbitrary for Place {
    fn arbitrary(source: &mut Source) -> Self {
        Self {
            x: f64::arbitrary(source),
            level: Level::arbitrary(source),
            open: Open::arbitrary(source),
            sure: bool::arbitrary(source),
            padding: Padding::default(),
            more: Arbitrary::arbitrary(source),
        }
    }
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "random")]
enum Thing {
    Numbers(Box<Numbers>),
    Text(String),
    Place(Place),
    Tree(Box<Tree>),
    #[message(unknown)]
    Unknown(u8),
}

impl Arbitrary for Thing {
    fn arbitrary(source: &mut Source) -> Self {
        match source.random.below(if source.depth == 0 { 3 } else { 4 }) {
            0 => Self::Numbers(Arbitrary::arbitrary(source)),
            1 => Self::Text(Arbitrary::arbitrary(source)),
            2 => Self::Place(Arbitrary::arbitrary(source)),
            _ => Self::Tree(Child::arbitrary(source).0),
        }
    }
}

/// A tree inside a tree, of less depth.
#[derive(Message, Clone, Debug, PartialEq)]
struct Child(Box<Tree>);

impl Arbitrary for Child {
    fn arbitrary(source: &mut Source) -> Self {
        let depth = source.depth;
        source.depth = depth.saturating_sub(1);
        let mut tree = if depth == 0 { Source::smallest() } else { Tree::arbitrary(source) };
        if depth <= 1 {
            tree.children.clear();
        }
        source.depth = depth;
        Self(Box::new(tree))
    }
}

impl Source {
    /// A tree without others in it.
    fn smallest() -> Tree {
        let mut source = Self { random: Random::new(1), depth: 0 };
        let source = &mut source;
        Tree {
            before: 0,
            numbers: Numbers::arbitrary(source),
            optional: Optional::arbitrary(source),
            vectors: Vectors::arbitrary(source),
            maps: Maps::arbitrary(source),
            thing: Thing::Text("end".into()),
            maybe: None,
            things: vec![],
            children: vec![],
            open: Level::Low.into(),
            flags: Flags::empty(),
            place: Place::arbitrary(source),
            nested: Nested::arbitrary(source),
            celsius: Celsius(0.0),
            at: UNIX_EPOCH,
            after: 0,
        }
    }
}

impl Arbitrary for Nested<Numbers> {
    fn arbitrary(source: &mut Source) -> Self {
        Nested::new(&Numbers::arbitrary(source)).expect("a small message encodes")
    }
}

fn count() -> u64 {
    std::env::var("MSG_RANDOM").map_or(VALUES, |count| count.parse().expect("a number"))
}

#[track_caller]
fn check<M>()
where
    M: Message + Encode<Message = M> + FromView + Arbitrary + Debug,
    for<'a> M::View<'a>: Encode<Message = M> + Debug,
{
    let mut source = Source { random: Random::new(3), depth: DEPTH };
    for _ in 0..count() {
        let value = M::arbitrary(&mut source);
        let bytes = encode(&value).expect("it is valid");
        let view = decode::<M>(&bytes).expect("it is valid");
        let owned = M::from_view(view);
        // Shown, since random floats may be NaN.
        assert_eq!(format!("{owned:?}"), format!("{value:?}"));
        assert_eq!(encode(&owned).expect("it is valid")[..], bytes[..]);
        assert_eq!(encode(&view).expect("it is valid")[..], bytes[..]);
    }
}

#[test]
fn random_numbers_come_back() {
    check::<Numbers>();
}

#[test]
fn random_options_come_back() {
    check::<Optional>();
}

#[test]
fn random_vectors_come_back() {
    check::<Vectors>();
}

/// Hash maps show their entries in any order, so the owned values are compared as bytes only.
#[test]
fn random_trees_come_back() {
    let mut source = Source { random: Random::new(4), depth: DEPTH };
    for _ in 0..count() / 10 {
        let bytes = encode(&Tree::arbitrary(&mut source)).unwrap();
        let view = decode::<Tree>(&bytes).unwrap();
        assert_eq!(encode(&Tree::from(view)).unwrap()[..], bytes[..]);
        assert_eq!(encode(&view).unwrap()[..], bytes[..]);
        assert!(view.nested().view().is_ok());
    }
}

/// Everything that can be done with a view of what was accepted.
fn use_view(bytes: &[u8]) -> bool {
    let Ok(view) = decode::<Tree>(bytes) else { return false };
    assert!(!format!("{view:?}").is_empty());
    let _ = view.nested().view().map(|numbers| numbers.j());
    let sent = encode(&view).expect("what was accepted can be sent on");
    let again = Tree::from(decode::<Tree>(&sent).expect("what was sent on is valid"));
    // Twice, since unknown members are left out when they are sent.
    let owned = encode(&Tree::from(view)).expect("an owned value encodes");
    let owned = Tree::from(decode::<Tree>(&owned).expect("an encoded value is valid"));
    assert_eq!(encode(&again).expect("it is valid")[..], encode(&owned).expect("it is valid")[..]);
    true
}

#[test]
fn damaged_trees_are_no_panic() {
    let mut source = Source { random: Random::new(5), depth: 2 };
    let payloads: Vec<AlignedBuffer> =
        (0..20).map(|_| encode(&Tree::arbitrary(&mut source)).unwrap()).collect();
    let mut accepted = 0;
    let rounds = count();
    for _ in 0..rounds {
        let random = &mut source.random;
        let mut bytes = payloads[random.below(payloads.len())].clone();
        let len = bytes.len();
        for _ in 0..=random.below(3) {
            let at = random.below(len);
            match random.below(4) {
                0 => bytes.as_mut_slice()[at] ^= 1 << random.below(8),
                1 => bytes.as_mut_slice()[at] = random.next_u64() as u8,
                2 => bytes.as_mut_slice()[at] = [0, 1, 2, 4, 0xff, 0x80][random.below(6)],
                _ => bytes.as_mut_slice().swap(at, len - 1 - at),
            }
        }
        accepted += u64::from(use_view(&bytes));
    }
    assert!(accepted > rounds / 20 && accepted < rounds, "{accepted} of {rounds} accepted");
}
