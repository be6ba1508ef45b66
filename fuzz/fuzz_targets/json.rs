//! JSON as a payload: bytes that are read as the same JSON, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use msg_fuzz::SCHEMA;
use msg_schema::{Decoder, JsonLayout};

fuzz_target!(|text: &str| {
    let decoder = Decoder::new(&SCHEMA).expect("the schema is sound");
    let show = |bytes: &[u8]| {
        let payload = decoder.payload(bytes).expect("what was encoded is read");
        payload.to_json(JsonLayout::Indented).expect("what was encoded is shown")
    };
    let Ok(bytes) = decoder.encode_json(text) else { return };
    let shown = show(&bytes);
    assert_eq!(show(&decoder.encode_json(&shown).expect("what was shown is taken back")), shown);
});
