//! The builder: everything about a run that can be chosen.

use std::path::{Path, PathBuf};

use crate::{build_script, checked::Checked, source};

/// How schemas are found and where generated code goes; most need only [`compile`](crate::compile).
///
/// # Examples
///
/// In `build.rs`, for schemas that include files of another directory:
///
/// ```no_run
/// msg_codegen::Config::new().include_path("../common/schemas").compile(&["schemas/robot.fbs"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    include_paths: Vec<PathBuf>,
    out_dir: Option<PathBuf>,
}

impl Config {
    /// Nothing chosen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a directory in which included files are searched, after that of the including file.
    pub fn include_path(mut self, directory: impl AsRef<Path>) -> Self {
        self.include_paths.push(directory.as_ref().to_owned());
        self
    }

    /// Where `msg_schemas.rs` is written; cargo's `OUT_DIR` unless it is set. `include_schemas!` reads it from there.
    pub fn out_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.out_dir = Some(directory.as_ref().to_owned());
        self
    }

    /// Compiles schemas from a build script: writes `msg_schemas.rs`, tells cargo which files were read, and prints
    /// warnings. After a mistake it prints all that were found and ends the process with exit code 1.
    pub fn compile<P: AsRef<Path>>(&self, schemas: &[P]) {
        build_script::run(&self.check(schemas), self.out_dir.as_deref());
    }

    /// Reads and checks schemas and all that they include.
    pub fn check<P: AsRef<Path>>(&self, schemas: &[P]) -> Checked {
        let schemas: Vec<PathBuf> = schemas.iter().map(|path| path.as_ref().to_owned()).collect();
        Checked::new(source::load(&schemas, &self.include_paths))
    }

    /// Checks one schema that is no file; `name` is what diagnostics call it. It cannot include anything.
    ///
    /// # Examples
    ///
    /// ```
    /// let checked = msg_codegen::Config::new().check_text("a.fbs", "table A { x: in; }");
    /// assert_eq!(checked.diagnostics()[0].message, "unknown type `in`");
    /// ```
    pub fn check_text(&self, name: &str, text: &str) -> Checked {
        Checked::new(source::load_text(name, text))
    }
}
