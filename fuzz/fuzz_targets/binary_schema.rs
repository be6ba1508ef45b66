//! Binary schemas from a stranger: read, written, shown as text, compiled, and used to read a payload.
#![no_main]

use libfuzzer_sys::fuzz_target;
use msg_codegen::{Config, to_fbs};
use msg_schema::{Decoder, JsonLayout, Schema};

fuzz_target!(|bytes: &[u8]| {
    let Ok(schema) = Schema::from_bytes(bytes) else { return };
    let written = schema.to_bytes();
    let again = Schema::from_bytes(&written).expect("what was written is read");
    assert_eq!(again.to_bytes(), written);
    schema.fingerprint();
    let _ = schema.reachable();
    if let Ok(checked) = Config::new().check_schema("fuzz.bfbs", &schema) {
        checked.generate();
    }
    let _ = to_fbs(&schema);
    let Ok(decoder) = Decoder::new(&schema) else { return };
    for object in schema.objects.iter().take(4) {
        // Any bytes are a payload; these are at hand.
        let _ = decoder.payload_of(&object.name, bytes).and_then(|payload| payload.to_json(JsonLayout::Line));
    }
});
