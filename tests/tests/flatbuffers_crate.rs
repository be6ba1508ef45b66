//! Our verifier, accessors and encoder against those of the crate `flatbuffers`, on whole and on damaged payloads.
//!
//! Both must accept the same bytes and read the same values. The one exception: we refuse structs at addresses that
//! their alignment does not allow, since we hand out references to them; the crate copies.

use flatbuffers as fb;
use msg_runtime::{AlignedBuffer, Message, Open, decode, encode, error::Invalid};
use msg_tests::random::Random;

/// Damaged payloads of each kind; a count in `MSG_DAMAGED` overrides it.
const DAMAGED: u64 = 100_000;

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "oracle")]
#[repr(u8)]
enum Color {
    Red,
    Green,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "oracle")]
struct Leaf {
    #[message(required)]
    name: String,
    size: u16,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "oracle")]
struct Tree {
    #[message(default = 7)]
    id: i32,
    stamp: Option<u64>,
    flag: bool,
    color: Open<Color>,
    name: String,
    email: Option<String>,
    tags: Vec<f32>,
    names: Vec<String>,
    leaf: Option<Leaf>,
    leaves: Vec<Leaf>,
    next: Option<Box<Tree>>,
}

#[derive(Message, Clone, Copy, Debug, PartialEq)]
#[message(namespace = "oracle", plain)]
#[repr(C)]
struct Pose {
    x: f64,
    y: f64,
    frame: u64,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "oracle")]
struct Path {
    start: Option<Pose>,
    poses: Vec<Pose>,
    label: Option<String>,
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "oracle")]
enum Thing {
    Leaf(Leaf),
    Text(String),
    #[message(id = 5)]
    Pose(Pose),
    Envelope(Box<Envelope>),
    #[message(unknown)]
    Unknown(u8),
}

#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "oracle")]
struct Envelope {
    first: u8,
    thing: Option<Thing>,
    last: u16,
    #[message(required)]
    needed: Thing,
}

/// What the crate takes whatever its value or length: closed enums and arrays. And vectors of `bool`.
#[derive(Message, Clone, Debug, PartialEq)]
#[message(namespace = "oracle")]
struct Board {
    flags: Vec<bool>,
    ranks: [u16; 3],
    color: Color,
    colors: Vec<Color>,
    maybe: Option<Color>,
    weights: Option<[f64; 2]>,
}

/// The same types as `flatc --rust` writes them.
mod oracle {
    use flatbuffers::{
        Follow, ForwardsUOffset, InvalidFlatbuffer, SimpleToVerifyInSlice, Table, Vector, Verifiable,
        Verifier,
    };

    macro_rules! table {
        ($lifetime:lifetime $name:ident { $($field:ident: $slot:literal $ty:ty, $required:literal;)* }) => {
            #[derive(Clone, Copy)]
            pub(super) struct $name<'a>(Table<'a>);

            impl<'a> Follow<'a> for $name<'a> {
                type Inner = Self;

                unsafe fn follow(buffer: &'a [u8], at: usize) -> Self {
                    // SAFETY: the caller promises that a table stands there.
                    Self(unsafe { Table::new(buffer, at) })
                }
            }

            impl<$lifetime> Verifiable for $name<$lifetime> {
                fn run_verifier(v: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
                    v.visit_table(at)?$(.visit_field::<$ty>(stringify!($field), $slot, $required)?)*.finish();
                    Ok(())
                }
            }

