//! What the derive answers to mistakes: one rule a file in `ui/`, with the compiler's words beside it.
//!
//! `TRYBUILD=overwrite` rewrites the words; read the difference before you commit it.

#[test]
fn mistakes_have_answers() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
