//! What counts as the same type, and the words for a difference: from schemas in pairs, as flatc understands them.
use msg_schema::{Schema, difference};
use msg_tests::tools::flatc_schema_of;

/// FNV-1a over 64 bits, written out a second time, so that the tests state the texts that are hashed.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Changes the first schema into the second; both ways of asking agree on whether that is another type.
fn check(from: &str, to: &str, expected: Option<&str>) {
    let (ours, theirs) = (flatc_schema_of(from), flatc_schema_of(to));
    let found = difference(&ours, &theirs);
    assert_eq!(found.as_deref(), expected, "\nfrom {from}\nto   {to}");
    assert_eq!(difference(&theirs, &ours).is_some(), expected.is_some(), "\nfrom {to}\nto   {from}");
    assert_eq!(ours.fingerprint() == theirs.fingerprint(), expected.is_none(), "\nfrom {from}\nto   {to}");
}

const BASE: &str = "namespace demo; enum Mode : ubyte { Idle, Busy = 7 }
    struct Vec3 { x: float; y: float; z: float; } table Circle { radius: float; } union Shape { Circle, Vec3 }
    table T { sequence: ulong; gain: float = 1; mode: Mode = null; frame: string (required); shape: Shape; next: T;
        at: Vec3; list: [ubyte]; on: bool = true; double: double = nan; trail: [Vec3]; level: byte = -3; }
    root_type T;";

fn check_changed(from: &str, to: &str, expected: Option<&str>) {
    assert!(BASE.contains(from), "the base has no `{from}`");
    check(BASE, &BASE.replacen(from, to, 1), expected);
}

#[test]
fn the_fingerprint_is_the_hash_of_the_text_in_its_documentation() {
    let text = "table *\n0 sequence ulong 0\n1 gain float 3f800000\n2 mode demo.Mode null\n\
        3 frame string required\n5 shape demo.Shape\n6 next *\n7 at demo.Vec3\n8 list [ubyte]\n9 on bool 1\n\
        10 double double nan\n11 trail [demo.Vec3]\n12 level byte -3\n\
        table demo.Circle\n0 radius float 00000000\n\
        enum demo.Mode ubyte\n0 Idle\n7 Busy\n\
        union demo.Shape\n1 Circle demo.Circle\n2 Vec3 demo.Vec3\n\
        struct demo.Vec3 12 4\n0 x float\n4 y float\n8 z float\n";
    assert_eq!(flatc_schema_of(BASE).fingerprint(), hash(text));
}

/// Numbers that never change: programs of different age compare them.
#[test]
fn test_vectors() {
    let person =
        "namespace msg_tests; table Person { id: int; name: string; email: string; } root_type Person;";
    assert_eq!(hash("table *\n0 id int 0\n1 name string\n2 email string\n"), 0x78f1_86d1_eaa4_2d61);
    assert_eq!(flatc_schema_of(person).fingerprint(), 0x78f1_86d1_eaa4_2d61);
    assert_eq!(flatc_schema_of(BASE).fingerprint(), 0x0921_d134_ae7c_19ae);
    // The hash's own test vectors, as its authors publish them.
    assert_eq!(
        [hash(""), hash("a"), hash("foobar")],
        [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8]
    );
    assert_eq!(Schema::default().fingerprint(), hash(""));
}

#[test]
fn a_plain_root() {
    let mut plain =
        flatc_schema_of("namespace a; struct P { t: ulong; x: short; } table T { p: P; } root_type T;");
    plain.root = Some("a.P".to_owned());
    assert_eq!(plain.fingerprint(), hash("struct * 16 8\n0 t ulong\n8 x short\n"));
    let mut wider =
        flatc_schema_of("namespace a; struct P { t: ulong; x: int; } table T { p: P; } root_type T;");
    wider.root = Some("a.P".to_owned());
    assert_eq!(difference(&plain, &wider).unwrap(), "field `x`: ours is `short`, theirs is `int`");
    let table = flatc_schema_of("namespace a; table P { t: ulong; x: short; } root_type P;");
    assert_eq!(difference(&plain, &table).unwrap(), "type `a.P`: ours is a struct, theirs is a table");
    assert_ne!(plain.fingerprint(), table.fingerprint());
}

#[test]
fn what_makes_no_difference() {
    check(BASE, BASE, None);
    check(BASE, &BASE.replace("T;", "Other;").replace("table T", "table Other"), None);
    check_changed("namespace demo;", "namespace demo;\n/// commented\n", None);
    check_changed("list: [ubyte]", "list: [ubyte] (deprecated)", None);
    check_changed("list: [ubyte]", "list: [ubyte] (nested_flatbuffer: \"Circle\")", None);
    check_changed("root_type T;", "root_type T; file_identifier \"ABCD\"; file_extension \"x\";", None);
    check_changed("root_type T;", "table Unused { x: int; } root_type T;", None);
    check_changed(
        "enum Mode : ubyte { Idle, Busy = 7 }",
        "enum Mode : ubyte (bit_flags) { Idle = 0, Busy = 7 }",
        Some("enumerator `Idle` of `demo.Mode`: ours is 0, theirs is 1"),
    );
    check(
        "table T { a: int (id: 1); b: int (id: 0); } root_type T;",
        "table T { b: int; a: int; } root_type T;",
        None,
    );
    check(
        "table T { f: float = 0.1; } root_type T;",
        "table T { f: float = 0.10000000149; } root_type T;",
        None,
    );
    check("table T { f: double = -0.0; } root_type T;", "table T { f: double; } root_type T;", None);
    check(
        "table K { k: int (key); } table T { k: [K]; } root_type T;",
        "table K { k: int; } table T { k: [K]; } root_type T;",
        None,
    );
}

