//! What happens in a build script: what cargo is told, what is written and when, and how a mistake looks.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use msg_tests::{
    package::Package,
    tools::{Folder, flatbuffers_tests},
};

/// Names the schema for [`compile_in_a_process_of_its_own`].
const SCHEMAS: &str = "MSG_TEST_SCHEMAS";

/// Not a test by itself: [`compile`] runs it in a process of its own, as `compile` may end the process.
#[test]
#[ignore = "run by the other tests"]
fn compile_in_a_process_of_its_own() {
    let Ok(schemas) = env::var(SCHEMAS) else { return };
    msg_codegen::compile(&schemas.split(';').collect::<Vec<_>>());
    println!("went on");
}

fn compile(schemas: &[&Path], out_dir: Option<&Path>) -> Output {
    let schemas: Vec<_> = schemas.iter().map(|path| path.display().to_string()).collect();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "compile_in_a_process_of_its_own", "--ignored", "--nocapture"]);
    command.env(SCHEMAS, schemas.join(";")).env_remove("OUT_DIR");
    if let Some(out_dir) = out_dir {
        command.env("OUT_DIR", out_dir);
    }
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The lines for cargo that start with a key.
fn lines(output: &Output, key: &str) -> Vec<String> {
    let start = format!("cargo::{key}=");
    let printed = text(&output.stdout);
    // The test harness may print in front of the first one.
    printed.lines().filter_map(|line| line.split_once(&start)).map(|(_, value)| value.to_owned()).collect()
}

#[test]
fn cargo_is_told_every_file_that_was_read() {
    let folder = Folder::new();
    let deep = folder.write("deep.fbs", "struct D { x: int; }");
    let inner = folder.write("inner.fbs", "include \"deep.fbs\"; table I { d: D; }");
    let main = folder.write("main.fbs", "include \"inner.fbs\"; table M { i: I; }");
    let output = compile(&[&main], Some(folder.path()));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let read: Vec<PathBuf> = lines(&output, "rerun-if-changed").into_iter().map(PathBuf::from).collect();
    assert_eq!(read, [main, inner, deep]);
    assert!(lines(&output, "warning").is_empty());
    assert!(text(&output.stdout).contains("went on"));
}

#[test]
fn unchanged_output_is_not_written_again() {
    let folder = Folder::new();
    let schema = folder.write("a.fbs", "table A { x: int; }");
    let written = folder.path().join("msg_schemas.rs");
    let modified = || fs::metadata(&written).unwrap().modified().unwrap();
    assert!(compile(&[&schema], Some(folder.path())).status.success());
    // A time that no write of now can have.
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&written).unwrap().set_modified(long_ago).unwrap();
    assert!(compile(&[&schema], Some(folder.path())).status.success());
    assert_eq!(modified(), long_ago);
    folder.write("a.fbs", "table A { x: int; y: int; }");
    assert!(compile(&[&schema], Some(folder.path())).status.success());
    assert!(modified() > long_ago);
    assert!(fs::read_to_string(&written).unwrap().contains("pub y: i32"));
}

#[test]
fn every_mistake_is_printed_and_the_build_fails_without_a_panic() {
    let folder = Folder::new();
    let one = folder.write("one.fbs", "include \"two.fbs\";\ntable A { x: itn; b: B; }");
    let two = folder.write("two.fbs", "table B {\n  y: ubyte = 256;\n  z int;\n}");
    let output = compile(&[&one], Some(folder.path()));
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stderr);
    for expected in [
        &format!("{}:2:14", one.display()),
        "2 | table A { x: itn; b: B; }\n  |              ^^^",
        "did you mean `int`?",
        &format!("{}:2:14", two.display()),
        "  y: ubyte = 256;\n  |              ^^^",
        &format!("{}:3:4", two.display()),
        "error: 3 mistakes in the schemas",
    ] {
        assert!(printed.contains(expected), "`{expected}` is missing in:\n{printed}");
    }
    let all = printed + &text(&output.stdout);
    assert!(!all.contains("panicked") && !all.contains("went on"), "{all}");
    assert!(!folder.path().join("msg_schemas.rs").exists());
    // The next build must look at both again.
    assert_eq!(lines(&output, "rerun-if-changed").len(), 2);
}

#[test]
fn warnings_go_through_cargo() {
    let folder = Folder::new();
    let schema = folder.write("a.fbs", "table A { x: string (shared); }");
    let output = compile(&[&schema], Some(folder.path()));
    assert!(output.status.success());
    let warnings = lines(&output, "warning");
    assert!(warnings[0].contains("`shared` has no effect here"), "{warnings:?}");
    assert!(warnings.iter().any(|line| line.ends_with("^^^^^^")), "{warnings:?}");
}

