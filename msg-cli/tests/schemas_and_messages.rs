//! The commands as a user runs them: what they print and how they end.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
    sync::atomic::{AtomicU32, Ordering},
};

/// A folder that is removed at the end, in which the commands run.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("msg-cli-{}-{number}", std::process::id()));
        fs::create_dir(&path).expect("a new folder can be made");
        Self(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        fs::write(self.0.join(name), content).expect("the folder is writable");
        self
    }

    fn run(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_msg"));
        let output = command.args(line.split_whitespace()).current_dir(&self.0).output();
        output.expect("the command starts")
    }

    /// Runs a command and compares what it prints and its exit code; mistakes are to contain the text.
    fn check(&self, line: &str, code: i32, printed: &str, mistakes: &str) {
        let output = self.run(line);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "msg {line}: {errors}");
        assert!(
            errors.contains(mistakes) && errors.is_empty() == mistakes.is_empty(),
            "msg {line}: {errors}"
        );
        assert_eq!(output.status.code(), Some(code), "msg {line}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const IMU: &str =
    "namespace demo; table Imu { sequence: ulong; gain: float = 1; frame: string; } root_type Imu;";

#[test]
fn diff_tells_who_breaks_and_exits_accordingly() {
    let folder = Folder::new();
    folder.write("old.fbs", IMU).write("same.fbs", format!("// again\n{IMU}"));
    folder.write("more.fbs", IMU.replace("frame: string;", "frame: string; mode: int;"));
    folder.write("named.fbs", IMU.replace("frame:", "frame_id:"));
    folder.write("other.fbs", IMU.replace("gain: float = 1", "gain: double = 1"));
    folder.check("diff old.fbs same.fbs", 0, "no changes\n", "");
    let added = "field `mode` of `demo.Imu`: added: breaks nobody\n1 change: no reader breaks\n";
    folder.check("diff old.fbs more.fbs", 0, added, "");
    let removed =
        "field `mode` of `demo.Imu`: removed: breaks old readers of new data\n1 change: 1 breaks readers\n";
    folder.check("diff more.fbs old.fbs", 1, removed, "");
    let renamed = "field `frame` of `demo.Imu`: renamed to `frame_id`: breaks source code only\n\
        1 change: 1 breaks source code only\n";
    folder.check("diff old.fbs named.fbs", 0, renamed, "");
    let retyped = "field `gain` of `demo.Imu`: type changed from `float` to `double`: breaks old and new readers\n\
        1 change: 1 breaks readers\n";
    folder.check("diff old.fbs other.fbs", 1, retyped, "");
}

#[test]
fn diff_ends_with_2_when_nothing_can_be_compared() {
    let folder = Folder::new();
    folder.write("good.fbs", IMU).write("bad.fbs", "table A { x: in; }").write("bad.bfbs", "x");
    folder.check("diff good.fbs", 2, "", "found 1 files");
    folder.check("diff good.fbs bad.fbs", 2, "", "error[E0301]: unknown type `in`");
    folder.check("diff bad.fbs good.fbs", 2, "", "cannot compare: `bad.fbs` has mistakes");
    folder.check(
        "diff good.fbs bad.bfbs",
        2,
        "",
        "cannot compare: cannot read `bad.bfbs`: not a binary schema",
    );
    folder.check("diff good.fbs none.bfbs", 2, "", "cannot compare: cannot read `none.bfbs`");
}

#[test]
fn messages_become_json_and_json_messages() {
    let folder = Folder::new();
    folder.write("imu.fbs", format!("{IMU} table Other {{ a: int; }}"));
    folder.write("imu.json", "{\"sequence\": 18446744073709551615, \"frame\": \"base\"}");
    folder.check("encode imu.fbs imu.json -o imu.bin", 0, "", "");
    let json = "{\n  \"sequence\": 18446744073709551615,\n  \"gain\": 1.0,\n  \"frame\": \"base\"\n}\n";
    folder.check("decode imu.fbs imu.bin", 0, json, "");
    folder.check("decode imu.fbs imu.bin -o out.json", 0, "", "");
    assert_eq!(fs::read_to_string(folder.0.join("out.json")).unwrap(), json);
    folder.write("other.json", "{\"a\": 5}");
    folder.check("encode --root demo.Other imu.fbs other.json -o other.bin", 0, "", "");
    folder.check("decode --root=demo.Other imu.fbs other.bin", 0, "{\n  \"a\": 5\n}\n", "");
}

#[test]
fn schemas_with_unions_are_read_as_well() {
    let folder = Folder::new();
    let schema = "table A { x: int; } union U { A } table T { n: int; u: U; us: [U]; } root_type T;";
    folder.write("union.fbs", schema);
    folder.write("union.json", "{\"n\": 3, \"u_type\": \"A\", \"u\": {\"x\": 4}}");
    folder.check("encode union.fbs union.json -o union.bin", 0, "", "");
    let json = "{\n  \"n\": 3,\n  \"u_type\": \"A\",\n  \"u\": {\n    \"x\": 4\n  }\n}\n";
    folder.check("decode union.fbs union.bin", 0, json, "");
}

#[test]
fn what_fits_no_schema_is_named() {
    let folder = Folder::new();
    folder
        .write("imu.fbs", IMU)
        .write("rootless.fbs", "table A { a: int; }")
        .write("bad.fbs", "table A { a: in; }");
    folder.write("cut.bin", [9, 0, 0]).write("bad.json", "{\n \"gain\": true\n}");
    folder.check("decode imu.fbs cut.bin", 1, "", "`cut.bin`: `demo.Imu`: 4 bytes are needed at byte 0");
    folder.check(
        "encode imu.fbs bad.json",
        1,
        "",
        "`bad.json`: line 2, column 10: `demo.Imu.gain`: found `true`, expected a number",
    );
    folder.check("encode imu.fbs cut.bin", 1, "", "`cut.bin`: line 1, column 2: found");
    folder.check("decode rootless.fbs cut.bin", 1, "", "the schema has no root: name the type to read");
    folder.check("decode --root B rootless.fbs cut.bin", 1, "", "the schema has no type `B`");
    folder.check("decode bad.fbs cut.bin", 1, "", "unknown type `in`");
    folder.check("decode imu.fbs none.bin", 2, "", "cannot read `none.bin`");
    folder.check("decode imu.fbs", 2, "", "name the schema, then the message");
    folder.check("check --root A imu.fbs", 2, "", "there is no option `--root`");
}
