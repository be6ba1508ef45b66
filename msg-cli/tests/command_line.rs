//! The `msg` command as its users run it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn schemas() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas")
}

fn msg(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_msg")).args(arguments).current_dir(schemas()).output().unwrap()
}

/// The exit code, and what a run prints for programs and for people.
fn check(arguments: &[&str], code: i32, out: &str, people: &str) {
    let output = msg(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{printed}{errors}");
    assert!(printed.contains(out), "{arguments:?}: `{out}` is not in\n{printed}");
    assert!(errors.contains(people), "{arguments:?}: `{people}` is not in\n{errors}");
}

/// A new directory of this test.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // It may be left from the run before.
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn schemas_without_mistakes() {
    check(&["check", "person.fbs"], 0, "1 file, no mistakes\n", "");
    check(&["check", "person.fbs", "includes.fbs"], 0, "4 files, no mistakes\n", "");
}

#[test]
fn mistakes_are_shown_and_counted() {
    let directory = directory("mistakes");
    let path = directory.join("a.fbs");
    fs::write(&path, "table A { x: itn; y: string (shared); }").unwrap();
    let path = path.to_str().unwrap();
    check(
        &["check", path],
        1,
        "1 file, 1 mistake, 1 warning\n",
        "1 | table A { x: itn; y: string (shared); }\n",
    );
    check(&["check", path], 1, "", "warning[W0101]");
    check(&["generate", path], 1, "", "error[E0301]: unknown type `itn`");
    let output = directory.join("a.rs");
    check(&["generate", "-o", output.to_str().unwrap(), path], 1, "", "E0301");
    assert!(!output.exists());
    check(&["check", "not_there.fbs"], 1, "0 files, 1 mistake\n", "there is no such file");
}

#[test]
fn rust_goes_to_the_output_or_to_a_file() {
    let output = directory("output").join("person.rs");
    check(&["generate", "person.fbs"], 0, "pub struct Person {", "");
    check(&["generate", "person.fbs", "-o", output.to_str().unwrap()], 0, "", "");
    assert_eq!(fs::read(&output).unwrap(), msg(&["generate", "person.fbs"]).stdout);
    check(&["generate", "person.fbs", "-o", "/not/there/a.rs"], 2, "", "cannot write `/not/there/a.rs`");
}

#[test]
fn a_schema_is_written_in_its_other_forms() {
    let directory = directory("forms");
    let path = |name: &str| directory.join(name).display().to_string();
    check(&["generate", "--fbs", "includes.fbs"], 0, "struct Stamp {\n  seconds", "");
    check(&["generate", "--bfbs", "includes.fbs", "-o", &path("includes.bfbs")], 0, "", "");
    assert_eq!(&fs::read(path("includes.bfbs")).unwrap()[4..8], b"BFBS");
    // All forms say the same.
    let text = msg(&["generate", "--fbs", "includes.fbs"]).stdout;
    fs::write(path("includes.fbs"), &text).unwrap();
    assert_eq!(msg(&["generate", "--fbs", &path("includes.bfbs")]).stdout, text);
    for form in ["includes.fbs", "includes.bfbs"] {
        check(&["check", &path(form)], 0, "1 file, no mistakes\n", "");
        let again = msg(&["generate", "--bfbs", &path(form)]).stdout;
        assert_eq!(again, fs::read(path("includes.bfbs")).unwrap(), "{form}");
    }
    check(&["generate", &path("includes.bfbs")], 0, "pub struct Stamp {", "");
    check(&["generate", "--fbs", "person.fbs", "ids.fbs"], 2, "", "found 2 schemas");
    check(&["generate", "--fbs", "--bfbs", "ids.fbs"], 2, "", "exclude each other");
    fs::write(path("a.fbs"), "table A { x: itn; }").unwrap();
    check(&["generate", "--bfbs", &path("a.fbs")], 1, "", "unknown type `itn`");
}

#[test]
fn diagnostics_are_for_programs_too() {
    let path = directory("json").join("a.fbs");
    fs::write(&path, "table A { x: int; x: itn; }").unwrap();
    let path = path.to_str().unwrap();
    check(&["check", "--json", path], 1, "[\n{\"severity\":\"error\",\"code\":\"E0303\",", "");
    check(&["check", "--json", path], 1, "\"help\":\"did you mean `int`?\"}\n]\n", "");
    assert!(msg(&["check", "--json", path]).stderr.is_empty());
    check(&["check", "--json", "person.fbs"], 0, "[]\n", "");
    check(&["check", "--json", "not_there.fbs"], 1, "\"file\":null", "");
    check(&["generate", "--json", "person.fbs"], 2, "", "there is no option `--json`");
}

#[test]
fn includes_are_searched_in_the_named_directories() {
    let directory = directory("includes");
    let path = directory.join("a.fbs");
    fs::write(&path, "include \"person.fbs\"; table A { x: msg_tests.Person; }").unwrap();
    let other = directory.join("other");
    fs::create_dir(&other).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_msg"));
        command.args(arguments).arg(&path).current_dir(&other).output().unwrap().status.code()
    };
    assert_eq!(run(&["check"]), Some(1));
    assert_eq!(run(&["check", "-I", schemas().to_str().unwrap()]), Some(0));
}

#[test]
fn the_command_line_is_explained() {
    check(&["--help"], 0, "Usage: msg <COMMAND>", "");
    check(&["check", "--help"], 0, "Usage: msg check", "");
    check(&["generate", "-h"], 0, "-o, --output FILE", "");
    check(&["--version"], 0, concat!("msg ", env!("CARGO_PKG_VERSION")), "");
    check(&[], 2, "", "no command given");
    check(&["chekc"], 2, "", "there is no command `chekc`");
    check(&["check"], 2, "", "no schema given");
    check(&["check", "--frob", "a.fbs"], 2, "", "there is no option `--frob`");
    check(&["check", "-o", "a.rs", "a.fbs"], 2, "", "this command writes no file");
    check(&["check", "a.fbs", "-I"], 2, "", "`-I` needs DIRECTORY");
}
