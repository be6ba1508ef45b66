//! The examples, as a newcomer starts them.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use std::{
    env,
    io::{BufRead, BufReader, Lines},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::OnceLock,
};

/// A running example, which ends with its test.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(name: &str) -> Self {
        let mut child = Command::new(build().join(name)).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next line that holds `text`.
    fn wait_for(&mut self, text: &str) -> String {
        let found = self.lines.by_ref().map(Result::unwrap).find(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("the example ended without printing {text:?}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Builds the examples once and says where they are.
fn build() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let status = Command::new(env!("CARGO"))
            .args(["build", "--release", "--quiet", "-p", "msg-examples", "--examples"])
            .current_dir(root)
            .status()
            .unwrap();
        assert!(status.success());
        let target = env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), |target| root.join(target));
        target.join("release/examples")
    })
}

#[test]
fn hello_shows_both_kinds_of_message_and_one_line_of_figures() {
    let mut hello = Running::start("hello");
    let person = hello.wait_for("msg_tests.Person");
    assert!(
        person.contains(r#"Person { id: 1, name: Some("Ada"), email: Some("ada@example.org") }"#),
        "{person}"
    );
    let imu = hello.wait_for("demo.Imu");
    assert!(imu.contains("acceleration: [0.0, 0.0, 9.81]"), "{imu}");
    let figures = hello.wait_for("million messages a second");
    assert!(figures.contains("p50") && figures.contains("p99"), "{figures}");
    assert!(hello.child.wait().unwrap().success());
}

/// One after the other, since both use the channel `camera`.
#[test]
fn camera_and_viewer_meet_whoever_starts_first() {
    for viewer_first in [true, false] {
        let (mut camera, mut viewer);
        if viewer_first {
            viewer = Running::start("viewer");
            viewer.wait_for("waiting for frames");
            camera = Running::start("camera");
            camera.wait_for("sending");
        } else {
            camera = Running::start("camera");
            camera.wait_for("sending");
            viewer = Running::start("viewer");
        }
        let mut numbers = Vec::new();
        for _ in 0..5 {
            let line = viewer.wait_for("4194304 bytes in place");
            assert!(
                line.contains("2048 x 2048") && line.contains("as sent") && line.contains(" 0 lost"),
                "{line}"
            );
            let number = line.split(&[' ', ':'][..]).nth(1).unwrap();
            numbers.push(number.parse::<u64>().unwrap());
        }
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "frames in order: {numbers:?}");
        if viewer_first {
            assert_eq!(numbers[0], 0, "who is there first sees the first frame");
        }
    }
}
