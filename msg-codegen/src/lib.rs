//! The schema compiler: FlatBuffers schemas (`.fbs`) become the Rust structs that a person would have written, with
//! `#[derive(Message)]` on them. Pure Rust, for build scripts and for the `msg` tool.
//!
//! ```no_run
//! // The whole of `main` in build.rs:
//! msg_codegen::compile(&["schemas/person.fbs"]);
//! ```
//!
//! and in the program `msg_runtime::include_schemas!();`, which brings one module for each namespace. Mistakes in a
//! schema are printed all at once, each with its file, line, column, a caret and what to do.
//!
//! Text goes one way: `source` reads files, `lexer` and `parser` make a syntax tree, `resolve` gives every name a
//! meaning, `emit` makes Rust of it and `reflection` a binary schema. [`Config::check`] gives the mistakes as values.
#![forbid(unsafe_code)]

mod ast;
mod build_script;
mod checked;
mod config;
mod conform;
mod custom;
mod diagnostic;
mod emit;
mod fbs;
mod ir;
mod lexer;
mod names;
mod parser;
mod reflection;
mod render;
mod resolve;
mod source;

use std::path::Path;

pub use checked::Checked;
pub use config::Config;
pub use conform::SchemaError;
pub use diagnostic::{Code, Diagnostic, FileId, Note, Severity, Span};
pub use fbs::{FbsError, to_fbs};
pub use msg_schema::{Breaks, Change};
pub use render::Colour;
pub use source::{Location, Sources};

/// Compiles schemas from a build script into `$OUT_DIR/msg_schemas.rs`.
///
/// All schemas of a call share one module tree, whatever their order. After a mistake all that were found are
/// printed, and the process ends with exit code 1. [`Config`] has what can be chosen.
pub fn compile<P: AsRef<Path>>(schemas: &[P]) {
    Config::new().compile(schemas);
}
