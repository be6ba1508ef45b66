//! Compiles the schemas of the workspace as a user's build script would.

use std::{fs, path::PathBuf};

fn main() {
    let mut schemas: Vec<PathBuf> = fs::read_dir("../schemas")
        .expect("the workspace has a directory `schemas`")
        .map(|entry| entry.expect("its entries can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "fbs"))
        .collect();
    schemas.sort();
    println!("cargo::rerun-if-changed=../schemas");
    msg_codegen::compile(&schemas);
}