#[test]
fn outside_a_build_script_it_says_so() {
    let folder = Folder::new();
    let schema = folder.write("a.fbs", "table A { x: int; }");
    let output = compile(&[&schema], None);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("OUT_DIR is not set"), "{}", text(&output.stderr));
}

/// A package with a schema and one that it includes; `lib` is the library's source.
fn package(name: &str, edition: &str, lib: &str) -> Package {
    let build = "msg_codegen::compile(&[\"schemas/main.fbs\"]);";
    let package = Package::new(name, edition, build, env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir(package.folder().path().join("schemas")).unwrap();
    package.folder().write("src/lib.rs", lib);
    package.folder().write(
        "schemas/main.fbs",
        "include \"inner.fbs\"; enum kind : byte { a, B } struct gap { x: ubyte; y: [int:40]; k: kind; }\n\
         table root_T { Gap: gap; k: kind = B; old: int (deprecated); }\n\
         union Root { gap, root_T, text: string } table holder { any: Root (required); Unknown: [Root]; }\n\
         namespace a.b; union Any { T, I, Unknown: gap } table T { gen: I; async: int = 3; all: [Any]; }",
    );
    package.folder().write("schemas/inner.fbs", "namespace a; table I { x: int; }");
    package
}

#[test]
fn a_package_is_built_anew_only_when_a_schema_has_changed() {
    let package = package("user-fresh", "2024", "#![deny(warnings)]\nmsg_runtime::include_schemas!();\n");
    let (done, printed) = package.cargo(&["check"]);
    assert!(done, "{printed}");
    let (done, printed) = package.cargo(&["check", "-v"]);
    assert!(done && printed.contains("Fresh user-fresh"), "{printed}");
    // Only the included file.
    package.folder().write("schemas/inner.fbs", "namespace a; table I { x: int; y: missing; }");
    let (done, printed) = package.cargo(&["check"]);
    assert!(!done && printed.contains("unknown type `missing`"), "{printed}");
    assert!(!printed.contains("panicked"), "{printed}");
    package.folder().write("schemas/inner.fbs", "namespace a; table I { x: int; y: float; }");
    let (done, printed) = package.cargo(&["check", "-v"]);
    assert!(done && printed.contains("Dirty user-fresh"), "{printed}");
}

/// What a strict user turns on.
const STRICT: &str = "#![deny(warnings, missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]\n\
                      #![forbid(unsafe_code)]\n//! Docs.\n";

#[test]
fn generated_code_has_no_warnings_in_any_edition_or_place() {
    for edition in ["2021", "2024"] {
        for place in [
            "msg_runtime::include_schemas!();\n",
            "/// Docs.\npub mod inner { msg_runtime::include_schemas!(); }\n",
            "mod private { msg_runtime::include_schemas!(); }\n",
        ] {
            let package = package("user-places", edition, &format!("{STRICT}{place}"));
            let (done, printed) = package.cargo(&["clippy"]);
            assert!(done && !printed.contains("warning"), "{edition}, {place}:\n{printed}");
        }
    }
}

/// The schemas of the workspace have types that are named like Rust's own, keywords, and methods for names of fields.
#[test]
fn no_schema_gives_warnings_with_serde_or_without() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas");
    let mut schemas: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    schemas.retain(|path| path.extension().is_some_and(|extension| extension == "fbs"));
    schemas.push(flatbuffers_tests().join("monster_test.fbs"));
    // A type called `u8` is in `names.fbs`, in whose namespace what serde derives is no Rust.
    let with_serde: Vec<_> = schemas.iter().filter(|path| !path.ends_with("names.fbs")).collect();
    let build = format!(
        "let config = msg_codegen::Config::new().include_path({:?});\nconfig.compile(&{schemas:?});\n\
         let folder = std::path::Path::new(&std::env::var_os(\"OUT_DIR\").unwrap()).join(\"serde\");\n\
         config.serde(true).out_dir(folder).compile(&{with_serde:?});",
        flatbuffers_tests().join("include_test"),
    );
    for edition in ["2021", "2024"] {
        let package = Package::new("user-schemas", edition, &build, env!("CARGO_TARGET_TMPDIR"));
        let lib = "/// Docs.\npub mod plain { msg_runtime::include_schemas!(); }\n\
                   /// Docs.\npub mod serde { include!(concat!(env!(\"OUT_DIR\"), \"/serde/msg_schemas.rs\")); }\n";
        package.folder().write("src/lib.rs", format!("{STRICT}{lib}"));
        let (done, printed) = package.cargo(&["clippy"]);
        assert!(done, "{edition}:\n{printed}");
    }
}
