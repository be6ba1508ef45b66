//! Damaged binary schemas: whatever the bytes, reading ends in a schema or an error, soon and in little memory.
use std::time::{Duration, Instant};

use msg_schema::{Schema, difference};
use msg_tests::random::Random;
use msg_tests::tools::flatc_schema_of;

/// A schema with one of everything.
fn sample() -> Schema {
    flatc_schema_of(
        "attribute \"priority\"; namespace demo;
         /// An enum
         enum Mode : ubyte { Idle, Busy = 7 }
         struct Vec3 { x: float; y: float; z: float; } struct Box { corners: [Vec3: 2]; mode: Mode; }
         table Circle { radius: float = 1.5; } union Shape { Circle, Vec3, Text: string }
         /// A table
         table T (priority: 1) { id: ulong (key); name: string (required); shape: Shape; shapes: [Shape];
            boxes: [Box]; box: Box; next: T; list: [ubyte] (nested_flatbuffer: \"Circle\"); maybe: double = null; }
         root_type T; file_identifier \"DEMO\"; file_extension \"demo\";",
    )
}

/// Reads the bytes; what can be read can also be written, fingerprinted and compared.
fn read(bytes: &[u8], sound: &Schema) -> bool {
    let Ok(schema) = Schema::from_bytes(bytes) else { return false };
    let _ =
        (schema.fingerprint(), difference(&schema, sound), difference(sound, &schema), schema.reachable());
    let written = schema.to_bytes();
    // Fields with one id, or the like, may come back in another order: that they come back is the promise.
    assert_eq!(Schema::from_bytes(&written).map(|again| again.objects.len()), Ok(schema.objects.len()));
    true
}

#[test]
fn every_truncation() {
    let sound = sample();
    let bytes = sound.to_bytes();
    assert!(read(&bytes, &sound));
    for len in 0..bytes.len() {
        // Only the zeros that fill the last word may be missing.
        let whole = bytes[len..].iter().all(|byte| *byte == 0) && bytes.len() - len < 4;
        assert!(!read(&bytes[..len], &sound) || whole, "{len} of {} bytes", bytes.len());
    }
}

#[test]
fn bytes_that_are_no_schema() {
    let check = |bytes: &[u8], expected: &str| {
        assert_eq!(
            Schema::from_bytes(bytes).unwrap_err().to_string(),
            format!("not a binary schema: {expected}")
        );
    };
    check(b"", "4 bytes are needed at byte 4, but there are 0 bytes in all");
    check(b"\x08\0\0\0ABC\xff", "the file identifier is `ABC\\xff`, expected `BFBS`");
    check(b"\xff\xff\xff\xffBFBS", "4 bytes are needed at byte 4294967295, but there are 8 bytes in all");
    check(b"\x08\0\0\0BFBS\x08\0\0\0", "field 0 of the table at byte 8 lies outside its table");
}

#[test]
fn flipped_bits() {
    const ROUNDS: usize = 100_000;
    let sound = sample();
    let sound = &sound;
    // Two halves beside each other: this is the longest of the tests here.
    let readable: usize = std::thread::scope(|scope| {
        let halves = [1, 2].map(|seed| scope.spawn(move || flip_bits(sound, seed, ROUNDS)));
        halves.into_iter().map(|half| half.join().unwrap()).sum()
    });
    // Both outcomes must be among them, or the test would show nothing.
    assert!(
        (ROUNDS / 10..2 * ROUNDS * 9 / 10).contains(&readable),
        "{readable} of {} were readable",
        2 * ROUNDS
    );
}

/// How many of the damaged schemas could be read.
fn flip_bits(sound: &Schema, seed: u64, rounds: usize) -> usize {
    let bytes = sound.to_bytes();
    let mut random = Random::new(seed);
    let mut readable = 0;
    for round in 0..rounds {
        let mut damaged = bytes.clone();
        for _ in 0..=random.below(3) {
            let bit = random.below(damaged.len() * 8);
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
        let start = Instant::now();
        // Most rounds only read: the rest takes longer, and is the same code whatever was flipped.
        let whole = round % 16 == 0;
        readable +=
            usize::from(if whole { read(&damaged, sound) } else { Schema::from_bytes(&damaged).is_ok() });
        let took = start.elapsed();
        assert!(took < Duration::from_secs(20), "round {round} of seed {seed} took {took:?}");
    }
    readable
}

#[test]
fn references_to_one_string_do_not_multiply_it() {
    const LINES: usize = 20_000;
    let mut schema = flatc_schema_of("table T { a: int; } root_type T;");
    let long = "x".repeat(100_000);
    schema.objects[0].documentation =
        std::iter::once(long.clone()).chain(vec![String::new(); LINES]).collect();
    let mut bytes = schema.to_bytes();
    assert_eq!(Schema::from_bytes(&bytes), Ok(schema));
    // Every line of the comment now refers to the long one, which stands behind the references: 2 GB of text.
    let text = bytes.windows(long.len()).position(|window| window == long.as_bytes()).unwrap() - 4;
    let references = text - 4 * (LINES + 1);
    for place in (references..text).step_by(4) {
        bytes[place..place + 4].copy_from_slice(&u32::try_from(text - place).unwrap().to_le_bytes());
    }
    let error = Schema::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.starts_with("not a binary schema: it would take more than"), "{error}");
}