            impl<$lifetime> $name<$lifetime> {
                $(
                    pub(super) fn $field(&self) -> Option<<$ty as Follow<$lifetime>>::Inner> {
                        // SAFETY: these tables are made from verified buffers only.
                        unsafe { self.0.get::<$ty>($slot, None) }
                    }
                )*
            }
        };
    }

    table!('a Leaf {
        name: 4 ForwardsUOffset<&'a str>, true;
        size: 6 u16, false;
    });

    table!('a Tree {
        id: 4 i32, false;
        stamp: 6 u64, false;
        flag: 8 bool, false;
        color: 10 u8, false;
        name: 12 ForwardsUOffset<&'a str>, false;
        email: 14 ForwardsUOffset<&'a str>, false;
        tags: 16 ForwardsUOffset<Vector<'a, f32>>, false;
        names: 18 ForwardsUOffset<Vector<'a, ForwardsUOffset<&'a str>>>, false;
        leaf: 20 ForwardsUOffset<Leaf<'a>>, false;
        leaves: 22 ForwardsUOffset<Vector<'a, ForwardsUOffset<Leaf<'a>>>>, false;
        next: 24 ForwardsUOffset<Tree<'a>>, false;
    });

    table!('a Board {
        flags: 4 ForwardsUOffset<Vector<'a, bool>>, false;
        ranks: 6 ForwardsUOffset<Vector<'a, u16>>, false;
        color: 8 u8, false;
        colors: 10 ForwardsUOffset<Vector<'a, u8>>, false;
        maybe: 12 u8, false;
        weights: 14 ForwardsUOffset<Vector<'a, f64>>, false;
    });

    #[repr(transparent)]
    #[derive(Clone, Copy)]
    pub(super) struct Pose(pub(super) [u8; 24]);

    impl<'a> Follow<'a> for Pose {
        type Inner = &'a Self;

        unsafe fn follow(buffer: &'a [u8], at: usize) -> &'a Self {
            // SAFETY: the caller promises that a struct stands there, and it is bytes.
            unsafe { flatbuffers::follow_cast_ref::<Self>(buffer, at) }
        }
    }

    impl Verifiable for Pose {
        fn run_verifier(v: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
            v.in_buffer::<Self>(at)
        }
    }

    impl SimpleToVerifyInSlice for Pose {}

    /// A table with two unions; 1 is a leaf, 2 a string, 5 a pose and 6 such a table.
    #[derive(Clone, Copy)]
    pub(super) struct Envelope<'a>(Table<'a>);

    impl<'a> Follow<'a> for Envelope<'a> {
        type Inner = Self;

        unsafe fn follow(buffer: &'a [u8], at: usize) -> Self {
            // SAFETY: the caller promises that a table stands there.
            Self(unsafe { Table::new(buffer, at) })
        }
    }

    impl Verifiable for Envelope<'_> {
        fn run_verifier(v: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
            let member = |number: u8, v: &mut Verifier<'_, '_>, at: usize| match number {
                1 => v.verify_union_variant::<ForwardsUOffset<Leaf<'_>>>("Leaf", at),
                2 => v.verify_union_variant::<ForwardsUOffset<&str>>("Text", at),
                5 => v.verify_union_variant::<ForwardsUOffset<Pose>>("Pose", at),
                6 => v.verify_union_variant::<ForwardsUOffset<Envelope<'_>>>("Envelope", at),
                _ => Ok(()),
            };
            v.visit_table(at)?
                .visit_field::<u8>("first", 4, false)?
                .visit_union::<u8, _>("thing_type", 6, "thing", 8, false, member)?
                .visit_field::<u16>("last", 10, false)?
                .visit_union::<u8, _>("needed_type", 12, "needed", 14, true, member)?
                .finish();
            Ok(())
        }
    }

    /// What a union holds.
    pub(super) enum Thing<'a> {
        Leaf(Leaf<'a>),
        Text(&'a str),
        Pose(&'a Pose),
        Envelope(Envelope<'a>),
        Unknown(u8),
    }

    impl<'a> Envelope<'a> {
        pub(super) fn first(&self) -> u8 {
            // SAFETY: these tables are made from verified buffers only.
            unsafe { self.0.get::<u8>(4, Some(0)) }.unwrap_or_default()
        }

        pub(super) fn last(&self) -> u16 {
            // SAFETY: as above.
            unsafe { self.0.get::<u16>(10, Some(0)) }.unwrap_or_default()
        }

        pub(super) fn thing(&self) -> Thing<'a> {
            self.union(6, 8)
        }

        pub(super) fn needed(&self) -> Thing<'a> {
            self.union(12, 14)
        }

        fn union(&self, number: u16, value: u16) -> Thing<'a> {
            // SAFETY: as above.
            let number = unsafe { self.0.get::<u8>(number, Some(0)) }.unwrap_or_default();
            match number {
                1 => Thing::Leaf(self.member::<Leaf<'a>>(value)),
                2 => Thing::Text(self.member::<&str>(value)),
                5 => Thing::Pose(self.member::<Pose>(value)),
                6 => Thing::Envelope(self.member::<Envelope<'a>>(value)),
                other => Thing::Unknown(other),
            }
        }

        fn member<T: Follow<'a> + 'a>(&self, value: u16) -> T::Inner {
            // SAFETY: as above, and the number says that it is such a member.
            unsafe { self.0.get::<ForwardsUOffset<T>>(value, None) }.expect("the verifier found both or none")
        }
    }

    table!('a Path {
        start: 4 Pose, false;
        poses: 6 ForwardsUOffset<Vector<'a, Pose>>, false;
        label: 8 ForwardsUOffset<&'a str>, false;
    });
}

