//! The rules of ARCHITECTURE.md, checked by reading the sources: who may name whom, where unsafe code and the
//! platform stand, how long a file may be.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
};
use syn::visit::Visit;

/// Lines of a file without its unit tests.
const MAX_LINES: usize = 500;
const MAX_EXAMPLE_LINES: usize = 60;
const MAX_ARCHITECTURE_LINES: usize = 200;
const README_PROGRAM_BEFORE_LINE: usize = 40;

struct Source {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

impl Source {
    /// Code lines with their numbers: no comments, no texts, no unit tests.
    fn code(&self) -> impl Iterator<Item = (usize, String)> {
        self.without_tests()
            .enumerate()
            .map(|(at, line)| (at + 1, without_text(line)))
            .filter(|(_, line)| !line.trim().is_empty())
    }

    /// Unit tests stand at the end of a file.
    fn without_tests(&self) -> impl Iterator<Item = &str> {
        self.text.lines().take_while(|line| *line != "mod tests {")
    }

    /// Every path in the code, from the crate's root: `crate::shm::Options`, `std::fs::read`.
    fn paths(&self) -> Vec<String> {
        let file = syn::parse_file(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.path));
        let inside = self.path.split("/src/").nth(1).unwrap_or_default();
        let module = inside.trim_end_matches(".rs").split('/').map(str::to_owned);
        let module = module.filter(|part| !["mod", "lib", "main"].contains(&part.as_str())).collect();
        let mut paths = Paths { module, found: Vec::new() };
        paths.visit_file(&file);
        paths.found
    }
}

/// Collects paths, outside of what only tests have.
struct Paths {
    module: Vec<String>,
    found: Vec<String>,
}

impl Paths {
    /// Adds a path, with `self` and `super` resolved.
    fn add(&mut self, mut parts: Vec<String>) {
        let ups = parts.iter().take_while(|part| *part == "super" || *part == "self").count();
        if ups > 0 {
            let supers = parts.iter().take(ups).filter(|part| *part == "super").count();
            let kept = self.module.len().saturating_sub(supers);
            let base = ["crate".to_owned()].into_iter().chain(self.module[..kept].iter().cloned());
            parts = base.chain(parts.drain(ups..)).collect();
        } else if parts[0] == "msg_runtime" {
            parts[0] = "crate".to_owned();
        }
        self.found.push(parts.join("::"));
    }

    fn add_tree(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            syn::UseTree::Path(path) => self.add_tree(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) => self.add(with(&name.ident)),
            syn::UseTree::Rename(rename) => self.add(with(&rename.ident)),
            syn::UseTree::Glob(_) => self.add(before.to_vec()),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.add_tree(item, before)),
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }
}

/// A line without comment and without what stands in quotes.
fn without_text(line: &str) -> String {
    let line = line.split("//").next().unwrap_or_default();
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every `.rs` file below these folders.
fn sources(folders: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    let mut todo: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let relative = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
            found.push(Source { path: relative, text: fs::read_to_string(&path).unwrap() });
        }
    }
    assert!(!found.is_empty(), "no sources below {folders:?}");
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// The crates' sources but for files that only tests have.
fn crates() -> Vec<Source> {
    let folders = ["msg-derive/src", "msg-schema/src", "msg-codegen/src", "msg-runtime/src", "msg-cli/src"];
    let mut found = sources(&folders);
    let tests = ["/models.rs", "/models/", "/garbage.rs", "/stress.rs", "/tests.rs"];
    found.retain(|source| !tests.iter().any(|name| source.path.contains(name)));
    found
}

/// Fails with every line below `folder` (except in the files `but`) that holds one of `words`.
fn forbid(folder: &str, but: &[&str], words: &[&str], rule: &str) {
    let mut bad = Vec::new();
    for source in crates().iter().filter(|source| source.path.starts_with(folder)) {
        if but.iter().any(|allowed| source.path.starts_with(allowed)) {
            continue;
        }
        for (number, line) in source.code() {
            if let Some(word) = words.iter().find(|word| has_word(&line, word)) {
                bad.push(format!("{}:{number}: `{word}`", source.path));
            }
        }
    }
    assert!(bad.is_empty(), "{rule}:\n{}", bad.join("\n"));
}

