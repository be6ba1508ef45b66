//! What the targets share.

use std::sync::LazyLock;

use msg_schema::Schema;

/// A schema with every kind of field, but for deprecated ones: JSON has them where they are present, and no default is
/// written.
pub static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let checked = msg_codegen::Config::new().check_text("fuzz.fbs", TEXT);
    checked.schemas().remove(0).1
});

const TEXT: &str = r#"
namespace fuzz;
enum Mode : ubyte { Idle, Busy = 7 }
enum Wide : ulong { Low, High = 18446744073709551615 }
enum Flag : ushort (bit_flags) { Red, Green, Blue = 9 }
struct Vec3 { x: float; y: float; z: double; }
struct Box { mode: Mode; corners: [Vec3:2]; on: bool; numbers: [short:3]; flags: Flag; }
table Leaf { n: int = 3; next: Leaf; bytes: [ubyte] (nested_flatbuffer: "Leaf"); }
union Shape { Leaf, Vec3, Text: string }
table T {
    a: bool; b: byte; c: ubyte = 200; d: short; e: ushort; f: int; g: uint; h: long = -9; i: ulong; j: float = 1.5; k: double;
    mode: Mode = Busy; wide: Wide; flag: Flag = Green; maybe: int = null; maybe_on: bool = null; maybe_mode: Mode = null;
    text: string; box: Box; leaf: Leaf; shape: Shape; shapes: [Shape]; ints: [int]; doubles: [double]; texts: [string];
    leaves: [Leaf]; boxes: [Box]; modes: [Mode]; bools: [bool]; bytes: [ubyte]; wides: [Wide]; flags: [Flag];
}
root_type T;
"#;