fn envelopes() -> Vec<Envelope> {
    let pose = Thing::Pose(Pose { x: 1.0, y: -2.5, frame: 3 });
    let with = |thing: Option<Thing>, needed: Thing| Envelope { first: 9, thing, last: 300, needed };
    let inner = with(Some(pose.clone()), Thing::Leaf(leaf("oak", 3)));
    vec![
        with(None, Thing::Text("é".into())),
        with(Some(Thing::Text("ash".into())), pose),
        with(Some(Thing::Envelope(Box::new(inner.clone()))), Thing::Envelope(Box::new(inner))),
    ]
}

fn leaf(name: &str, size: u16) -> Leaf {
    Leaf { name: name.into(), size }
}

fn trees() -> Vec<Tree> {
    let small = Tree {
        id: 0,
        stamp: None,
        flag: false,
        color: Color::Red.into(),
        name: String::new(),
        email: None,
        tags: vec![],
        names: vec![],
        leaf: None,
        leaves: vec![],
        next: None,
    };
    let large = Tree {
        id: -3,
        stamp: Some(u64::MAX),
        flag: true,
        color: Open::from_number(9),
        name: "Alice Exämple".into(),
        email: Some("é–😀".into()),
        tags: vec![1.5, -0.0, f32::MIN],
        names: vec!["a".into(), String::new(), "ccc".into()],
        leaf: Some(leaf("oak", 3)),
        leaves: vec![leaf("", 0), leaf("ash", 65_535)],
        next: None,
    };
    let nested =
        Tree { next: Some(Box::new(Tree { email: Some(String::new()), ..large.clone() })), ..small.clone() };
    vec![small, large, nested]
}

fn crate_leaf<'f>(builder: &mut fb::FlatBufferBuilder<'f>, leaf: &Leaf) -> fb::WIPOffset<oracle::Leaf<'f>> {
    let name = builder.create_string(&leaf.name);
    let start = builder.start_table();
    builder.push_slot_always(4, name);
    builder.push_slot(6, leaf.size, 0);
    fb::WIPOffset::new(builder.end_table(start).value())
}

fn crate_tree<'f>(builder: &mut fb::FlatBufferBuilder<'f>, tree: &Tree) -> fb::WIPOffset<oracle::Tree<'f>> {
    let next = tree.next.as_ref().map(|next| crate_tree(builder, next));
    let leaves: Vec<_> = tree.leaves.iter().map(|leaf| crate_leaf(builder, leaf)).collect();
    let leaves = builder.create_vector(&leaves);
    let leaf = tree.leaf.as_ref().map(|leaf| crate_leaf(builder, leaf));
    let names: Vec<_> = tree.names.iter().map(|name| builder.create_string(name)).collect();
    let names = builder.create_vector(&names);
    let tags = builder.create_vector(&tree.tags);
    let email = tree.email.as_ref().map(|email| builder.create_shared_string(email));
    let name = builder.create_shared_string(&tree.name);
    let start = builder.start_table();
    builder.push_slot(4, tree.id, 7);
    if let Some(stamp) = tree.stamp {
        builder.push_slot_always(6, stamp);
    }
    builder.push_slot(8, tree.flag, false);
    builder.push_slot(10, tree.color.number(), 0);
    builder.push_slot_always(12, name);
    if let Some(email) = email {
        builder.push_slot_always(14, email);
    }
    builder.push_slot_always(16, tags);
    builder.push_slot_always(18, names);
    if let Some(leaf) = leaf {
        builder.push_slot_always(20, leaf);
    }
    builder.push_slot_always(22, leaves);
    if let Some(next) = next {
        builder.push_slot_always(24, next);
    }
    fb::WIPOffset::new(builder.end_table(start).value())
}

