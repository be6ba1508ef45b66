//! What changed between two schemas and who breaks, beside what `flatc --conform` refuses of the same pairs.

use std::path::Path;
use std::process::Command;

use msg_codegen::{Breaks, Config, SchemaError};
use msg_schema::{Change, changes, root_changes};
use msg_tests::tools::{Folder, flatc, flatc_bfbs};

use Breaks::{AllReaders, NewReaders, Nobody, OldReaders, SourceCode};

/// What flatc says of the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flatc {
    Conforms,
    Refuses,
}
use Flatc::{Conforms, Refuses};

fn flatc_says(old: &Path, new: &Path) -> Flatc {
    let output = Command::new(flatc()).arg("--conform").arg(old).arg(new).output().expect("flatc starts");
    let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    match output.status.success() {
        true => Conforms,
        false => {
            assert!(text.contains("schemas don't conform"), "{text}");
            Refuses
        }
    }
}

fn diff(old: &Path, new: &Path) -> Vec<Change> {
    Config::new().diff(old, new).unwrap_or_else(|error| panic!("{error}"))
}

fn lines(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| format!("{change}: {}", change.breaks)).collect()
}

/// The worst of what is said of a pair, and the line that says it first.
fn worst(changes: &[Change]) -> (Breaks, String) {
    let worst = changes.iter().max_by_key(|change| (change.breaks.any_reader(), change.breaks));
    worst.map_or((Nobody, String::new()), |change| (change.breaks, change.to_string()))
}

/// One pair: what flatc says, who breaks at worst, and all that we say. A `T` as root is added to both.
fn check(old: &str, new: &str, theirs: Flatc, breaks: Breaks, ours: &[&str]) {
    let folder = Folder::new();
    let text = |text: &str| {
        if text.contains("root_type") { text.to_owned() } else { format!("{text} root_type T;") }
    };
    let (old, new) = (folder.write("old.fbs", text(old)), folder.write("new.fbs", text(new)));
    let found = diff(&old, &new);
    let pair = format!("\nold {}\nnew {}", text_of(&old), text_of(&new));
    assert_eq!(found.iter().map(Change::to_string).collect::<Vec<_>>(), ours, "{pair}");
    assert_eq!(worst(&found).0, breaks, "{pair}");
    assert_eq!(flatc_says(&old, &new), theirs, "{pair}");
    if theirs == Refuses {
        assert!(breaks.any_reader(), "flatc refuses what we accept{pair}");
    }
    // The same of flatc's binary schemas, but for what these do not hold.
    let (old_binary, new_binary) =
        (folder.write("old.bfbs", flatc_bfbs(&old)), folder.write("new.bfbs", flatc_bfbs(&new)));
    let binary = diff(&old_binary, &new_binary);
    let is_text = |line: &&&str| line.contains("default") && (line.contains('"') || line.contains("none"));
    let expected: Vec<_> = ours.iter().filter(|line| !is_text(line)).collect();
    assert_eq!(
        binary.iter().map(Change::to_string).collect::<Vec<_>>().iter().collect::<Vec<_>>(),
        expected,
        "{pair}"
    );
}

fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the schema was written")
}

/// A schema with something in it changed.
#[allow(clippy::too_many_arguments, reason = "a pair is a base with one thing changed, and three facts")]
fn check_in(base: &str, from: &str, to: &str, theirs: Flatc, breaks: Breaks, ours: &[&str]) {
    assert!(base.contains(from), "`{base}` has no `{from}`");
    check(base, &base.replacen(from, to, 1), theirs, breaks, ours);
}