/// Fails with every path below `folder` (except in the files `but`) that begins with one of `prefixes`.
fn forbid_paths(folder: &str, but: &[&str], prefixes: &[&str], rule: &str) {
    let mut bad = Vec::new();
    for source in crates().iter().filter(|source| source.path.starts_with(folder)) {
        if but.iter().any(|allowed| source.path.starts_with(allowed)) {
            continue;
        }
        let below = |path: &str, prefix: &str| {
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let paths = source.paths().into_iter();
        let named = paths.filter(|path| prefixes.iter().any(|prefix| below(path, prefix)));
        bad.extend(named.map(|path| format!("{}: `{path}`", source.path)));
    }
    assert!(bad.is_empty(), "{rule}:\n{}", bad.join("\n"));
}

/// True if `word` stands in `line` and no letter, digit or underscore touches it where it has one itself.
fn has_word(line: &str, word: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !(inside(before) && inside(word.chars().next()) || inside(after) && inside(word.chars().next_back()))
    })
}

#[test]
fn shm_knows_bytes_and_slots_only() {
    let upper = [
        "message",
        "buffer",
        "endpoint",
        "transport",
        "publisher",
        "subscriber",
        "sample",
        "schema",
        "realtime",
        "compression",
        "frame",
    ];
    let upper: Vec<String> = upper.iter().map(|module| format!("crate::{module}")).collect();
    let upper: Vec<&str> = upper.iter().map(String::as_str).chain(["msg_schema"]).collect();
    forbid_paths("msg-runtime/src/shm/", &[], &upper, "shm/ works as a library alone");
    forbid("msg-runtime/src/shm/", &[], &["spawn"], "shm/ starts no thread");
}

#[test]
fn values_are_pure() {
    let system = [
        "std::fs",
        "std::net",
        "std::thread",
        "std::env",
        "libc",
        "std::time::Instant",
        "std::time::SystemTime",
    ];
    for file in ["endpoint/", "topic.rs", "frame.rs", "error.rs", "stats.rs"] {
        let file = format!("msg-runtime/src/{file}");
        forbid_paths(&file, &[], &system, "values know no system, clock or thread");
        forbid(&file, &[], &["feature"], "values know no features");
    }
}

#[test]
fn the_environment_is_read_in_one_place() {
    let but = ["msg-runtime/src/configuration.rs", "msg-runtime/src/shm/ring/"];
    forbid("msg-runtime/src/", &but, &["env::var", "env::var_os", "env::vars"], "configuration.rs reads it");
}

#[test]
fn buffer_knows_no_transport() {
    let upper =
        ["crate::shm", "crate::transport", "crate::endpoint", "crate::publisher", "crate::subscriber"];
    forbid_paths(
        "msg-runtime/src/buffer/",
        &[],
        &upper,
        "buffer/ reads and writes payloads, wherever they lie",
    );
}

#[test]
fn compression_knows_bytes_only() {
    let upper = ["crate::shm", "crate::transport", "crate::publisher", "crate::subscriber", "crate::message"];
    forbid_paths("msg-runtime/src/compression/", &[], &upper, "compression/ goes from slices to slices");
}

#[test]
fn transports_know_no_handles_and_no_messages() {
    let upper = ["crate::publisher", "crate::subscriber", "crate::sample", "crate::message", "crate::buffer"];
    forbid_paths("msg-runtime/src/transport/", &[], &upper, "a transport moves payloads and knows no types");
}