fn crate_encoded(tree: &Tree) -> AlignedBuffer {
    let mut builder = fb::FlatBufferBuilder::new();
    let root = crate_tree(&mut builder, tree);
    builder.finish_minimal(root);
    AlignedBuffer::copy_of(builder.finished_data())
}

fn assert_same_leaf(ours: LeafView<'_>, theirs: oracle::Leaf<'_>) {
    assert_eq!(Some(ours.name()), theirs.name());
    assert_eq!(ours.size(), theirs.size().unwrap_or_default());
}

fn assert_same_tree(ours: TreeView<'_>, theirs: oracle::Tree<'_>) {
    assert_eq!(ours.id(), theirs.id().unwrap_or(7));
    assert_eq!(ours.stamp(), theirs.stamp());
    assert_eq!(ours.flag(), theirs.flag().unwrap_or_default());
    assert_eq!(ours.color().number(), theirs.color().unwrap_or_default());
    assert_eq!(ours.name(), theirs.name().unwrap_or_default());
    assert_eq!(ours.email(), theirs.email());
    let bits = |tags: &mut dyn Iterator<Item = f32>| tags.map(f32::to_bits).collect::<Vec<_>>();
    let tags = theirs.tags().into_iter().flatten();
    assert_eq!(bits(&mut ours.tags().iter().copied()), bits(&mut { tags }));
    assert!(ours.names().iter().eq(theirs.names().into_iter().flatten()));
    assert_eq!(ours.leaf().is_some(), theirs.leaf().is_some());
    ours.leaf().into_iter().zip(theirs.leaf()).for_each(|(ours, theirs)| assert_same_leaf(ours, theirs));
    assert_eq!(ours.leaves().len(), theirs.leaves().map_or(0, |leaves| leaves.len()));
    let leaves = theirs.leaves().into_iter().flatten();
    ours.leaves().iter().zip(leaves).for_each(|(ours, theirs)| assert_same_leaf(ours, theirs));
    assert_eq!(ours.next().is_some(), theirs.next().is_some());
    ours.next().into_iter().zip(theirs.next()).for_each(|(ours, theirs)| assert_same_tree(ours, theirs));
}

fn assert_same_envelope(ours: EnvelopeView<'_>, theirs: oracle::Envelope<'_>) {
    assert_eq!((ours.first(), ours.last()), (theirs.first(), theirs.last()));
    assert_same_thing(ours.thing().unwrap_or(ThingView::Unknown(0)), theirs.thing());
    assert_same_thing(ours.needed(), theirs.needed());
}

fn assert_same_thing(ours: ThingView<'_>, theirs: oracle::Thing<'_>) {
    match (ours, theirs) {
        (ThingView::Leaf(ours), oracle::Thing::Leaf(theirs)) => assert_same_leaf(ours, theirs),
        (ThingView::Text(ours), oracle::Thing::Text(theirs)) => assert_eq!(ours, theirs),
        (ThingView::Pose(ours), oracle::Thing::Pose(theirs)) => assert_eq!(pose_bytes(ours), theirs.0),
        (ThingView::Envelope(ours), oracle::Thing::Envelope(theirs)) => assert_same_envelope(ours, theirs),
        (ThingView::Unknown(ours), oracle::Thing::Unknown(theirs)) => assert_eq!(ours, theirs),
        (ours, _) => panic!("{ours:?} is another member"),
    }
}

fn pose_bytes(pose: &Pose) -> Vec<u8> {
    [pose.x.to_bits(), pose.y.to_bits(), pose.frame].map(u64::to_le_bytes).concat()
}

