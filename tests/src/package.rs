//! A package of a user, outside the workspace, that compiles schemas in its build script.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::tools::Folder;

/// A package in a folder of its own, removed at the end.
#[derive(Debug)]
pub struct Package {
    folder: Folder,
    target: PathBuf,
}

impl Package {
    /// A package of an edition of Rust, with the statements of its build script's `main`. `target` is where all packages are
    /// compiled, so that what they depend on is compiled once; so each test has a `name` of its own.
    ///
    /// # Panics
    /// Its files cannot be written.
    pub fn new(name: &str, edition: &str, build: &str, target: impl AsRef<Path>) -> Self {
        let folder = Folder::new();
        let workspace =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it is in a workspace").display();
        folder.write(
            "Cargo.toml",
            format!(
                "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"{edition}\"\n[workspace]\n\
                 [dependencies]\nmsg-runtime = {{ path = \"{workspace}/msg-runtime\", features = [\"serde\"] }}\n\
                 serde = {{ version = \"1\", features = [\"derive\"] }}\n\
                 [build-dependencies]\nmsg-codegen = {{ path = \"{workspace}/msg-codegen\" }}\n"
            ),
        );
        // The versions that the workspace has been built with are there without a network.
        let lock = fs::read(format!("{workspace}/Cargo.lock")).expect("the workspace has a lock file");
        folder.write("Cargo.lock", lock);
        folder.write("build.rs", format!("fn main() {{\n{build}\n}}\n"));
        fs::create_dir(folder.path().join("src")).expect("the folder can be written");
        Self { folder, target: target.as_ref().join("user-packages") }
    }

    /// Its folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Runs cargo in it; whether that succeeded, and what was printed.
    ///
    /// # Panics
    /// Cargo cannot be started.
    pub fn cargo(&self, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO"));
        command.arg("--offline").args(arguments).current_dir(self.folder.path());
        command.env("CARGO_TARGET_DIR", &self.target).env_remove("OUT_DIR").env_remove("RUSTFLAGS");
        let output = command.output().expect("cargo can be started");
        let printed = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        (output.status.success(), printed.concat())
    }
}
