//! The example of a control loop, as a newcomer starts it.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]
#![cfg(target_os = "linux")]

use std::{path::Path, process::Command};

#[test]
fn control_loop_publishes_every_step_and_shows_two_histograms() {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--release", "--quiet", "-p", "msg-examples", "--example", "control_loop"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap())
        .output()
        .unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}\n{errors}");
    for part in ["throttling", "pushed: 3000, published: 3000", "a push took", "from the push to the reader"]
    {
        assert!(text.contains(part), "{text}\nlacks {part:?}");
    }
}