fn assert_same_path(ours: PathView<'_>, theirs: oracle::Path<'_>) {
    assert_eq!(ours.start().map(pose_bytes), theirs.start().map(|pose| pose.0.to_vec()));
    let poses: Vec<_> = theirs.poses().into_iter().flatten().map(|pose| pose.0.to_vec()).collect();
    assert_eq!(ours.poses().iter().map(pose_bytes).collect::<Vec<_>>(), poses);
    assert_eq!(ours.label(), theirs.label());
}

fn boards() -> Vec<Board> {
    let empty =
        Board { flags: vec![], ranks: [0; 3], color: Color::Red, colors: vec![], maybe: None, weights: None };
    let full = Board {
        flags: vec![true, false, true],
        ranks: [1, 2, 65_535],
        color: Color::Green,
        colors: vec![Color::Red, Color::Green, Color::Green, Color::Red, Color::Green],
        maybe: Some(Color::Red),
        weights: Some([0.5, -1.0]),
    };
    vec![empty, full]
}

fn assert_same_board(ours: BoardView<'_>, theirs: oracle::Board<'_>) {
    let numbers =
        |colors: &mut dyn Iterator<Item = Color>| colors.map(|color| color as u8).collect::<Vec<_>>();
    assert!(ours.flags().iter().eq(theirs.flags().into_iter().flatten()));
    assert!(
        ours.ranks().iter().copied().eq(theirs.ranks().map_or(vec![0; 3], |ranks| ranks.iter().collect()))
    );
    assert_eq!(ours.color() as u8, theirs.color().unwrap_or_default());
    assert_eq!(
        numbers(&mut ours.colors().iter()),
        theirs.colors().map_or(vec![], |all| all.iter().collect())
    );
    assert_eq!(ours.maybe().map(|color| color as u8), theirs.maybe());
    let weights = theirs.weights().map(|weights| weights.iter().map(f64::to_bits).collect());
    assert_eq!(ours.weights().map(|weights| weights.map(f64::to_bits).to_vec()), weights);
}

/// Why we refuse what the crate does not look at.
fn refused(theirs: oracle::Board<'_>) -> [Option<Invalid>; 2] {
    let lengths = [
        theirs.ranks().is_some_and(|ranks| ranks.len() != 3),
        theirs.weights().is_some_and(|two| two.len() != 2),
    ];
    let mut colors =
        theirs.color().into_iter().chain(theirs.maybe()).chain(theirs.colors().into_iter().flatten());
    [
        lengths.contains(&true).then_some(Invalid::WrongLength),
        colors.any(|color| color > Color::Green as u8).then_some(Invalid::UnknownValue),
    ]
}