#[test]
fn a_client_library_is_named_in_its_own_place() {
    forbid_paths("msg-runtime/src/", &["msg-runtime/src/shm/"], &["libc"], "system calls are made in shm/");
    let system = "msg-runtime/src/realtime/system.rs";
    let socket = "msg-runtime/src/transport/udp/socket.rs";
    let interfaces = "msg-runtime/src/transport/zenoh/config.rs";
    for (wrapper, places) in
        [("nix", &[system, socket, interfaces][..]), ("thread_priority", &[system]), ("socket2", &[socket])]
    {
        forbid("msg-runtime/src/", places, &[wrapper], "the system is called in one file of a room");
    }
    let zenoh =
        ["zenoh::Config", "zenoh::Session", "zenoh::Wait", "zenoh::bytes", "zenoh::open", "zenoh::pubsub"];
    forbid_paths(
        "msg-runtime/src/",
        &["msg-runtime/src/transport/zenoh/"],
        &zenoh,
        "Zenoh stays in its folder",
    );
    let clients = [
        ("lz4_flex", "compression/lz4.rs"),
        ("zstd_safe", "compression/zstd.rs"),
        ("serde_json", "json/"),
        ("rustls", "transport/redis/tls.rs"),
        ("rustls_native_certs", "transport/redis/tls.rs"),
    ];
    for (client, place) in clients {
        let place = format!("msg-runtime/src/{place}");
        forbid("msg-runtime/src/", &[&place], &[client], "a client library is named in one file");
    }
}

#[test]
fn the_compiler_reads_and_writes_in_one_file_each() {
    let reads = ["fs::read", "fs::read_to_string", "File::open", "fs::canonicalize", "fs::metadata"];
    let both = ["msg-codegen/src/source.rs", "msg-codegen/src/build_script.rs"];
    forbid("msg-codegen/src/", &both, &reads, "source.rs alone reads schemas");
    let writes = ["fs::write", "File::create", "fs::create_dir_all"];
    forbid("msg-codegen/src/", &both[1..], &writes, "build_script.rs alone writes");
    forbid(
        "msg-codegen/src/",
        &both[1..],
        &["println!", "eprintln!", "process::exit"],
        "build_script.rs alone prints",
    );
}

#[test]
fn unsafe_stands_in_its_places() {
    let places = [
        "msg-runtime/src/shm/",
        "msg-runtime/src/buffer/",
        "msg-runtime/src/realtime/queue.rs",
        // Quote the one `unsafe impl` of what may stand in a plain message.
        "msg-derive/src/expand/plain.rs",
        "msg-derive/src/expand/enumeration.rs",
    ];
    forbid("msg-", &places, &["unsafe"], "unsafe code outside its places");
}

#[test]
fn every_unsafe_block_is_explained() {
    let mut bad = Vec::new();
    for source in crates().iter().filter(|source| source.path.starts_with("msg-runtime/")) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if !(code.contains("unsafe {") || code.contains("unsafe impl")) {
                continue;
            }
            let above = lines[at.saturating_sub(12)..=at].iter().any(|line| line.contains("SAFETY:"));
            if !above {
                bad.push(format!("{}:{}", source.path, at + 1));
            }
        }
    }
    assert!(bad.is_empty(), "unsafe without `// SAFETY:` above it:\n{}", bad.join("\n"));
}

#[test]
fn the_platform_is_asked_once_a_module() {
    let places =
        ["msg-runtime/src/__private.rs", "msg-runtime/src/lib.rs", "msg-runtime/src/transport/mod.rs"];
    forbid("msg-", &places, &["target_os"], "what is Linux-only stands behind the `cfg` of its module");
    let everywhere =
        sources(&["msg-derive", "msg-schema", "msg-codegen", "msg-runtime", "msg-cli", "examples", "tests"]);
    for source in everywhere.iter().filter(|source| !source.path.contains("/src/")) {
        let mut lines = source.code().filter(|(_, line)| has_word(line, "target_os"));
        let bench = source.path.contains("/benches/");
        let odd = lines.find(|(_, line)| !bench && !line.starts_with("#![cfg(target_os"));
        assert!(odd.is_none(), "{}: a test file is Linux-only as a whole or not at all", source.path);
    }
}

