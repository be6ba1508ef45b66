//! A schema of ten thousand lines through this compiler and through Google's, which `tests/fetch-tools` fetches: the time
//! that each takes, and the time that rustc takes for what each has written.
//!
//! `cargo bench -p msg-codegen` measures an optimized build, and with `--profile dev` one as build scripts use it. The two
//! sides take turns, and the fastest of their rounds count, so that what else the machine does hits both. Without `--bench`
//! (as under `cargo test --benches`) it runs once, over a smaller schema, and compiles nothing.

#![allow(clippy::print_stdout, reason = "a benchmark reports on its output")]
#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

mod package;
mod text;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use msg_codegen::Config;
use package::Package;

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let (lines, rounds) = if full { (10_000, 15) } else { (500, 1) };
    let most = if cfg!(debug_assertions) { 3.0 } else { 1.0 };
    report("generate", Both::of(lines).compare(rounds), most);
    if full {
        compile(&Both::of(COMPILED_LINES));
    }
}

/// Rustc's time grows with the schema, and ten thousand lines take it minutes.
const COMPILED_LINES: usize = 1_000;

/// The same code by both compilers, through rustc.
fn compile(both: &Both) {
    let (ours, theirs) = (both.ours(), both.theirs());
    println!("lines of Rust: {} of ours, {} of flatc's", ours.lines().count(), theirs.lines().count());
    let ours = Package::new(&both.folder, "ours", package::OURS, &ours);
    let theirs = Package::new(&both.folder, "theirs", package::THEIRS, &theirs);
    for command in [["check"].as_slice(), &["build"]] {
        ours.cargo(command);
        theirs.cargo(command);
        report(command[0], compare(5, &mut || ours.compile(command), &mut || theirs.compile(command)), 1.0);
    }
}

/// A schema for both compilers.
struct Both {
    folder: PathBuf,
    schema: PathBuf,
}

impl Both {
    fn of(lines: usize) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schema-bench");
        fs::create_dir_all(&folder).unwrap();
        let schema = folder.join("large.fbs");
        fs::write(&schema, text::schema(lines)).unwrap();
        Self { folder, schema }
    }

    fn ours(&self) -> String {
        Config::new().check(&[&self.schema]).generate().unwrap()
    }

    fn run_flatc(&self) {
        let flatc = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools/bin/flatc");
        run(Command::new(flatc).arg("--rust").arg("-o").arg(&self.folder).arg(&self.schema));
    }

    fn theirs(&self) -> String {
        self.run_flatc();
        fs::read_to_string(self.folder.join("large_generated.rs")).unwrap()
    }

    fn compare(&self, rounds: usize) -> [Duration; 2] {
        compare(rounds, &mut || drop(std::hint::black_box(self.ours())), &mut || self.run_flatc())
    }
}

/// The fastest of the rounds, of both.
fn compare(rounds: usize, ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> [Duration; 2] {
    let time = |what: &mut dyn FnMut()| {
        let start = Instant::now();
        what();
        start.elapsed()
    };
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..rounds {
        fastest[0] = fastest[0].min(time(ours));
        fastest[1] = fastest[1].min(time(theirs));
    }
    fastest
}

fn report(name: &str, [ours, theirs]: [Duration; 2], most: f64) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{name:16} {ours:8.3?}   flatc {theirs:8.3?}   ratio {ratio:.2} (at most {most:.2})");
}

fn run(command: &mut Command) {
    let output =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}: run `tests/fetch-tools`"));
    let printed = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{command:?}:\n{}", printed.concat());
}