#[test]
fn fields() {
    let check = |from: &str, to: &str, theirs, breaks, ours: &[&str]| {
        check_in("table T { a: int; b: int = 1; c: string; }", from, to, theirs, breaks, ours);
    };
    check("T", "T", Conforms, Nobody, &[]);
    check("c: string;", "c: string; d: int;", Conforms, Nobody, &["field `d` of `T`: added"]);
    check("c: string;", "c: string; d: [T];", Conforms, Nobody, &["field `d` of `T`: added"]);
    check(
        "c: string;",
        "c: string; d: string (required);",
        Conforms,
        NewReaders,
        &["field `d` of `T`: added, required"],
    );
    check(
        "b:",
        "n: int; b:",
        Refuses,
        AllReaders,
        &[
            "field `b` of `T`: moved from id 1 to id 2",
            "field `c` of `T`: moved from id 2 to id 3",
            "field `n` of `T`: added",
        ],
    );
    check("c: string;", "", Refuses, OldReaders, &["field `c` of `T`: removed"]);
    check(
        "b: int = 1;",
        "",
        Refuses,
        AllReaders,
        &["field `b` of `T`: removed", "field `c` of `T`: moved from id 2 to id 1"],
    );
    check("a:", "z:", Conforms, SourceCode, &["field `a` of `T`: renamed to `z`"]);
    check(
        "a: int",
        "z: float",
        Refuses,
        AllReaders,
        &["field `a` of `T`: was `a: int`, its place is taken by `z: float`"],
    );
    check("a: int", "a: uint", Refuses, AllReaders, &["field `a` of `T`: type changed from `int` to `uint`"]);
    check("a: int", "a: long", Refuses, AllReaders, &["field `a` of `T`: type changed from `int` to `long`"]);
    check(
        "a: int",
        "a: float",
        Refuses,
        AllReaders,
        &["field `a` of `T`: type changed from `int` to `float`"],
    );
    check(
        "a: int; b: int = 1;",
        "b: int = 1; a: int;",
        Refuses,
        AllReaders,
        &["field `a` of `T`: moved from id 0 to id 1", "field `b` of `T`: moved from id 1 to id 0"],
    );
}

#[test]
fn attributes_of_fields() {
    let check = |from: &str, to: &str, theirs, breaks, ours: &[&str]| {
        check_in("table T { a: int; b: int = 1; c: string; }", from, to, theirs, breaks, ours);
    };
    check("= 1", "= 2", Refuses, AllReaders, &["field `b` of `T`: default changed from `1` to `2`"]);
    check("= 1", "= null", Refuses, AllReaders, &["field `b` of `T`: default changed from `1` to `null`"]);
    check(
        "string;",
        "string = \"x\";",
        Refuses,
        AllReaders,
        &["field `c` of `T`: default changed from none to `\"x\"`"],
    );
    check(
        "string;",
        "string (required);",
        Conforms,
        NewReaders,
        &["field `c` of `T`: was not required, is required"],
    );
    check(
        "string;",
        "string (deprecated);",
        Conforms,
        Nobody,
        &["field `c` of `T`: was not deprecated, is deprecated"],
    );
    check("string;", "string (shared);", Conforms, Nobody, &[]);
    check(
        "a: int;",
        "a: int (key);",
        Conforms,
        SourceCode,
        &["field `a` of `T`: was not the key, is the key"],
    );
    check_in(
        "table T { c: string (required); }",
        " (required)",
        "",
        Conforms,
        OldReaders,
        &["field `c` of `T`: was required, is not required"],
    );
}

#[test]
fn ids_and_nested_buffers() {
    check_in(
        "table T { x: int (id: 0); y: int (id: 1); }",
        "x: int (id: 0); y: int (id: 1);",
        "y: int (id: 1); x: int (id: 0);",
        Conforms,
        Nobody,
        &[],
    );
    check_in(
        "table T { x: int (id: 0); y: int (id: 1); }",
        "x: int (id: 0); y: int (id: 1);",
        "x: int (id: 1); y: int (id: 0);",
        Refuses,
        AllReaders,
        &["field `x` of `T`: moved from id 0 to id 1", "field `y` of `T`: moved from id 1 to id 0"],
    );
    check_in(
        "table X {} table Y {} table T { a: [ubyte] (nested_flatbuffer: \"X\"); }",
        "\"X\"",
        "\"Y\"",
        Conforms,
        AllReaders,
        &["field `a` of `T`: was a buffer of `X`, is a buffer of `Y`"],
    );
}

