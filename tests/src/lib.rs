//! What the tests in `tests/` share: other people's tools to compare with, the comparison of schemas, and processes
//! that share memory.

pub mod conformance;
pub mod json;
pub mod package;
pub mod random;
pub mod relay;
pub mod schema_text;
pub mod schemas;
pub mod server;
pub mod shm;
pub mod tools;
pub mod wrong_schemas;
