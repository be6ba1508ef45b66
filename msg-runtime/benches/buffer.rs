//! A small table through the derive and through the crate `flatbuffers`, in the same run.
//!
//! `cargo bench -p msg-runtime --bench buffer`. Each measurement is the fastest of many rounds, the two sides in turn, so
//! that what else the machine does hits both. Without `--bench` (as under `cargo test --benches`) it runs briefly.

#![allow(clippy::print_stdout, reason = "a benchmark reports on its output")]
#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use flatbuffers as fb;
use msg_runtime::{AlignedBuffer, Message, decode};

/// A number, two strings, a vector.
#[derive(Message, Debug)]
#[message(namespace = "bench")]
struct Person {
    id: i32,
    name: String,
    email: String,
    scores: Vec<f32>,
}

const ID: fb::VOffsetT = 4;
const NAME: fb::VOffsetT = 6;
const EMAIL: fb::VOffsetT = 8;
const SCORES: fb::VOffsetT = 10;

/// The accessors and the verifier that flatc generates for the same table.
#[derive(Clone, Copy)]
struct TheirPerson<'a>(fb::Table<'a>);

impl<'a> fb::Follow<'a> for TheirPerson<'a> {
    type Inner = Self;

    unsafe fn follow(bytes: &'a [u8], at: usize) -> Self {
        // SAFETY: the caller's promise is this function's.
        Self(unsafe { fb::Table::new(bytes, at) })
    }
}

impl fb::Verifiable for TheirPerson<'_> {
    fn run_verifier(verifier: &mut fb::Verifier<'_, '_>, at: usize) -> Result<(), fb::InvalidFlatbuffer> {
        verifier
            .visit_table(at)?
            .visit_field::<i32>("id", ID, false)?
            .visit_field::<fb::ForwardsUOffset<&str>>("name", NAME, false)?
            .visit_field::<fb::ForwardsUOffset<&str>>("email", EMAIL, false)?
            .visit_field::<fb::ForwardsUOffset<fb::Vector<'_, f32>>>("scores", SCORES, false)?
            .finish();
        Ok(())
    }
}

impl<'a> TheirPerson<'a> {
    fn id(&self) -> i32 {
        // SAFETY: the table was verified, and so is this field's type.
        unsafe { self.0.get::<i32>(ID, Some(0)) }.unwrap()
    }

    fn text(&self, field: fb::VOffsetT) -> &'a str {
        // SAFETY: the table was verified, and so are the types of the fields that are asked for.
        unsafe { self.0.get::<fb::ForwardsUOffset<&str>>(field, None) }.unwrap_or_default()
    }

    fn scores(&self) -> fb::Vector<'a, f32> {
        // SAFETY: the table was verified, and so is this field's type.
        unsafe { self.0.get::<fb::ForwardsUOffset<fb::Vector<'a, f32>>>(SCORES, None) }.unwrap()
    }
}

/// As flatc's generated `Person::create`: strings and vectors first, then the table.
fn build(person: &Person, builder: &mut fb::FlatBufferBuilder<'_>) -> usize {
    builder.reset();
    let scores = builder.create_vector(&person.scores);
    let email = builder.create_string(&person.email);
    let name = builder.create_string(&person.name);
    let start = builder.start_table();
    builder.push_slot_always(SCORES, scores);
    builder.push_slot_always(EMAIL, email);
    builder.push_slot_always(NAME, name);
    builder.push_slot(ID, person.id, 0);
    let root = builder.end_table(start);
    builder.finish_minimal(root);
    builder.finished_data().len()
}

fn person() -> Person {
    Person {
        id: 7,
        name: "Alice Liddell".into(),
        email: "alice@wonderland.example".into(),
        scores: vec![0.5, 1.5, 2.5, 3.5],
    }
}

/// The fastest of the rounds, per call, of both.
fn compare(rounds: usize, calls: u32, ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> [f64; 2] {
    let time = |what: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..calls).for_each(|_| what());
        start.elapsed()
    };
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..rounds {
        fastest[0] = fastest[0].min(time(ours));
        fastest[1] = fastest[1].min(time(theirs));
    }
    fastest.map(|time| time.as_secs_f64() * 1e9 / f64::from(calls))
}

fn report(name: &str, [ours, theirs]: [f64; 2], most: f64) {
    let ratio = ours / theirs;
    println!("{name:8} {ours:6.1} ns   flatbuffers {theirs:6.1} ns   ratio {ratio:.2} (at most {most:.2})");
}

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let (rounds, calls) = if full { (200, 20_000) } else { (2, 100) };
    let person = person();
    let mut builder = fb::FlatBufferBuilder::with_capacity(1024);
    let mut buffer = AlignedBuffer::zeroed(1024);

    let mut encode_ours = || {
        buffer.encode(black_box(&person)).unwrap();
        black_box(&buffer);
    };
    let mut encode_theirs = || {
        black_box(build(black_box(&person), &mut builder));
    };
    report("encode", compare(rounds, calls, &mut encode_ours, &mut encode_theirs), 0.6);

    // Both read what the crate wrote.
    let bytes = AlignedBuffer::copy_of(builder.finished_data());
    let mut verify_ours = || {
        black_box(decode::<Person>(black_box(&bytes)).unwrap());
    };
    let mut verify_theirs = || {
        black_box(fb::root::<TheirPerson<'_>>(black_box(&bytes)).unwrap().0.loc());
    };
    report("verify", compare(rounds, calls, &mut verify_ours, &mut verify_theirs), 0.5);

    let (ours, theirs) = (decode::<Person>(&bytes).unwrap(), fb::root::<TheirPerson<'_>>(&bytes).unwrap());
    let mut read_ours = || {
        let view = black_box(&ours);
        black_box((view.id(), view.name(), view.email(), view.scores()));
    };
    let mut read_theirs = || {
        let view = black_box(&theirs);
        black_box((view.id(), view.text(NAME), view.text(EMAIL), view.scores()));
    };
    report("read", compare(rounds, calls, &mut read_ours, &mut read_theirs), 0.5);
}
