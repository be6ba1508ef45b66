//! Schemas with mistakes: each case in `invalid/` has the text of its diagnostics beside it.
//!
//! A case is a file, or a directory whose files are given together. `MSG_BLESS=1` rewrites the texts.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

use msg_codegen::{Checked, Code, Colour, Config};
use msg_schema::Schema;
use msg_tests::{random::Random, schemas::first_difference};

fn rendered(checked: &Checked) -> String {
    let texts = checked.diagnostics().iter().map(|diagnostic| checked.render(diagnostic, Colour::Never));
    texts.collect::<Vec<_>>().join("\n")
}

/// The cases: a name, and the files.
fn cases() -> Vec<(String, Vec<PathBuf>)> {
    let is_schema = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "fbs");
    let list = |directory: &Path| -> Vec<PathBuf> {
        let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let mut cases = Vec::new();
    // Relative, because the paths are in the texts.
    for path in list(Path::new("invalid")) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            cases.push((name, list(&path).into_iter().filter(is_schema).collect()));
        } else if is_schema(&path) {
            cases.push((name, vec![path]));
        }
    }
    cases
}

#[test]
fn diagnostics_are_the_expected_ones() {
    let bless = env::var_os("MSG_BLESS").is_some();
    let mut differing = Vec::new();
    for (name, files) in cases() {
        let checked = Config::new().check(&files);
        let text = rendered(&checked);
        assert!(!text.is_empty(), "{name} has no mistake");
        assert_eq!(checked.generate().is_none(), checked.has_errors(), "{name}");
        let expected = Path::new("invalid").join(format!("{name}.stderr"));
        if bless {
            fs::write(&expected, text).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != text {
            differing.push(format!("{name}:\n{text}"));
        }
    }
    assert!(differing.is_empty(), "`MSG_BLESS=1` accepts:\n{}", differing.join("\n\n"));
}

#[test]
fn every_code_has_a_case() {
    let mut seen: BTreeSet<Code> = BTreeSet::new();
    for (_, files) in cases() {
        seen.extend(Config::new().check(&files).diagnostics().iter().map(|diagnostic| diagnostic.code));
    }
    // These have tests below, what breaks readers in `conform.rs`, and settings in `custom.rs`.
    seen.extend([Code::UnreadableFile, Code::TooManyFields, Code::BreaksReaders, Code::InvalidSetting]);
    let missing: Vec<_> =
        Code::ALL.iter().filter(|code| !seen.contains(code)).map(|code| code.as_str()).collect();
    assert!(missing.is_empty(), "no case has {missing:?}");
}

#[test]
fn a_missing_input_is_named() {
    let checked = Config::new().check(&["invalid/not_there.fbs", "invalid/crlf.fbs"]);
    let text = rendered(&checked);
    assert!(
        text.starts_with("error[E0201]: cannot read `invalid/not_there.fbs`: there is no such file"),
        "{text}"
    );
    assert!(text.contains("crlf.fbs:3:5"), "the other file is checked all the same:\n{text}");
}

#[test]
fn a_table_has_room_for_32766_ids() {
    let fields = |count: usize| -> String { (0..count).map(|field| format!("f{field}: int; ")).collect() };
    let check = |count: usize| {
        let checked = Config::new().check_text("a.fbs", &format!("table T {{ {} }}", fields(count)));
        checked.diagnostics().iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>()
    };
    assert_eq!(check(32_766), []);
    assert_eq!(check(32_767), [Code::TooManyFields]);
}

#[test]
fn an_include_is_searched_in_the_include_paths() {
    let check = |config: Config| {
        let checked = config.check(&["../schemas/includes.fbs"]);
        let paths = checked.sources().paths().map(|path| path.display().to_string());
        assert!(!checked.has_errors(), "{}", rendered(&checked));
        paths.collect::<Vec<_>>()
    };
    let beside =
        ["../schemas/includes.fbs", "../schemas/included/stamp.fbs", "../schemas/included/cycle.fbs"];
    assert_eq!(check(Config::new()), beside);
    // What stands beside the including file goes first.
    assert_eq!(check(Config::new().include_path("invalid")), beside);

    let folder = msg_tests::tools::Folder::new();
    let main = folder.write("main.fbs", "include \"person.fbs\"; table T { person: msg_tests.Person; }");
    let found = Config::new().include_path("../schemas").check(&[&main]);
    assert!(!found.has_errors(), "{}", rendered(&found));
    let missing = Config::new().check(&[&main]);
    assert_eq!(missing.diagnostics().len(), 1);
    assert_eq!(missing.diagnostics()[0].code, Code::IncludeNotFound);
}

/// What mutations are made of.
const PIECES: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ":",
    ",",
    ".",
    "=",
    "\"",
    "'",
    "\\",
    "/*",
    "*/",
    "//",
    "///",
    "\n",
    "\r\n",
    "table ",
    "struct ",
    "enum ",
    "union ",
    "namespace ",
    "include ",
    "root_type ",
    "rpc_service ",
    "attribute ",
    "(key)",
    "id: 0",
    "= null",
    "-",
    "0x",
    "1e999",
    "é",
    "\u{0}",
    "\u{feff}",
    "99999999999999999999",
    "bit_flags",
];

