//! Compiles the schemas of the workspace as a user's build script would.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

#[allow(unreachable_pub, reason = "the library has it too")]
#[path = "src/random.rs"]
mod random;
mod random_schemas;

fn main() {
    println!("cargo::rerun-if-changed=../schemas");
    msg_codegen::compile(&schemas_in(Path::new("../schemas")));

    println!("cargo::rerun-if-changed=cases");
    let cases: Vec<PathBuf> = entries(Path::new("cases")).iter().flat_map(|case| schemas_in(case)).collect();
    let out_dir = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    msg_codegen::Config::new().out_dir(Path::new(&out_dir).join("cases")).compile(&cases);

    msg_codegen::Config::new()
        .out_dir(Path::new(&out_dir).join("custom"))
        .extern_path("msg_tests.includes.Stamp", "crate::elsewhere::msg_tests::includes::Stamp")
        .extern_path("msg_tests.enums", "crate::elsewhere::msg_tests::enums")
        .extern_path("msg_tests.unions.shapes", "crate::elsewhere::msg_tests::unions::shapes")
        .type_attribute("msg_tests.P*", "#[derive(Eq, Hash)] #[derive(PartialOrd)]")
        .field_attribute("msg_tests.Person.email", "#[deprecated = \"write a letter\"]")
        .field_attribute("*.Small", "#[doc = \"Not large.\"]")
        .compile(&["../schemas/includes.fbs", "../schemas/person.fbs", "custom/uses.fbs"]);

    let mut all = [schemas_in(Path::new("../schemas")), cases].concat();
    // A type called `u8` is in it, in whose namespace what serde derives is no Rust.
    all.retain(|path| !path.ends_with("names.fbs"));
    msg_codegen::Config::new().serde(true).out_dir(Path::new(&out_dir).join("serde")).compile(&all);

    compile_random(&Path::new(&out_dir).join("random"));
}

/// Random schemas, what they compile to, and a list of them: `random!(check)` calls `check!(number, module)` for each.
fn compile_random(folder: &Path) {
    println!("cargo::rerun-if-changed=random_schemas.rs");
    println!("cargo::rerun-if-changed=src/random.rs");
    fs::create_dir_all(folder).expect("the output folder can be written");
    let mut list = String::from("macro_rules! random { ($check:ident) => {");
    let schemas: Vec<PathBuf> = (0..random_schemas::SCHEMAS)
        .map(|number| {
            list += &format!("$check!({number} random_{number});");
            let path = folder.join(format!("random_{number}.fbs"));
            fs::write(&path, random_schemas::schema(number)).expect("the output folder can be written");
            path
        })
        .collect();
    fs::write(folder.join("list.rs"), list + "} }").expect("the output folder can be written");
    msg_codegen::Config::new().out_dir(folder).compile(&schemas);
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
