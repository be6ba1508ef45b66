//! A package that holds generated code and nothing else, compiled by cargo as a user would.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::run;

/// What our generated code needs.
pub(crate) const OURS: &str =
    "msg-runtime = { path = \"ROOT/msg-runtime\", default-features = false, features = [\"derive\"] }";

/// What flatc's needs.
pub(crate) const THEIRS: &str = "flatbuffers = \"=25.12.19\"";

pub(crate) struct Package {
    folder: PathBuf,
    target: PathBuf,
}

impl Package {
    pub(crate) fn new(folder: &Path, name: &str, dependency: &str, code: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let dependency = dependency.replace("ROOT", root.to_str().unwrap());
        let package = Self { folder: folder.join(name), target: folder.join("target") };
        fs::create_dir_all(package.folder.join("src")).unwrap();
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{dependency}\n\
             [lib]\nname = \"{name}\"\n"
        );
        fs::write(package.folder.join("Cargo.toml"), manifest).unwrap();
        // The versions that this benchmark was built with are there without a network.
        fs::copy(root.join("Cargo.lock"), package.folder.join("Cargo.lock")).unwrap();
        fs::write(package.folder.join("src/lib.rs"), format!("#![allow(warnings)]\n{code}")).unwrap();
        package
    }

    /// Compiles the package itself; what it depends on is there after a first call of `cargo`.
    pub(crate) fn compile(&self, command: &[&str]) {
        let source = fs::File::options().append(true).open(self.folder.join("src/lib.rs")).unwrap();
        source.set_modified(std::time::SystemTime::now()).unwrap();
        self.cargo(command);
    }

    pub(crate) fn cargo(&self, command: &[&str]) {
        let mut cargo = Command::new(env!("CARGO"));
        // Incremental compilation would find that nothing has changed.
        cargo.args(command).arg("--offline").current_dir(&self.folder).env("CARGO_INCREMENTAL", "0");
        run(cargo.env("CARGO_TARGET_DIR", &self.target).env_remove("RUSTFLAGS"));
    }
}