fn mutate(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(3) {
        let start = text.floor_char_boundary(random.below(text.len() + 1));
        let end = text.floor_char_boundary(text.len().min(start + random.below(40)));
        match random.below(8) {
            0..4 => text.insert_str(start, PIECES[random.below(PIECES.len())]),
            4..6 => text.replace_range(start..end, ""),
            6 => {
                let copy = text[start..end].to_owned();
                text.insert_str(start, &copy);
            }
            _ => text.truncate(end),
        }
    }
    text
}

/// A schema written as text is the same schema, if it can be written. A zero in a comment becomes a blank.
fn assert_text_is_taken_back(checked: &Checked) {
    let (_, schema) = checked.schemas().remove(0);
    let schema = Schema::from_bytes(&schema.to_bytes()).unwrap();
    let has_zeros = format!("{schema:?}").contains("\\0");
    let Ok(again) = Config::new().check_schema("again.fbs", &schema) else { return };
    let schemas = again.schemas();
    let (_, back) = schemas.first().unwrap_or_else(|| panic!("{}", rendered(&again)));
    let back = Schema::from_bytes(&back.to_bytes()).unwrap();
    let difference = first_difference(&format!("{back:#?}"), &format!("{schema:#?}"));
    assert!(difference.is_none() || has_zeros, "{}", difference.unwrap_or_default());
}

#[test]
fn damaged_schemas_never_panic() {
    let mut seeds: Vec<String> = Vec::new();
    for directory in ["invalid", "../schemas"] {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "fbs") {
                seeds.extend(fs::read_to_string(path));
            }
        }
    }
    seeds.sort();
    let mut random = Random::new(0x5eed);
    let mut generated = 0;
    for number in 0..50_000 {
        let text = mutate(&seeds[number % seeds.len()], &mut random);
        let checked = Config::new().check_text("fuzz.fbs", &text);
        for diagnostic in checked.diagnostics() {
            if let Some(span) = diagnostic.span {
                assert_eq!(checked.sources().text(span).len(), (span.end - span.start) as usize, "{text:?}");
            }
            assert!(!checked.render(diagnostic, Colour::Always).is_empty());
        }
        // Generating takes longest, so it is done for a part.
        if number % 5 == 0 && !checked.has_errors() {
            checked.generate().unwrap();
            assert_text_is_taken_back(&checked);
            generated += 1;
        }
    }
    assert!(generated > 100, "only {generated} were generated: the mutations destroy too much");
}

#[test]
fn depth_and_length_are_bounded_by_the_input() {
    let check = |text: String| drop(rendered(&Config::new().check_text("deep.fbs", &text)));
    for piece in
        ["[", "{", "(", "table A{", "a.", "namespace a.", "/*", "union U{A:", "=sin(", "rpc_service S{A("]
    {
        check(piece.repeat(4_000));
        check(format!("table T {{ x: {}", piece.repeat(4_000)));
    }
    check(format!("namespace {}a; table T {{}}", "a.".repeat(50_000)));
    // A chain of structs, and one of tables.
    let chain = |keyword: &str, required: &str| -> String {
        let link = |at: usize| format!("{keyword} A{} {{ a: A{at}{required}; }} ", at + 1);
        format!("{keyword} A0 {{ a: int; }} {}", (0..20_000).map(link).collect::<String>())
    };
    let checked = Config::new().check_text("chain.fbs", &chain("struct", ""));
    assert!(checked.generate().is_some(), "{}", rendered(&checked));
    let checked = Config::new().check_text("chain.fbs", &chain("table", " (required)"));
    assert!(!checked.has_errors(), "{}", rendered(&checked));
}
