//! Compiles the schemas of the workspace as a user's build script would.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() {
    println!("cargo::rerun-if-changed=../schemas");
    msg_codegen::compile(&schemas_in(Path::new("../schemas")));

    println!("cargo::rerun-if-changed=cases");
    let cases: Vec<PathBuf> = entries(Path::new("cases")).iter().flat_map(|case| schemas_in(case)).collect();
    let out_dir = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    msg_codegen::Config::new().out_dir(Path::new(&out_dir).join("cases")).compile(&cases);
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the directory is part of the workspace");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("its entries can be read").path()).collect();
    paths.sort();
    paths
}

fn schemas_in(directory: &Path) -> Vec<PathBuf> {
    let is_schema = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "fbs");
    entries(directory).into_iter().filter(is_schema).collect()
}