/// flatc compares defaults as they are written; what is the same value breaks nobody.
#[test]
fn defaults_are_values() {
    let check_same = |from: &str, to: &str, theirs| {
        let of = |default: &str| format!("table T {{ a: float = {default}; }}");
        let folder = Folder::new();
        let (old, new) = (folder.write("old.fbs", of(from)), folder.write("new.fbs", of(to)));
        assert_eq!(lines(&diff(&old, &new)), Vec::<String>::new());
        assert_eq!(flatc_says(&old, &new), theirs);
    };
    check_same("1", "1.0", Conforms);
    check_same("1.0", "1.00", Refuses);
    check_same("inf", "infinity", Refuses);
    check_same("0", "-0.0", Refuses);
    check(
        "table T { a: float = 1; }",
        "table T { a: float = nan; }",
        Refuses,
        AllReaders,
        &["field `a` of `T`: default changed from `1` to `NaN`"],
    );
    check("table T { a: bool = true; }", "table T { a: bool = 1; }", Conforms, Nobody, &[]);
    check("table T { a: int = 16; }", "table T { a: int = 0x10; }", Conforms, Nobody, &[]);
    check(
        "enum E : byte { A, B } table T { a: E = A; }",
        "enum E : byte { A, B } table T { a: E = B; }",
        Refuses,
        AllReaders,
        &["field `a` of `T`: default changed from `0` to `1`"],
    );
    check(
        "table T { a: [int]; }",
        "table T { a: [int] = []; }",
        Refuses,
        AllReaders,
        &["field `a` of `T`: default changed from none to `[]`"],
    );
}

#[test]
fn enums() {
    let check = |from: &str, to: &str, theirs, breaks, ours: &[&str]| {
        check_in("enum E : ubyte { A, B = 3, C } table T { e: E; }", from, to, theirs, breaks, ours);
    };
    check("C }", "C, D }", Conforms, Nobody, &["enumerator `D` of `E`: added"]);
    check("B = 3, C", "B = 3", Conforms, SourceCode, &["enumerator `C` of `E`: removed"]);
    check("C }", "Z }", Conforms, SourceCode, &["enumerator `C` of `E`: renamed to `Z`"]);
    check("C }", "C = 9 }", Refuses, AllReaders, &["enumerator `C` of `E`: number changed from 4 to 9"]);
    check("ubyte", "ushort", Refuses, AllReaders, &["type `E`: was `ubyte`, is `ushort`"]);
    check("ubyte", "byte", Refuses, AllReaders, &["type `E`: was `ubyte`, is `byte`"]);
    check("e: E", "e: ubyte", Refuses, AllReaders, &["field `e` of `T`: type changed from `E` to `ubyte`"]);
    check(
        "ubyte {",
        "ubyte (bit_flags) {",
        Refuses,
        AllReaders,
        &[
            "type `E`: was an enum of single values, is an enum of bit flags",
            "enumerator `A` of `E`: number changed from 0 to 1",
            "enumerator `B` of `E`: number changed from 3 to 8",
            "enumerator `C` of `E`: number changed from 4 to 16",
        ],
    );
}

#[test]
fn structs() {
    let check = |from: &str, to: &str, theirs, breaks, ours: &[&str]| {
        check_in("struct S { x: float; y: float; } table T { s: S; }", from, to, theirs, breaks, ours);
    };
    let size = "type `S`: was 8 bytes aligned to 4, is 12 bytes aligned to 4";
    check("y: float;", "y: float; z: float;", Conforms, AllReaders, &["field `z` of `S`: added", size]);
    let size = "type `S`: was 8 bytes aligned to 4, is 4 bytes aligned to 4";
    check("y: float;", "", Refuses, AllReaders, &["field `y` of `S`: removed", size]);
    check("y:", "q:", Conforms, SourceCode, &["field `y` of `S`: renamed to `q`"]);
    check(
        "y: float",
        "y: int",
        Refuses,
        AllReaders,
        &["field `y` of `S`: type changed from `float` to `int`"],
    );
    let size = "type `S`: was 8 bytes aligned to 4, is 16 bytes aligned to 8";
    let moved = "field `y` of `S`: moved from byte 4 to byte 8";
    let retyped = "field `y` of `S`: type changed from `float` to `double`";
    check("y: float", "y: double", Refuses, AllReaders, &[retyped, moved, size]);
    let size = "type `S`: was 8 bytes aligned to 4, is 8 bytes aligned to 8";
    check("S {", "S (force_align: 8) {", Conforms, AllReaders, &[size]);
    check("struct", "table", Refuses, AllReaders, &["type `S`: was a struct, is a table"]);
    let check = |from: &str, to: &str, theirs, breaks, ours: &[&str]| {
        check_in("struct S { x: [int: 3]; } table T { s: S; }", from, to, theirs, breaks, ours);
    };
    let size = "type `S`: was 12 bytes aligned to 4, is 16 bytes aligned to 4";
    check(
        ": 3",
        ": 4",
        Conforms,
        AllReaders,
        &["field `x` of `S`: type changed from `[int:3]` to `[int:4]`", size],
    );
    check(
        "int:",
        "uint:",
        Refuses,
        AllReaders,
        &["field `x` of `S`: type changed from `[int:3]` to `[uint:3]`"],
    );
}