#[test]
fn fields() {
    let check = |from, to, expected| check_changed(from, to, Some(expected));
    check("sequence: ulong", "sequence: long", "field `sequence`: ours is `ulong`, theirs is `long`");
    check("list: [ubyte]", "list: [byte]", "field `list`: ours is `[ubyte]`, theirs is `[byte]`");
    check("list: [ubyte]", "list: string", "field `list`: ours is `[ubyte]`, theirs is `string`");
    check("list: [ubyte]", "values: [ubyte]", "field `list`: theirs has `values` in its place");
    check("level: byte = -3;", "", "field `level`: ours has it, theirs does not");
    check("level: byte = -3;", "level: byte = -3; more: int;", "field `more`: theirs has it, ours does not");
    check(
        "list: [ubyte]; on: bool = true;",
        "on: bool = true; list: [ubyte];",
        "field `list`: ours is at id 8, theirs is at id 9",
    );
    check(
        "frame: string (required)",
        "frame: string",
        "field `frame`: ours is required, theirs is not required",
    );
    check("next: T", "next: Circle", "field `next`: ours is `demo.T`, theirs is `demo.Circle`");
}

#[test]
fn defaults() {
    let check = |from, to, expected| check_changed(from, to, Some(expected));
    check(
        "sequence: ulong",
        "sequence: ulong = 5",
        "field `sequence`: the default of ours is `0`, of theirs `5`",
    );
    check(
        "gain: float = 1",
        "gain: float = 1.5",
        "field `gain`: the default of ours is `1`, of theirs `1.5`",
    );
    check("on: bool = true", "on: bool", "field `on`: the default of ours is `true`, of theirs `false`");
    check(
        "on: bool = true",
        "on: bool = null",
        "field `on`: the default of ours is `true`, of theirs `null`",
    );
    check("mode: Mode = null", "mode: Mode", "field `mode`: the default of ours is `null`, of theirs `0`");
    check(
        "double: double = nan",
        "double: double = inf",
        "field `double`: the default of ours is `NaN`, of theirs `inf`",
    );
    check("level: byte = -3", "level: byte = 3", "field `level`: the default of ours is `-3`, of theirs `3`");
}

#[test]
fn nested_types() {
    let check = |from, to, expected| check_changed(from, to, Some(expected));
    check(
        "radius: float",
        "radius: double",
        "field `radius` of `demo.Circle`: ours is `float`, theirs is `double`",
    );
    check("z: float;", "w: float;", "field `z` of `demo.Vec3`: theirs has `w` in its place");
    check("z: float;", "z: float; w: float;", "field `w` of `demo.Vec3`: theirs has it, ours does not");
    check(
        "y: float; z: float;",
        "z: float; y: float;",
        "field `y` of `demo.Vec3`: ours is at byte 4, theirs is at byte 8",
    );
    check(
        "struct Vec3 {",
        "struct Vec3 (force_align: 16) {",
        "the size of `demo.Vec3`: ours is 12 bytes aligned to 4, theirs is 16 bytes aligned to 16",
    );
    check("struct Vec3", "table Vec3", "type `demo.Vec3`: ours is a struct, theirs is a table");
    check("Busy = 7", "Busy = 8", "enumerator `Busy` of `demo.Mode`: ours is 7, theirs is 8");
    check("Busy = 7", "Busy = 7, More", "enumerator `More` of `demo.Mode`: theirs has it, ours does not");
    check("Busy = 7", "Late = 7", "enumerator `Busy` of `demo.Mode`: ours has it, theirs does not");
    check("Mode : ubyte", "Mode : ushort", "the number of `demo.Mode`: ours is `ubyte`, theirs is `ushort`");
    check("{ Circle, Vec3 }", "{ Vec3, Circle }", "member `Circle` of `demo.Shape`: ours is 1, theirs is 2");
    check(
        "{ Circle, Vec3 }",
        "{ Circle: Vec3, Vec3 }",
        "member `Circle` of `demo.Shape`: ours is `demo.Circle`, theirs is `demo.Vec3`",
    );
    check(
        "{ Circle, Vec3 }",
        "{ Circle, Vec3, T }",
        "member `T` of `demo.Shape`: theirs has it, ours does not",
    );
}

#[test]
fn a_nested_types_name_counts() {
    let meters = "namespace demo; table Meters { n: double; } table T { d: Meters; } root_type T;";
    let feet = meters.replace("Meters", "Feet");
    check(meters, &feet, Some("field `d`: ours is `demo.Meters`, theirs is `demo.Feet`"));
}

#[test]
fn recursion_ends() {
    let tree = "table A { b: B; as: [A]; } table B { a: A; x: int; } root_type A;";
    check(
        tree,
        &tree.replace("x: int", "x: uint"),
        Some("field `x` of `B`: ours is `int`, theirs is `uint`"),
    );
    check(tree, tree, None);
}

#[test]
fn a_schema_without_a_root_is_another() {
    check("table A { x: int; } root_type A;", "table A { x: int; }", Some("theirs has no root"));
    check("table A { x: int; }", "table B { y: int; }", None);
}

#[test]
fn wide_vectors_count() {
    let base = "table T { a: [ubyte]; s: string; } root_type T;";
    check(
        base,
        &base.replace("[ubyte]", "[ubyte] (vector64)"),
        Some("field `a`: ours is `[ubyte]`, theirs is `[ubyte] vector64`"),
    );
    check(
        base,
        &base.replace("s: string", "s: string (offset64)"),
        Some("field `s`: ours is behind 32-bit offsets, theirs is behind 64-bit offsets"),
    );
}
