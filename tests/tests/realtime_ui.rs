//! What the compiler says to who wants to push what cannot be pushed.

#![cfg(target_os = "linux")]

#[test]
fn mistakes_have_their_message_on_file() {
    trybuild::TestCases::new().compile_fail("ui/realtime_*.rs");
}