#[test]
fn unions() {
    let check = |from: &str, to: &str, theirs, breaks, ours: &[&str]| {
        let base = "table X { a: int; } table Y { b: int; } union U { X, Y } table T { u: U; us: [U]; }";
        check_in(base, from, to, theirs, breaks, ours);
    };
    check("X, Y }", "X, Y, T }", Conforms, Nobody, &["member `T` of `U`: added"]);
    check("X, Y }", "X }", Conforms, SourceCode, &["member `Y` of `U`: removed"]);
    check("X, Y }", "X, Q: Y }", Conforms, SourceCode, &["member `Y` of `U`: renamed to `Q`"]);
    check(
        "X, Y }",
        "Y, X }",
        Refuses,
        AllReaders,
        &["member `X` of `U`: number changed from 1 to 2", "member `Y` of `U`: number changed from 2 to 1"],
    );
    check("X, Y }", "X, Y = 5 }", Refuses, AllReaders, &["member `Y` of `U`: number changed from 2 to 5"]);
    check("X, Y }", "X, Y: X }", Conforms, AllReaders, &["member `Y` of `U`: type changed from `Y` to `X`"]);
    let moved = "field `us` of `T`: moved from id 3 to id 2";
    let retyped = "field `u` of `T`: type changed from `U` to `X`";
    check(
        " u: U",
        " u: X",
        Refuses,
        AllReaders,
        &[retyped, "field `u` of `T`: moved from id 1 to id 0", moved],
    );
    check("us: [U]", "us: U", Refuses, AllReaders, &["field `us` of `T`: type changed from `[U]` to `U`"]);
}

/// A union's number has an id too, and what comes to stand there is read as the number.
#[test]
fn in_the_place_of_a_unions_number() {
    let base = "table X { a: int; } union U { X } table T { u: U; b: int; }";
    check_in(
        base,
        " u: U;",
        " w: ubyte; v: X;",
        Refuses,
        AllReaders,
        &["field `u` of `T`: was `u: U`, its place is taken by `v: X`", "field `w` of `T`: added"],
    );
    check_in(
        base,
        " u: U; b: int;",
        " w: ubyte;",
        Refuses,
        AllReaders,
        &["field `u` of `T`: was `u: U`, its place is taken by `w: ubyte`", "field `b` of `T`: removed"],
    );
}

#[test]
fn vectors_and_types() {
    let check_v = |from: &str, to: &str, ours: &str| {
        let base = "table X { a: int; } table T { a: [int]; b: [string]; c: [X]; d: X; }";
        check_in(base, from, to, Refuses, AllReaders, &[ours]);
    };
    check_v("[int]", "[uint]", "field `a` of `T`: type changed from `[int]` to `[uint]`");
    check_v("[string]", "[X]", "field `b` of `T`: type changed from `[string]` to `[X]`");
    check_v("c: [X]", "c: X", "field `c` of `T`: type changed from `[X]` to `X`");
    check_v("X { a: int", "X { a: uint", "field `a` of `X`: type changed from `int` to `uint`");
    check(
        "table X { a: int; } table T { x: X; }",
        "table Z { a: int; } table T { x: Z; }",
        Refuses,
        AllReaders,
        &["field `x` of `T`: type changed from `X` to `Z`", "type `X`: removed", "type `Z`: added"],
    );
    check(
        "table X { a: int; } table T { x: int; }",
        "table T { x: int; }",
        Conforms,
        SourceCode,
        &["type `X`: removed"],
    );
    check(
        "enum X : byte { A } table T { y: X; }",
        "struct X { a: byte; } table T { y: X; }",
        Refuses,
        AllReaders,
        &["type `X`: was an enum, is a struct"],
    );
}