#[test]
fn files_fit_in_the_head() {
    let mut bad = Vec::new();
    let mut check = |source: &Source, max: usize| {
        let lines = source.without_tests().count();
        if lines > max {
            bad.push(format!("{}: {lines} lines, at most {max}", source.path));
        }
    };
    crates().iter().for_each(|source| check(source, MAX_LINES));
    sources(&["examples"]).iter().for_each(|source| check(source, MAX_EXAMPLE_LINES));
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap().lines().count();
    assert!(architecture <= MAX_ARCHITECTURE_LINES, "ARCHITECTURE.md has {architecture} lines");
    assert!(bad.is_empty(), "two rooms would be easier:\n{}", bad.join("\n"));
}

#[test]
fn compilers_depend_on_neither_each_other_nor_the_runtime() {
    for (name, others) in [
        ("msg-derive", ["msg-runtime", "msg-codegen", "msg-schema"].as_slice()),
        ("msg-codegen", &["msg-runtime", "msg-derive"]),
        ("msg-schema", &["msg-runtime", "msg-derive", "msg-codegen"]),
        ("msg-runtime", &["msg-codegen"]),
    ] {
        let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        for other in others {
            let depends = manifest.lines().any(|line| line.starts_with(other));
            assert!(!depends, "{name} must not depend on {other}");
        }
    }
}

#[test]
fn network_clients_stay_out_of_the_default_members() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let members = manifest.lines().find(|line| line.starts_with("default-members")).unwrap();
    for member in ["msg-cli", "\"tests\""] {
        assert!(!members.contains(member), "{member} turns on what `cargo run --example` must not build");
    }
}

/// The README's program is the crate's first doctest, which runs: so it must be the same text.
#[test]
fn the_readme_program_is_the_tested_one() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let start = readme.lines().position(|line| line == "```rust").expect("README.md has a Rust program");
    assert!(start < README_PROGRAM_BEFORE_LINE, "the program starts at line {start}");
    let program: Vec<&str> = readme.lines().skip(start + 1).take_while(|line| *line != "```").collect();
    assert!(
        start + program.len() < README_PROGRAM_BEFORE_LINE,
        "the program ends after line {README_PROGRAM_BEFORE_LINE}"
    );
    assert!(program.iter().any(|line| line.contains("fn main")), "the program is complete");
    let docs = fs::read_to_string(root().join("msg-runtime/src/lib.rs")).unwrap();
    let docs: Vec<&str> = docs
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let contained = docs.windows(program.len()).any(|window| window == program);
    assert!(contained, "the crate docs of msg-runtime hold the README's program");
}

/// The rules above see what they forbid.
#[test]
fn paths_are_found_however_they_are_written() {
    let text = "
        use crate::{publisher::Publisher, buffer::{self, wire::Wire as W}};
        use super::super::message;
        fn f() { let _: super::Stream = msg_runtime::schema::make(); }
        mod tests { use crate::sample::Sample; }
    ";
    let source = Source { path: "msg-runtime/src/transport/shm.rs".to_owned(), text: text.to_owned() };
    let paths = source.paths();
    for path in [
        "crate::publisher::Publisher",
        "crate::buffer::self",
        "crate::buffer::wire::Wire",
        "crate::message",
        "crate::transport::Stream",
        "crate::schema::make",
    ] {
        assert!(paths.iter().any(|found| found == path), "{path} is not among {paths:?}");
    }
    assert!(!paths.iter().any(|path| path.contains("sample")), "tests may name what they like");
}

#[test]
fn words_are_whole() {
    assert!(has_word("unsafe {", "unsafe"));
    assert!(!has_word("#![forbid(unsafe_code)]", "unsafe"));
    assert!(has_word("use std::fs;", "std::fs"));
    assert!(!has_word("use std::fsx;", "std::fs"));
}
