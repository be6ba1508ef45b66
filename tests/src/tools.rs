//! Other people's tools, which `tests/fetch-tools` puts into `target/tools`: Google's schema compiler and test data, Python
//! packages.
//!
//! A missing tool fails the test that wants it: a comparison that did not take place proves nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use msg_schema::Schema;

/// The schema compiler: what `MSG_FLATC` names, otherwise what was fetched.
pub fn flatc() -> PathBuf {
    match std::env::var_os("MSG_FLATC") {
        Some(path) => PathBuf::from(path),
        None => fetched("bin/flatc"),
    }
}

/// A Python that finds the fetched packages and the scripts in `tests/python`.
pub fn python() -> Command {
    let tools = fetched("flatbuffers");
    let mut path = tools.parent().expect("the package lies in a folder").as_os_str().to_owned();
    path.push(":");
    path.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("python"));
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// The folder of the schemas and messages that FlatBuffers' own tests use.
pub fn flatbuffers_tests() -> PathBuf {
    fetched("flatbuffers-tests")
}

pub(crate) fn fetched(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools").join(name);
    assert!(path.exists(), "`{}` is missing: run `tests/fetch-tools`", path.display());
    path
}

/// The path of a schema in `schemas/`.
pub fn schema_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas").join(name)
}

/// Runs a command to its end and gives what it printed.
///
/// # Panics
/// The command cannot be started or fails; the panic holds what it printed.
pub fn run(command: &mut Command) -> String {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed ({}):\n{printed}{errors}", output.status);
    printed
}

/// The bytes of the binary schema that flatc makes of a schema file, comments and built-in attributes included.
pub fn flatc_bfbs(schema: &Path) -> Vec<u8> {
    let folder = Folder::new();
    let options = ["-b", "--schema", "--bfbs-comments", "--bfbs-builtins", "-o"];
    run(Command::new(flatc()).args(options).arg(folder.path()).arg(schema));
    let name = schema.file_stem().expect("a schema file has a name");
    fs::read(folder.path().join(name).with_extension("bfbs")).expect("flatc has written the binary schema")
}

/// The model of the binary schema that flatc makes of a schema file.
pub fn flatc_schema(schema: &Path) -> Schema {
    Schema::from_bytes(&flatc_bfbs(schema)).unwrap_or_else(|error| panic!("{}: {error}", schema.display()))
}

/// The model of the binary schema that flatc makes of schema text.
pub fn flatc_schema_of(text: &str) -> Schema {
    let folder = Folder::new();
    flatc_schema(&folder.write("schema.fbs", text))
}

/// A folder for one test's files, removed at the end.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new folder under the system's folder for temporary files.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("msg-tests-{}-{number}", std::process::id()));
        fs::create_dir(&path).unwrap_or_else(|error| panic!("cannot create `{}`: {error}", path.display()));
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file into it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content)
            .unwrap_or_else(|error| panic!("cannot write `{}`: {error}", path.display()));
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover in the system's temporary folder is no reason to fail a test.
        let _ = fs::remove_dir_all(&self.0);
    }
}