/// A schema's text and its binary form, which flatc makes, say the same.
#[test]
fn text_and_binary_form_are_equal() {
    let folder = Folder::new();
    let text = "namespace demo; table X { a: int; } struct S { x: double; } union U { X, S, T: string }
        enum F : ubyte (bit_flags) { A, B } table T { u: U; us: [U]; f: F = A; s: S; n: [ubyte] (nested_flatbuffer: \"X\"); }
        root_type T; file_identifier \"ABCD\";";
    let text = folder.write("text.fbs", text);
    let binary = folder.write("binary.bfbs", flatc_bfbs(&text));
    assert_eq!(lines(&diff(&text, &binary)), Vec::<String>::new());
    assert_eq!(lines(&diff(&binary, &text)), Vec::<String>::new());
}

/// Our compiler refuses 64-bit offsets by name; flatc's binary schemas have them.
#[test]
fn wide_offsets() {
    let check = |old: &str, new: &str, ours: &[&str]| {
        let folder = Folder::new();
        let (old, new) = (folder.write("old.fbs", old), folder.write("new.fbs", new));
        assert_eq!(flatc_says(&old, &new), Refuses);
        let schema = msg_tests::tools::flatc_schema;
        assert_eq!(lines(&changes(&schema(&old), &schema(&new))), ours);
    };
    let wide =
        "field `a` of `T`: was behind 64-bit offsets, is behind 32-bit offsets: breaks old and new readers";
    check("table T { a: string (offset64); }", "table T { a: string; }", &[wide]);
    let retyped =
        "field `a` of `T`: type changed from `[int]` vector64 to `[int]`: breaks old and new readers";
    check("table T { a: [int] (vector64); }", "table T { a: [int]; }", &[retyped, wide]);
}

#[test]
fn roots_and_identifiers() {
    let check = |old: &str, new: &str, breaks, ours: &[&str]| {
        let base = "table X { a: int; } table T { x: int; }";
        check(&format!("{base} {old}"), &format!("{base} {new}"), Conforms, breaks, ours);
    };
    check("root_type T;", "root_type X;", AllReaders, &["the schema: root changed from `T` to `X`"]);
    let (none, one, two) =
        ("root_type T;", "root_type T; file_identifier \"ABCD\";", "root_type T; file_identifier \"ABCE\";");
    let changed = |from: &str, to: &str| format!("the schema: file identifier changed from {from} to {to}");
    let (no_text, one_text, two_text) =
        ("no file identifier", "file identifier `ABCD`", "file identifier `ABCE`");
    check(none, one, NewReaders, &[&changed(no_text, one_text)]);
    check(one, none, OldReaders, &[&changed(one_text, no_text)]);
    check(one, two, AllReaders, &[&changed(one_text, two_text)]);
}

/// The root's own name is no part of what programs agree on; what else is in the files is not either.
#[test]
fn from_the_roots() {
    let schema = msg_tests::tools::flatc_schema_of;
    let old = schema("table A { x: int; next: A; } table Unused { a: int; } root_type A;");
    let new = schema("table B { x: int; next: B; y: int; } root_type B;");
    assert_eq!(lines(&root_changes(&old, &new)), ["field `y` of `A`: added: breaks nobody"]);
    assert_eq!(
        lines(&changes(&old, &new)),
        [
            "the schema: root changed from `A` to `B`: breaks old and new readers",
            "type `A`: removed: breaks source code only",
            "type `Unused`: removed: breaks source code only",
            "type `B`: added: breaks nobody",
        ]
    );
    let deeper =
        schema("table A { x: int; next: A; l: L; } table L { s: S; } struct S { a: int; } root_type A;");
    let other =
        schema("table A { x: int; next: A; l: L; } table L { s: S; } struct S { a: uint; } root_type A;");
    assert_eq!(
        lines(&root_changes(&deeper, &other)),
        ["field `a` of `S`: type changed from `int` to `uint`: breaks old and new readers"]
    );
}

#[test]
fn what_cannot_be_compared_is_named() {
    let folder = Folder::new();
    let good = folder.write("good.fbs", "table T { a: int; }");
    let bad = folder.write("bad.fbs", "table T { a: in; }");
    let damaged = folder.write("damaged.bfbs", "no schema");
    let error = Config::new().diff(&good, &bad).unwrap_err();
    assert!(error.to_string().contains("bad.fbs` has mistakes"), "{error}");
    assert!(matches!(error, SchemaError::Mistakes(_)));
    let error = Config::new().diff(&damaged, &good).unwrap_err().to_string();
    assert!(error.contains("damaged.bfbs`: not a binary schema"), "{error}");
    let error = Config::new().diff(folder.path().join("none.bfbs"), &good).unwrap_err().to_string();
    assert!(error.contains("none.bfbs`: No such file"), "{error}");
}

/// `conform_to` makes breaking changes mistakes of the new schema, and lets the others pass.
#[test]
fn build_scripts_refuse_what_breaks_readers() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("old")).unwrap();
    let text = "namespace demo;\ntable Imu {\n  x: float;\n  y: float;\n}\n";
    folder.write("old/imu.fbs", text);
    let good = folder.write("imu.fbs", text.replace("y: float;", "y: float; z: float;"));
    let new = folder.write("new.fbs", "table New { a: int; }");
    let other = folder.write("other.fbs", "table Other { a: int; }");
    let old = folder.path().join("old");
    let config = Config::new().conform_to(&old);
    let checked = config.check(&[&good, &new]);
    assert!(checked.diagnostics().is_empty(), "{:?}", checked.diagnostics());
    assert!(checked.generate().is_some());

    folder.write("imu.fbs", text.replace("x: float", "x: double"));
    for config in [config, Config::new().conform_to(old.join("imu.fbs"))] {
        let checked = config.check(&[&good, &new]);
        let rendered: Vec<_> =
            checked.diagnostics().iter().map(|one| checked.render(one, msg_codegen::Colour::Never)).collect();
        let [rendered] = rendered.as_slice() else { panic!("{rendered:?}") };
        for part in [
            "error[E0901]: field `x` of `demo.Imu`: type changed from `float` to `double`",
            "imu.fbs:3:3",
            "breaks old and new readers",
        ] {
            assert!(rendered.contains(part), "no `{part}` in\n{rendered}");
        }
        assert!(checked.generate().is_none());
    }
    let checked = Config::new().conform_to(old.join("imu.fbs")).check(&[&new, &other]);
    assert!(checked.diagnostics()[0].message.contains("none of the schemas has the name of"));
}

