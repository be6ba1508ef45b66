//! What a build script adds to generated code and takes from elsewhere: `build.rs` has the settings.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![deny(warnings)]
#![forbid(unsafe_code)]

use std::collections::HashSet;

use msg_codegen::{Checked, Code, Colour, Config};
use msg_runtime::{FromView, Message, decode, encode};

/// As another crate would have compiled it.
pub mod elsewhere {
    include!(concat!(env!("OUT_DIR"), "/msg_schemas.rs"));
}

/// Compiled with settings.
pub mod here {
    include!(concat!(env!("OUT_DIR"), "/custom/msg_schemas.rs"));
}

const TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/custom/msg_schemas.rs"));

#[test]
fn types_are_taken_from_elsewhere() {
    use elsewhere::msg_tests::{enums::Color, includes::Stamp, unions::shapes::Circle};
    let uses = here::custom::Uses {
        circle: Some(Circle { center: None, radius: 2.0 }),
        shape: Some(here::msg_tests::unions::Shape::Label("a".into())),
        ..here::custom::Uses::default()
    };
    assert_eq!(uses.color, Color::Green);
    let bytes = encode(&uses).unwrap();
    assert_eq!(here::custom::Uses::from_view(decode::<here::custom::Uses>(&bytes).unwrap()), uses);
    let reading = here::msg_tests::includes::Reading { at: Some(Stamp::default()), ..Default::default() };
    assert_eq!(reading.at, Some(Stamp::default()));
    assert!(
        !TEXT.contains("enum Color") && !TEXT.contains("struct Stamp") && !TEXT.contains("struct Circle")
    );
    // What is elsewhere changes no schema.
    type Elsewhere = elsewhere::msg_tests::includes::Reading;
    assert_eq!(here::msg_tests::includes::Reading::schema(), Elsewhere::schema());
}

#[test]
#[allow(deprecated, reason = "that it is shows that the attribute is there")]
fn attributes_are_added() {
    let person = |id| here::msg_tests::Person { id, ..Default::default() };
    let persons: HashSet<_> = [person(1), person(2), person(1)].into();
    assert_eq!(persons.len(), 2);
    assert!(person(1) < person(2) && person(1).email.is_none());
    assert_eq!(TEXT.matches("write a letter").count(), 1);
    assert_eq!(TEXT.matches("Not large.").count(), 1);
}

fn found(config: Config) -> Vec<(Code, String)> {
    let checked = config.check(&["../schemas/person.fbs"]);
    checked.diagnostics().iter().map(|diagnostic| (diagnostic.code, rendered(&checked, diagnostic))).collect()
}

fn rendered(checked: &Checked, diagnostic: &msg_codegen::Diagnostic) -> String {
    checked.render(diagnostic, Colour::Never)
}

#[test]
fn settings_that_cannot_be_are_mistakes() {
    let check = |config: Config, expected: &str| {
        let found = found(config);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, Code::InvalidSetting);
        assert!(found[0].1.contains(expected), "{}", found[0].1);
    };
    check(
        Config::new().extern_path("msg_tests.Person", "msg::Person"),
        "`extern_path(\"msg_tests.Person\", ..)` has `msg::Person`, which is no absolute path of Rust",
    );
    check(
        Config::new().type_attribute("*", "derive(Eq)"),
        "`type_attribute(\"*\", ..)` has `derive(Eq)`, which are no attributes",
    );
    check(Config::new().field_attribute("*", "#[a] fn x() {}"), "which are no attributes");
}

#[test]
fn settings_that_do_nothing_are_warned_about() {
    let check = |config: Config, expected: &str| {
        let found = found(config);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, Code::NoEffect);
        assert!(found[0].1.contains(expected), "{}", found[0].1);
    };
    check(Config::new().extern_path("msg_test", "::a"), "no type or namespace has that name");
    check(Config::new().type_attribute("msg_tests.Persn", "#[a]"), "did you mean `msg_tests.Person`?");
    check(Config::new().field_attribute("*.nam", "#[a]"), "no field, enumerator or member has that name");
}