#[test]
fn the_crate_reads_what_we_write() {
    for board in boards() {
        let bytes = encode(&board).unwrap();
        assert_same_board(decode::<Board>(&bytes).unwrap(), fb::root::<oracle::Board<'_>>(&bytes).unwrap());
    }
    for tree in trees() {
        let bytes = encode(&tree).unwrap();
        assert_same_tree(decode::<Tree>(&bytes).unwrap(), fb::root::<oracle::Tree<'_>>(&bytes).unwrap());
    }
}

#[test]
fn we_read_what_the_crate_writes() {
    for tree in trees() {
        let bytes = crate_encoded(&tree);
        assert_eq!(Tree::from(decode::<Tree>(&bytes).unwrap()), tree);
    }
}

/// One to three small damages; the length that is left.
fn damage(random: &mut Random, bytes: &mut [u8]) -> usize {
    let mut len = bytes.len();
    for _ in 0..=random.below(3) {
        let at = random.below(len);
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next_u64() as u8,
            2 => bytes[at] = [0, 1, 2, 4, 8, 0xff, 0x7f, 0x80][random.below(8)],
            3 if random.below(4) == 0 => len = 1 + at,
            4 | 5 if at / 4 * 4 + 4 <= len => {
                let value = random.below(len) as u32;
                bytes[at / 4 * 4..][..4].copy_from_slice(&value.to_le_bytes());
            }
            _ => bytes.swap(at, len - 1 - at),
        }
    }
    len
}

fn damaged_payloads(payloads: &[AlignedBuffer], mut check: impl FnMut(&[u8]) -> bool) {
    let count = std::env::var("MSG_DAMAGED").map_or(DAMAGED, |count| count.parse().expect("a number"));
    let mut random = Random::new(1);
    let mut accepted = 0;
    for _ in 0..count {
        let mut bytes = payloads[random.below(payloads.len())].clone();
        let len = damage(&mut random, bytes.as_mut_slice());
        accepted += u64::from(check(&bytes[..len]));
    }
    // Both sides of the comparison must have been met often.
    assert!(accepted > count / 20 && accepted < count / 20 * 19, "{accepted} of {count} accepted");
}

#[test]
fn damaged_tables_get_the_same_answer() {
    let payloads: Vec<_> =
        trees().iter().flat_map(|tree| [encode(tree).expect("it encodes"), crate_encoded(tree)]).collect();
    damaged_payloads(&payloads, |bytes| match (decode::<Tree>(bytes), fb::root::<oracle::Tree<'_>>(bytes)) {
        (Ok(ours), Ok(theirs)) => {
            assert_same_tree(ours, theirs);
            true
        }
        (Err(_), Err(_)) => false,
        (ours, theirs) => panic!("{:?} {:?} {bytes:?}", ours.err(), theirs.err()),
    });
}

#[test]
fn damaged_arrays_and_enums_get_the_same_answer_but_for_lengths_and_unknown_values() {
    let payloads: Vec<_> = boards().iter().map(|board| encode(board).expect("it encodes")).collect();
    damaged_payloads(&payloads, |bytes| {
        match (decode::<Board>(bytes), fb::root::<oracle::Board<'_>>(bytes)) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(refused(theirs), [None; 2], "{bytes:?}");
                assert_same_board(ours, theirs);
                true
            }
            (Err(_), Err(_)) => false,
            (Err(ours), Ok(theirs)) if refused(theirs).contains(&Some(ours)) => false,
            (ours, theirs) => panic!("{:?} {:?} {bytes:?}", ours.err(), theirs.err()),
        }
    });
}

#[test]
fn damaged_structs_get_the_same_answer_but_for_alignment() {
    let pose = Pose { x: 1.0, y: -2.5, frame: 3 };
    let paths = [
        Path { start: None, poses: vec![], label: None },
        Path { start: Some(pose), poses: vec![pose; 3], label: Some("left".into()) },
    ];
    let payloads: Vec<_> = paths.iter().map(|path| encode(path).expect("it encodes")).collect();
    damaged_payloads(&payloads, |bytes| match (decode::<Path>(bytes), fb::root::<oracle::Path<'_>>(bytes)) {
        (Ok(ours), Ok(theirs)) => {
            assert_same_path(ours, theirs);
            true
        }
        (Err(_), Err(_)) | (Err(Invalid::Unaligned), Ok(_)) => false,
        (ours, theirs) => panic!("{:?} {:?} {bytes:?}", ours.err(), theirs.err()),
    });
}

#[test]
fn damaged_unions_get_the_same_answer_but_for_alignment() {
    let payloads: Vec<_> = envelopes().iter().map(|envelope| encode(envelope).expect("it encodes")).collect();
    damaged_payloads(&payloads, |bytes| {
        match (decode::<Envelope>(bytes), fb::root::<oracle::Envelope<'_>>(bytes)) {
            (Ok(ours), Ok(theirs)) => {
                assert_same_envelope(ours, theirs);
                true
            }
            (Err(_), Err(_)) | (Err(Invalid::Unaligned), Ok(_)) => false,
            (ours, theirs) => panic!("{:?} {:?} {bytes:?}", ours.err(), theirs.err()),
        }
    });
}

#[test]
fn a_payload_that_is_cut_anywhere_is_no_panic() {
    for tree in trees() {
        let bytes = encode(&tree).unwrap();
        for len in 0..bytes.len() {
            let cut = AlignedBuffer::copy_of(&bytes[..len]);
            assert_eq!(decode::<Tree>(&cut).is_ok(), fb::root::<oracle::Tree<'_>>(&cut).is_ok(), "{len}");
        }
    }
}