/// A mistake stands at the field, enumerator or member that changed, or that took the place of another.
#[test]
fn what_breaks_readers_is_pointed_at() {
    let folder = Folder::new();
    let old = "enum E : byte {\n  A,\n  B\n}\ntable One {\n  x: int;\n  y: int;\n}\ntable Two {}\n\
               union U {\n  One,\n  Two\n}\ntable T {\n  u: U;\n  e: E;\n}\n";
    let old_file = folder.write("old.fbs", old);
    let check = |from: &str, to: &str, places: &[&str]| {
        let new = folder.write("new.fbs", old.replace(from, to));
        let checked = Config::new().conform_to(&old_file).check(&[new]);
        let rendered: String =
            checked.diagnostics().iter().map(|one| checked.render(one, msg_codegen::Colour::Never)).collect();
        for place in places {
            assert!(rendered.contains(place), "{from} to {to}: no `{place}` in\n{rendered}");
        }
    };
    check("x: int", "x: float", &["field `x` of `One`", "new.fbs:6:3"]);
    check("x: int;\n  y: int", "z: float;\n  y: int", &["its place is taken by `z: float`", "new.fbs:6:3"]);
    check("A,\n  B", "A,\n  B = 7", &["enumerator `B` of `E`", "new.fbs:3:3"]);
    check("One,\n  Two", "Two,\n  One", &["member `One` of `U`", "new.fbs:12:3"]);
    // What is gone is missed in its type.
    check("x: int;\n  y: int;", "x: int;", &["field `y` of `One`: removed", "new.fbs:5:7"]);
}
