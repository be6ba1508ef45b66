//! The examples: each `.rs` file beside this one is a program, `cargo run --release --example <name>`.
