//! A schema of ten thousand lines, of the kind that people write: a namespace for each part of a machine.

use std::fmt::Write as _;

/// A schema of at least so many lines: `PART` again and again, in a namespace of its own each time.
pub(crate) fn schema(lines: usize) -> String {
    let mut text = String::new();
    for part in 0..lines.div_ceil(1 + PART.lines().count()) {
        let _ = writeln!(text, "namespace machine.part{part};");
        text.push_str(PART);
    }
    text
}

const PART: &str = "
/// What a part does at the moment.
enum Mode : ubyte { Idle, Starting, Running = 5, Failed }
enum Access : ushort (bit_flags) { Read, Write, Configure = 7 }

struct Vec3 {
  x: float;
  y: float;
  z: float;
}
struct Pose {
  position: Vec3;
  orientation: [float:4];
  stamp: ulong;
}

/// One measurement,
/// as the sensor gives it.
table Reading {
  sequence: ulong;
  stamp: long;
  /// In metres per second.
  speed: double = 1.5;
  temperature: float;
  mode: Mode = Running;
  access: Access;
  valid: bool = true;
  pose: Pose;
  name: string (required);
  frame: string;
  samples: [float];
  raw: [ubyte];
}
table Status {
  id: int (key);
  text: string;
  limit: int = null;
  readings: [Reading];
  labels: [string];
  path: [Vec3];
}
table Command {
  target: Pose;
  mode: Mode;
  retries: ushort = 3;
}
union Content { Reading, Status, Command }
table Envelope {
  sender: string;
  content: Content;
  history: [Status];
  next: Envelope;
}
";
