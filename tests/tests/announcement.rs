//! What handles tell each other is the same for other languages.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use msg_schema::Schema;
use std::path::Path;

#[test]
fn the_announcement_has_a_twin_for_other_languages() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/announce.fbs");
    let written = msg_codegen::Config::new().read_schema(&path).unwrap();
    let spoken = Schema::from_bytes(msg_runtime::topics::announcement_schema()).unwrap();
    assert_eq!(msg_schema::difference(&spoken, &written), None);
    assert_eq!(spoken.fingerprint(), written.fingerprint());
}
