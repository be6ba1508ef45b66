//! Schemas as text: whatever a file holds, there are diagnostics or there is code, and text made of it means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use msg_codegen::{Colour, Config, to_fbs};
use msg_schema::Schema;

fuzz_target!(|text: &str| {
    let checked = Config::new().check_text("fuzz.fbs", text);
    for diagnostic in checked.diagnostics() {
        assert!(!checked.render(diagnostic, Colour::Never).is_empty());
    }
    assert_eq!(checked.generate().is_some(), !checked.has_errors());
    let Some((_, schema)) = checked.schemas().into_iter().next() else { return };
    let read = |schema: &Schema| Schema::from_bytes(&schema.to_bytes()).expect("what was written is read");
    let Ok(text) = to_fbs(&schema) else { return };
    let again = Config::new().check_text("again.fbs", &text);
    let (_, again) = again.schemas().into_iter().next().expect("what was rendered is accepted");
    // A zero in a comment becomes a blank; NaN equals nothing, so it is shown.
    if !text.contains('\0') && !format!("{schema:?}").contains("\\0") {
        assert_eq!(format!("{:?}", read(&again)), format!("{:?}", read(&schema)));
    }
});
