//! Payloads read with their schema alone: JSON or an error, and JSON that is taken back says the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use msg_fuzz::SCHEMA;
use msg_schema::{Decoder, JsonLayout};

fuzz_target!(|bytes: &[u8]| {
    let decoder = Decoder::new(&SCHEMA).expect("the schema is sound");
    let show = |bytes: &[u8]| decoder.payload(bytes).and_then(|payload| payload.to_json(JsonLayout::Line));
    let Ok(shown) = show(bytes) else { return };
    // What a newer sender has put into a union has no JSON.
    let Ok(again) = decoder.encode_json(&shown) else { return };
    assert_eq!(show(&again).expect("what was encoded is read"), shown);
});
