//! The `msg` command.
fn main() {}
